#!/usr/bin/env python3
"""Plants faults in the kernels, one at a time, and counts those that the tests of the operations find.

    cmake --build build/release --target test-ops
    python3 tests/faults/plant.py --build build/release

Each fault of faults.txt is applied to a copy of its file. What includes that file is compiled from the
copy, linked with everything else of the build, and the tests run until the first one fails. `--check`
only looks whether every fault still fits the sources.
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


class Misfit(Exception):
    """A fault that does not fit the sources, or a build that cannot be used."""


class Fault:
    def __init__(self, line, path, tests, region, old, new):
        self.line, self.path, self.tests, self.region = line, path, tests, region
        self.old, self.new = old, new

    @property
    def name(self):
        where = self.path.removeprefix("kernels/cpu/") + (f", {self.region}" if self.region else "")
        return f"{where}: {self.old}  ->  {self.new or '(nothing)'}"

    def apply(self, source):
        """The source with the fault."""
        begin, end = 0, len(source)
        if self.region:
            found = list(re.finditer(pattern_of(self.region) + r"(?!\w)", source))
            if not found:
                raise Misfit(f"faults.txt:{self.line}: {self.path} has no '{self.region}'")
            begin = found[0].start()
            after = re.compile(r"^\}", re.MULTILINE).search(source, begin)
            end = after.end() if after else end
        found = list(re.finditer(pattern_of(self.old), source[begin:end]))
        if len(found) != 1:
            where = f"{self.path}, {self.region}" if self.region else self.path
            raise Misfit(f"faults.txt:{self.line}: found {len(found)} times in {where}: {self.old}")
        at, to = begin + found[0].start(), begin + found[0].end()
        return source[:at] + self.new + source[to:]


def pattern_of(text):
    """Spaces match any white space, so that formatting does not matter."""
    return r"\s+".join(re.escape(word) for word in text.split())


def read_faults(path):
    faults = []
    file = tests = region = old = None
    for number, line in enumerate(path.read_text().split("\n"), start=1):
        kind, text = line[:2], line[2:].strip()
        if not line.strip() or line.startswith("#"):
            continue
        if kind == "= ":
            file, _, tests = text.partition(" ")
            region = None
        elif kind == "@ ":
            region = text
        elif kind == "- ":
            old = text
        elif kind in ("+ ", "+") and old and file:
            if old.split() == text.split():
                raise Misfit(f"{path.name}:{number}: the fault changes nothing")
            faults.append(Fault(number - 1, file, tests.strip(), region, old, text))
            old = None
        else:
            raise Misfit(f"{path.name}:{number}: cannot be read: {line}")
    texts = [(f.path, f.region, f.old, f.new) for f in faults]
    if len(set(texts)) != len(texts):
        raise Misfit(f"{path.name}: a fault is there twice")
    return faults


class Build:
    """How the build makes its objects and the test program."""

    def __init__(self, folder, optimize):
        self.folder, self.optimize = folder, optimize
        if not (folder / "build.ninja").exists():
            raise Misfit(f"{folder} is no build by Ninja")
        self.compiles = {}
        for entry in json.loads(self.ninja("-t", "compdb")):
            if entry["file"].endswith(".cc") and " -c " in entry["command"]:
                self.compiles[os.path.relpath(entry["file"], ROOT)] = entry["command"]
        program = "tests/test-ops"
        command = self.ninja("-t", "commands", "-s", program).strip()
        steps = [s for s in command.split(" && ") if f" -o {program}" in s]
        if len(steps) != 1 or "libdynet-like.a" not in steps[0]:
            raise Misfit("the command that links test-ops with libdynet-like.a is not understood")
        self.program, self.link = folder / program, steps[0].strip()
        self.users = self.read_users()

    def ninja(self, *arguments):
        return subprocess.run(
            ["ninja", "-C", self.folder, "--quiet", *arguments],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip

    def read_users(self):
        """For every header of the kernels, the kernels that include it."""
        users, source = {}, None
        for line in self.ninja("-t", "deps").split("\n"):
            if line and not line.startswith(" "):
                source = None
            elif line.strip():
                name = os.path.relpath(self.folder / line.strip(), ROOT)
                if source is None:
                    source = name
                if source.startswith("kernels/cpu/") and name.startswith("kernels/cpu/"):
                    users.setdefault(name, set()).add(source)
        return users

    def compile(self, source, copy, scratch):
        """Compiles one kernel with the headers of the copy before those of the checkout."""
        command = shlex.split(self.compiles[source])
        result = scratch / (pathlib.Path(source).stem + ".o")
        options, skip = [], False
        for word in command[:]:
            if skip:
                skip = False
            elif word in ("-o", "-MF", "-MT", "-MQ", "-c"):
                skip = True
            elif word not in ("-MD", "-Werror") and not re.fullmatch(r"-O[0-3s]", word):
                options.append(word)
        first = next(k for k, word in enumerate(options) if word.startswith("-"))
        options[first:first] = ["-w", self.optimize, f"-I{copy}"]
        file = copy / source if (copy / source).exists() else ROOT / source
        run([*options, "-c", str(file), "-o", str(result)], self.folder)
        return result

    def make(self, fault, scratch):
        """The test program with a fault in it."""
        copy = scratch / "copy"
        changed = copy / fault.path
        changed.parent.mkdir(parents=True)
        changed.write_text(fault.apply((ROOT / fault.path).read_text()))
        sources = [fault.path] if fault.path.endswith(".cc") else sorted(self.users[fault.path])
        objects = [self.compile(source, copy, scratch) for source in sources]
        words = shlex.split(self.link)
        words[words.index("-o") + 1] = str(scratch / "test-ops")
        library = next(k for k, word in enumerate(words) if word.endswith("libdynet-like.a"))
        words[library:library] = [str(o) for o in objects]
        run(words, self.folder)
        return scratch / "test-ops"


class DoesNotCompile(Exception):
    pass


def run(command, folder):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode:
        raise DoesNotCompile(result.stderr)


def first_failure(program, tests, seconds):
    """The test that fails, or None if all pass."""
    command = [str(program), "--abort", *([tests] if tests else [])]
    with subprocess.Popen(
        command, cwd=program.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", start_new_session=True,
    ) as process:  # fmt: skip
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "it does not end"
    if "No test cases matched" in output or "No tests ran" in output:
        raise Misfit(f"no test is called '{tests}'")
    if process.returncode == 0:
        return None
    # Catch2 rules off the name of the failing case.
    names = re.findall(r"^-{70,}\n([^\n]+)\n-{70,}$", output, re.MULTILINE)
    crash = f" (signal {-process.returncode})" if process.returncode < 0 else ""
    return (names[-1] if names else "it ends early") + crash


def try_fault(build, fault, options):
    """("caught" | "not caught" | "does not compile", what says so, seconds)"""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fault-") as folder:
        try:
            program = build.make(fault, pathlib.Path(folder))
        except DoesNotCompile as error:
            return "does not compile", str(error).strip()[:400], time.monotonic() - begun
        found = first_failure(program, fault.tests, options.timeout)
        if not found and fault.tests:
            found = first_failure(program, "", options.timeout)
    return "caught" if found else "not caught", found or "", time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, help="a finished build by Ninja, with test-ops")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="faults whose description matches this pattern")
    parser.add_argument("--sample", type=int, default=0, help="so many, drawn by chance")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--optimize", default="-O1", help="how the changed file is compiled")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for a run of the tests")
    parser.add_argument("--check", action="store_true", help="look whether the faults fit, build nothing")
    options = parser.parse_args()

    faults = read_faults(HERE / "faults.txt")
    for fault in faults:
        fault.apply((ROOT / fault.path).read_text())
    print(f"{len(faults)} faults, all fit the sources", flush=True)
    if options.check:
        return len(faults) < 100
    if not options.build:
        parser.error("--build is needed")
    faults = [f for f in faults if re.search(options.only, f.name)]
    if options.sample:
        faults = random.Random(options.seed).sample(faults, min(options.sample, len(faults)))

    build = Build(options.build.resolve(), options.optimize)
    broken = first_failure(build.program, "", options.timeout)
    if broken:
        raise Misfit(f"the tests fail without any fault: {broken}")
    counts = {"caught": 0, "not caught": 0, "does not compile": 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tasks = {pool.submit(try_fault, build, f, options): f for f in faults}
        for done in concurrent.futures.as_completed(tasks):
            result, reason, seconds = done.result()
            counts[result] += 1
            print(f"{result} ({seconds:.0f} s): faults.txt:{tasks[done].line}: {tasks[done].name}")
            print(f"    {reason}", flush=True)
    tried = counts["caught"] + counts["not caught"]
    share = counts["caught"] / tried if tried else 0
    print(", ".join(f"{n} {what}" for what, n in counts.items()) + f": {100 * share:.1f} % caught")
    return share < NEEDED or counts["does not compile"] > 0


if __name__ == "__main__":
    try:
        sys.exit(int(main()))
    except Misfit as error:
        sys.exit(str(error))
