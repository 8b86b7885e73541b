#!/usr/bin/env python3
"""Plants faults in the library, one at a time, and counts those that the tests of their module find.

    cmake --preset dev && cmake --build --preset dev --target test-ops test-plan test-exec ...
    python3 tests/faults/plant.py --build build/dev

Each fault of tests/faults/*.txt is applied to a copy of its file. What includes that file is compiled
from the copy, linked with everything else of the test program of its module, and the tests run, the
quick ones first and without those called "(slow)", until one fails. `--check` only looks whether every fault still fits the sources.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NEEDED = 0.98
LEAST = 300
NOT_SLOW = "~*(slow)"
CHOSEN = {"cuda": "[cuda]" + NOT_SLOW}  # tests by module, where these are not all
CAUGHT, MISSED, BROKEN = "caught", "not caught", "does not compile"


class Misfit(Exception):
    """A fault that does not fit the sources, or a build that cannot be used."""


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


def module_of(path):
    """Whose tests must find a fault of this file, unless the fault says otherwise."""
    if path.startswith("kernels/cpu/"):
        return "ops"
    if path.startswith("kernels/cuda/"):
        return "driver" if path.endswith("/driver.cc") else "cuda"
    folder, module, *_ = path.split("/")
    if module == "attributes":
        return "ops"
    if folder != "dynet-like":
        raise Misfit(f"{path} is of no module that is known")
    return module


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
    faults = [f for path in sorted(folder.glob("*.txt")) for f in read_faults(path)]
    known = {}
    for f in faults:
        text = (f.path, f.region, f.old, f.new)
        if text in known:
            raise Misfit(f"{f.where}: the fault is in {known[text]} already")
        known[text] = f.where
    return faults


class Build:
    """How a build by Ninja makes its objects and test programs."""

    def __init__(self, folder):
        self.folder = folder
        if not (folder / "build.ninja").exists():
            raise Misfit(f"{folder} is no build by Ninja")
        self.compiles = {}  # by object
        for entry in json.loads(self.ninja("-t", "compdb")):
            if entry["file"].endswith((".cc", ".cu")) and " -c " in entry["command"]:
                self.compiles[entry["output"]] = entry["command"]
        if "Unity" in self.ninja("-t", "targets", "all"):
            raise Misfit(f"{folder} compiles files in groups; set DYNET_UNITY=OFF there")
        self.users = self.read_users()

    def ninja(self, *arguments):
        return subprocess.run(
            ["ninja", "-C", self.folder, "--quiet", *arguments],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip

    def read_users(self):
        """For every file of the checkout, the objects that depend on it."""
        users, compiled = {}, None
        for line in self.ninja("-t", "deps").split("\n"):
            if line and not line.startswith(" "):
                compiled = line.partition(":")[0]
            elif line.strip():
                name = os.path.relpath(self.folder / line.strip(), ROOT)
                if not name.startswith(".."):
                    users.setdefault(name, set()).add(compiled)
        return users

    def inputs(self, target):
        """What Ninja makes a file from."""
        inputs, here = [], False
        for line in self.ninja("-t", "query", target).split("\n"):
            if re.match(r"  \S", line):
                here = line.startswith("  input:")
            elif here and line.startswith("    ") and not line.strip().startswith("|"):
                inputs.append(line.strip())
        return inputs

    def compile(self, compiled, copy, optimize, scratch):
        """Compiles a source again, with the files of the copy before those of the checkout."""
        options, skip, source = [], False, None
        words = shlex.split(self.compiles[compiled])
        for word, after in zip(words, [*words[1:], None]):
            if skip:
                skip = False
            elif word in ("-o", "-MF", "-MT", "-MQ", "-c"):
                skip = True
                source = after if word == "-c" else source
            elif word not in ("-MD", "-Werror") and not re.fullmatch(r"-O[0-3s]", word):
                options.append(word)
        name = os.path.relpath(self.folder / source, ROOT)
        first = next(k for k, word in enumerate(options) if word.startswith("-"))
        options[first:first] = ["-w", optimize, f"-I{copy}"]
        result = scratch / (compiled.replace("/", "-").removesuffix(".o")[-100:] + ".o")
        file = copy / name if (copy / name).exists() else ROOT / name
        run([*options, "-c", str(file), "-o", str(result)], self.folder)
        return result


class Program:
    """The test program of a module."""

    def __init__(self, build, module):
        self.build, self.module = build, module
        self.tests = [CHOSEN.get(module, NOT_SLOW)]
        target = f"tests/cuda/test-{module}" if module in ("cuda", "driver") else f"tests/test-{module}"
        self.path = build.folder / target
        command = build.ninja("-t", "commands", "-s", target).strip()
        steps = [s for s in command.split(" && ") if f" -o {target}" in s]
        if len(steps) != 1 or "libdynet-like.a" not in steps[0]:
            raise Misfit(f"the command that links test-{module} with libdynet-like.a is not understood")
        if not self.path.exists():
            raise Misfit(f"{self.path} is not there; build it first")
        self.link = shlex.split(steps[0].strip())
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
            result = str(self.build.compile(compiled, copy, optimize, scratch))
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


class DoesNotCompile(Exception):
    pass


def run(command, folder):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode:
        raise DoesNotCompile(result.stderr)


def first_failure(program, tests, seconds, folder):
    """The test that fails, or None if all pass. `tests` are arguments that choose some. The folder lies as
    deep as that of the build, for sources that are known by a path from there."""
    command = [str(program), "--abort", *tests]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", start_new_session=True,
    ) as process:  # fmt: skip
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "it does not end"
    if "No test cases matched" in output or "No tests ran" in output:
        raise Misfit(f"{program.name}: no test is called '{' '.join(tests)}'")
    if process.returncode in (0, 77):  # passed, or skipped
        return None
    # Catch2 rules off the name of the failing case.
    names = re.findall(r"^-{70,}\n([^\n]+)\n-{70,}$", output, re.MULTILINE)
    crash = f" (signal {-process.returncode})" if process.returncode < 0 else ""
    return (names[-1] if names else "it ends early") + crash


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
    share = caught / tried if tried else 0
    print(f"{caught} of {tried} faults caught, {100 * share:.1f} %; {broken} do not compile")
    return share >= NEEDED and broken == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, help="a finished build by Ninja, with the tests")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--module", default="", help="only those of these modules, such as plan,exec")
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
        return len(faults) < LEAST
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
