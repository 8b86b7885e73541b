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
import tarfile
import tempfile
import time

LIST = "case $* in *--list* | *--help*) echo 'a case'; echo 'an error, [of two]'; exit ;; esac; "
FAST = LIST + "echo 'All tests passed'"
SLOW = LIST + "sleep 1000"
DEAF = LIST + "trap '' TERM; while :; do sleep 0.1; done"  # does not stop when told to
BROKEN = LIST + """case $* in *error*) [[ $* = *'error\\, \\[of two\\]'* ]] && exit 3 ;; esac; echo 'All tests passed'"""
BENCH = """#!/usr/bin/env python3
import json, sys, time
assert float(sys.argv[sys.argv.index("--limit") + 1]) > 0
figure = {"rate": 1234.0, "mb": 900.0}
ours = {"kernels": "avx2", "figures": {"tree 256": figure, "tree 256, CPU": {"rate": 10.0, "mb": 0}}}
torch = {"figures": {"tree 256": {"prepared": {"rate": 617.0, "mb": 800.0}, "as written": {"rate": 300.0, "mb": 1.0}}}}
with open(sys.argv[sys.argv.index("--json") + 1], "w") as file:
    json.dump(torch if "torch" in sys.argv[0] else ours, file)
time.sleep(%d)
"""
STEPS = ["smoke", "tests", "ours", "torch", "memcheck", "racecheck", "initcheck", "synccheck"]
COMPARED = "by levels | 1,234 | 300 | 617 | 2.00 | 1 | 3 | 900 | 800 |"


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def play(root, tests, bench, seconds, machine=(), cublas=True, packed=False):
    """Runs the script; returns how long it took, its status, and the folder of results."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(root / "tools", folder / "tools")
        put(folder / "build/gpu/programs/test-gpu", f"#!/usr/bin/env bash\n{tests}\n")
        put(folder / "build/gpu/programs/bench-gpu", bench)
        if packed:
            with tarfile.open(folder / "build/gpu/programs.tar.xz", "w:xz") as archive:
                archive.add(folder / "build/gpu/programs", "programs")
            shutil.rmtree(folder / "build/gpu/programs")
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
    check([s for s in rows if s in STEPS] == STEPS, "steps are in their order", output)
    check("cases: 2 passed, 0 skipped, 0 failed" in files["table.txt"], "cases are counted", output)
    check(COMPARED in files["table.txt"], "figures are compared with PyTorch's better ones", output)
    check("CPU, avx2 |" in output and "| tree 256 | 1,234 | 10 | 123.40 |" in output, "and with the CPU's", output)
    check(len(files) <= 8 and set(files) >= {"log.txt", "ours.json", "torch.json"}, "few files come back", output)
    check(json.loads(files["ours.json"])["figures"], "figures come back", output)
    check(took < 20, f"nothing waits: {took} s", output)


def slow(root, tests, bench, limit):
    took, status, output, files = play(root, tests, bench, limit)
    check(took <= limit + 5, f"a slow device: all is over in {limit} s, not {took}", output)
    check(status == 1, "which is no success", output)
    rows = outcomes(files["table.txt"])
    check(all("NOT FINISHED" in rows.get(s, "") or "NOT STARTED" in rows.get(s, "") for s in STEPS), "each step has its row", output)
    check("NOT FINISHED" in rows["ours"] and "NOT FINISHED" in rows["torch"], "timings have their turn", output)
    check(COMPARED in files["table.txt"], "figures before the end are there", output)
    check(re.search(r"STOPPED +a case", files["table.txt"]), "cases that did not end are named", output)


def broken(root):
    took, status, output, files = play(root, "exit 3", BENCH % 0, 570)
    check(status == 1 and "FAILED" in outcomes(files["table.txt"])["tests"], "tests that fail", output)
    took, status, output, files = play(root, BROKEN, BENCH % 0, 570)
    check(status == 1 and re.search(r"FAILED +an error, \[of two\]\n", output), "a case that fails is named", output)
    check("cases: 1 passed, 0 skipped, 1 failed" in output, "others pass", output)
    took, status, output, files = play(root, LIST + "echo 'No tests ran'", BENCH % 0, 570)
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


def carried(root):
    for machine in [], [("tar", "#!/bin/sh\nexit 2\n")]:
        took, status, output, files = play(root, FAST, BENCH % 0, 570, machine, packed=True)
        check(status == 0, "the archive is unpacked, by a tar that knows xz or without one", output)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    root = parser.parse_args().root
    quick(root)
    slow(root, SLOW, BENCH % 1000, 5)
    slow(root, DEAF, BENCH.replace("import json", "import signal; signal.signal(15, signal.SIG_IGN)\nimport json") % 1000, 7)
    broken(root)
    carried(root)


if __name__ == "__main__":
    main()
