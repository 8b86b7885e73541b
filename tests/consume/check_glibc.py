#!/usr/bin/env python3
"""Programs and libraries need no function of a GNU C library newer than promised, by the versions of their symbols; and
none of it without a version, which the dynamic linker would not miss before the function is called."""

import argparse
import re
import subprocess
import sys

SYMBOL = re.compile(r"^\s*\d+: \w+\s+\d+ \w+\s+(\w+)\s+\w+\s+UND (\S+?)(?:@(\w+)_([\d.]+|PRIVATE))?(?: \(\d+\))?$", re.MULTILINE)


def output(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


def numbers(version):
    return tuple(map(int, version.split(".")))


def functions_of_libc(nm):
    """Names that the C library of this system defines."""
    libc = re.search(r"libc\.so\.6 => (\S+)", output("ldd", sys.executable)).group(1)
    return {line.split()[0].partition("@")[0] for line in output(nm, "--dynamic", "--defined-only", "--format=posix", libc).splitlines()}


def problems_of(path, readelf, newest, libc):
    symbols = SYMBOL.findall(output(readelf, "--dyn-syms", "--wide", path))
    needed = [version for _, _, library, version in symbols if library == "GLIBC" and version != "PRIVATE"]
    most = max(needed, key=numbers, default="0")
    print(f"{path}: {len(symbols)} symbols, glibc {most}")
    if not symbols:
        yield "needs no symbol at all: is it a dynamic program or library?"
    for binding, name, library, version in symbols:
        if library == "GLIBC" and (version == "PRIVATE" or numbers(version) > numbers(newest)):
            yield f"needs {name} of glibc {version}"
        if not library and binding == "GLOBAL" and name in libc:
            yield f"needs {name} of the C library without a version"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--readelf", default="readelf")
    parser.add_argument("--newest", default="2.36", help="version of glibc")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    libc, status = functions_of_libc(arguments.nm), 0
    for path in arguments.files:
        for problem in problems_of(path, arguments.readelf, arguments.newest, libc):
            print(f"{path}: {problem}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
