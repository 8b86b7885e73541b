#!/usr/bin/env python3
"""Speedup of two processes over one on real data, and overhead of a launcher for a single process.

    cmake --build build/release --target tagger treelstm rnnlm
    python3 benchmarks/distributed.py --build build/release --data DATA

The example programs train with minibatches of 64 and 32 lanes: the tagger on DATA/ud-ewt, the trees of DATA/sst, the
language model on the beginning of DATA/wikitext2. Runs alternate: the plain program, the program with one graph per
update instead of 32, one process under mpirun, two processes, and one process with two threads. Figures are units per
second as printed by the programs, of all epochs except the first, in which memory grows; ratios are relative to the
plain program of the same round. Runs during which other programs used more than a twentieth of a core are repeated, at
most a few times, and marked if they still count.
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

LM_LINES = 1000
TRIES = 4
EPOCHS = {"tagger": "3", "treelstm": "4", "rnnlm": "2"}
PROGRAMS = {
    "tagger": ["--train", "{data}/ud-ewt/train.conllu"],
    "treelstm": ["--train", "{data}/sst/train.txt"],
    "rnnlm": ["--train", "{folder}/lm.txt", "--batch-tokens", "1000000", "--min-count", "1"],
}
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def seconds_of_all():
    """CPU time of all processes of the machine."""
    user, nice, system, _idle, _wait, irq, soft, _stolen = map(int, pathlib.Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


def seconds_of_children():
    times = os.times()
    return times.children_user + times.children_system


def run_once(command):
    """Units per second, and the number of cores used by other processes."""
    others, begun = seconds_of_all() - seconds_of_children(), time.monotonic()
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT)
    others = (seconds_of_all() - seconds_of_children() - others) / (time.monotonic() - begun)
    found = re.findall(r"^epoch (?!1:)\d+: .* ([\d,]+) \w+/s", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not found:
        raise SystemExit(f"{command}: {done.stdout}{done.stderr}")
    return statistics.mean(int(f.replace(",", "")) for f in found), others


def units_a_second(command):
    for _ in range(TRIES):
        figure, others = run_once(command)
        if others < 0.05:
            return figure
    print(f"others have used {others:.2f} cores")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--mpirun", default=shutil.which("mpirun.openmpi") or "mpirun", help="of the MPI they are linked with")
    arguments = parser.parse_args()
    runs = {
        "plain": ([], ["--parts", "32"]),
        "one graph": ([], ["--parts", "1"]),
        "one process": ([arguments.mpirun, "-n", "1"], []),
        "two processes": ([arguments.mpirun, "-n", "2"], []),
        "two threads": ([], ["--parts", "32", "--threads", "2"]),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = (arguments.data / "wikitext2/valid.txt").read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / "lm.txt").write_text("".join(lines[:LM_LINES]), encoding="utf-8")
        for program in arguments.programs.split(","):
            figures = {run: [] for run in runs}
            common = [o.format(data=arguments.data, folder=folder) for o in PROGRAMS[program]]
            for _ in range(arguments.rounds):
                for run, (launcher, options) in runs.items():
                    figures[run].append(units_a_second([
                        *launcher, arguments.build / "examples/nlp" / program, "train", *common, "--batch", "64",
                        "--epochs", EPOCHS[program], "--model", folder / program, "--force", *options,
                    ]))  # fmt: skip
            for run, values in figures.items():
                ratios = [v / plain for v, plain in zip(values, figures["plain"])]
                print(f"{program:9} {run:14} {statistics.median(values):10,.0f} a second, {statistics.median(ratios):.3f} times"
                      f" ({min(ratios):.3f} to {max(ratios):.3f})", flush=True)


if __name__ == "__main__":
    main()
