#!/usr/bin/env python3
"""The tasks of gpu.cc in PyTorch on the same data. Prints units a second, as JSON.

The tree-LSTM twice: tree by tree, as one writes it, and all trees of an update level by level, as one
writes it when that is too slow. The others with nn.LSTM, which is cuDNN's on a GPU. Samples come in the same
order as in gpu.cc, updates and clipping are the same, and so is the number of threads.
"""

import argparse
import json
import sys
import time

try:
    import torch
    from torch import nn
    from torch.nn.utils import rnn
except ImportError:
    sys.exit("skipped: there is no PyTorch")

WORD = 128
CLIP = 5.0  # the largest norm of all gradients together, as our trainers have it


class TreeLstm(nn.Module):
    """The cell of benchmarks/training/tree_cells.cc, on any number of nodes at a time."""

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

    def join(self, left, right):
        (hl, cl), (hr, cr) = left, right
        i, fl, fr, o, u = self.inner(torch.cat([hl, hr], -1)).chunk(5, -1)
        c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * cl + torch.sigmoid(fr) * cr
        return torch.sigmoid(o) * torch.tanh(c), c

    def loss(self, h, labels):
        return nn.functional.cross_entropy(self.output(h), labels, reduction="sum")

    def tree_by_tree(self, trees, device):
        loss = 0
        for tree in trees:
            states = []
            for _, word, left, right in tree:
                if left < 0:
                    states.append(self.leaves(torch.tensor([word], device=device)))
                else:
                    states.append(self.join(states[left], states[right]))
            h = torch.cat([h for h, _ in states])
            loss = loss + self.loss(h, torch.tensor([n[0] for n in tree], device=device))
        return loss

    def by_levels(self, trees, device):
        """All leaves, then all nodes whose operands are there; rows of `h` in that order."""
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
        labels, row = [], 0
        for level in levels:
            for t, k in level:
                rows[t][k] = row
                row += 1
                labels.append(trees[t][k][0])
        h, c = self.leaves(torch.tensor([trees[t][k][1] for t, k in levels[0]], device=device))
        for level in levels[1:]:
            left = torch.tensor([rows[t][trees[t][k][2]] for t, k in level], device=device)
            right = torch.tensor([rows[t][trees[t][k][3]] for t, k in level], device=device)
            more_h, more_c = self.join((h[left], c[left]), (h[right], c[right]))
            h, c = torch.cat([h, more_h]), torch.cat([c, more_c])
        return self.loss(h, torch.tensor(labels, device=device))


class Tagger(nn.Module):
    def __init__(self, words, hidden=256, layer=32, tags=5):
        super().__init__()
        self.words = nn.Embedding(words, WORD)
        self.lstm = nn.LSTM(WORD, hidden, bidirectional=True)
        self.hidden = nn.Linear(2 * hidden, layer, bias=False)
        self.output = nn.Linear(layer, tags, bias=False)

    def loss(self, sentences, device):
        words = [torch.tensor(w) for w, _ in sentences]
        tags = [torch.tensor(t) for _, t in sentences]
        x = rnn.pack_sequence(words, enforce_sorted=False).to(device)
        y = rnn.pack_sequence(tags, enforce_sorted=False).to(device)
        states, _ = self.lstm(rnn.PackedSequence(self.words(x.data), x.batch_sizes, x.sorted_indices,
                                                 x.unsorted_indices))
        scores = self.output(torch.tanh(self.hidden(states.data)))
        return nn.functional.cross_entropy(scores, y.data, reduction="sum")


class LanguageModel(nn.Module):
    def __init__(self, words, hidden=1024):
        super().__init__()
        self.words = nn.Embedding(words, WORD)
        self.lstm = nn.LSTM(WORD, hidden)
        self.output = nn.Linear(hidden, words)

    def loss(self, before, words, device):
        """Padding is -1."""
        states, _ = self.lstm(self.words(before.to(device)))
        scores = self.output(states).flatten(0, 1)
        return nn.functional.cross_entropy(scores, words.to(device).flatten(), reduction="sum", ignore_index=-1)


def padded(sentences, start):
    """(words before, words, how many) of a minibatch."""
    words = rnn.pad_sequence([torch.tensor(s) for s in sentences], padding_value=-1)
    before = torch.cat([torch.full((1, len(sentences)), start), words[:-1].clamp(min=0)])
    return before, words, sum(len(s) for s in sentences)


def rate(model, updates, seconds, device):
    """Units a second of `updates`, an endless run of (loss, units); a quarter of the time more is not counted."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def wait():
        if device.type == "cuda":
            torch.cuda.synchronize()
        return time.monotonic()

    units, begin, start = 0, None, wait()
    for loss, count in updates:
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        units += count
        if begin is None and time.monotonic() >= start + 0.25 * seconds:
            begin, units = wait(), 0
        elif begin is not None and time.monotonic() >= begin + seconds:
            return units / (wait() - begin)
    return 0


def groups(samples, size):
    k = 0
    while True:
        yield [samples[(k + j) % len(samples)] for j in range(size)]
        k += size


def measure(data, device, seconds, only):
    """Yields (task, units a second)."""
    torch.manual_seed(1)
    trees = TreeLstm(data["tree_words"]).to(device)
    tagger = Tagger(data["sentence_words"]).to(device)
    lm = LanguageModel(data["text_words"]).to(device)
    text = [padded(minibatch, data["text_words"] - 1) for minibatch in data["minibatches"]]
    tasks = {
        "tree, tree by tree": (trees, lambda g: (lambda: trees.tree_by_tree(g, device), len(g)), data["trees"], 16),
        "tree, by levels": (trees, lambda g: (lambda: trees.by_levels(g, device), len(g)), data["trees"], 256),
        "bilstm": (tagger, lambda g: (lambda: tagger.loss(g, device), sum(len(w) for w, _ in g)), data["sentences"], 64),
        "lm": (lm, lambda g: (lambda: lm.loss(g[0][0], g[0][1], device), g[0][2]), text, 1),
    }  # fmt: skip
    for name, (model, update, samples, size) in tasks.items():
        if not only or name.startswith(only):
            yield name, rate(model, map(update, groups(samples, size)), seconds, device)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="what bench-gpu --write-data wrote")
    parser.add_argument("--seconds", type=float, default=10, help="for each task")
    parser.add_argument("--tf32", action="store_true", help="products of ten bits, as the comparison allows PyTorch")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--threads", type=int, default=1, help="of the CPU; ours has one")
    parser.add_argument("--task", choices=["tree", "bilstm", "lm"], help="only this one")
    parser.add_argument("--json", help="write what is known to this file, after each figure")
    arguments = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = arguments.tf32
    with open(arguments.data, encoding="utf-8") as file:
        data = json.load(file)
    torch.set_num_threads(arguments.threads)
    figures = {}
    for name, figure in measure(data, torch.device(arguments.device), arguments.seconds, arguments.task):
        figures[name] = figure
        known = json.dumps({"torch": torch.__version__, "threads": arguments.threads, "figures": figures}, indent=1)
        if arguments.json:
            with open(arguments.json, "w", encoding="utf-8") as file:
                file.write(known + "\n")
    print(known)


if __name__ == "__main__":
    main()
