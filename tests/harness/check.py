#!/usr/bin/env python3
"""A test that fails must not count as skipped, nor one that is skipped as passed: runs the program
of cases.cc and compares its exit statuses."""

import subprocess
import sys

EXPECTED = {
    "passes": 0,
    "fails four times": 1,
    "fails seventy-seven times": 1,
    "is skipped": 77,
    "is skipped and fails": 1,
    "passes,is skipped": 0,
    "passes,is skipped and fails": 1,
    "--no-such-option": 255,
}


def main(program):
    wrong = 0
    for cases, expected in EXPECTED.items():
        status = subprocess.run([program, cases], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        if status != expected:
            print(f"{program} '{cases}': exit status {status}, expected {expected}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
