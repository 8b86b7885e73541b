#!/usr/bin/env python3
"""Plants faults in the library, one at a time, and counts those that the tests of their module find.

    cmake --preset dev && cmake --build --preset dev --target test-ops test-plan test-run ...
    python3 tests/faults/plant.py --build build/dev

Each fault of tests/faults/*.txt is applied to a copy of its file. What includes that file is compiled
from the copy, linked with everything else of the test program of its module, and the tests run, the
quick ones first and without those called "(slow)", until one fails. `--check` only looks whether every fault still fits the sources.
"""

import argparse
import concurrent.futures
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

from builds import NOT_SLOW, ROOT, Build, DoesNotCompile, Misfit, failure_of, module_of, output_of, run

HERE = pathlib.Path(__file__).resolve().parent
CHOSEN = {"cuda": "[cuda]" + NOT_SLOW}  # tests by module, where these are not all
CAUGHT, MISSED, BROKEN = "caught", "not caught", "does not compile"


class Fault:
    def __init__(self, where, path, module, tests, region, old, new):
        self.where, self.path, self.module, self.tests = where, path, module, tests
        self.region, self.old, self.new = region, old, new

    @property
    def name(self):
        where = self.path + (f", {self.region}" if self.region else "")
        return f"{where}: {self.old}  ->  {self.new.strip(';') or '(nothing)'}"

    def apply(self, source):
        """The source with the fault."""
        begin, end = 0, len(source)
        if self.region:
            found = list(re.finditer(pattern_of(self.region) + r"(?!(?<=\w)\w)", source))
            if not found:
                raise Misfit(f"{self.where}: {self.path} has no '{self.region}'")
            begin = found[0].start()
            after = re.compile(r"^\}", re.MULTILINE).search(source, begin)
            end = after.end() if after else end
        found = list(re.finditer(pattern_of(self.old), source[begin:end]))
        if len(found) != 1:
            where = f"{self.path}, {self.region}" if self.region else self.path
            raise Misfit(f"{self.where}: found {len(found)} times in {where}: {self.old}")
        at, to = begin + found[0].start(), begin + found[0].end()
        return source[:at] + self.new + source[to:]


def pattern_of(text):
    """Spaces match any white space, so that formatting does not matter."""
    return r"\s+".join(re.escape(word) for word in text.split())


def read_faults(path):
    faults = []
    file = module = tests = region = old = None
    for number, line in enumerate(path.read_text().split("\n"), start=1):
        where = f"{path.name}:{number}"
        kind, text = line[:2], line[2:].strip()
        if not line.strip() or line.startswith("#"):
            continue
        if kind == "= ":
            file, _, tests = text.partition(" ")
            named = re.fullmatch(r"(\w+):(.*)", tests.strip())
            module, tests = named.groups() if named else (module_of(file), tests)
            region = None
        elif kind == "@ ":
            region = text
        elif kind == "- ":
            old = text
        elif kind in ("+ ", "+") and old and file:
            if old.split() == text.split():
                raise Misfit(f"{where}: the fault changes nothing")
            nothing = ";" if old.endswith(";") else ""  # it may be all that an `if` has
            faults.append(Fault(where, file, module, tests.strip(), region, old, text or nothing))
            old = None
        else:
            raise Misfit(f"{where}: cannot be read: {line}")
    return faults


def read_all_faults(folder):
    faults = [f for path in sorted(folder.glob("*.txt")) if path.name != "equal.txt" for f in read_faults(path)]
    known = {}
    for f in faults:
        text = (f.path, f.region, f.old, f.new)
        if text in known:
            raise Misfit(f"{f.where}: the fault is in {known[text]} already")
        known[text] = f.where
    return faults


class Program:
    """The test program of a module."""

    def __init__(self, build, module):
        self.build, self.module = build, module
        self.tests = [CHOSEN.get(module, NOT_SLOW)]
        target = f"tests/cuda/test-{module}" if module in ("cuda", "driver") else f"tests/test-{module}"
        self.path = build.folder / target
        if not self.path.exists():
            raise Misfit(f"{self.path} is not there; build it first")
        self.link = build.link_of(target)
        objects = [build.folder / word for word in self.link if word.endswith(".o")]
        if any(not o.exists() or o.stat().st_mtime > self.path.stat().st_mtime for o in objects):
            raise Misfit(f"{self.path} is older than what it is made of; build it first")
        archives = [word for word in self.link if word.endswith(".a") and not word.startswith("/")]
        self.archived = {o for archive in archives for o in build.inputs(archive)}
        self.seconds = 0.0  # for all tests
        self.rounds = []  # arguments that choose tests, the quick ones first

    def find_rounds(self, scratch):
        """Most faults are found by the quick tests. Whether all tests pass."""
        result = subprocess.run(
            [self.path, "--durations", "yes", *self.tests], cwd=self.build.folder,
            capture_output=True, text=True, errors="replace",
        )  # fmt: skip
        times = re.findall(r"^([\d.]+) s: (.+)$", result.stdout, re.MULTILINE)
        cases = subprocess.run(
            [self.path, "--list-test-names-only", *self.tests], capture_output=True, text=True
        ).stdout.splitlines()
        slow = {name for seconds, name in times if name in cases and float(seconds) >= 0.3}
        for name, chosen in (("quick", [c for c in cases if c not in slow]), ("rest", sorted(slow))):
            file = scratch / f"{self.module}-{name}.txt"
            file.write_text("\n".join(re.sub(r"([,\[])", r"\\\1", c) for c in chosen))
            if chosen:
                self.rounds.append(["--input-file", str(file)])
        return result.returncode == 0

    def make(self, fault, optimize, scratch):
        """The program with a fault in it."""
        copy = scratch / "copy"
        changed = copy / fault.path
        changed.parent.mkdir(parents=True)
        changed.write_text(fault.apply((ROOT / fault.path).read_text()))
        words, added = list(self.link), []
        for compiled in sorted(self.build.users.get(fault.path, ())):
            if compiled not in self.link and compiled not in self.archived:
                continue  # of another program
            result = str(self.build.compile(compiled, copy, scratch, r"-O[0-3s]", [optimize]))
            if compiled in words:
                words[words.index(compiled)] = result
            else:
                added.append(result)
        words[words.index("-o") + 1] = str(scratch / self.path.name)
        archive = next(k for k, word in enumerate(words) if word.endswith(".a"))
        # Without inlining an object may define less than that of the archive, which is then taken as well.
        words[archive:archive] = ["-Wl,--allow-multiple-definition", *added]  # the first one counts
        run(words, self.build.folder)
        return scratch / self.path.name


