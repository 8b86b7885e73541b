#!/usr/bin/env python3
"""Compares the training of a transformer encoder to PyTorch, on one thread and in one run.

    cmake --build build/release --target bench-transformer
    python3 benchmarks/transformer.py --build build/release --text wikitext2/valid.txt

bench-transformer and torch.nn.TransformerEncoder alternate, with sentences of equal lengths, 64 per update; PyTorch
uses padding and masks. The fastest of all rounds counts, in CPU time of the thread. A ratio above 1 means that ours is
faster. PyTorch (any version, CPU only) is needed for nothing else.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

WORDS, TAGS, SIZE, HIDDEN, LAYERS, HEADS = 10000, 64, 256, 1024, 4, 4


def ours(program, options):
    """Figures of bench-transformer."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "figures.json")
        subprocess.run([program, *options, "--json", path], check=True, stdout=subprocess.DEVNULL)
        return json.loads(path.read_text())


def theirs(torch, lengths, together, rounds):
    """Words per second of PyTorch for sentences of these lengths."""
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(SIZE, HEADS, HIDDEN, dropout=0.0, batch_first=True)
    model = nn.ModuleDict(
        {
            "embedding": nn.Embedding(WORDS, SIZE, sparse=True),
            "encoder": nn.TransformerEncoder(layer, LAYERS),
            "output": nn.Linear(SIZE, TAGS),
        }
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    position = torch.randn(max(lengths), SIZE)
    batches = []
    for first in range(0, len(lengths), together):
        own = torch.tensor(lengths[first : first + together])
        padding = torch.arange(int(own.max()))[None, :] >= own[:, None]
        words = torch.randint(WORDS, padding.shape)
        batches.append((words, (words % TAGS).masked_fill(padding, -100), padding))

    def train():
        for words, tags, padding in batches:
            optimizer.zero_grad()
            x = model["embedding"](words) + position[: words.shape[1]]
            scores = model["output"](model["encoder"](x, src_key_padding_mask=padding))
            nn.functional.cross_entropy(scores.view(-1, TAGS), tags.view(-1), reduction="sum").backward()
            optimizer.step()

    best = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        train()
        best = min(best, time.thread_time() - start)
    return sum(lengths) / best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--text", default="", help="whose sentences' lengths count")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--updates", type=int, default=4)
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError as e:
        print(f"skipped: {e}", file=sys.stderr)
        return 0
    torch.set_num_threads(1)
    program = pathlib.Path(arguments.build, "benchmarks", "bench-transformer")
    options = ["--rounds", str(arguments.rounds), "--updates", str(arguments.updates)]
    options += ["--text", arguments.text] if arguments.text else []
    print(f"{'64 sentences an update':30} {'ours, words/s':>14} {'PyTorch':>10} {'ratio':>7}")
    for order in ("by length", "random"):
        mine = other = 0
        for _ in range(arguments.turns):
            figures = ours(program, options + (["--by-length"] if order == "by length" else []))
            mine = max(mine, figures["words_per_second"])
            other = max(other, theirs(torch, figures["lengths"], figures["together"], arguments.rounds))
        print(f"{order:30} {mine:14.0f} {other:10.0f} {mine / other:7.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
