"""Compares span trees to supar's ConstituencyCRF, on one thread and in one run.

    cmake --build build/release --target bench-span-trees
    python3 -m pip install --no-deps --target /tmp/supar supar==1.1.4
    python3 benchmarks/span_trees.py --build build/release --supar /tmp/supar

bench-span-trees and supar alternate; the fastest of all rounds counts, in CPU time of the thread. A ratio above 1 means
that ours is faster. PyTorch (any version, CPU only) and the `structs` of supar are needed for nothing else; the rest of
supar and its dependencies are not loaded.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import types


def load_supar(folder):
    """ConstituencyCRF, without the parsers that supar's __init__ loads."""
    for name in ("supar", "supar.utils"):
        package = types.ModuleType(name)
        package.__path__ = [str(pathlib.Path(folder, *name.split(".")))]
        sys.modules[name] = package
    from supar.structs.tree import ConstituencyCRF

    return ConstituencyCRF


def ours(program, rounds):
    """Figures of bench-span-trees."""
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


def theirs(torch, crf, task, rounds):
    """Seconds of supar for the sentences of bench-span-trees, padded. Its spans are between word boundaries, with one
    label."""
    lengths, labels = torch.tensor(task["lengths"]), task["labels"]
    size = int(lengths.max()) + 1
    scores = torch.randn(len(lengths), size, size, labels, requires_grad=True)

    def of_spans():
        return scores.squeeze(-1) if labels == 1 else scores.logsumexp(-1)

    def gradients():
        scores.grad = None
        crf(of_spans(), lengths).log_partition.sum().backward()

    def best():
        spans = scores.detach().max(-1)[0]
        crf(spans.requires_grad_(), lengths).argmax

    return {"gradients": fastest(rounds, gradients), "best": fastest(rounds, best)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--supar", required=True, help="the folder that supar was installed into")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    try:
        import torch

        crf = load_supar(arguments.supar)
    except ImportError as e:
        print(f"skipped: {e}", file=sys.stderr)
        return 0
    torch.set_num_threads(1)
    program = pathlib.Path(arguments.build, "benchmarks", "bench-span-trees")
    best = {}
    for _ in range(arguments.turns):
        for task in ours(program, arguments.rounds):
            both = {"ours": task, "theirs": theirs(torch, crf, task, arguments.rounds)}
            for who, figures in both.items():
                for what in ("gradients", "best"):
                    key = task["name"], what, who
                    best[key] = min(best.get(key, float("inf")), figures[what])
    print(f"{'32 sentences':28} {'':28} {'ours, ms':>10} {'supar':>10} {'ratio':>7}")
    for name, what in dict.fromkeys((name, what) for name, what, _ in best):
        mine, other = best[name, what, "ours"], best[name, what, "theirs"]
        label = {"gradients": "log partition and gradients", "best": "best trees"}[what]
        print(f"{name:28} {label:28} {1e3 * mine:10.3f} {1e3 * other:10.3f} {other / mine:7.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
