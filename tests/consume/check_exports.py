#!/usr/bin/env python3
"""A shared library has the name that programs remember, and shows namespace dynet without dynet::cpu: nothing of
Eigen, of the standard library, of Boost, nor any kernel."""

import argparse
import pathlib
import re
import subprocess
import sys

# Mangled names of the namespace's members for the dynamic linker; cmake/exports.cmake has the same kinds.
SHOWN = re.compile(r"_Z(T[VTISC]|Tc.*_|T[hv]n?[\dn_]+_|GV|Z|GVZ)?N[KRO]*5dynet(?!3cpu)")
# The node that all of them belong to.
NODE = re.compile(r"DYNET_LIKE_\d+\.\d+")


def output(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


def problems_of(library, nm, readelf):
    names = {line.split()[0].partition("@")[0] for line in output(nm, "--dynamic", "--defined-only", "--format=posix", library).splitlines()}
    names = {name for name in names if not NODE.fullmatch(name)}
    for name in sorted(names):
        if not SHOWN.match(name):
            yield f"shows {name}"
    if len(names) < 100:
        yield f"shows no more than {len(names)} symbols"
    if pathlib.Path(library).name.startswith("libdynet-like.so") and "_ZN5dynet7versionEv" not in names:
        yield "does not show dynet::version()"
    dynamic = output(readelf, "--dynamic", "--wide", library)
    soname = re.search(r"\(SONAME\).*\[(.*)\]", dynamic)
    expected = re.sub(r"(\.so\.\d+\.\d+).*", r"\1", pathlib.Path(library).resolve().name)
    if not soname or soname.group(1) != expected:
        yield f"is called {soname.group(1) if soname else 'nothing'} instead of {expected}"
    print(f"{library}: {soname.group(1) if soname else '?'}, {len(names)} symbols")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--readelf", default="readelf")
    parser.add_argument("libraries", nargs="+")
    arguments = parser.parse_args()
    status = 0
    for library in arguments.libraries:
        for problem in problems_of(library, arguments.nm, arguments.readelf):
            print(f"{library}: {problem}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
