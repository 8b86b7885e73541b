#!/usr/bin/env python3
"""Compares convolution and pooling to PyTorch, on one thread and in one run.

    cmake --build build/release --target bench-convolution
    python3 benchmarks/convolution.py --build build/release

bench-convolution and PyTorch alternate; the fastest of all rounds counts, in CPU time of the thread. A ratio above 1
means that ours is faster. PyTorch (any version, CPU only) is needed for nothing else.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

OPERATIONS = ("conv2d", "maxpooling2d")


def ours(program, rounds):
    """Figures of bench-convolution."""
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


def theirs(torch, layer, rounds):
    """Seconds of PyTorch for the sizes of bench-convolution."""
    image = torch.rand(layer["batch"], layer["in"], layer["side"], layer["side"], requires_grad=True)
    window = layer["window"]
    weights = torch.rand(layer["out"], layer["in"], window, window, requires_grad=True)
    functions = {
        "conv2d": lambda: torch.nn.functional.conv2d(
            image, weights, stride=layer["stride"], padding=window // 2
        ),
        "maxpooling2d": lambda: torch.nn.functional.max_pool2d(image, 2),
    }

    def both(function):
        image.grad = weights.grad = None
        function().sum().backward()

    times = {}
    for name, function in functions.items():
        forward = fastest(rounds, lambda: function().sum())  # noqa: B023, ours includes the sum
        all_of_it = fastest(rounds, lambda: both(function))  # noqa: B023
        times[name] = {"forward": forward, "backward": all_of_it - forward}
    return times


def merged(best, new):
    """Smaller times of both."""
    return {
        name: {part: min(best[name][part], new[name][part]) for part in best[name]}
        for name in OPERATIONS
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="with bench-convolution")
    parser.add_argument("--rounds", type=int, default=10, help="a turn")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("PyTorch is not installed")
    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}; milliseconds of one thread, forward / backward")
    program = (options.build / "benchmarks" / "bench-convolution").resolve()

    layers, mine, other = [], [], []
    for _ in range(options.turns):
        layers = ours(program, options.rounds)
        times = [theirs(torch, layer, options.rounds) for layer in layers]
        mine = [merged(a, b) for a, b in zip(mine or layers, layers)]
        other = [merged(a, b) for a, b in zip(other or times, times)]

    for name in OPERATIONS:
        print(f"\n{name:38}{'ours':>16}{'PyTorch':>18}{'ratio of both':>16}{'forward':>9}")
        for layer, a, b in zip(layers, mine, other):
            a, b = a[name], b[name]
            ratio = (b["forward"] + b["backward"]) / (a["forward"] + a["backward"])
            print(
                f"{layer['name']:38}{1e3 * a['forward']:8.2f} /{1e3 * a['backward']:7.2f}"
                f"{1e3 * b['forward']:9.2f} /{1e3 * b['backward']:7.2f}"
                f"{ratio:15.2f}{b['forward'] / a['forward']:9.2f}"
            )


if __name__ == "__main__":
    main()
