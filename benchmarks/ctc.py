#!/usr/bin/env python3
"""Compares connectionist temporal classification to PyTorch, on one thread and in one run.

    cmake --build build/release --target bench-ctc
    python3 benchmarks/ctc.py --build build/release

bench-ctc and torch.nn.functional.ctc_loss alternate; the fastest of all rounds counts, in CPU time of the thread. A
ratio above 1 means that ours is faster. PyTorch (any version, CPU only) is needed for nothing else.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time


def ours(program, rounds):
    """Figures of bench-ctc."""
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


def theirs(torch, task, rounds):
    """Seconds of PyTorch for the utterances of bench-ctc, padded."""
    frames, labels = torch.tensor(task["frames"]), torch.tensor(task["labels"])
    symbols, count = task["symbols"], len(frames)
    scores = torch.randn(int(frames.max()), count, symbols, requires_grad=True)
    targets = torch.randint(1, symbols, (count, int(labels.max())))

    def loss(softmax):
        scores.grad = None
        log_probs = torch.nn.functional.log_softmax(scores, 2) if softmax else scores
        torch.nn.functional.ctc_loss(log_probs, targets, frames, labels, reduction="sum").backward()

    return {
        "loss": fastest(rounds, lambda: loss(False)),
        "with_softmax": fastest(rounds, lambda: loss(True)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError as e:
        print(f"skipped: {e}", file=sys.stderr)
        return 0
    torch.set_num_threads(1)
    program = pathlib.Path(arguments.build, "benchmarks", "bench-ctc")
    best = {}
    for _ in range(arguments.turns):
        for task in ours(program, arguments.rounds):
            both = {"ours": task, "theirs": theirs(torch, task, arguments.rounds)}
            for who, figures in both.items():
                for what in ("loss", "with_softmax"):
                    key = task["name"], what, who
                    best[key] = min(best.get(key, float("inf")), figures[what])
    print(f"{'32 utterances':36} {'':18} {'ours, ms':>10} {'PyTorch':>10} {'ratio':>7}")
    for name, what in dict.fromkeys((name, what) for name, what, _ in best):
        mine, other = best[name, what, "ours"], best[name, what, "theirs"]
        label = {"loss": "loss and gradient", "with_softmax": "with log_softmax"}[what]
        print(f"{name:36} {label:18} {1e3 * mine:10.3f} {1e3 * other:10.3f} {other / mine:7.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
