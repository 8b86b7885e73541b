#!/usr/bin/env python3
"""The figures that tools/gpu has measured, as one table of ratios."""

import json
import pathlib
import sys


def read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # nothing, or not all of it: the program was stopped
        return {}


def main():
    folder = pathlib.Path(sys.argv[1])
    ours = read(folder / "ours.json")
    ours["lm, TF32"] = read(folder / "ours-tf32.json").get("lm", {})
    float32 = read(folder / "torch.json").get("figures", {})
    tf32 = read(folder / "torch-tf32.json").get("figures", {})
    cpu = f"ours, one thread of the CPU, for {ours.get('compiled_for', '?')}"
    rows = [
        # task, ours, against, required, aim
        ("tree-LSTM", "tree", float32.get("tree, tree by tree"), "PyTorch, tree by tree", 10, 50),
        ("tree-LSTM", "tree", float32.get("tree, by levels"), "PyTorch, by levels", 1, 3),
        ("BiLSTM", "bilstm", float32.get("bilstm"), "PyTorch, cuDNN", 0.5, 1),
        ("LSTM LM", "lm", float32.get("lm"), "PyTorch, cuDNN", 0.8, 1.1),
        ("LSTM LM, TF32", "lm, TF32", tf32.get("lm"), "PyTorch, cuDNN, TF32", 0.8, 1.1),
        *((name, key, ours.get(key, {}).get("CPU"), cpu, 5, 20)
          for name, key in (("tree-LSTM", "tree"), ("BiLSTM", "bilstm"), ("LSTM LM", "lm"))),
    ]  # fmt: skip
    print("\n| task | units/s | against | units/s | ratio | required | aim |\n|---|---|---|---|---|---|---|")
    for name, key, other, against, required, aim in rows:
        mine = next((rate for device, rate in ours.get(key, {}).items() if device != "CPU"), None)
        ratio = f"{mine / other:.2f}" if mine and other else "not measured"
        cells = [f"{x:,.0f}" if x else "-" for x in (mine, other)]
        print(f"| {name} | {cells[0]} | {against} | {cells[1]} | {ratio} | {required} | {aim} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
