#!/usr/bin/env python3
"""Compares dependency trees to supar, on one thread and in one run.

    cmake --build build/release --target bench-dependency-trees
    pip install --no-deps --target build/supar supar==1.1.4
    python3 benchmarks/dependency_trees.py --build build/release --supar build/supar

bench-dependency-trees and supar's DependencyCRF and MatrixTree alternate; the fastest of all rounds counts, in CPU time
of the thread. A ratio above 1 means that ours is faster. PyTorch (any version, CPU only) and supar, of which only the
module structs is loaded, are needed for nothing else.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import types


def ours(program, rounds):
    """Figures of bench-dependency-trees."""
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


def supar_trees(folder):
    """supar's module of trees, without the parsers and their dependencies."""
    for name in ("supar", "supar.utils"):
        package = types.ModuleType(name)
        package.__path__ = [str(pathlib.Path(folder, *name.split(".")))]
        sys.modules[name] = package
    from supar.structs import tree

    return tree


def theirs(torch, tree, task, rounds):
    """Seconds of supar for equally many sentences of equal length."""
    structure = tree.DependencyCRF if task["projective"] else tree.MatrixTree
    count, nodes = task["sentences"], task["words"] + 1
    scores = (4 * torch.randn(count, nodes, nodes)).requires_grad_()
    lens = torch.full((count,), task["words"])

    def loss():
        scores.grad = None
        structure(scores, lens).log_partition.sum().backward()

    def best():
        structure(scores.detach(), lens).argmax

    return {"loss": fastest(rounds, loss), "best": fastest(max(1, rounds // 5), best)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--supar", default="build/supar")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    try:
        import torch

        tree = supar_trees(arguments.supar)
    except ImportError as e:
        print(f"skipped: {e}", file=sys.stderr)
        return 0
    torch.set_num_threads(1)
    program = pathlib.Path(arguments.build, "benchmarks", "bench-dependency-trees")
    best = {}
    for _ in range(arguments.turns):
        for task in ours(program, arguments.rounds):
            both = {"ours": task, "theirs": theirs(torch, tree, task, arguments.rounds)}
            for who, figures in both.items():
                for what in ("loss", "best"):
                    key = task["name"], what, who
                    best[key] = min(best.get(key, float("inf")), figures[what])
    print(f"{'32 sentences':24} {'':20} {'ours, ms':>10} {'supar':>10} {'ratio':>7}")
    for name, what in dict.fromkeys((name, what) for name, what, _ in best):
        mine, other = best[name, what, "ours"], best[name, what, "theirs"]
        label = {"loss": "log Z and gradient", "best": "best trees"}[what]
        print(f"{name:24} {label:20} {1e3 * mine:10.3f} {1e3 * other:10.3f} {other / mine:7.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
