#!/usr/bin/env python3
"""Compares values and gradients of operations and models with PyTorch.

    cmake --build build/release --target oracle-values
    python3 tests/oracle/compare.py --values build/release/tests/oracle/oracle-values

Needs PyTorch (`pip install torch`), of any version since 2.0; without it one line says so. A case is
made of operands, which are drawn here, given to the program and to PyTorch, and of what PyTorch says
that comes out. Tensors here have the dimensions of the library and then the batch.
"""

import argparse
import math
import subprocess
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f"skipped: PyTorch cannot be imported: {error}")
    sys.exit(77)

import cases

# Largest difference in float, relative to values above one; in double a case has its own.
IN_FLOAT = 2e-4


def flat(t):
    """Column-major, batch elements one after another."""
    return t.detach().permute(*reversed(range(t.dim()))).reshape(-1).tolist()


def text_of(case, operands, weights):
    def numbers(values):
        return " ".join([str(len(values)), *(repr(float(v)) for v in values)])

    parts = [case.name, numbers(case.settings), str(len(operands))]
    for x in operands:
        parts.append(" ".join(map(str, [x.dim() - 1, *x.shape])))
        parts.append(" ".join(repr(v) for v in flat(x)))
    return "\n".join([*parts, numbers(flat(weights))]) + "\n"


def sizes_of(sizes):
    """Without trailing ones before the batch."""
    sizes, batch = list(sizes[:-1]), sizes[-1]
    while sizes and sizes[-1] == 1:
        sizes.pop()
    return [*sizes, batch]


def difference(ours, theirs):
    if len(ours) != len(theirs):
        return math.inf
    worst = 0.0
    for a, b in zip(ours, theirs):
        d = 0.0 if a == b else abs(a - b) / max(1.0, abs(a), abs(b))
        worst = max(worst, d if math.isfinite(d) else math.inf)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--values", required=True, help="the program oracle-values")
    parser.add_argument("--verbose", action="store_true", help="a line for each case")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with this in their names")
    options = parser.parse_args()

    torch.manual_seed(1)
    torch.set_num_threads(1)
    asked, expected = [], []
    for case in cases.all_cases(torch, F):
        if options.only not in case.name:
            continue
        operands = [case.draw(torch, shape) for shape in case.shapes]
        y = case.function(*operands)
        weights = (torch.rand(y.shape) + 0.25).double()
        (y * weights).sum().backward()
        gradients = [torch.zeros_like(x) if x.grad is None else x.grad for x in operands]
        asked.append(text_of(case, operands, weights))
        expected.append((case, list(y.shape), [flat(y), *map(flat, gradients)]))

    run = subprocess.run([options.values], input="".join(asked), capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{options.values}: {run.stderr.strip() or run.returncode}")
    lines = [[float(v) for v in line.split()] for line in run.stdout.split("\n")[:-1]]
    at, wrong = 0, []
    for case, sizes, theirs in expected:
        n = len(theirs)
        got, in_double, in_float = lines[at], lines[at + 1 : at + 1 + n], lines[at + 1 + n : at + 1 + 2 * n]
        at += 1 + 2 * n
        double_worst = max(map(difference, in_double, theirs))
        float_worst = max(map(difference, in_float, theirs))
        same = sizes_of([int(v) for v in got]) == sizes_of(sizes)
        ok = same and double_worst <= case.in_double and float_worst <= IN_FLOAT
        line = f"{case.name} {case.settings} of {case.shapes}: {double_worst:.1e}, in float {float_worst:.1e}"
        if not same:
            line += f", shapes {got} and {sizes}"
        if not ok:
            wrong.append(line)
        if options.verbose:
            print(line)
    if at != len(lines):
        sys.exit(f"{options.values} wrote {len(lines)} lines, not {at}")
    for line in wrong:
        print(f"differs from PyTorch: {line}")
    names = {case.name for case, _, _ in expected}
    models = {name for name in names if name.startswith("model_")}
    print(f"PyTorch {torch.__version__}: {len(expected)} cases of {len(names) - len(models)} operations "
          f"and {len(models)} models, {len(wrong)} differ")  # fmt: skip
    if options.only:
        return bool(wrong) or not names
    return bool(wrong) or len(names) - len(models) < 40 or len(models) < 4


if __name__ == "__main__":
    sys.exit(main())
