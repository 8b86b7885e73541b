#!/usr/bin/env python3
"""The finished library holds no data that can change, except what the allow-list names. Kernels for an
instruction set that not every CPU has show nothing but functions of its namespace, so that no linker takes an
inline function from them."""

import argparse
import pathlib
import re
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


def strangers(nm, kernels):
    """What an object of kernels, dynet-like-kernels-ISA.o, shows beside its namespace; and the number of symbols."""
    isa = pathlib.Path(kernels).stem.rpartition("-")[2]
    done = subprocess.run(
        [nm, "--extern-only", "--defined-only", "--format=posix", kernels],
        text=True, capture_output=True, check=True)  # fmt: skip
    names = [line.split()[0] for line in done.stdout.splitlines() if line]
    # Z: of one of its functions.
    own = re.compile(rf"_ZZ?N5dynet3cpu{len(isa)}{isa}|.*dynet_eigen_{isa}")
    return [name for name in names if not own.match(name)], len(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", required=True)
    parser.add_argument("--archives", nargs="+", required=True)
    parser.add_argument("--kernels", nargs="*", default=[], help="objects for one instruction set")
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
    for kernels in arguments.kernels:
        found, count = strangers(arguments.nm, kernels)
        problems += [f"{kernels}: {name}: a program on a lesser CPU might use it" for name in found]
        if count == 0:
            problems.append(f"{kernels}: shows nothing")
    return sources.report("symbols", problems, total)


if __name__ == "__main__":
    sys.exit(main())
