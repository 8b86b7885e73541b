#!/usr/bin/env python3
"""Trains programs as their users start them: model and checkpoint must be those of the plain program, for any number of processes
and threads, under every MPI that is installed, with messages that are late, with processes that have no sample; and a run must go on
with another number of processes, after it has ended or was killed."""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from mpis import ENVIRONMENT, SKIPPED, installed

# Small networks; the language model has tables whose rows are used here and there, and dropout.
OPTIONS = {
    "tagger": ["--hidden", "8", "--features", "word:8"],
    "treelstm": ["--word", "8", "--hidden", "8"],
    "rnnlm": ["--word", "8", "--hidden", "8", "--min-count", "1", "--loss", "sampled", "--samples", "8"],
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


class Program:
    """An example program, in a folder with its data."""

    def __init__(self, name, plain, folder):
        self.name, self.plain, self.folder = name, plain, folder
        folder.mkdir()
        data = folder / "data.txt"
        WRITERS[name](data, random.Random(1))
        self.arguments = ["train", "--train", data, "--dev", data, "--test", data, *OPTIONS[name]]

    def command(self, binary, model, threads, *options):
        return [binary, *self.arguments, "--model", self.folder / model, "--threads", str(threads), *options]

    def says(self, processes):
        return f"{processes} processes\n" if processes > 1 else ""

    def files(self, model):
        return [self.folder / model, self.folder / (model + ".checkpoint")]


class Runs:
    """Runs of a program that is built for an MPI."""

    def __init__(self, program, mpi, binary, problems):
        self.program, self.mpi, self.binary, self.problems = program, mpi, binary, problems

    def command(self, processes, model, threads=1, *options, before=()):
        """Without processes it is the plain program, with the lanes of a run over MPI."""
        if not processes:
            return self.program.command(self.program.plain, model, threads, "--parts", "32", *options)
        return [*self.mpi.start(processes), *before, *self.program.command(self.binary, model, threads, *options)]

    def train(self, processes, model, *options, **more):
        """The checksums of its files after a run."""
        command = self.command(processes, model, *options, **more)
        done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=300)
        what = f"{self.program.name}, {self.mpi.name}, {processes} processes, {model}: "
        said = done.stdout + done.stderr
        if done.returncode != 0:
            self.problems.append(what + said)
            return None
        if processes and self.program.says(processes) not in said:
            self.problems.append(f"{what}their number is not said: {said}")
        if done.stdout.count("saved in") != 1:
            self.problems.append(f"{what}not one of them has spoken: {done.stdout}")
        return [hashlib.sha256(file.read_bytes()).hexdigest() for file in self.program.files(model)]

    def compare(self, expected, *run, **more):
        if self.train(*run, **more) != expected:
            self.problems.append(f"{self.program.name}, {self.mpi.name}: other files: {' '.join(map(str, run))}")

    def kill_one(self, draw, processes, model, options, after):
        """Starts a run and kills one of its processes; whether it was still there."""
        run = subprocess.Popen(self.command(processes, model, 1, *options), env=ENVIRONMENT, start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(after)
        pattern = f"^{self.binary} train.*{self.program.folder / model}( |$)"  # not the launcher
        found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True)
        if victims := found.stdout.split():
            try:
                os.kill(int(draw.choice(victims)), signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has just ended
        try:
            run.wait(60)
        except subprocess.TimeoutExpired:
            self.problems.append(f"{self.program.name}: the others wait for a process that was killed")
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
        return run.returncode != 0


def check_counts(runs, plain, counts, threads):
    """`plain`: the files of the plain program, by what else was asked of it."""
    longer = ["--batch", "20", "--epochs", "4"]
    for n in counts:
        for t in threads:
            runs.compare(plain["all"], n, f"of{n}-{t}-{runs.mpi.name}", t, *longer)
    resumed = f"resumed-{runs.mpi.name}"
    runs.train(3, resumed, 1, "--batch", "20", "--epochs", "2")
    runs.compare(plain["all"], 2, resumed, 1, *longer, "--resume")
    runs.compare(plain["few"], max(counts), f"few-{runs.mpi.name}", 1, "--epochs", "1", "--batch", "3")


def check_delays(runs, plain, delays):
    before = ["env", f"LD_PRELOAD={delays}", "DELAY_MICROSECONDS=1000"]
    for n in (2, 3):
        runs.compare(plain["few"], n, f"late{n}-{runs.mpi.name}", 1, "--epochs", "1", "--batch", "3", before=before)


# Options that rank 1 alone has, and what all processes say then. None: without it.
DIFFERENT = [
    ("--batch", "7", "--batch is 7 on rank 1 and 20 on rank 0"),
    ("--learning-rate", "0.01", "--learning-rate is 0.01 on rank 1 and "),
    ("--decay", "0.5", "--decay is 0.5 on rank 1 and "),
    ("--clip", "1", "--clip is 1 on rank 1 and "),
    ("--unknown", "0.5", "--unknown is 0.5 on rank 1 and "),
    ("--dropout", "0.5", "--dropout is 0.5 on rank 1 and "),
    ("--hidden", "12", "--hidden is 12 on rank 1 and "),
    ("--features", "word:12", "--features is word:12 on rank 1 and "),
    ("--parts", "16", "--parts is 16 on rank 1 and 32 on rank 0"),
    ("--seed", "2", "--seed is 2 on rank 1 and 1 on rank 0"),
    ("--epochs", "3", "--epochs is 3 on rank 1 and 2 on rank 0"),
    ("--patience", "1", "--patience is 1 on rank 1 and "),
    ("--max-seconds", "1000", "--max-seconds is 1000 on rank 1 and 0 on rank 0"),
    ("--train", "ORDER", "the digest of the training data is "),
    ("--train", "FEW", "the digest of the training data is "),
    ("--dev", "ORDER", "the digest of the dev data is "),
    ("--dev", "FEW", "the digest of the dev data is "),
    ("--dev", None, "the digest of the dev data is "),
    ("--test", "FEW", "the digest of the test data is "),
    ("--test", None, "the digest of the test data is "),
    ("--init", "OTHER", "the digest of the weights is "),
    ("--model", "RESUMED", "the epoch is "),
]


def check_differences(runs):
    """Processes that would train different models refuse to train, and write nothing."""
    folder = runs.program.folder
    data = (folder / "data.txt").read_text(encoding="utf-8").split("\n\n")
    files = {"ORDER": [*data[1:-1], data[0], ""], "FEW": [*data[:50], ""]}
    for name, sentences in files.items():
        (folder / name).write_text("\n\n".join(sentences), encoding="utf-8")
    runs.train(1, "OTHER", 1, "--batch", "20", "--epochs", "2", "--seed", "5")
    for model in ("begun", "RESUMED"):
        runs.train(1, model, 1, "--batch", "20", "--epochs", "1" if model == "begun" else "2")
    program = [runs.binary, *map(str, runs.program.arguments), "--batch", "20", "--parts", "32", "--epochs", "2"]
    before = {file: file.read_bytes() for file in folder.iterdir()}

    def run(number, option, value):
        model = folder / ("begun" if value == "RESUMED" else f"different{number}")
        first = [*program, "--model", str(model), *(["--resume"] if value == "RESUMED" else [])]
        second = list(first)
        if option in second:
            del second[second.index(option) : second.index(option) + 2]
        if value is not None:
            second += [option, str(folder / value) if (folder / value).exists() else value]
        return subprocess.run([*runs.mpi.start(1), *first, ":", "-n", "1", *second], capture_output=True, text=True,
                              env=ENVIRONMENT, timeout=120)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:  # mpiexec waits for most of its time
        all_done = list(pool.map(lambda k: run(k, *DIFFERENT[k][:2]), range(len(DIFFERENT))))
    for (option, value, expected), done in zip(DIFFERENT, all_done):
        said = done.stdout + done.stderr
        print(f"{option} {value}: {next((line for line in said.splitlines() if 'rank 1' in line), said)}")
        if done.returncode == 0 or expected not in said:
            runs.problems.append(f"{option} {value} on one process, status {done.returncode}: {said}")
    after = {file: file.read_bytes() for file in folder.iterdir()}
    for file in sorted(file for file in {*before, *after} if before.get(file) != after.get(file)):
        runs.problems.append(f"a run that refused to train wrote {file.name}")


def check_kills(all_runs, kills):
    """Each run is killed at a time of chance; another one, of another number of processes, goes on to the end."""
    draw, killed, compared, times = random.Random(2), 0, 0, {}
    options = ["--batch", "20", "--epochs", "25"]
    for runs in all_runs:
        begun = time.monotonic()
        final = runs.train(2, f"timed-{runs.mpi.name}", 1, *options)
        times[runs.mpi.name] = time.monotonic() - begun
    runs_begun = 0
    while killed < kills and runs_begun < 10 * kills:
        k, runs_begun = runs_begun, runs_begun + 1
        runs, other = all_runs[k % len(all_runs)], all_runs[(k + 1) % len(all_runs)]
        model = f"killed{k}"
        before = 1 + draw.randrange(4)
        was_killed = runs.kill_one(draw, before, model, options, draw.uniform(0.2, 1) * times[runs.mpi.name])
        killed += was_killed
        if not was_killed:  # the machine was busier when it was timed
            times[runs.mpi.name] *= 0.7
        there = runs.program.files(model)[1].exists()
        after = draw.choice([n for n in range(1, 5) if n != before])
        other.compare(final, after, model, 1, *options, "--resume" if there else "--force")
        compared += was_killed and there
        for file in runs.program.folder.glob(model + "*"):
            file.unlink()
    print(f"{killed} of {runs_begun} runs ended by a kill, of which {compared} had a checkpoint to go on with")
    if killed < kills:
        all_runs[0].problems.append(f"only {killed} kills of {kills} met a run")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", default="1,2,3,4,5,8")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--kills", type=int, default=0, help="kill so many runs, instead of all else")
    parser.add_argument("--differences", action="store_true", help="give one process other options, instead of all else")
    parser.add_argument("--first", action="store_true", help="only the first MPI that is installed")
    parser.add_argument("--program", action="append", default=[], help="NAME=BINARY,OBJECTS AND LIBRARIES")
    parser.add_argument("link", nargs="+", help="the library, and what the linker needs besides")
    arguments = parser.parse_args()
    mpis = installed()[: 1 if arguments.first else None]
    if not mpis:
        print("skipped: neither Open MPI nor MPICH is installed")
        return SKIPPED
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        programs = []
        for text in arguments.program:
            of, parts = text.split("=", 1)
            binary, *objects = parts.split(",")
            programs.append((Program(of, binary, folder / of), objects))
        for program, objects in programs:
            all_runs = [
                Runs(program, mpi, mpi.build(folder / f"{program.name}-{mpi.name}", [], [*objects, *arguments.link]), problems)
                for mpi in mpis
            ]
            if arguments.kills:
                check_kills(all_runs, arguments.kills)
                continue
            if arguments.differences:
                for runs in all_runs:
                    check_differences(runs)
                continue
            first = all_runs[0]
            plain = {
                "all": first.train(0, "plain", 1, "--batch", "20", "--epochs", "4"),
                "few": first.train(0, "plain-few", 1, "--epochs", "1", "--batch", "3"),
            }
            first.compare(plain["all"], 0, "plain-threads", 2, "--batch", "20", "--epochs", "4")
            for runs in all_runs:
                check_counts(runs, plain, [int(n) for n in arguments.processes.split(",")],
                             [int(n) for n in arguments.threads.split(",")])
                check_delays(runs, plain, runs.mpi.build_delays(folder / f"delays-{runs.mpi.name}.so"))
            print(f"{program.name}, {', '.join(mpi.name for mpi in mpis)}: {plain['all']}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
