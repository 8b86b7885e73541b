#!/usr/bin/env python3
"""Runs programs over every MPI that is installed: the same bits on 1 to 4 processes, and errors that end all of them.

The library dynet-like::mpi is compiled here once for each MPI, with its compiler, and linked with the finished library.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from mpis import ENVIRONMENT, SKIPPED, installed

TIME_LIMIT = 180  # seconds of a run before it is killed
TIME_TO_END = 60  # seconds within which all processes end when one fails, half of the hang


def run(command):
    """Exit status (None if it had to be killed), output, errors and seconds."""
    started = time.monotonic()
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    ) as process:
        try:
            out, error = process.communicate(timeout=TIME_LIMIT)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, error = process.communicate()
            code = None
    return code, out, error, time.monotonic() - started


def check_bits(name, program, mpi, checksums):
    problems = []
    for n in range(1, 5):
        code, out, error, _ = run([*mpi.start(n), *program])
        found = re.fullmatch(r"(\d+) process(?:es)?: loss \S+, parameters ([0-9a-f]+)\n", out)
        if code != 0 or not found or found[1] != str(n):
            problems.append(f"{name}, {n} processes: exit status {code}, {out!r}, {error!r}")
        else:
            print(f"{name}, {n} processes: {found[2]}")
            checksums.add(found[2])
    return problems


def check_failures(name, program, mpi):
    problems = []
    expected = {
        "goes-well": r"^$",
        "throw": r"ended: (rank 2 failed: )?out of cheese",
        # rank 0 waits for rank 2, and rank 1 for rank 0 as long: either may be the first to say so
        "hang": r"ended: .*(rank 2 has not answered rank [01] for 2 s|was waiting for rank 2\b)",
        "die": r"",
    }
    for what, pattern in expected.items():
        code, out, error, seconds = run([*mpi.start(3), program, what])
        print(f"{name}, {what}: exit status {code} after {seconds:.1f} s")
        if (code == 0) != (what == "goes-well") or ("all is well" in out) != (what == "goes-well"):
            problems.append(f"{name}, {what}: exit status {code}, {out!r}, {error!r}")
        if not re.search(pattern, error, re.DOTALL):
            problems.append(f"{name}, {what}: the errors are {error!r}")
        if seconds > TIME_TO_END:
            problems.append(f"{name}, {what}: it took {seconds:.0f} s to end")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("link", nargs="+", help="the library, and what the linker needs besides")
    arguments = parser.parse_args()
    problems, checksums, mpis = [], set(), installed()
    with tempfile.TemporaryDirectory() as folder:
        for mpi in mpis:
            course = mpi.build(f"{folder}/course-{mpi.name}", ["examples/basics/18_distributed.cc"], arguments.link)
            failing = mpi.build(f"{folder}/failing-{mpi.name}", ["tests/distributed/mpi_program.cc"], arguments.link)
            delays = mpi.build_delays(f"{folder}/delays-{mpi.name}.so")
            code, out, _, _ = run([course])
            checksums.add(out.split()[-1] if code == 0 else "of a single process that failed")
            problems += check_bits(mpi.name, [course], mpi, checksums)
            late = ["env", f"LD_PRELOAD={delays}", "DELAY_MICROSECONDS=300", course]
            problems += check_bits(f"{mpi.name} with delays", late, mpi, checksums)
            problems += check_failures(mpi.name, failing, mpi)
    if not mpis:
        print("skipped: neither Open MPI nor MPICH is installed")
        return SKIPPED
    if len(checksums) != 1:
        problems.append(f"the parameters are not the same everywhere: {sorted(checksums)}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
