"""Which tests run which line: of each file of tests, the lines that it runs, object by object, as gcov counts them."""

import array
import concurrent.futures
import gzip
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

from builds import NOT_SLOW, ROOT, Misfit, failure_of, output_of

AREAS = ("dynet-like/", "kernels/", "examples/", "python/src/", "python/dynet")
COUNTERS = 0x01A10000  # the mark of a function's counters in a file of GCC's
PYTHON_FILES = "python/"  # of objects, what stands for the package itself


class Unit:
    """The tests that are run together: those of a file, or a program that is a test itself."""

    def __init__(self, build, name, program, command, environment=None):
        self.build, self.name, self.program, self.command = build, name, program, command
        self.environment = environment or {}
        self.seconds, self.failure, self.lines = 0.0, None, {}  # the lines by object and file, a bit each

    def run(self, seconds, command=None, environment=None):
        """What fails, or None. The memory has a bound: a fault may ask for all there is."""
        variables = {**os.environ, **self.environment, **(environment or {})}
        folder = self.build.folder / "tests"
        status, output = output_of(command or self.command, seconds, folder, variables, memory=16 << 30)
        failed = re.search(r"^FAILED (\S+)", output, re.MULTILINE)  # of pytest
        failure = failure_of(status, output)
        return failed[1] if failure and failed else failure

    def objects_of(self, path, number):
        """The objects in which these tests run a line."""
        return {o for o, files in self.lines.items() if files.get(path, 0) >> number & 1}


def catch_units(build):
    """One for each file of a test program that is built."""
    folders = {"driver": "cuda/runtime"}
    for program in sorted([*build.folder.glob("tests/test-*"), *build.folder.glob("tests/cuda/test-*")]):
        module = program.name.removeprefix("test-")
        sources = sorted((ROOT / "tests" / folders.get(module, module)).glob("*_test.cc"))
        target, tag = str(program.relative_to(build.folder)), "[cuda]" if module == "cuda" else ""
        for source in sources if os.access(program, os.X_OK) else []:
            command = [str(program), "--abort", "-#", f"[#{source.stem}]{tag}{NOT_SLOW}"]
            yield Unit(build, f"{module}/{source.stem}", target, command)


def program_units(build):
    """The course of examples: each program is a test."""
    for source in sorted((ROOT / "examples/basics").glob("*.cc")):
        program = build.folder / "examples/basics" / source.stem
        if program.exists():
            yield Unit(build, f"basics/{source.stem}", str(program.relative_to(build.folder)), [str(program)])


