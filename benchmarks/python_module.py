#!/usr/bin/env python3
"""Compares this module to DyNet's wheel, dynet38, on one core, alternating.

    benchmarks/python_module.py --ours PYTHON --old PYTHON [--torch PYTHON] [--rounds N] [--only TASK]
    benchmarks/python_module.py --ours PYTHON --threads

Each interpreter has one of the two modules. For each task the table has the best rate of all rounds in the better mode
of each module, the ratio, and the smallest and largest ratio of a round; then the peak resident memory of such a
process, for dynet38 with pools of 64 MB, enough for these tasks: with automatic batching its pools do not grow. Rates
are per second of CPU time of the process, which other programs hardly disturb. With --torch trees and taggers are
measured in PyTorch, too: trees node by node with joined gates, sentences packed for nn.LSTM.

    build      a BiLSTM tagger's graph of 1,000 nodes, built and destroyed: graphs per second
    nodes      a graph of 1,000 nodes from calls of single functions, built and destroyed: graphs per second
    tree-1, tree-64    binary tree-LSTM of 128, gates by separate matrices, trees of 3 to 29 words: trees per second
    tagger-1, tagger-64    BiLSTM tagger, words of 128, hidden 2 x 50: words per second
    forward-new, forward-again    a pass over y = tanh(y + x) of four numbers, about 20,000 nodes, in graphs of different
               lengths or of one length: nodes per second
    backward-new, backward-again    the backward pass of these graphs
    xor        exclusive or by eight hidden units and plain SGD: updates per second, each of one sample
    policy     two layers of 32, reading the probabilities before each action, Adam: updates per second
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time

TASKS = {"build": [0], "nodes": [0], "tree-1": [0, 1], "tree-64": [0, 1], "tagger-1": [0, 1], "tagger-64": [0, 1],
         "forward-new": [0], "forward-again": [0], "backward-new": [0], "backward-again": [0], "xor": [0], "policy": [0]}
SECONDS = 3.0


def random_trees():
    """256 trees: (label, word) or (label, left, right). Gradients of labels that a model learns become subnormal and slow."""
    rng = random.Random(1)

    def tree(words):
        label = rng.randrange(5)
        if words == 1:
            return label, rng.randrange(2000)
        first = rng.randint(1, words - 1)
        return label, tree(first), tree(words - first)

    return [tree(rng.randint(3, 29)) for _ in range(256)]


def random_sentences():
    """256 sentences of 5 to 35 words, and the tag of word w at position k in place w + k."""
    rng = random.Random(1)
    tags = [rng.randrange(9) for _ in range(2000)]
    return [[rng.randrange(2000) for _ in range(rng.randint(5, 35))] for _ in range(256)], tags


def trees(dy, group, autobatch):
    """Updates of a tree-LSTM with minibatches of `group` trees."""
    pc = dy.ParameterCollection()
    size = 128
    table = pc.add_lookup_parameters((2000, size))
    leaf = [pc.add_parameters((size, size)) for _ in "iou"]
    bias = [pc.add_parameters(size) for _ in "ioug"]
    left = [pc.add_parameters((size, size)) for _ in "ioulr"]
    right = [pc.add_parameters((size, size)) for _ in "ioulr"]
    out = pc.add_parameters((5, size))
    trainer = dy.AdamTrainer(pc)

    def visit(t, losses):
        if len(t) == 2:
            x = table[t[1]]
            i, o, u = (dy.affine_transform([b, w, x]) for w, b in zip(leaf, bias))
            c = dy.cmult(dy.logistic(i), dy.tanh(u))
        else:
            (h1, c1), (h2, c2) = visit(t[1], losses), visit(t[2], losses)
            i, o, u, f1, f2 = (
                dy.affine_transform([b, wl, h1, wr, h2])
                for wl, wr, b in zip(left, right, bias + bias[-1:]))
            c = (dy.cmult(dy.logistic(i), dy.tanh(u)) + dy.cmult(dy.logistic(f1), c1)
                 + dy.cmult(dy.logistic(f2), c2))
        h = dy.cmult(dy.logistic(o), dy.tanh(c))
        losses.append(dy.pickneglogsoftmax(out * h, t[0]))
        return h, c

    data = random_trees()
    done, at, start = 0, 0, time.process_time()
    while time.process_time() - start < SECONDS:
        dy.renew_cg(autobatching=bool(autobatch))
        losses = []
        for _ in range(group):
            visit(data[at % len(data)], losses)
            at += 1
        dy.esum(losses).backward()
        trainer.update()
        done += group
    return done / (time.process_time() - start)


class Tagger:
    def __init__(self, dy):
        self.dy, self.pc = dy, dy.ParameterCollection()
        self.table = self.pc.add_lookup_parameters((2000, 128))
        self.forward, self.back = (dy.VanillaLSTMBuilder(1, 128, 50, self.pc) for _ in "fb")
        self.hidden, self.out = self.pc.add_parameters((32, 100)), self.pc.add_parameters((9, 32))
        self.trainer = dy.AdamTrainer(self.pc)
        self.data, self.tags = random_sentences()

    def losses(self, words):
        dy = self.dy
        xs = [self.table[w] for w in words]
        ahead = self.forward.initial_state().transduce(xs)
        behind = reversed(self.back.initial_state().transduce(reversed_list(xs)))
        return [
            dy.pickneglogsoftmax(self.out * dy.tanh(self.hidden * dy.concatenate([f, b])), self.tags[(w + k) % 2000])
            for k, (w, f, b) in enumerate(zip(words, ahead, behind))]


def reversed_list(xs):
    return xs[::-1]


def tagger(dy, group, autobatch):
    """Updates of a tagger with minibatches of `group` sentences."""
    t = Tagger(dy)
    words, at, start = 0, 0, time.process_time()
    while time.process_time() - start < SECONDS:
        dy.renew_cg(autobatching=bool(autobatch))
        losses = []
        for _ in range(group):
            losses += t.losses(t.data[at % len(t.data)])
            at += 1
        dy.esum(losses).backward()
        t.trainer.update()
        words += len(losses)
    return words / (time.process_time() - start)


def torch_trees(group):
    import torch
    from torch import nn
    size = 128
    table, leaf, inner = nn.Embedding(2000, size), nn.Linear(size, 3 * size), nn.Linear(2 * size, 5 * size)
    out = nn.Linear(size, 5, bias=False)
    trainer = torch.optim.Adam([p for m in (table, leaf, inner, out) for p in m.parameters()])

    def visit(t, states, labels):
        if len(t) == 2:
            i, o, u = leaf(table(torch.tensor([t[1]]))).chunk(3, -1)
            c = torch.sigmoid(i) * torch.tanh(u)
        else:
            (h1, c1), (h2, c2) = visit(t[1], states, labels), visit(t[2], states, labels)
            i, o, u, f1, f2 = inner(torch.cat([h1, h2], -1)).chunk(5, -1)
            c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(f1) * c1 + torch.sigmoid(f2) * c2
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
        labels.append(t[0])
        return h, c

    data = random_trees()
    done, at, start = 0, 0, time.process_time()
    while time.process_time() - start < SECONDS:
        states, labels = [], []
        for _ in range(group):
            visit(data[at % len(data)], states, labels)
            at += 1
        trainer.zero_grad()
        nn.functional.cross_entropy(out(torch.cat(states)), torch.tensor(labels), reduction="sum").backward()
        trainer.step()
        done += group
    return done / (time.process_time() - start)


def torch_tagger(group):
    import torch
    from torch import nn
    from torch.nn.utils.rnn import pack_sequence
    table, lstm = nn.Embedding(2000, 128), nn.LSTM(128, 50, bidirectional=True)
    hidden, out = nn.Linear(100, 32, bias=False), nn.Linear(32, 9, bias=False)
    trainer = torch.optim.Adam([p for m in (table, lstm, hidden, out) for p in m.parameters()])
    data, tags = random_sentences()
    words, at, start = 0, 0, time.process_time()
    while time.process_time() - start < SECONDS:
        batch = [data[(at + k) % len(data)] for k in range(group)]
        at += group
        x = pack_sequence([torch.tensor(s) for s in batch], enforce_sorted=False)
        y = pack_sequence([torch.tensor([tags[(w + k) % 2000] for k, w in enumerate(s)]) for s in batch], enforce_sorted=False)
        trainer.zero_grad()
        states, _ = lstm(x._replace(data=table(x.data)))
        scores = out(torch.tanh(hidden(states.data)))
        nn.functional.cross_entropy(scores, y.data, reduction="sum").backward()
        trainer.step()
        words += len(y.data)
    return words / (time.process_time() - start)


def xor(dy):
    """Updates per second of the first program of DyNet's tutorial."""
    pc = dy.ParameterCollection()
    w, b = pc.add_parameters((8, 2)), pc.add_parameters(8)
    v, a = pc.add_parameters((1, 8)), pc.add_parameters(1)
    trainer = dy.SimpleSGDTrainer(pc)
    done, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        for x, y in 4 * (([1, 0], 1), ([0, 1], 1), ([0, 0], 0), ([1, 1], 0)):
            dy.renew_cg()
            out = dy.logistic(v * dy.tanh(w * dy.inputVector(x) + b) + a)
            loss = dy.binary_log_loss(out, dy.scalarInput(y))
            loss.scalar_value()
            loss.backward()
            trainer.update()
        done += 16
    return done / (time.process_time() - start)


