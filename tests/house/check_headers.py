#!/usr/bin/env python3
"""Every header compiles alone, and twice in one file; what dynet-like/dynet.h includes stays small.

A header that a source includes first compiles alone wherever DYNET_UNITY is off, as where Clang reads the sources in
.ci/run: here it is only read, for its include guard. Of headers with the same text, such as those of DyNet's names
that lead to the same one of ours, one is compiled."""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

import sources

UMBRELLA = "dynet-like/dynet.h"
STANDARD = "#include <memory>\n#include <string>\n#include <vector>\n"
MOST_LINES = 20530  # preprocessed, beside those of STANDARD: with GCC 12 these are 55,470


def command_of(compiler, root, system):
    """Words that begin a call of the compiler. /usr/include, named again, would be hidden from #include_next."""
    folders = [word for folder in system if folder != "/usr/include" for word in ("-isystem", folder)]
    return [compiler, "-std=c++20", "-I", str(root), *folders]


def compile_header(compiler, root, path, system):
    command = [*command_of(compiler, root, system), "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    if path.parts[0] == "kernels":
        command += ["-DDYNET_ISA=baseline", "-DDYNET_SCALAR=float"]
    text = f'#include "{path}"\n#include "{path}"\n'
    done = subprocess.run(  # in the root, for a quoted include is looked up in the current folder first
        command + ["-x", "c++", "-"], input=text, text=True, cwd=root, capture_output=True, check=False)  # fmt: skip
    return None if done.returncode == 0 else f"{path}:1: does not compile alone\n{done.stderr}"


def lines_of_umbrella(compiler, root, system):
    """Preprocessed lines of a program that includes it, and of one that includes STANDARD."""
    command = [*command_of(compiler, root, system), "-E", "-x", "c++", "-"]
    done = [
        subprocess.run(command, input=text, text=True, cwd=root, capture_output=True, check=True)
        for text in (f'#include "{UMBRELLA}"\n', STANDARD)
    ]
    return [d.stdout.count("\n") for d in done]


def included_first(root):
    """The headers that sources of the library begin with."""
    names = set()
    for path in sources.files(root, ("dynet-like", "kernels/cpu"), (".cc",)):
        first = re.search(r'^#include "(.*)"', sources.read(root, path), re.MULTILINE)
        if first:
            names.add(first.group(1))
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, help="the checkout")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--public-system", nargs="*", default=[], help="include folders of all headers")
    parser.add_argument("--kernel-system", nargs="*", default=[], help="more of them, for kernels only")
    arguments = parser.parse_args()

    def check(path):
        system = list(arguments.public_system)
        if path.parts[0] == "kernels" or path.name == "tensor-eigen.h":
            system += arguments.kernel_system
        return compile_header(arguments.compiler, arguments.root, path, system)

    checked = included_first(arguments.root)
    paths = sources.files(arguments.root, ("dynet-like", "kernels/cpu", "tests/support"), (".h",))
    problems = [f"{path}:1: has no #pragma once" for path in paths if "#pragma once" not in sources.read(arguments.root, path)]
    lines, standard = lines_of_umbrella(arguments.compiler, arguments.root, arguments.public_system)
    print(f"{UMBRELLA}: {lines} preprocessed lines, {standard} of them of <memory>, <string> and <vector>")
    if lines - standard > MOST_LINES:
        problems.append(f"{UMBRELLA}:1: {lines} preprocessed lines are too many: at most {standard + MOST_LINES}")
    alone = {}
    for path in paths:
        if str(path) not in checked:
            alone.setdefault((path.parent, sources.read(arguments.root, path)), path)
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        problems += [problem for problem in pool.map(check, alone.values()) if problem]
    return sources.report("headers", problems, len(paths))


if __name__ == "__main__":
    sys.exit(main())
