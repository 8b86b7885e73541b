#!/usr/bin/env python3
"""What cannot compile says why: every header before C++17, and classes derived from Node."""

import argparse
import pathlib
import re
import subprocess
import sys

HEADERS = "dynet-like/compat/include"

OWN_NODE = """
#include "dynet/nodes.h"
#include "dynet/nodes-def-macros.h"
struct Twice : dynet::Node {
  DYNET_NODE_DEFINE_DEV_IMPL()
};
"""


def compile_text(compiler, root, text, standard):
    command = [compiler, f"-std={standard}", "-fsyntax-only", "-I", root, "-I", f"{root}/{HEADERS}", "-x", "c++", "-"]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=False)


def problems(compiler, root):
    headers = sorted(pathlib.Path(root, HEADERS, "dynet").glob("*.h"))
    if not headers:
        yield "there are no headers"
    for i, path in enumerate(headers):
        standard = ("c++11", "c++14")[i % 2]
        done = compile_text(compiler, root, f'#include "dynet/{path.name}"\n', standard)
        errors = [line for line in done.stderr.split("\n") if re.search(r"\berror:", line)]
        if done.returncode == 0 or "dynet-like needs C++17: compile with -std=c++17" not in errors[0]:
            yield f"{path.name}: does not say under {standard} that C++17 is needed, but: {errors[:1]}"
        if len(errors) > 2:
            yield f"{path.name}: {len(errors)} errors under {standard}, where one would do"
    done = compile_text(compiler, root, OWN_NODE, "c++20")
    if done.returncode == 0 or "'Operations of your own' in docs/from-dynet.md" not in done.stderr:
        yield "a class derived from Node does not say what to do instead: " + done.stderr[:400]
    guide = pathlib.Path(root, "docs/from-dynet.md").read_text(encoding="utf-8")
    if not re.search(r"^#+ Operations of your own$", guide, re.MULTILINE):
        yield "docs/from-dynet.md has no section 'Operations of your own'"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--system", nargs="*")
    arguments = parser.parse_args()
    found = list(problems(arguments.compiler, arguments.root))
    print("\n".join(found) or "all messages are there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
