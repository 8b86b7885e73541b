#!/usr/bin/env python3
"""Changes one line at a time, drawn by chance, and says whether the tests that run it notice.

    python3 tests/faults/mutate.py --seed 7                 # 60 mutants; the same command goes on where it stopped
    python3 tests/faults/mutate.py --seed 7 --count 180
    python3 tests/faults/mutate.py --seed 7 --report        # what has become of them; runs nothing

The first run makes a build with counters in build/mutants and finds out which file of tests runs which line. Mutants are
made of lines that a test runs, and only these tests are run. One that the compiler makes the same code of is not counted;
nor is one that tests/faults/equal.txt names, with the reason why nobody can tell it from the original.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from builds import ROOT, Build, DoesNotCompile, Misfit, module_of, run
from covered import measured_units
from mutations import mutants_of

EQUAL_FILE = pathlib.Path(__file__).resolve().parent / "equal.txt"
NEEDED, LEAST = 0.90, 180
CAUGHT, SURVIVED, SAME, BROKEN = "caught", "survived", "same code", "does not compile"
# Programs whose counters are thrown away: to write them takes longer than most tests.
NO_COUNTERS = "void __gcov_init(void* p) { (void)p; }\nvoid __gcov_exit(void) {}\nvoid __gcov_merge_add(void) {}\n"


def read_equal(path):
    """Mutants that were judged to change nothing: (file, old line, new line), with the reason."""
    judged, entry = {}, {}
    for number, line in enumerate(path.read_text().split("\n"), start=1):
        kind, text = line[:2], line[2:].strip()
        if not line.strip() or line.startswith("#"):
            continue
        if kind not in ("= ", "- ", "+ ", "? "):
            raise Misfit(f"{path.name}:{number}: cannot be read: {line}")
        entry[kind] = text
        if kind == "? ":
            if len(entry) < 4 or not text:
                raise Misfit(f"{path.name}:{number}: needs a file, an old and a new line, and a reason")
            judged[entry["= "], entry.pop("- "), entry.pop("+ ")] = text
    return judged


def owner(path):
    """The folder of the tests that are run first."""
    return module_of(path) if path.startswith(("dynet-like/", "kernels/")) else path.split("/")[0]


def area_of(path):
    return "/".join(path.split("/")[:-1][:2])


def drawn(units, seed, areas):
    """A mutant of each covered line, in an order by chance that a change elsewhere does not alter."""
    covered = collections.Counter()
    for unit in units:
        for files in unit.lines.values():
            for path, bits in files.items():
                covered[path] |= bits
    found = []
    for path, bits in covered.items():
        if not (ROOT / path).exists() or not path.startswith(areas):
            continue
        seen = collections.Counter()
        for number, mutants in sorted(mutants_of(path, (ROOT / path).read_text()).items()):
            text = mutants[0].old
            seen[text] += 1
            key = hashlib.sha256(f"{seed}\n{path}\n{text}\n{seen[text]}".encode()).hexdigest()
            if bits >> number & 1:
                found.append((key, mutants[int(key, 16) % len(mutants)]))
    return [mutant for _, mutant in sorted(found, key=lambda f: f[0])]


class Programs:
    """The programs of a build, with other objects in them for a time."""

    def __init__(self, build, scratch):
        self.build = build
        self.known, self.clean = {}, {}
        targets = build.ninja("-t", "targets", "all").split("\n")
        rules = dict(line.split(": ", 1) for line in targets if ": CXX_" in line)
        self.linked = {t for t, r in rules.items() if "EXECUTABLE" in r or "MODULE" in r if not t.endswith(".cmake")}
        self.stub = scratch / "no_counters.o"
        source = scratch / "no_counters.c"
        source.write_text(NO_COUNTERS)
        run(["cc", "-c", str(source), "-o", str(self.stub)], scratch)
        for kept in build.folder.rglob("*.without-mutant"):  # of a run that was ended
            os.replace(kept, kept.with_suffix(""))

    def inputs(self, target):
        if target not in self.known:
            self.known[target] = self.build.inputs(target, implicit=True)
        return self.known[target]

    def run_by(self, program):
        """A program and those that its tests start, or import."""
        beside = {p for p in self.linked if program.startswith("python/") and p.startswith("python/")}
        return [program, *sorted((beside | self.linked.intersection(self.inputs(program))) - {program})]

    def objects(self, program):
        found, todo = set(), [program]
        while todo:
            for name in self.inputs(todo.pop()):
                if name.endswith(".o"):
                    found.add(name)
                elif name.endswith(".a") and not name.startswith("/") and name not in found:
                    found.add(name)
                    todo.append(name)
        return found

    def link(self, program, changed):
        """Puts other objects into a program: {object: its file}."""
        words, result = [], self.build.folder / program
        given = iter(self.build.link_of(program))
        for word in given:
            if word == "-Wl,--whole-archive":
                archive = os.path.relpath(next(given), self.build.folder)
                words += [w for w in self.build.inputs(archive) if w.endswith(".o")]
            elif word not in ("-Wl,--no-whole-archive", "--coverage"):
                words.append(word)
        added = [str(file) for name, file in changed.items() if name not in words]  # before the archives
        words = [str(changed.get(word, word)) for word in words]
        words[words.index("-o") + 1] = f"{result}.mutant"
        first = next(k for k, word in enumerate(words) if word.endswith(".o"))
        words[first:first] = ["-Wl,--allow-multiple-definition", str(self.stub), *added]
        run([*words, "-lgcov"], self.build.folder)
        if program not in self.clean:
            self.clean[program] = pathlib.Path(f"{result}.without-mutant")
            os.link(result, self.clean[program])
        os.replace(f"{result}.mutant", result)

    def restore(self):
        for program, kept in self.clean.items():
            os.replace(kept, self.build.folder / program)
        self.clean = {}


class Trial:
    """A mutant, compiled as far as the tests need it."""

    def __init__(self, mutant, build, programs, units, scratch):
        self.mutant, self.build, self.programs, self.scratch = mutant, build, programs, scratch
        self.copy = scratch / "copy"
        self.source = (ROOT / mutant.path).read_text()
        self.compiled, self.linked = {}, set()
        self.owner = owner(mutant.path)
        self.units = [
            unit for unit in units
            if unit.objects_of(mutant.path, mutant.number)
            and (self.owner == "python" or not unit.name.startswith("python/"))
        ]  # fmt: skip
        # Tests that are named like the file first: they are the likeliest to notice.
        stem = pathlib.Path(mutant.path).stem.split("_")[0]
        self.units.sort(
            key=lambda unit: (
                not unit.name.startswith(self.owner + "/"), stem not in unit.name.split("/")[1], unit.seconds,
            )
        )  # fmt: skip
        self.write(mutant.apply(self.source))

    def write(self, text):
        """The file in the copy, among links to those of its folder, which it includes by their names alone."""
        file = self.copy / self.mutant.path
        file.parent.mkdir(parents=True, exist_ok=True)
        for sibling in (ROOT / self.mutant.path).parent.glob("*.*"):
            if sibling.name != file.name and not (file.parent / sibling.name).exists():
                (file.parent / sibling.name).symlink_to(sibling)
        file.write_text(text)

    def compile(self, name):
        if name not in self.compiled:
            self.compiled[name] = self.build.compile(name, self.copy, self.scratch, "--coverage", [])
        return self.compiled[name]

    def link(self, unit):
        """The program of the tests, and what these start, with the mutant."""
        same = [u for u in self.units if u.program == unit.program]
        used = set().union(*(u.objects_of(self.mutant.path, self.mutant.number) for u in same))
        for program in self.programs.run_by(unit.program):
            changed = sorted(used & self.programs.objects(program))
            if changed and program not in self.linked:
                self.linked.add(program)
                self.programs.link(program, {name: self.compile(name) for name in changed})

    def try_program(self, unit):
        self.link(unit)
        return unit.run(10 + 10 * unit.seconds)

    def try_package(self, unit):
        """The tests of a unit with the package of Python that has the mutant."""
        compile(self.mutant.apply(self.source), self.mutant.path, "exec")
        package = self.copy / "python"
        for file in (self.build.folder / "python").glob("**/*"):
            name = file.relative_to(self.build.folder / "python")
            if file.suffix in (".py", ".so") and name.parts[0] in ("dynet", "dynet_config", "_dynet.py"):
                (package / name).parent.mkdir(exist_ok=True)
                if not (package / name).exists():
                    (package / name).symlink_to(file)
        if not (self.copy / "examples").exists():  # programs that tests start
            (self.copy / "examples").symlink_to(self.build.folder / "examples")
        return unit.run(10 + 10 * unit.seconds, environment={"PYTHONPATH": str(package)})

    def run(self, most):
        """(what became of it, what says so). Tests that would take more than `most` seconds in all are left out."""
        python = self.mutant.path.endswith(".py")
        mine = sum(unit.name.startswith(self.owner + "/") for unit in self.units)
        begun = time.monotonic()
        try:
            for count, unit in enumerate(self.units, start=1):
                if time.monotonic() - begun + unit.seconds > most:
                    return SURVIVED, f"{len(self.units) - count + 1} files of tests were not run"
                failure = self.try_package(unit) if python else self.try_program(unit)
                if failure:
                    return CAUGHT, f"{unit.name}: {failure}"
                if count == max(1, mine) and self.compiled and self.is_same():  # before the long rest
                    return SAME, ""
            return SURVIVED, ""
        except (DoesNotCompile, SyntaxError) as error:
            return BROKEN, str(error).strip()[:200]
        finally:
            self.programs.restore()

    def is_same(self):
        """Whether the compiler makes the same code of both where it optimizes. The mutant remains in the copy."""
        made = []
        for text in (self.source, self.mutant.apply(self.source)):
            self.write(text)
            with tempfile.TemporaryDirectory(dir=self.scratch) as place:
                for name in self.compiled:
                    drop = r"--coverage|-O\w|-fno-inline|-Dalways.*"
                    made.append(self.build.compile(name, self.copy, pathlib.Path(place), drop, ["-O2"]).read_bytes())
        return made[: len(self.compiled)] == made[len(self.compiled) :]


def prepare(folder, jobs):
    """Configures and builds what has the tests in it."""
    if not (folder / "build.ninja").exists():
        python = folder / "venv/bin/python"
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        packages = ["numpy", "nanobind", "nanobind-backend", "pytest", "coverage", "nbclient", "ipykernel", "matplotlib"]
        subprocess.run([python, "-m", "pip", "-q", "install", *packages], check=True)
        subprocess.run(
            ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DDYNET_NATIVE=ON",
             "-DDYNET_EMULATION=OFF", "-DDYNET_BENCHMARKS=OFF", "-DDYNET_INSTALL=OFF", "-DDYNET_PYTHON=ON",
             f"-DPython_EXECUTABLE={python}", f"-DCMAKE_PROJECT_INCLUDE={ROOT}/cmake/mutants.cmake"],
            check=True,
        )  # fmt: skip
    subprocess.run(["cmake", "--build", folder, "--parallel", str(jobs)], check=True)


def report(results, judged):
    """Prints a line for each area and those that survive; whether enough were caught."""
    areas = collections.defaultdict(collections.Counter)
    survivors = []
    for r in results:
        status = r["status"]
        if status == SURVIVED and (r["path"], r["old"], r["new"]) in judged:
            status = "equal"
        for area in (area_of(r["path"]), "in all"):
            areas[area][status] += 1
        if status == SURVIVED:
            survivors.append(r)
    print(f"\n{'area':28} {'caught':>8} {'survived':>8} {'equal':>8}")
    for area in sorted(areas, key=lambda a: (a == "in all", a)):
        counts = areas[area]
        print(f"{area:28} {counts[CAUGHT]:8} {counts[SURVIVED]:8} {counts['equal']:8}")
    for r in survivors:
        print(f"survived: {r['path']}:{r['number']}\n  - {r['old']}\n  + {r['new']}")
    counts = areas["in all"]
    tried = counts[CAUGHT] + counts[SURVIVED]
    share = counts[CAUGHT] / tried if tried else 0
    print(f"{counts[CAUGHT]} of {tried} mutants caught, {100 * share:.1f} %; a release needs {NEEDED:.0%} of {LEAST}")
    print(f"not counted: {counts['equal']} equal, {counts[SAME]} of the same code, {counts[BROKEN]} do not compile")
    return share >= NEEDED


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, required=True, help="what is drawn; results are kept by it")
    parser.add_argument("--count", type=int, default=60, help="mutants that compile to other code, of all runs")
    parser.add_argument("--area", default="", help="only files that begin so, such as dynet-like/io,examples")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/mutants")
    parser.add_argument("--as-built", action="store_true", help="take the build as it is, with what it has")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers, and measured tests, at once")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of tests for a mutant, at most")
    parser.add_argument("--timeout", type=int, default=1800, help="seconds for a file of tests without faults")
    parser.add_argument("--report", action="store_true", help="print what there is, run nothing")
    options = parser.parse_args()

    judged = read_equal(EQUAL_FILE)
    folder = options.build.resolve()
    file = folder / "results" / f"{options.seed}.jsonl"
    results = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    if options.report:
        return not report(results, judged)
    if not options.as_built:
        prepare(folder, options.jobs)
    file.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mutants-", dir=folder.parent) as scratch:
        build = Build(folder)
        programs = Programs(build, pathlib.Path(scratch))
        units = measured_units(build, programs.run_by, options.timeout, options.jobs)
        known = {(r["path"], r["number"], r["old"]) for r in results}
        counted = sum(r["status"] in (CAUGHT, SURVIVED) for r in results)
        for mutant in drawn(units, options.seed, tuple(options.area.split(","))):
            if counted >= options.count:
                break
            if (mutant.path, mutant.number, mutant.old) in known:
                continue
            begun = time.monotonic()
            with tempfile.TemporaryDirectory(prefix="mutant-", dir=scratch) as place:
                status, reason = Trial(mutant, build, programs, units, pathlib.Path(place)).run(options.seconds)
            counted += status in (CAUGHT, SURVIVED)
            seconds = round(time.monotonic() - begun, 1)
            entry = {"path": mutant.path, "number": mutant.number, "old": mutant.old, "new": mutant.new}
            results.append({**entry, "what": mutant.what, "status": status, "reason": reason, "seconds": seconds})
            with file.open("a") as out:
                out.write(json.dumps(results[-1]) + "\n")
            print(f"{counted}/{options.count} {status} ({seconds} s): {mutant.path}:{mutant.number}: {reason}")
            print(f"  - {mutant.old}\n  + {mutant.new}", flush=True)
    return not report(results, judged)


if __name__ == "__main__":
    try:
        sys.exit(int(main()))
    except Misfit as error:
        sys.exit(str(error))
