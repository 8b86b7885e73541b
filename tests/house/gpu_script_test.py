#!/usr/bin/env python3
"""tools/gpu on a machine that is played: its programs are scripts that do nothing, for as long as they are let.

A GPU is lent for ten minutes. Whatever happens there, the script must end in time and leave what is known.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

FAST = "echo '0.001 s: a case'; echo 'All tests passed'"
SLOW = "echo '0.001 s: a case'; sleep 1000"
DEAF = "trap '' TERM; while :; do sleep 0.1; done"  # does not stop when told to
BENCH = """#!/usr/bin/env python3
import json, sys, time
if "--json" in sys.argv:
    task = "lm" if "--task" in sys.argv else "tree"
    figures = {"compiled_for": "AVX2", task: {"CPU": 10.0, "GPU:0": 1234.0}}
    if "torch" in sys.argv[0]:
        figures = {"figures": {"lm": 9.0}} if task == "lm" else {"figures": {"tree, by levels": 617.0}}
    open(sys.argv[sys.argv.index("--json") + 1], "w").write(json.dumps(figures))
time.sleep(%d)
"""
STEPS = ["smoke", "ours", "ours-tf32", "torch", "torch-tf32", "tests", "memcheck", "racecheck", "initcheck", "synccheck"]


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def play(root, tests, bench, seconds, machine=(), cublas=True):
    """Runs the script; returns how long it took, its status, and the folder of results."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(root / "tools", folder / "tools")
        put(folder / "build/gpu/programs/test-gpu", f"#!/usr/bin/env bash\n{tests}\n")
        put(folder / "build/gpu/programs/bench-gpu", bench)
        put(folder / "benchmarks/gpu_torch.py", bench)
        put(folder / "bin/nvidia-smi", '#!/bin/sh\ncase "$1" in *compute_cap) echo 9.0 ;; *) echo "a played GPU" ;; esac\n')
        put(folder / "bin/compute-sanitizer", f"#!/usr/bin/env bash\n{tests}\n")
        if cublas:
            put(folder / "lib/libcublas.so.13", "")
        else:  # nor that of the machine that plays
            script = folder / "tools/gpu"
            script.write_text(script.read_text(encoding="utf-8").replace("/usr/local/cuda/", f"{folder}/none/"), encoding="utf-8")
            put(folder / "bin/python3", f'#!/bin/sh\n[ "$1" != -c ] || exit 0\nexec {sys.executable} "$@"\n')
        for program, text in machine:
            put(folder / "bin" / program, text)
        environment = dict(
            os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}", OUT=f"{folder}/out", DYNET_GPU_SECONDS=str(seconds),
            LD_LIBRARY_PATH=f"{folder}/lib")  # fmt: skip
        begin = time.monotonic()
        done = subprocess.run(["bash", "tools/gpu", "--no-build"], cwd=folder, env=environment, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
        took = time.monotonic() - begin
        files = {f.name: f.read_text(encoding="utf-8") for f in (folder / "out").iterdir()}
    return took, done.returncode, done.stdout, files


def outcomes(table):
    return {line.split()[0]: line for line in table.splitlines() if line and not line.startswith((" ", "|"))}


def check(condition, what, output):
    if not condition:
        sys.exit(f"{what}\n{output}")


def quick(root):
    took, status, output, files = play(root, FAST, BENCH % 0, 570)
    check(status == 0, "a quick device: all passes", output)
    rows = outcomes(files["table.txt"])
    check(all(" passed " in rows.get(s, "") for s in STEPS), "each step has its row", output)
    check(list(rows).index("torch-tf32") < list(rows).index("tests"), "timings come before tests", output)
    check("| 1,234 | PyTorch, by levels | 617 | 2.00 |" in files["table.txt"], "figures are compared", output)
    check("CPU, for AVX2 | 10 | 123.40" in files["table.txt"], "and with the CPU's", output)
    check(len(files) <= 8 and set(files) >= {"log.txt", "ours.json", "torch.json"}, "few files come back", output)
    check(json.loads(files["ours-tf32.json"])["lm"], "figures come back", output)
    check(took < 20, f"nothing waits: {took} s", output)


def slow(root, tests, bench, limit):
    took, status, output, files = play(root, tests, bench, limit)
    check(took <= limit + 5, f"a slow device: all is over in {limit} s, not {took}", output)
    check(status == 1, "which is no success", output)
    rows = outcomes(files["table.txt"])
    check(all("NOT FINISHED" in rows.get(s, "") or "NOT STARTED" in rows.get(s, "") for s in STEPS), "each step has its row", output)
    check("NOT FINISHED" in rows["ours"] and "NOT FINISHED" in rows["torch"], "timings have their turn", output)
    check("| 1,234 | PyTorch, by levels | 617 | 2.00 |" in files["table.txt"], "figures before the end are there", output)


def broken(root):
    took, status, output, files = play(root, "exit 3", BENCH % 0, 570)
    check(status == 1 and "FAILED" in outcomes(files["table.txt"])["tests"], "tests that fail", output)
    took, status, output, files = play(root, "echo 'No tests ran'", BENCH % 0, 570)
    check(status == 1 and "FAILED" in outcomes(files["table.txt"])["tests"], "no tests are no success", output)
    ldd = '#!/bin/sh\necho "\tlibboost_none.so.1 => not found"\n'
    took, status, output, files = play(root, SLOW, BENCH % 1000, 570, [("ldd", ldd)])
    check(status == 1 and "libboost_none.so.1 => not found" in files["table.txt"], "a missing library is named", output)
    check("smoke" not in files["table.txt"] and took < 3, f"and nothing is tried: {took} s", output)
    ldconfig = '#!/bin/sh\necho "\tlibcublas.so.13 (libc6,x86-64) => %s"\n'
    took, status, output, files = play(root, FAST, BENCH % 0, 570, [("ldconfig", ldconfig % "/gone/libcublas.so.13")], False)
    check(status == 1 and "libcublas.so.13 => not found" in files["table.txt"], "a library that is gone is missing", output)
    took, status, output, files = play(root, FAST, BENCH % 0, 570, [("ldconfig", ldconfig % "/bin/sh")], False)
    check(status == 0, "one that the loader knows is not", output)


def limits(root):
    text = (root / "tools/gpu").read_text(encoding="utf-8")
    most = re.search(r"declare -A most=\((.*?)\)", text, re.DOTALL)
    limit = dict(re.findall(r"\[([\w-]+)\]=(\d+)", most[1]))
    check(set(limit) == {*STEPS, "data"}, "each step has a limit", most[0])
    check(sum(map(int, limit.values())) < 570, "the limits add up to less than there is", most[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    root = parser.parse_args().root
    limits(root)
    quick(root)
    slow(root, SLOW, BENCH % 1000, 5)
    slow(root, DEAF, BENCH.replace("import json", "import signal; signal.signal(15, signal.SIG_IGN)\nimport json") % 1000, 7)
    broken(root)


if __name__ == "__main__":
    main()
