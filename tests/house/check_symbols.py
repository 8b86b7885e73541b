#!/usr/bin/env python3
"""The finished library holds no data that can change, except what the allow-list names."""

import argparse
import subprocess
import sys

import sources

WRITABLE = (".bss", ".data", ".tbss", ".tdata")
# Written by the loader before the program starts, then read-only.
RELOCATED = (".data.rel.ro", ".data.rel.local.DW.ref.", ".data.rel.ro.local", ".data.DW.ref.")


def writable_symbols(nm, archive):
    """Demangled names of data symbols in writable sections, and how many symbols there are in all."""
    done = subprocess.run(
        [nm, "--demangle", "--format=sysv", "--defined-only", archive],
        text=True, capture_output=True, check=True)  # fmt: skip
    names, total = set(), 0
    for line in done.stdout.split("\n"):
        fields = line.rsplit("|", 6)
        if len(fields) != 7:
            continue
        name, section = fields[0].strip(), fields[6].strip()
        total += 1
        if section.startswith(WRITABLE) and not section.startswith(RELOCATED):
            names.add(name)
    return names, total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", required=True)
    parser.add_argument("--archives", nargs="+", required=True)
    arguments = parser.parse_args()
    allowed = sources.allowed_globals()
    names, total = set(), 0
    for archive in arguments.archives:
        found, count = writable_symbols(arguments.nm, archive)
        names |= found
        total += count
    problems = []
    for name in sorted(names):
        if name.startswith("guard variable for "):
            continue  # reported with the variable that it guards
        if not any(pattern.fullmatch(name) for pattern in allowed):
            problems.append(f"{name}: outlives the call and lies in writable memory")
    return sources.report("symbols", problems, total)


if __name__ == "__main__":
    sys.exit(main())
