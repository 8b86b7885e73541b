#!/usr/bin/env python3
"""Trains the example programs on several processes: the checkpoint must be that of one process, for any number of processes and
threads, and a run must go on with another number of processes, after it has ended or was killed."""

import argparse
import hashlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ENVIRONMENT = {
    **os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
}  # fmt: skip
# Small networks; the language model has a table whose rows are used here and there, and dropout.
OPTIONS = {
    "tagger": ["--batch", "20", "--hidden", "8", "--features", "word:8"],
    "treelstm": ["--batch", "20", "--word", "8", "--hidden", "8"],
    "rnnlm": ["--batch", "20", "--word", "8", "--hidden", "8", "--min-count", "1"],
}


def write_tagged(path, draw):
    """Words whose tag is that of the word before, or of their own."""
    lines, before = [], 0
    for _ in range(150):
        for _ in range(draw.randint(2, 9)):
            k = draw.randrange(40)
            lines.append(f"word{k}\ttag{(k + before) % 3}")
            before = k
        lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_trees(path, draw):
    def tree(words):
        if words == 1:
            k = draw.randrange(40)
            return f"({k % 5} word{k})"
        first = draw.randint(1, words - 1)
        return f"({draw.randrange(5)} {tree(first)} {tree(words - first)})"

    path.write_text("".join(tree(draw.randint(1, 9)) + "\n" for _ in range(150)), encoding="utf-8")


def write_text(path, draw):
    lines = (" ".join(f"word{draw.randrange(40)}" for _ in range(draw.randint(1, 9))) for _ in range(150))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


WRITERS = {"tagger": write_tagged, "treelstm": write_trees, "rnnlm": write_text}


class Runs:
    """Runs of one program in a folder."""

    def __init__(self, binary, mpirun, folder):
        self.name = pathlib.Path(binary).name
        self.mpirun, self.folder, self.problems = mpirun, folder, []
        data = folder / f"{self.name}.txt"
        WRITERS[self.name](data, random.Random(1))
        self.common = [binary, "train", "--train", data, "--dev", data, *OPTIONS[self.name]]

    def command(self, processes, model, *options):
        start = [self.mpirun, "-n", str(processes)] if processes else []
        return [*start, *self.common, "--model", self.folder / model, *options]

    def checkpoint(self, model):
        return hashlib.sha256((self.folder / (model + ".checkpoint")).read_bytes()).hexdigest()

    def train(self, processes, model, *options):
        """The checkpoint's checksum after a run; without processes it is the plain program."""
        done = subprocess.run(self.command(processes, model, *options), capture_output=True, text=True,
                              env=ENVIRONMENT, timeout=300)
        what = f"{self.name}: {processes} processes, {model}: "
        if done.returncode != 0:
            self.problems.append(what + done.stdout + done.stderr)
            return None
        if processes and processes > 1 and f"{processes} processes\n" not in done.stdout:
            self.problems.append(f"{what}their number is not said: {done.stdout}")
        if done.stdout.count("saved in") != 1:
            self.problems.append(f"{what}not one of them has spoken: {done.stdout}")
        return self.checkpoint(model)

    def compare(self, expected, *run):
        if self.train(*run) != expected:
            self.problems.append(f"{self.name}: another checkpoint: {' '.join(map(str, run))}")

    def kill_one(self, draw, processes, model, options, after):
        """Starts a run and kills one of its processes; whether it was still there."""
        run = subprocess.Popen(self.command(processes, model, *options), env=ENVIRONMENT, start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(after)
        pattern = f"^{self.common[0]} train.*{self.folder / model}( |$)"  # not the launcher
        found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True)
        if victims := found.stdout.split():
            try:
                os.kill(int(draw.choice(victims)), signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has just ended
        try:
            run.wait(60)
        except subprocess.TimeoutExpired:
            self.problems.append(f"{self.name}: the others wait for a process that was killed")
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
        return run.returncode != 0


def check(runs, counts, threads, kills):
    expected = runs.train(0, "one", "--parts", "32", "--epochs", "4")
    runs.compare(expected, 0, "one-thread-more", "--parts", "32", "--epochs", "4", "--threads", "2")
    for processes in counts:
        for n in threads:
            runs.compare(expected, processes, f"of{processes}-{n}", "--epochs", "4", "--threads", str(n))
    runs.train(3, "resumed", "--epochs", "2")
    runs.compare(expected, 2, "resumed", "--epochs", "4", "--resume")
    # Killed at any time; the next run goes on from the checkpoint that there is, with another number of processes.
    draw, killed, model = random.Random(2), 0, "killed"
    longest, begun = 0.0, time.monotonic()
    if kills:
        runs.train(2, "timed", "--epochs", "40")
        longest = time.monotonic() - begun
    final = runs.checkpoint("timed") if kills else None
    for k in range(kills):
        there = (runs.folder / (model + ".checkpoint")).exists()
        options = ["--epochs", "40", *(["--resume"] if there else ["--force"])]
        killed += runs.kill_one(draw, 2 + k % 2, model, options, draw.uniform(0.05, longest / 2))
        if k % 5 == 4 and (runs.folder / (model + ".checkpoint")).exists():
            runs.compare(final, 1 + k % 4, model, "--epochs", "40", "--resume")
            for file in runs.folder.glob(model + "*"):
                file.unlink()
    if kills:
        print(f"{runs.name}: {killed} of {kills} runs ended by a kill")
        if killed < kills / 3:
            runs.problems.append(f"{runs.name}: only {killed} of {kills} kills met a run")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpirun", required=True, help="the launcher of the MPI that they are linked with")
    parser.add_argument("--processes", default="2,3")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory() as name:
        for program in arguments.programs:
            folder = pathlib.Path(name, pathlib.Path(program).name)
            folder.mkdir()
            runs = Runs(program, arguments.mpirun, folder)
            check(runs, [int(n) for n in arguments.processes.split(",")],
                  [int(n) for n in arguments.threads.split(",")], arguments.kills)
            problems += runs.problems
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
