#!/usr/bin/env python3
"""Every name in the tables of docs/from-dynet.md exists; docs/dynet-interface.md has all names.

A row of a table is | DyNet's name | ours | difference |. In the second column `=` stands for the same
name, `-` for none; otherwise every code span in it is looked up. Names are written `name` (in namespace
dynet), `Class::member`, `MACRO` or `dynet/header.h`; what is in parentheses is not looked at. Names with
`-` must not exist, so that the table cannot lag behind.
"""

import argparse
import pathlib
import re
import subprocess
import sys

HEADERS = "dynet-like/compat/include"
HEAD = "| DyNet 2.1 | ours |"


def rows(text):
    """(line number, DyNet's names, our names or None) of each row of the tables of names."""
    in_names = False
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.startswith("|") or line.startswith(HEAD):
            in_names = line.startswith(HEAD)
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not in_names or not line.startswith("| `") or len(cells) < 2:
            continue
        names = re.findall(r"`([^`]+)`", cells[0])
        if cells[1] == "=":
            yield number, names, names
        elif cells[1] == "-":
            yield number, names, None
        else:
            yield number, names, re.findall(r"`([^`]+)`", cells[1])


def bare(name):
    return re.sub(r"\(.*", "", name).strip()


def check_of(name, number):
    """A piece of program that compiles if the name exists."""
    name = bare(name)
    if name.endswith(".h"):
        return f'#if !__has_include("{name}")\n#error "{name}"\n#endif'
    if re.fullmatch(r"DYNET_\w+", name):
        return f"#ifndef {name}\n#error {name}\n#endif"
    if "::" in name:
        scope, member = name.rsplit("::", 1)
        if scope in ("mp", "expr"):
            return f"namespace names_{number} {{ using dynet::{scope}::{member}; }}"
        # Works for fields, functions and overloads alike.
        return f"struct Names{number} : dynet::{scope} {{ using dynet::{scope}::{member}; }};"
    if name in ("expr", "mp"):
        return f"namespace names_{number} = dynet::{name};"
    return f"namespace names_{number} {{ using dynet::{name}; }}"


def compile_all(arguments, checks):
    """The numbers of the checks that do not compile."""
    root = pathlib.Path(arguments.root)
    headers = sorted(p.name for p in (root / HEADERS / "dynet").glob("*.h") if p.name != "tensor-eigen.h")
    text = "".join(f'#include "dynet/{h}"\n' for h in headers)
    for i, check in enumerate(checks):
        text += f'#line 1 "check{i}"\n{check}\n'
    command = [arguments.compiler, "-std=c++20", "-fsyntax-only", "-w", "-I", str(root), "-I", str(root / HEADERS)]
    command += [*limit(arguments.compiler), "-x", "c++", "-"]
    done = subprocess.run(command, input=text, text=True, capture_output=True, cwd=root, check=False)
    failed = {int(n) for n in re.findall(r"^check(\d+):\d+:(?:\d+:)? (?:fatal )?error:", done.stderr, re.MULTILINE)}
    if done.returncode != 0 and not failed:
        sys.exit(done.stderr)
    return failed


def limit(compiler):
    version = subprocess.run([compiler, "--version"], text=True, capture_output=True, check=True).stdout
    return ["-ferror-limit=0"] if "clang" in version else []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--system", nargs="*")
    arguments = parser.parse_args()
    text = pathlib.Path(arguments.root, "docs/from-dynet.md").read_text(encoding="utf-8")
    present, absent = [], []
    for number, theirs, ours in rows(text):
        if ours is None:
            absent += [(number, name) for name in theirs]
        else:
            present += [(number, name) for name in ours]
    wrong = ["there are no rows"] if len(present) < 150 else []
    # Absent names are compiled with the present ones; the last two prove that the check can fail.
    names = present + absent + [(0, "no_such_name"), (0, "Trainer::no_such_member")]
    failed = compile_all(arguments, [check_of(name, i) for i, (_, name) in enumerate(names)])
    for i, (number, name) in enumerate(names):
        should_fail = i >= len(present)
        if (i in failed) != should_fail:
            wrong.append(f"docs/from-dynet.md:{number}: `{name}` " + ("exists" if should_fail else "does not exist"))
    print("\n".join(wrong) or f"{len(present)} names exist, {len(absent)} do not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