def policy(dy):
    """Updates per second of a policy network with four inputs and two actions."""
    pc = dy.ParameterCollection()
    layers = [(pc.add_parameters((rows, columns)), pc.add_parameters(rows)) for rows, columns in ((32, 4), (32, 32), (2, 32))]
    trainer = dy.AdamTrainer(pc)
    rng = random.Random(1)
    done, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        for _ in range(16):  # reading the clock costs as much as one or two expressions
            dy.renew_cg()
            h = dy.inputVector([rng.random() for _ in range(4)])
            for k, (w, b) in enumerate(layers):
                h = dy.affine_transform([b, w, h])
                h = dy.rectify(h) if k < 2 else dy.softmax(h)
            action = int(rng.random() > h.npvalue()[0])
            (-dy.log(dy.pick(h, action)) * rng.uniform(-1, 1)).backward()
            trainer.update()
        done += 16
    return done / (time.process_time() - start)


def build(dy):
    """Tagger graphs per second, each of about 1,000 nodes as counted by dynet38."""
    t = Tagger(dy)
    words = [w % 2000 for w in range(71)]  # 14 nodes per word in dynet38
    done, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        dy.renew_cg()
        t.losses(words)
        done += 1
    return done / (time.process_time() - start)


def nodes(dy):
    """Graphs per second of 1,000 nodes, each a call of a function or an operator, and two parameters."""
    pc = dy.ParameterCollection()
    w, b = pc.add_parameters((4, 4)), pc.add_parameters(4)
    done, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        dy.renew_cg()
        x = h = dy.inputVector([1, 2, 3, 4])
        for _ in range(200):
            h = dy.tanh(w * h + b)
            h = dy.cmult(h, x)
            dy.pickneglogsoftmax(h, 1)
        done += 1
    return done / (time.process_time() - start)


