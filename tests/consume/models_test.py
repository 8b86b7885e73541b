#!/usr/bin/env python3
"""tools/models trains a model of each installed program that is named, and prints the command that uses the tagger's."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROWS = (("the", "DET", 2, "det"), ("cat", "NOUN", 3, "nsubj"), ("sleeps", "VERB", 0, "root"))
SENTENCE = "".join(f"{i}\t{w}\t{w}\t{t}\t{t}\t_\t{h}\t{r}\t_\t_\n" for i, (w, t, h, r) in enumerate(ROWS, 1)) + "\n"
TREEBANK = 40 * ("# text = the cat sleeps\n" + SENTENCE)
PIXELS = "".join(f"{','.join([str(16 * label)] * 64)},{label}\n" for label in (0, 1))
DATA = {  # a file for each program, and options for a small network
    "annotate": (TREEBANK, ""),
    "classifier": (40 * "pet\tthe cat sleeps\nfood\tbread and milk\n", "--hidden 4"),
    "digits": (40 * PIXELS, ""),
    "parser": (TREEBANK, "--hidden 8 --word 4 --tag 4 --mlp 4 --layers 1"),
    "rnnlm": (40 * "the cat sleeps\n", "--hidden 4"),
    "translate": (40 * "the cat\tle chat\na dog\tun chien\n", "--hidden 4"),
    "treelstm": (40 * "(3 (2 the) (4 cat))\n", "--hidden 4"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("names", nargs="+")
    arguments = parser.parse_args()
    script = arguments.root.resolve() / "tools/models"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = dict(os.environ, PROGRAMS=str(arguments.programs.resolve()), MODELS=str(folder / "models"))

        def models(*words, status=0):
            done = subprocess.run([script, *words], cwd=folder, env=environment, text=True, capture_output=True, check=False)
            if done.returncode != status:
                raise RuntimeError(f"tools/models {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
            return done.stdout

        for program, (text, options) in DATA.items():
            if program not in arguments.names:
                continue
            (folder / program).write_text(text)
            printed = models(program, program, "--", "--epochs", "1", *options.split())
            command = printed.strip().split("\n")[-1].split()
            if not (folder / "models" / f"{program}.model").exists() or subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode != 0:
                raise RuntimeError(f"{program}:\n{printed}")
            print(f"{program}: ok")
        models("nothing", status=2)
        if shutil.which("bible") and "tagger" in arguments.names:
            printed = models("tagger", "--", "--epochs", "1", "--hidden", "8")
            command = printed.strip().split("\n")[-1]
            answer = subprocess.run(command, shell=True, text=True, capture_output=True, check=True).stdout
            if answer.lower().translate(str.maketrans("", "", ",.;:?!")).split() != "thou art my friend peter said he".split():
                raise RuntimeError(f"{command}\n{answer}")
            print(f"$ {command}\n{answer}", end="")
        else:
            print("not tested: the tagger, for which bible-kjv is missing")


if __name__ == "__main__":
    sys.exit(main())
