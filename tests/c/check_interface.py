#!/usr/bin/env python3
"""Checks of the C interface: its header is C99, and the library shows the functions of the header alone."""

import argparse
import pathlib
import re
import subprocess
import sys

FUNCTION = re.compile(r"^(?!static)[a-z][\w *]*?\b(dynet_\w+)\(", re.MULTILINE)


def declared(root):
    return set(FUNCTION.findall((root / "dynet-like/c/dynet.h").read_text()))


def listed(root):
    return set(re.findall(r"^    (dynet_\w+);", (root / "dynet-like/c/symbols.map").read_text(), re.MULTILINE))


def header_problems(root, compiler):
    command = [compiler, "-std=c99", "-Wall", "-Wextra", "-Wstrict-prototypes", "-pedantic", "-Werror", "-fsyntax-only", "-x", "c", "-"]
    text = '#include "dynet-like/c/dynet.h"\nint main(void) { return dynet_c_version() != DYNET_C_VERSION; }\n'
    done = subprocess.run(command, input=text, cwd=root, text=True, capture_output=True, check=False)
    return [] if done.returncode == 0 else [f"the header is not C99\n{done.stderr}"]


def symbol_problems(root, nm, library):
    done = subprocess.run([nm, "--dynamic", "--defined-only", "--format=posix", library], text=True, capture_output=True, check=True)
    shown = {line.split()[0].partition("@")[0] for line in done.stdout.splitlines()} - {"DYNET_C_1"}
    functions = declared(root)
    print(f"{len(functions)} functions, {len(shown)} symbols")
    problems = [f"{name}: in the header, not in symbols.map" for name in sorted(functions - listed(root))]
    problems += [f"{name}: in symbols.map, not in the header" for name in sorted(listed(root) - functions)]
    problems += [f"{name}: in the header, not in the library" for name in sorted(functions - shown)]
    problems += [f"{name}: in the library, not in the header" for name in sorted(shown - functions)]
    return problems if len(functions) > 50 else [*problems, f"only {len(functions)} functions were found"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("check", choices=("header", "symbols"))
    parser.add_argument("arguments", nargs="+")
    arguments = parser.parse_args()
    check = {"header": header_problems, "symbols": symbol_problems}[arguments.check]
    problems = check(arguments.root.resolve(), *arguments.arguments)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