def python_units(build):
    """One for each file of the tests of the Python module, if that is built."""
    module = next(build.folder.glob("python/dynet/_core*.so"), None)
    if module:
        for source in sorted((ROOT / "python/tests").glob("test_*.py")):
            command = [str(build.folder / "venv/bin/python"), "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
            environment = {"PYTHONPATH": str(build.folder / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
            target = str(module.relative_to(build.folder))
            yield Unit(build, f"python/{source.stem}", target, [*command, str(source)], environment)


def has_counts(data):
    """Whether a file of counters has any but zeros, which GCC writes as a length below zero: gcov takes long."""
    words = array.array("i", data.read_bytes())
    at = 4  # behind the head
    while at + 1 < len(words) and words[at]:
        if words[at] == COUNTERS and words[at + 1] > 0:
            return True
        at += 2 + max(words[at + 1], 0) // 4
    return False


class Counters:
    """A folder where programs that run now leave their counters, apart from those of others that run beside them."""

    def __init__(self, build, place):
        self.place = pathlib.Path(place)
        self.folder = self.place / str(build.folder).lstrip("/")  # where GCC's programs look for it
        for notes in build.folder.rglob("*.gcno"):
            linked = self.folder / notes.relative_to(build.folder)
            linked.parent.mkdir(parents=True, exist_ok=True)
            linked.symlink_to(notes)

    def clear(self):
        for data in self.folder.rglob("*.gcda"):
            data.unlink()

    def read(self):
        """The lines that ran, by object and file."""
        data = [str(d.relative_to(self.folder)) for d in self.folder.rglob("*.gcda") if has_counts(d)]
        lines = {}
        for first in range(0, len(data), 50):
            output = subprocess.run(
                ["gcov", "--json-format", "--stdout", "-r", "-s", ROOT, *data[first : first + 50]],
                cwd=self.folder, check=True, capture_output=True, text=True,
            ).stdout  # fmt: skip
            for record in map(json.loads, output.splitlines()):
                files = lines.setdefault(record["data_file"].removesuffix(".gcda") + ".o", {})
                for file in record["files"]:
                    name = os.path.relpath(ROOT / file["file"], ROOT)
                    for line in file["lines"] if name.startswith(AREAS) else ():
                        if line["count"]:
                            files[name] = files.get(name, 0) | 1 << line["line_number"]
        return {compiled: files for compiled, files in lines.items() if files}


def measure(unit, timeout, counters):
    """Runs the tests of a unit, without faults, and keeps what they reach."""
    counters.clear()
    command, report = unit.command, counters.place / "coverage.json"
    if unit.name.startswith("python/"):
        data = f"--data-file={report}.data"
        command = [command[0], "-m", "coverage", "run", data, "--source=dynet,dynet_config,_dynet", *command[1:]]
    begun = time.monotonic()
    unit.failure = unit.run(timeout, command, {"GCOV_PREFIX": str(counters.place)})
    unit.seconds = time.monotonic() - begun
    unit.lines = counters.read()
    if unit.name.startswith("python/"):
        report.unlink(missing_ok=True)
        subprocess.run([*command[:3], "json", data, "-q", "-o", report], check=False, cwd=unit.build.folder)
        files = unit.lines[PYTHON_FILES] = {}
        # There is no report of tests that are all skipped, or run other programs.
        for name, file in json.loads(report.read_text())["files"].items() if report.exists() else ():
            files[name] = sum(1 << number for number in file["executed_lines"])


def stamp_of(unit, programs):
    """Changes when the tests or what they run are built again, or the files of Python change."""
    files = [unit.build.folder / p for p in programs]
    if unit.name.startswith("python/"):
        files += [pathlib.Path(unit.command[-1]), *sorted((ROOT / "python").glob("*/*.py"))]
    states = [(str(f), f.stat().st_mtime_ns, f.stat().st_size) for f in files]
    return hashlib.sha256(json.dumps([unit.command, states]).encode()).hexdigest()


def measured_units(build, programs_of, timeout, jobs):
    """All units with what they reach, from what was kept where nothing has changed."""
    units = [*catch_units(build), *program_units(build), *python_units(build)]
    kept = build.folder / "covered"
    kept.mkdir(exist_ok=True)
    stale = []
    for unit in units:
        file = kept / (unit.name.replace("/", "-") + ".json.gz")
        stamp = stamp_of(unit, programs_of(unit.program))
        known = json.loads(gzip.decompress(file.read_bytes())) if file.exists() else {}
        if known.get("stamp") != stamp or known["failure"]:
            stale.append((unit, file, stamp))
            continue
        unit.seconds, unit.failure = known["seconds"], known["failure"]
        unit.lines = {o: {path: int(t, 16) for path, t in files.items()} for o, files in known["lines"].items()}

    mine = threading.local()  # the counters of a thread

    def measure_and_keep(unit, file, stamp):
        if not hasattr(mine, "counters"):
            mine.counters = Counters(build, tempfile.mkdtemp(dir=scratch))
        measure(unit, timeout, mine.counters)
        texts = {o: {path: f"{bits:x}" for path, bits in files.items()} for o, files in unit.lines.items()}
        known = {"stamp": stamp, "seconds": unit.seconds, "failure": unit.failure, "lines": texts}
        file.write_bytes(gzip.compress(json.dumps(known).encode()))
        print(f"{unit.name}: {unit.seconds:.1f} s, {unit.failure or 'passes'}", flush=True)

    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda job: measure_and_keep(*job), stale))
    for unit in units:
        if unit.failure:
            print(f"left out, as it fails without any fault: {unit.name}: {unit.failure}", file=sys.stderr)
    passing = [unit for unit in units if not unit.failure]
    if not passing:
        raise Misfit(f"{build.folder} has no tests that pass")
    return passing
