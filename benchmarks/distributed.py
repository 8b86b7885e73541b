#!/usr/bin/env python3
"""What two processes gain over one, on real data, and what a launcher costs a process that is alone.

    cmake --build build/release --target tagger treelstm rnnlm
    python3 benchmarks/distributed.py --build build/release --data DATA

The example programs train for some seconds with minibatches of 64 and 32 lanes: the tagger on DATA/ud-ewt, the trees
of DATA/sst, the language model on the beginning of DATA/wikitext2. The plain program, one process under mpirun, two of
them and one of two threads take turns; figures are units a second of the first epoch, as the programs print them, and
ratios to the plain program of the same round. With --before, such as "chrt -f 5", processes are started by a command
that keeps others from their cores.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import tempfile

LM_LINES = 1000
PROGRAMS = {
    "tagger": ["--train", "{data}/ud-ewt/train.conllu"],
    "treelstm": ["--train", "{data}/sst/train.txt"],
    "rnnlm": ["--train", "{folder}/lm.txt", "--batch-tokens", "1000000", "--min-count", "1"],
}
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def units_a_second(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT)
    found = re.search(r"^epoch 1: .* ([\d,]+) \w+/s", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not found:
        raise SystemExit(f"{command}: {done.stdout}{done.stderr}")
    return int(found[1].replace(",", ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--mpirun", default=shutil.which("mpirun.openmpi") or "mpirun", help="of the MPI they are linked with")
    parser.add_argument("--before", default="", help="a command in front of each process")
    arguments = parser.parse_args()
    before = shlex.split(arguments.before)
    runs = {
        "plain": ([], ["--parts", "32"]),
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
                        *launcher, *before, arguments.build / "examples/nlp" / program, "train", *common, "--batch", "64",
                        "--epochs", "1", "--model", folder / "model", "--force", *options,
                    ]))  # fmt: skip
            for run, values in figures.items():
                ratios = [v / plain for v, plain in zip(values, figures["plain"])]
                print(f"{program:9} {run:14} {statistics.median(values):10,.0f} a second, {statistics.median(ratios):.3f} times"
                      f" ({min(ratios):.3f} to {max(ratios):.3f})", flush=True)


if __name__ == "__main__":
    main()
