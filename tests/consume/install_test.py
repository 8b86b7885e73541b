#!/usr/bin/env python3
"""Runs the block of each way in docs/install.md, with the files that tools/release makes. The packages of the system are
installed already. To take less time, C++ is compiled without optimization and for the CPU of this machine alone."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

WAYS = {  # the last lines that each block prints
    "Wheel": r"the\|D cat\|N sleeps\|V\n",
    "Archive": r"the\|D cat\|N sleeps\|V\n",
    "find_package": r"0\.09\d+\n0\.24\d+\n0\.66\d+\n",
    "FetchContent": r"0\.09\d+\n0\.24\d+\n0\.66\d+\n",
}
QUICK = "-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DDYNET_NATIVE=ON"


def blocks_of(document):
    """{heading: its block of shell commands}"""
    sections = re.split(r"^## ", document.read_text(), flags=re.MULTILINE)[1:]
    found = {}
    for section in sections:
        blocks = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        if blocks:
            found[section.partition("\n")[0]] = blocks[0] if len(blocks) == 1 else None
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="new folder for all files of the blocks")
    parser.add_argument("--wheel", type=pathlib.Path, help="wheel of tools/wheel")
    parser.add_argument("--release", action="store_true", help="compile as the page says")
    parser.add_argument("ways", nargs="+", choices=WAYS)
    arguments = parser.parse_args()
    root, folder = arguments.root.resolve(), arguments.folder.resolve()
    blocks = blocks_of(root / "docs/install.md")
    if sorted(blocks) != sorted(WAYS) or None in blocks.values():
        sys.exit(f"docs/install.md has blocks of {list(blocks)}, this test of {list(WAYS)}")
    if set(arguments.ways) != {"Wheel"} and not (root / ".git").exists():
        print("skipped: no checkout, of which an archive could be made")
        return 77

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)  # Archive and find_package share the folder build: less to compile
    for way in arguments.ways:
        if way == "Wheel":
            shutil.copy(arguments.wheel, folder)
        else:
            subprocess.run([root / "tools/release", "archive"], stdout=subprocess.DEVNULL, check=True)
            shutil.copy(next((root / "build/release-files").glob("*.tar.gz")), folder)
        block = re.sub(r"^sudo apt-get .*\n", "", blocks[way], flags=re.MULTILINE)
        if not arguments.release:
            block = block.replace("-DCMAKE_BUILD_TYPE=Release", QUICK)
        block = block.replace("$HOME", str(folder))
        environment = dict(os.environ)
        if shutil.which("ccache"):
            environment.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
        started = time.monotonic()
        done = subprocess.run(["bash", "-euxc", block], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, check=False)
        print(done.stdout[-2000:])
        if done.returncode != 0 or not re.search(WAYS[way] + r"\Z", done.stdout):
            sys.exit(f"{way}: the block ends with status {done.returncode}")
        print(f"{way}: {time.monotonic() - started:.0f} s", flush=True)
        if way == "Wheel":
            scripts = re.findall(r'^([a-z-]+) = "_dynet_programs:main"', (root / "pyproject.toml").read_text(), re.MULTILINE)
            if "tagger" not in scripts or len(scripts) < 9:
                sys.exit(f"pyproject.toml names the programs {scripts}")
            for name in scripts:
                version = subprocess.run([folder / "environment/bin" / name, "--version"], text=True, capture_output=True, check=True).stdout
                if not version.startswith(f"{name} 0."):
                    sys.exit(f"{name} --version: {version}")
                if f"`{name}`" not in (root / "docs/install.md").read_text():
                    sys.exit(f"docs/install.md does not name {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