def passes(dy, backward, again):
    """Nodes per second of a chain, timing only one of the two passes."""
    pc = dy.ParameterCollection()
    p = pc.add_parameters(4)
    seconds, done, start = 0, 0, time.process_time()
    while time.process_time() - start < SECONDS:
        dy.renew_cg()
        y = x = dy.affine_transform([p])
        count = 10000 + (0 if again else done % 997)
        for _ in range(count):
            y = dy.tanh(y + x)
        loss = dy.sum_elems(y)
        begin = time.process_time()
        loss.forward()
        middle = time.process_time()
        loss.backward()
        seconds += time.process_time() - middle if backward else middle - begin
        done += 2 * count
    return done / seconds


def threads(dy, count):
    """Words per second of a tagger whose minibatch is eight graphs of eight sentences, on `count` threads."""
    import concurrent.futures
    import copy
    t = Tagger(dy)
    workers = dy.Workers(min(count, os.cpu_count() or 1))  # for the update
    t.trainer.set_workers(workers)
    taggers = []
    for _ in range(8):
        taggers.append(copy.copy(t))
        taggers[-1].forward, taggers[-1].back = copy.copy(t.forward), copy.copy(t.back)
    words, at, start = [0] * 8, 0, time.perf_counter()

    def graph(k):
        with dy.graph() as g:
            g.set_gradient_buffer(k + 1)
            losses = [loss for i in range(8) for loss in taggers[k].losses(t.data[(at + 8 * k + i) % len(t.data)])]
            dy.esum(losses).backward()
        words[k] += len(losses)

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        while time.perf_counter() - start < 2 * SECONDS:
            list(pool.map(graph, range(8)))
            t.trainer.update()
            at += 64
    return sum(words) / (time.perf_counter() - start)


