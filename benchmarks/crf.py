#!/usr/bin/env python3
"""Compares linear-chain CRFs to pytorch-crf, on one thread and in one run.

    cmake --build build/release --target bench-crf
    python3 benchmarks/crf.py --build build/release

bench-crf and pytorch-crf alternate; the fastest of all rounds counts, in CPU time of the thread. A ratio above 1 means
that ours is faster. PyTorch (any version, CPU only) and pytorch-crf are needed for nothing else.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time


def ours(program, rounds):
    """Figures of bench-crf."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "figures.json")
        command = [program, "--rounds", str(rounds), "--json", path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(path.read_text())


def fastest(rounds, run):
    best = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        run()
        best = min(best, time.thread_time() - start)
    return best


def theirs(torch, torchcrf, task, rounds):
    """Seconds of pytorch-crf for the sentences of bench-crf, padded."""
    lengths, tags = task["lengths"], task["tags"]
    longest = max(lengths)
    crf = torchcrf.CRF(tags, batch_first=True)
    emissions = torch.randn(len(lengths), longest, tags, requires_grad=True)
    gold = torch.randint(tags, (len(lengths), longest))
    mask = torch.arange(longest)[None, :] < torch.tensor(lengths)[:, None]

    def loss():
        crf.zero_grad()
        emissions.grad = None
        (-crf(emissions, gold, mask=mask, reduction="sum")).backward()

    def best():
        with torch.no_grad():
            crf.decode(emissions, mask=mask)

    return {"loss": fastest(rounds, loss), "best": fastest(rounds, best)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    try:
        import torch
        import torchcrf
    except ImportError as e:
        print(f"skipped: {e}", file=sys.stderr)
        return 0
    torch.set_num_threads(1)
    program = pathlib.Path(arguments.build, "benchmarks", "bench-crf")
    best = {}
    for _ in range(arguments.turns):
        for task in ours(program, arguments.rounds):
            both = {"ours": task, "theirs": theirs(torch, torchcrf, task, arguments.rounds)}
            for who, figures in both.items():
                for what in ("loss", "best"):
                    key = task["name"], what, who
                    best[key] = min(best.get(key, float("inf")), figures[what])
    print(f"{'32 sentences':28} {'':18} {'ours, ms':>10} {'pytorch-crf':>12} {'ratio':>7}")
    for name, what in dict.fromkeys((name, what) for name, what, _ in best):
        mine, other = best[name, what, "ours"], best[name, what, "theirs"]
        label = {"loss": "loss and gradient", "best": "best tags"}[what]
        print(f"{name:28} {label:18} {1e3 * mine:10.3f} {1e3 * other:12.3f} {other / mine:7.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
