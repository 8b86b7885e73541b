#!/usr/bin/env python3
"""Breaks guides in ways that a reader would trip over, and expects guide.py to say where."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# guide, text in it, what takes its place, part of what is said; "": nothing
BROKEN = [
    ("op", "before `DYNET_ELEMENTWISE(Round,`", "before `DYNET_ELEMENTWISE(Gone,`", "op.md:%d: 0 lines of kernels/cpu/elementwise.cc hold"),
    ("op", "before `DYNET_ELEMENTWISE(Round,`", "before `DYNET_ELEMENTWISE(`", "hold 'DYNET_ELEMENTWISE(', not one"),
    ("op", "`tests/ops/add_an_op_test.cc`, as it is:", "As in the test:", "the line above this block does not say where it goes"),
    ("op", "std::log1p(std::exp(-std::abs(x)))", "std::log(std::exp(x))", "tests/ops/add_an_op_test.cc does not hold this block"),
    ("op", "`dynet-like/attributes/elementwise.h`, before", "`dynet-like/attributes/gone.h`, before", "there is no dynet-like/attributes/gone.h"),
    ("trainer", "`dynet-like/train/lion.h`, a new", "`dynet-like/train/adam.h`, a new", "dynet-like/train/adam.h is there already"),
    ("layer", '#include "dynet-like/layers/support.h"', '#include "dynet-like/io/save.h"\n#include "dynet-like/compat/core.h"', "rank 8 (layers) may not include rank 9"),
    ("example", "```cmake\nadd_nlp_program(bow)\n```\n\n## The test", "```cmake\nadd_nlp_program(bow)\n", "the block does not end"),
]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, help="the checkout")
    parser.add_argument("--settings", required=True)
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "checkout"
        sys.path.insert(0, str(HERE))
        import guide as script

        for name in script.FOLDERS:
            shutil.copytree(pathlib.Path(arguments.root) / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        for guide, old, new, message in BROKEN:
            path = root / "docs/extending" / (guide + ".md")
            text = path.read_text(encoding="utf-8")
            if old not in text:
                print(f"{guide}.md has no '{old}' to break")
                failures += 1
                continue
            path.write_text(text.replace(old, new, 1), encoding="utf-8")
            done = subprocess.run(
                [sys.executable, str(HERE / "guide.py"), guide, "--root", str(root), "--out", folder + "/out",
                 "--settings", arguments.settings, "--apply-only"],
                text=True, capture_output=True, check=False)  # fmt: skip
            path.write_text(text, encoding="utf-8")
            expected = message.split("%d")
            if done.returncode != 1 or not all(part in done.stdout for part in expected):
                print(f"{guide}.md with '{new}': expected '{message}', got {done.returncode}: {done.stdout}{done.stderr}")
                failures += 1
    print(f"{len(BROKEN)} broken guides, {failures} not found")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