def run(task, autobatch):
    if task.startswith("torch-"):
        import torch
        torch.set_num_threads(1)
        _, name, group = task.split("-")
        return {"tree": torch_trees, "tagger": torch_tagger}[name](int(group))
    import dynet_config
    dynet_config.set(mem=64)  # pool size of dynet38 in megabytes; ignored by this module
    import dynet as dy
    name, _, group = task.partition("-")
    single = {"build": build, "nodes": nodes, "xor": xor, "policy": policy}
    if name in single:
        return single[name](dy)
    if name in ("forward", "backward"):
        return passes(dy, name == "backward", group == "again")
    if name == "threads":
        return threads(dy, int(group))
    return {"tree": trees, "tagger": tagger}[name](dy, int(group), autobatch)


def rate(python, task, autobatch):
    """Rate per second, and peak memory in MiB."""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    ran = subprocess.run([python, __file__, "--task", task, "--autobatch", str(autobatch)], check=True,
                         env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(ran.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", default=sys.executable)
    parser.add_argument("--old")
    parser.add_argument("--torch", help="the interpreter that has PyTorch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("--threads", action="store_true", help="eight graphs an update by 1, 2 and 8 threads, of ours")
    parser.add_argument("--task")
    parser.add_argument("--autobatch", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.task:
        done = run(arguments.task, arguments.autobatch)
        print(json.dumps([done, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
        return
    if arguments.threads:
        rates = [[rate(arguments.ours, f"threads-{n}", 0)[0] for n in (1, 2, 8)] for _ in range(arguments.rounds)]
        best = [max(r[k] for r in rates) for k in range(3)]
        scaled = sorted(r[2] / r[0] for r in rates)
        print(f"1, 2 and 8 threads over eight graphs: {best[0]:,.0f}, {best[1]:,.0f} and {best[2]:,.0f} words a second, "
              f"8 threads {scaled[0]:.2f} to {scaled[-1]:.2f} times one")
        return
    if not arguments.old:
        parser.error("--old names the interpreter that has dynet38")
    third = bool(arguments.torch)
    print("| task | ours, a second | dynet38 | ratio | of each round | peak MiB, ours | dynet38 |"
          + (" PyTorch, a second | ratio | of each round |" if third else "") + "\n" + "|---" * (10 if third else 7) + "|")
    for task, modes in TASKS.items():
        if arguments.only and not task.startswith(arguments.only):
            continue
        rounds = []
        for _ in range(arguments.rounds):
            rounds.append([max(rate(python, task, mode) for mode in modes)
                           for python in (arguments.ours, arguments.old)])
            if third and len(modes) > 1:
                rounds[-1].append(rate(arguments.torch, f"torch-{task}", 0))
        best = [max(r[k] for r in rounds) for k in range(len(rounds[0]))]

        def beside(k):
            ratios = sorted(r[0][0] / r[k][0] for r in rounds)
            return f"{best[k][0]:,.0f} | {best[0][0] / best[k][0]:.2f} | {ratios[0]:.2f} to {ratios[-1]:.2f} |"

        print(f"| {task} | {best[0][0]:,.0f} | {beside(1)} {best[0][1]:.0f} | {best[1][1]:.0f} |"
              + (f" {beside(2)}" if len(best) > 2 else ""), flush=True)


if __name__ == "__main__":
    main()
