#!/usr/bin/env python3
"""The figures measured by tools/gpu, as tables of ratios."""

import json
import pathlib
import sys

COLUMNS = ("as written", "prepared")
# name of the figure, its description, and the required and the intended ratio
ROWS = [
    ("tree 16", "tree-LSTM, 16 trees, PyTorch's tree by tree", 10, 50),
    *((f"tree {n}", f"tree-LSTM, {n:,} trees, PyTorch's by levels", 1, 3) for n in (64, 256, 1024)),
    *((f"bilstm {n}", f"BiLSTM, {n} sentences", 0.5, 1) for n in (16, 64, 256)),
    *((f"columns {n}", f"BiLSTM over columns, {n} sentences", 0.5, 1) for n in (64, 256)),
    *((f"lm {p}", f"LSTM LM, 64 sentences, {p}", 0.8, 1.1) for p in ("float32", "tf32", "bf16")),
]


def read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # missing or incomplete: the program was stopped
        return {}


def number(x):
    return f"{x:,.0f}" if x else "-"


def ratio(mine, other):
    return f"{mine / other:.2f}" if mine and other else "not measured"


def main():
    folder = pathlib.Path(sys.argv[1])
    ours, torch = read(folder / "ours.json"), read(folder / "torch.json")

    def mine(name, what="rate"):
        return ours.get("figures", {}).get(name, {}).get(what)

    print("\nUnits a second, and the memory that they take of the GPU. The ratio is that to PyTorch's better column.\n")
    print("| task | ours | PyTorch, as written | PyTorch, prepared | ratio | required | aim | ours, MB | PyTorch, MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, what, required, aim in ROWS:
        figures = torch.get("figures", {}).get(name.replace("columns", "bilstm"), {})
        others = [figures.get(column, {}) for column in COLUMNS]
        best = max(others, key=lambda f: f.get("rate", 0))
        cells = [what, number(mine(name)), *(number(f.get("rate")) for f in others), ratio(mine(name), best.get("rate")),
                 required, aim, number(mine(name, "mb")), number(best.get("mb"))]  # fmt: skip
        print("|", " | ".join(map(str, cells)), "|")
    print(f"\n| task | GPU | one thread of the CPU, {ours.get('kernels', '?')} | ratio | required | aim |")
    print("|---|---|---|---|---|---|")
    for name in ("tree 256", "bilstm 64", "lm float32"):
        cpu = mine(f"{name}, CPU")
        print(f"| {name} | {number(mine(name))} | {number(cpu)} | {ratio(mine(name), cpu)} | 5 | 20 |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
