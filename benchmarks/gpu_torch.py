#!/usr/bin/env python3
"""The tasks of gpu.cc in PyTorch on the same data. Prints units per second and memory, as JSON.

Each figure is measured twice. `as written`: every update builds its indices and copies them to the device. `prepared`:
indices of some groups of samples are on the device in advance and reused, which is impossible for new data.

For 16 trees, the tree-LSTM computes tree by tree, the usual way to write it, `prepared` with all leaves of a tree at
once; for more trees level by level, the usual optimization. The other tasks use nn.LSTM, which is cuDNN's on a GPU. The
order of samples, updates, clipping and the number of threads are those of gpu.cc.
"""

import argparse
import contextlib
import dataclasses
import itertools
import json
import sys
import time
from collections.abc import Callable

BEGIN = time.monotonic()  # importing PyTorch is slow
try:
    import torch
    from torch import nn
    from torch.nn.utils import rnn
except ImportError:
    sys.exit("skipped: there is no PyTorch")

WORD = 128
CLIP = 5.0  # maximum norm of all gradients together, as in our trainers


class TreeLstm(nn.Module):
    """The cell of benchmarks/training/tree_cells.cc, for any number of nodes at a time."""

    def __init__(self, words, hidden=128, labels=5):
        super().__init__()
        self.words = nn.Embedding(words, WORD)
        self.leaf = nn.Linear(WORD, 3 * hidden)
        self.inner = nn.Linear(2 * hidden, 5 * hidden)
        self.output = nn.Linear(hidden, labels, bias=False)

    def leaves(self, words):
        i, o, u = self.leaf(self.words(words)).chunk(3, -1)
        c = torch.sigmoid(i) * torch.tanh(u)
        return torch.sigmoid(o) * torch.tanh(c), c

    def join(self, h, c):
        """`h` and `c`: concatenations of the left and right child."""
        i, fl, fr, o, u = self.inner(h).chunk(5, -1)
        left, right = c.chunk(2, -1)
        c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * left + torch.sigmoid(fr) * right
        return torch.sigmoid(o) * torch.tanh(c), c

    def loss(self, h, labels):
        return nn.functional.cross_entropy(self.output(h), labels, reduction="sum")

    def tree_by_tree(self, trees):
        """(nodes, states of the leaves in order, labels) of each tree."""
        loss = 0
        for tree, leaves, labels in trees:
            states = []
            for _, _, left, right in tree:
                if left < 0:
                    states.append(next(leaves))
                else:
                    states.append(self.join(*(torch.cat(pair, -1) for pair in zip(states[left], states[right]))))
            loss = loss + self.loss(torch.cat([h for h, _ in states]), labels)
        return loss

    def prepare_trees(self, trees, device):
        return [
            (tree, torch.tensor([n[1] for n in tree if n[2] < 0], device=device),
             torch.tensor([n[0] for n in tree], device=device))
            for tree in trees
        ]  # fmt: skip

    def prepared_trees(self, prepared):
        def at_once(words):
            return zip(*(x.split(1) for x in self.leaves(words)))

        return self.tree_by_tree((tree, at_once(words), labels) for tree, words, labels in prepared)

    def trees_as_written(self, trees, device):
        def one_by_one(tree):
            return (self.leaves(torch.tensor([n[1]], device=device)) for n in tree if n[2] < 0)

        return self.tree_by_tree((t, one_by_one(t), torch.tensor([n[0] for n in t], device=device)) for t in trees)

    def prepare_levels(self, trees, device):
        """All leaves, then levels of nodes whose operands are complete: words, rows of the operands, labels."""
        levels, rows = [], []
        for t, tree in enumerate(trees):
            heights = []
            for k, (_, _, left, right) in enumerate(tree):
                height = 0 if left < 0 else 1 + max(heights[left], heights[right])
                heights.append(height)
                if height == len(levels):
                    levels.append([])
                levels[height].append((t, k))
            rows.append([0] * len(tree))
        for row, (t, k) in enumerate(itertools.chain(*levels)):
            rows[t][k] = row
        words = [trees[t][k][1] for t, k in levels[0]]
        operands = [[rows[t][child] for t, k in level for child in trees[t][k][2:]] for level in levels[1:]]
        labels = [trees[t][k][0] for t, k in itertools.chain(*levels)]
        return (torch.tensor(words, device=device), [torch.tensor(x, device=device) for x in operands],
                torch.tensor(labels, device=device))  # fmt: skip

    def levels(self, prepared):
        words, operands, labels = prepared
        h, c = self.leaves(words)
        for rows in operands:
            pairs = (x.index_select(0, rows).view(len(rows) // 2, -1) for x in (h, c))
            more_h, more_c = self.join(*pairs)
            h, c = torch.cat([h, more_h]), torch.cat([c, more_c])
        return self.loss(h, labels)


class Tagger(nn.Module):
    def __init__(self, words, hidden=256, layer=32, tags=5):
        super().__init__()
        self.words = nn.Embedding(words, WORD)
        self.lstm = nn.LSTM(WORD, hidden, bidirectional=True)
        self.hidden = nn.Linear(2 * hidden, layer, bias=False)
        self.output = nn.Linear(layer, tags, bias=False)

    def prepare(self, sentences, device):
        words = [torch.tensor(w) for w, _ in sentences]
        tags = [torch.tensor(t) for _, t in sentences]
        return [rnn.pack_sequence(x, enforce_sorted=False).to(device) for x in (words, tags)]

    def loss(self, prepared):
        x, y = prepared
        states, _ = self.lstm(x._replace(data=self.words(x.data)))
        scores = self.output(torch.tanh(self.hidden(states.data)))
        return nn.functional.cross_entropy(scores, y.data, reduction="sum")


class LanguageModel(nn.Module):
    def __init__(self, words, hidden=1024):
        super().__init__()
        self.words = nn.Embedding(words, WORD)
        self.lstm = nn.LSTM(WORD, hidden)
        self.output = nn.Linear(hidden, words)

    def prepare(self, minibatches, device):
        before, words, _ = minibatches[0]
        return before.to(device), words.to(device)

    def loss(self, prepared):
        """Padding is -1."""
        before, words = prepared
        states, _ = self.lstm(self.words(before))
        scores = self.output(states).flatten(0, 1)
        return nn.functional.cross_entropy(scores, words.flatten(), reduction="sum", ignore_index=-1)


def padded(sentences, start):
    """(previous words, words, number of words) of a minibatch."""
    words = rnn.pad_sequence([torch.tensor(s) for s in sentences], padding_value=-1)
    before = torch.cat([torch.full((1, len(sentences)), start), words[:-1].clamp(min=0)])
    return before, words, sum(len(s) for s in sentences)


@dataclasses.dataclass
class Figure:
    """Benchmark task: a name in gpu.cc, and the functions that compute the loss of a group of samples."""

    name: str
    model: Callable
    samples: list
    size: int  # samples per update
    count: Callable  # units in a group
    prepare: Callable
    loss: Callable  # of prepared samples
    as_written: Callable = None  # if it differs from `loss` of samples prepared in the update
    precision: str = "float32"


def figures_of(data):
    text = [padded(minibatch, data["text_words"] - 1) for minibatch in data["minibatches"]]

    def tree(size, *how):
        return Figure(f"tree {size}", lambda: TreeLstm(data["tree_words"]), data["trees"], size, len, *how)

    def bilstm(size):
        return Figure(f"bilstm {size}", lambda: Tagger(data["sentence_words"]), data["sentences"], size,
                      lambda g: sum(len(words) for words, _ in g), Tagger.prepare, Tagger.loss)  # fmt: skip

    def lm(precision):
        return Figure(f"lm {precision}", lambda: LanguageModel(data["text_words"]), text, 1, lambda g: g[0][2],
                      LanguageModel.prepare, LanguageModel.loss, precision=precision)  # fmt: skip

    return [
        tree(16, TreeLstm.prepare_trees, TreeLstm.prepared_trees, TreeLstm.trees_as_written),
        *(tree(size, TreeLstm.prepare_levels, TreeLstm.levels) for size in (64, 256, 1024)),
        *(bilstm(size) for size in (16, 64, 256)),
        *(lm(precision) for precision in ("float32", "tf32", "bf16")),
    ]


def groups(samples, size):
    for k in itertools.count(step=size):
        yield [samples[(k + j) % len(samples)] for j in range(size)]


def rate(figure, model, updates, seconds, device):
    """Units per second over `updates`, an endless iterator of (loss, units); excludes a warm-up of at least two updates and
    a quarter of the time."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, foreach=True)
    half = figure.precision == "bf16"

    def wait():
        if device.type == "cuda":
            torch.cuda.synchronize()
        return time.monotonic()

    units, begin, start = 0, None, wait()
    for k, (loss, count) in enumerate(updates):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, torch.bfloat16) if half else contextlib.nullcontext():
            value = loss()
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP, foreach=True)
        optimizer.step()
        units += count
        if begin is None and k > 0 and time.monotonic() >= start + 0.25 * seconds:
            begin, units = wait(), 0
        elif begin is not None and time.monotonic() >= begin + seconds:
            return units / (wait() - begin)
    return 0


def measure(figure, prepared, seconds, device):
    """Units per second, and peak memory of tensors in MB."""
    on_gpu = device.type == "cuda"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = figure.precision == "tf32"
    torch.manual_seed(1)
    before = 0
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    model = figure.model().to(device)
    each = groups(figure.samples, figure.size)
    if prepared:
        few = max(2, min(16, 2048 // figure.size))
        ready = [(figure.prepare(model, g, device), figure.count(g)) for g in itertools.islice(each, few)]
        updates = ((lambda p=p: figure.loss(model, p), count) for p, count in itertools.cycle(ready))
    else:
        def loss(g):
            if figure.as_written:
                return figure.as_written(model, g, device)
            return figure.loss(model, figure.prepare(model, g, device))

        updates = ((lambda g=g: loss(g), figure.count(g)) for g in each)
    units = rate(figure, model, updates, seconds, device)
    return {"rate": units, "mb": (torch.cuda.max_memory_allocated() - before) / 1e6 if on_gpu else 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="what bench-gpu --write-data wrote")
    parser.add_argument("--seconds", type=float, default=10, help="the most for each figure")
    parser.add_argument("--limit", type=float, help="seconds for everything; figures get less time, to end by then")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--threads", type=int, default=1, help="of the CPU; ours has one")
    parser.add_argument("--task", choices=["tree", "bilstm", "lm"], default="", help="only this one")
    parser.add_argument("--json", help="write what is known to this file, after each figure")
    arguments = parser.parse_args()
    with open(arguments.data, encoding="utf-8") as file:
        data = json.load(file)
    torch.set_num_threads(arguments.threads)
    chosen = [f for f in figures_of(data) if f.name.startswith(arguments.task)]
    known = {"torch": torch.__version__, "threads": arguments.threads, "figures": {f.name: {} for f in chosen}}
    status = 0
    columns = [(f, column) for f in chosen for column in ("prepared", "as written")]
    for k, (figure, column) in enumerate(columns):
        seconds = arguments.seconds
        if arguments.limit:  # a third of the time is for warm-up
            share = (BEGIN + arguments.limit - time.monotonic()) / (len(columns) - k)
            seconds = max(0, min(seconds, share / 1.5))
        try:
            outcome = measure(figure, column == "prepared", seconds, torch.device(arguments.device))
        except RuntimeError as error:  # other figures may succeed
            print(f"{figure.name}, {column}: {error}", file=sys.stderr)
            outcome, status = {}, 1
        known["figures"][figure.name][column] = outcome
        if arguments.json:
            with open(arguments.json, "w", encoding="utf-8") as file:
                json.dump(known, file, indent=1)
    print(json.dumps(known, indent=1))
    return status


if __name__ == "__main__":
    sys.exit(main())
