#!/usr/bin/env python3
"""Runs the compiler on every source of a build folder with -fsyntax-only, which takes half of the time of compiling, to
get warnings and errors. The folder must be configured with CMAKE_EXPORT_COMPILE_COMMANDS; nothing has to be built in
it."""

import argparse
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys


def read(entry):
    """Compiler messages for a source."""
    command = shlex.split(entry["command"])
    output = command.index("-o")
    del command[output : output + 2]
    done = subprocess.run([*command, "-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True, check=False)
    return f"{shlex.join(command)}\n{done.stderr}" if done.returncode != 0 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="the build folder")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    entries = json.loads((arguments.folder / "compile_commands.json").read_text(encoding="utf-8"))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        problems = [problem for problem in pool.map(read, entries) if problem]
    print("\n".join(problems + [f"{len(entries)} sources, {len(problems)} with problems"]))
    return 1 if problems or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
