#!/usr/bin/env python3
"""Sums up the counts of gcov in a build, by file and module; see tools/coverage."""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXCEPTIONS = ROOT / "tests" / "coverage" / "exceptions.txt"
LINES, BRANCHES = 0.95, 0.90
ALL_LINES = ("dynet-like/io/",)  # readers of files


def module_of(name):
    folders = name.split("/")
    return "/".join(folders[:2]) if len(folders) > 2 else None


def wanted(name):
    return name.startswith(("dynet-like/", "kernels/cpu/"))


class File:
    """Counts by line: executions, and each way out of the line."""

    def __init__(self):
        self.lines = {}
        self.branches = {}

    def add(self, number, entries, same):
        """Adds the counts of a line in one object; a template has one entry per copy, then their sum. Lambdas in
        templates have no entries of their own: `same` is the number of functions that contain the line."""
        copies = list(entries)
        if len(copies) > 1:
            copies.remove(max(copies, key=lambda e: len(e["branches"])))
        self.lines[number] = self.lines.get(number, 0) + max(e["count"] for e in entries)
        for entry in copies:
            ways = decisions(entry["branches"])
            if len(entries) == 1 and same > 1:
                each = len(ways) // same if len(ways) % same == 0 else 2  # copies that differ: both ways of decisions
                ways = [sum(ways[k::each]) for k in range(each)]
            if len(ways) < 2:
                continue
            # Copies that differ, for example by `if constexpr`, have separate ways.
            known = self.branches.setdefault(number, {}).setdefault(len(ways), [0] * len(ways))
            for k, count in enumerate(ways):
                known[k] += count

    def only(self, numbers):
        """Removes lines without code."""
        for table in (self.lines, self.branches):
            for number in [n for n in table if n not in numbers]:
                del table[number]

    def ways(self, number):
        return [count for ways in self.branches.get(number, {}).values() for count in ways]

    def taken(self):
        ways = [count for number in self.branches for count in self.ways(number)]
        return sum(count > 0 for count in ways), len(ways)

    def run(self):
        return sum(count > 0 for count in self.lines.values()), len(self.lines)


def decisions(branches):
    """Counts of the ways out of a line, without exceptions: a call that may throw has one way to continue and one to
    the handler, and is no decision."""
    ways, k = [], 0
    while k < len(branches):
        pair = branches[k : k + 2]
        if len(pair) == 2 and any(b["throw"] for b in pair):
            k += 2
            continue
        if not branches[k]["throw"]:
            ways.append(branches[k]["count"])
        k += 1
    return ways


def functions_at(functions):
    """By line: number of functions with the same extent as the innermost one around it."""
    spans = collections.Counter((f["start_line"], f["end_line"]) for f in functions)
    same = {}
    for (first, last), count in sorted(spans.items(), key=lambda s: s[0][0] - s[0][1]):
        for number in range(first, last + 1):
            same[number] = count
    return same


def lines_with_code(path):
    """Lines with code. Braces and blank lines have counts of compiler-generated code, such as destructors."""
    return {
        number
        for number, text in enumerate(path.read_text().split("\n"), start=1)
        if re.search(r"[A-Za-z_0-9]", re.sub(r"//.*", "", text))
    }


def read_gcov(data):
    output = subprocess.run(
        ["gcov", "--json-format", "--stdout", "--branch-probabilities", data.name],
        cwd=data.parent, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    found = []
    for text in output.splitlines():
        record = json.loads(text)
        for file in record["files"]:
            path = os.path.join(record["current_working_directory"], file["file"])
            name = os.path.relpath(os.path.realpath(path), ROOT)
            if wanted(name):
                by_line = collections.defaultdict(list)
                for line in file["lines"]:
                    by_line[line["line_number"]].append(line)
                found.append((name, by_line, functions_at(file["functions"])))
    return found


def read_all(build, jobs):
    files = collections.defaultdict(File)
    data = sorted(build.rglob("*.gcda"))
    if not data:
        sys.exit(f"{build} has no counters; run tools/coverage")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for found in pool.map(read_gcov, data):
            for name, by_line, same in found:
                for number, entries in by_line.items():
                    files[name].add(number, entries, same.get(number, 1))
    for name, file in files.items():
        file.only(lines_with_code(ROOT / name))
    return files


class Exceptions:
    """Lines exempt from coverage, by file and pattern, with a reason."""

    def __init__(self, path):
        self.rules, reason = [], ""
        for number, line in enumerate(path.read_text().split("\n"), start=1):
            if line.startswith("# "):
                reason = line[2:]
            elif line.strip():
                name, _, text = line.partition(": ")
                if not text or not reason or not (ROOT / name).exists():
                    sys.exit(f"{path.name}:{number}: needs a reason above, then FILE: TEXT OF A LINE")
                self.rules.append((f"{path.name}:{number}", name, " ".join(text.split())))
            else:
                reason = ""

    def apply(self, files):
        """Removes exempt lines; returns rules without effect."""
        idle = []
        for where, name, text in self.rules:
            used = False
            source = (ROOT / name).read_text().split("\n")
            file = files.get(name, File())
            for number, line in enumerate(source, start=1):
                if text not in " ".join(line.split()):
                    continue
                if file.lines.get(number) == 0 or 0 in file.ways(number):
                    used = True
                file.lines.pop(number, None)
                file.branches.pop(number, None)
            if not used:
                idle.append(f"{where}: nothing is left out by it: {name}: {text}")
        return idle


def share(part, whole):
    return part / whole if whole else 1.0


def print_missed(files):
    print("\nnot run, and lines with a way that was never taken:")
    for name in sorted(files):
        file = files[name]
        missed = sorted(n for n, count in file.lines.items() if count == 0)
        ways = sorted(n for n in file.branches if 0 in file.ways(n) and file.lines.get(n))
        source = (ROOT / name).read_text().split("\n")
        for number in missed:
            print(f"{name}:{number}: not run: {source[number - 1].strip()}")
        for number in ways:
            counts = " ".join(str(c) for c in file.ways(number))
            print(f"{name}:{number}: {counts}: {source[number - 1].strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    files = read_all(options.build.resolve(), options.jobs)
    idle = Exceptions(EXCEPTIONS).apply(files)
    modules = collections.defaultdict(lambda: [0, 0, 0, 0])
    for name, file in files.items():
        for module in (module_of(name), "in all"):
            if module is None:
                continue
            counts = (*file.run(), *file.taken())
            modules[module] = [a + b for a, b in zip(modules[module], counts)]

    print_missed(files)
    print(f"\n{'module':24} {'lines':>16} {'branches':>18}")
    below = list(idle)
    for module in sorted(modules, key=lambda m: (m == "in all", m)):
        run, lines, taken, branches = modules[module]
        print(
            f"{module:24} {run:6} of {lines:5} {100 * share(run, lines):5.1f} %"
            f" {taken:6} of {branches:5} {100 * share(taken, branches):5.1f} %"
        )
        goal = 1.0 if f"{module}/".startswith(ALL_LINES) else LINES
        if share(run, lines) < goal:
            below.append(f"{module}: lines are below {100 * goal:.0f} %")
        if share(taken, branches) < BRANCHES:
            below.append(f"{module}: branches are below {100 * BRANCHES:.0f} %")
    for problem in below:
        print(problem)
    return bool(below)


if __name__ == "__main__":
    sys.exit(main())