def first_failure(program, tests, seconds, folder):
    """The test that fails, or None if all pass. `tests` are arguments that choose some. The folder lies as
    deep as that of the build, for sources that are known by a path from there."""
    status, output = output_of([str(program), "--abort", *tests], seconds, folder)
    if "No test cases matched" in output or "No tests ran" in output:
        raise Misfit(f"{program.name}: no test is called '{' '.join(tests)}'")
    return failure_of(status, output)


def try_fault(program, fault, options):
    """(what became of it, what says so, seconds)"""
    begun = time.monotonic()
    limit = min(options.timeout, 20 + 10 * program.seconds)
    with tempfile.TemporaryDirectory(prefix="fault-", dir=program.build.folder.parent) as folder:
        try:
            made = program.make(fault, options.optimize, pathlib.Path(folder))
        except DoesNotCompile as error:
            return BROKEN, str(error).strip()[:400], time.monotonic() - begun
        found = None
        for tests in ([[fault.tests]] if fault.tests else []) + program.rounds:
            found = found or first_failure(made, tests, limit, folder)
    return (CAUGHT if found else MISSED), found or "", time.monotonic() - begun


def prepare(build, modules, options, scratch):
    """The test programs by module, which must pass without a fault."""
    programs = {}
    for module in modules:
        program = programs[module] = Program(build, module)
        begun = time.monotonic()
        if not program.find_rounds(scratch):
            broken = first_failure(program.path, program.tests, options.timeout, build.folder)
            raise Misfit(f"test-{module} fails without any fault: {broken}")
        program.seconds = time.monotonic() - begun
        print(f"test-{module} passes in {program.seconds:.1f} s", flush=True)
    return programs


def plant(faults, programs, options):
    """The faults by module and by what became of them."""
    results = {f.module: {CAUGHT: [], MISSED: [], BROKEN: []} for f in faults}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tasks = {pool.submit(try_fault, programs[f.module], f, options): f for f in faults}
        for count, done in enumerate(concurrent.futures.as_completed(tasks), start=1):
            fault, (result, reason, seconds) = tasks[done], done.result()
            results[fault.module][result].append(fault)
            print(f"{count}/{len(faults)} {result} ({seconds:.1f} s): {fault.where}: {fault.name}")
            print(f"    {reason}", flush=True)
    return results


def report(results):
    """Prints a line for each module and those not caught; whether enough were."""
    caught = missed = broken = 0
    print()
    for module, found in sorted(results.items()):
        tried = len(found[CAUGHT]) + len(found[MISSED])
        print(f"{module}: {len(found[CAUGHT])} of {tried} caught")
        caught, missed = caught + len(found[CAUGHT]), missed + len(found[MISSED])
        broken += len(found[BROKEN])
    for what in (MISSED, BROKEN):
        for fault in (f for found in results.values() for f in found[what]):
            print(f"{what}: {fault.where}: {fault.name}")
    tried = caught + missed
    print(f"{caught} of {tried} faults caught; {broken} do not compile")
    return missed == 0 and broken == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, help="a finished build by Ninja, with the tests")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--module", default="", help="only those of these modules, such as plan,run")
    parser.add_argument("--only", default="", help="faults whose file and text match this pattern")
    parser.add_argument("--sample", type=int, default=0, help="so many, drawn by chance")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--optimize", default="-O1", help="how changed files are compiled")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for a run of the tests")
    parser.add_argument("--check", action="store_true", help="look whether the faults fit, build nothing")
    options = parser.parse_args()

    faults = read_all_faults(HERE)
    for fault in faults:
        fault.apply((ROOT / fault.path).read_text())
    print(f"{len(faults)} faults, all fit the sources", flush=True)
    if options.check:
        return 0
    if not options.build:
        parser.error("--build is needed")
    if options.module:
        faults = [f for f in faults if f.module in options.module.split(",")]
    faults = [f for f in faults if re.search(options.only, f"{f.where} {f.name}")]
    if options.sample:
        faults = random.Random(options.seed).sample(faults, min(options.sample, len(faults)))
    if not faults:
        raise Misfit("no fault is chosen")

    build = Build(options.build.resolve())
    with tempfile.TemporaryDirectory(prefix="faults-", dir=build.folder.parent) as scratch:
        modules = sorted({f.module for f in faults})
        programs = prepare(build, modules, options, pathlib.Path(scratch))
        return not report(plant(faults, programs, options))


if __name__ == "__main__":
    try:
        sys.exit(int(main()))
    except Misfit as error:
        sys.exit(str(error))
