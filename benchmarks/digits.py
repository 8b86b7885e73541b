#!/usr/bin/env python3
"""Compares the training of ten convolutions to PyTorch, on one thread and in one run.

    cmake --build build/release --target bench-digits
    python3 benchmarks/digits.py --build build/release

bench-digits and the same network in PyTorch alternate: 28x28 pictures, 64 per update, residual blocks with
normalization per picture. The fastest of all rounds counts, in CPU time of the thread. A ratio above 1 means that ours
is faster. PyTorch (any version, CPU only) is needed for nothing else.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

SIDE, LABELS, TOGETHER = 28, 10, 64


def ours(program, options):
    """Figures of bench-digits."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "figures.json")
        subprocess.run([program, *options, "--json", path], check=True, stdout=subprocess.DEVNULL)
        return json.loads(path.read_text())["pictures_per_second"]


def theirs(torch, channels, updates, rounds, batch_norm):
    """Pictures per second of PyTorch."""
    nn = torch.nn

    def norm(size):
        return nn.BatchNorm2d(size) if batch_norm else nn.GroupNorm(1, size)

    def convolution(size_in, size_out, stride=1):
        layer = nn.Conv2d(size_in, size_out, 3, stride, padding=1, bias=False)
        return nn.Sequential(layer, norm(size_out))

    class Block(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.inner, self.outer = convolution(size, size), convolution(size, size)

        def forward(self, x):
            return torch.relu(x + self.outer(torch.relu(self.inner(x))))

    body = nn.Sequential(
        convolution(1, channels),
        nn.ReLU(),
        nn.MaxPool2d(2),
        Block(channels),
        Block(channels),
        convolution(channels, 2 * channels, 2),
        nn.ReLU(),
        Block(2 * channels),
        Block(2 * channels),
        nn.Flatten(2),
    )
    output = nn.Linear(4 * channels, LABELS)
    optimizer = torch.optim.SGD([*body.parameters(), *output.parameters()], lr=1e-3)
    pixels = torch.randn(TOGETHER, 1, SIDE, SIDE)
    labels = torch.arange(TOGETHER) % LABELS

    def train():
        for _ in range(updates):
            optimizer.zero_grad()
            x = body(pixels)
            scores = output(torch.cat([x.mean(2), x.max(2).values], 1))
            nn.functional.cross_entropy(scores, labels).backward()
            optimizer.step()

    best = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        train()
        best = min(best, time.thread_time() - start)
    return updates * TOGETHER / best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=3)
    parser.add_argument("--channels", type=int, nargs="+", default=[16, 24, 32])
    parser.add_argument("--batch-norm", action="store_true", help="of PyTorch, in place of the same norm")
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError as e:
        print(f"skipped: {e}", file=sys.stderr)
        return 0
    torch.set_num_threads(1)
    program = pathlib.Path(arguments.build, "benchmarks", "bench-digits")
    print(f"{'64 pictures an update':24} {'ours, pictures/s':>16} {'PyTorch':>10} {'ratio':>7}")
    for channels in arguments.channels:
        options = ["--channels", channels, "--rounds", arguments.rounds, "--updates", arguments.updates]
        mine = other = 0
        for _ in range(arguments.turns):
            mine = max(mine, ours(program, [str(o) for o in options]))
            args = (channels, arguments.updates, arguments.rounds, arguments.batch_norm)
            other = max(other, theirs(torch, *args))
        print(f"{f'{channels} channels':24} {mine:16.0f} {other:10.0f} {mine / other:7.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
