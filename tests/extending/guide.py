#!/usr/bin/env python3
"""Follows a guide of docs/extending: applies its code blocks to a copy of the checkout, compiles what they touch
and runs what comes of it.

The line above a block of code says where it goes:

    `path`, a new file:
    `path`, before `text`:          before the only line with this text
    `path`, after `text`:           behind it
    `path`, instead of `text`:      in its place
    `path`, as it is:               nothing changes: the block is a part of the file already

What is compiled and run for each guide is in GUIDES below; the library itself is that of the build.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

FOLDERS = ("dynet-like", "kernels", "tests", "examples", "tools", "docs", "python")
SOURCES = (".cc", ".cu")
PLACE = re.compile(r"^`([^`]+)`, (a new file|as it is|before|after|instead of)(?: `([^`]+)`)?:$")
PRESET = {("dev", ""), ("", "dev")}  # the preset of all guides, and its folder
CODE = ("cpp", "cmake", "markdown")  # blocks in these languages must have a place


class Broken(Exception):
    """The guide and the checkout do not fit, or what comes of it does not work."""


class Block:
    def __init__(self, guide, number, language, place, text):
        self.where, self.language, self.text = f"{guide}:{number}", language, text
        match = PLACE.match(place)
        if not match and language in CODE:
            raise Broken(f"{self.where}: the line above this block does not say where it goes")
        self.path, self.how, self.anchor = match.groups() if match else (None, None, None)
        if match and (self.anchor is None) != (self.how in ("a new file", "as it is")):
            raise Broken(f"{self.where}: '{place}' is not one of the ways to say where a block goes")


def blocks_of(guide):
    """All fenced blocks of a guide, in order."""
    blocks, place, begun = [], "", None
    for number, line in enumerate(guide.read_text(encoding="utf-8").split("\n"), start=1):
        if begun is not None:
            if line == "```":
                blocks.append(Block(guide.name, begun[0], begun[1], begun[2], "".join(text)))
                begun = None
            elif line.startswith("```"):
                raise Broken(f"{guide.name}:{begun[0]}: the block does not end")
            else:
                text.append(line + "\n")
        elif line.startswith("```"):
            begun, text = (number, line[3:], place), []
        else:
            place = line
    if begun is not None:
        raise Broken(f"{guide.name}:{begun[0]}: the block does not end")
    return blocks


def apply(block, root):
    path = root / block.path
    if block.how == "a new file":
        if path.exists():
            raise Broken(f"{block.where}: {block.path} is there already")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        return
    if not path.is_file():
        raise Broken(f"{block.where}: there is no {block.path}")
    text = path.read_text(encoding="utf-8")
    if block.how == "as it is":
        if block.text not in text:
            raise Broken(f"{block.where}: {block.path} does not hold this block")
        return
    lines = text.splitlines(keepends=True)
    found = [i for i, line in enumerate(lines) if block.anchor in line]
    if len(found) != 1:
        raise Broken(f"{block.where}: {len(found)} lines of {block.path} hold '{block.anchor}', not one")
    at = found[0]
    if block.how == "instead of":
        lines[at] = block.text
    else:
        lines.insert(at + (block.how == "after"), block.text)
    path.write_text("".join(lines), encoding="utf-8")


class Build:
    """Compiles files of the copy with the flags of the build, and links them in front of its libraries."""

    def __init__(self, root, settings, out):
        self.root, self.settings, self.out = root, settings, out
        self.compiled = {}  # object by source

    def run(self, command, what, **more):
        done = subprocess.run(command, text=True, capture_output=True, check=False, cwd=self.root, **more)
        if done.returncode != 0:
            raise Broken(f"{what} failed with {done.returncode}: {' '.join(map(str, command))}\n{done.stdout[-6000:]}{done.stderr[-6000:]}")
        return done.stdout

    def flags_for(self, source):
        s = self.settings
        flags = ["-std=c++20", "-O0" if source.startswith("tests/") else "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-Wno-restrict"]
        flags += ["-Wno-array-bounds", "-Wno-stringop-overflow", "-Wno-maybe-uninitialized", "-Wno-uninitialized"]
        if source.startswith(("kernels/", "dynet-like/")):
            flags += ["-DEIGEN_NO_DEBUG", "-fno-math-errno", "-fno-trapping-math"]
        if s["all_isas"]:
            flags += ["-DDYNET_ALL_ISAS"]
        if source.endswith(".cu"):
            flags += ["-xc++", "-UEigen", "-ftrivial-auto-var-init=pattern"]
        return flags

    def versions_of(self, source):
        """More flags, one list for each time that a source is compiled: see cmake/kernels.cmake."""
        if not source.startswith("kernels/cpu/"):
            return [[]]
        wider = {"avx2": "x86-64-v3", "avx512": "x86-64-v4"} if self.settings["all_isas"] else {}
        sets = [("baseline", "float", [])]
        sets += [(isa, "float", [f"-march={level}"]) for isa, level in wider.items()]
        sets += [("baseline", "double", [])]
        return [[f"-DDYNET_ISA={isa}", f"-DDYNET_SCALAR={scalar}", f"-DEigen=dynet_eigen_{isa}", *more] for isa, scalar, more in sets]

    def compile(self, sources, include=(), define=()):
        for source in sources:
            if not (self.root / source).is_file():
                raise Broken(f"there is no {source} to compile")
            folders = [*include, "."] + (["tests/cuda/emulation"] if source.endswith(".cu") else [])
            command = [*self.settings["compiler"], *self.flags_for(source), *(f"-D{d}" for d in define)]
            command += [f"-I{f}" for f in folders]
            system = [f for f in self.settings["system"] if f not in ("", "/usr/include")]
            command += [part for f in dict.fromkeys(system) for part in ("-isystem", f)]
            self.compiled[source] = []
            for number, version in enumerate(self.versions_of(source)):
                target = self.out / (source.replace("/", "-") + f"-{number}.o")
                self.run([*command, *version, "-c", source, "-o", str(target)], f"compiling {source}")
                self.compiled[source].append(str(target))

    def objects(self, target, without=()):
        """The objects of a target of the build, `name` or `name:source`, but for sources that were compiled here."""
        target, _, source = target.partition(":")
        all_objects = [o for o in self.settings["objects"][target] if o.endswith(f"/{source}.o") or not source]
        if not all_objects:
            raise Broken(f"the build has no objects of {target} {source}")
        gone = [re.escape(s.split("/", 1)[1] if s.startswith("tests/") else s) for s in [*self.compiled, *without]]
        pattern = re.compile(rf"(^|/|__)({'|'.join(gone)})\.o(bj)?$") if gone else re.compile(r"$^")
        return [o for o in all_objects if not pattern.search(o)]

    def link(self, name, only=None, targets=(), libraries=(), without=()):
        """A program of what was compiled here, of objects of targets, and of the library."""
        mine = [o for s, all_of in self.compiled.items() if only is None or s in only for o in all_of]
        others = [o for t in targets for o in self.objects(t, without)]
        libs = [path for x in (*libraries, "test-support", "library") for path in self.settings["libraries"][x]]
        program = self.out / name
        # The library has older versions of what was compiled here: the first one counts.
        command = [*self.settings["compiler"], "-Wl,-z,muldefs", "-o", str(program), *mine, *others]
        self.run([*command, *libs, *self.settings["link"]], f"linking {name}")
        return program

    def test(self, program, cases=(), environment=None):
        """Runs a test program; each of the cases must match one at least."""
        env = {**os.environ, **(environment or {})}
        for case in cases:
            said = self.run([str(program), case], f"{program.name} '{case}'", env=env)
            if "No test" in said or "test cases: 0" in said:
                raise Broken(f"{program.name}: no test case is called '{case}'")


def follow_op(build):
    # The library may be compiled in groups of files: what calls a function of the family is compiled again, too.
    build.compile(["kernels/cpu/elementwise.cc", "dynet-like/ops/elementwise.cc", "dynet-like/ops/families.cc"])
    build.compile(["tests/ops/elementwise_test.cc", "tests/ops/reduction_mistakes_test.cc"])
    build.compile(["tests/ops/accuracy_test.cc", "tests/ops/documentation_test.cc"])
    program = build.link("test-ops", targets=("test-main", "test-ops"))
    build.test(program, ["operations: the table in docs is up to date"], {"DYNET_WRITE_DOCS": "1"})
    table = (build.root / "docs/operations.md").read_text(encoding="utf-8")
    if "| `log1p` | log(1 + x) |" not in table or "| `softshrink` |" not in table:
        raise Broken("docs/operations.md does not name the new operations")
    build.test(program, ["elementwise: *", "every operation has a test case", "operations: *", "every elementwise operation *"])
    if build.settings["objects"]["cuda-emulation"]:
        build.compile(["kernels/cuda/elementwise.cu"])
        tests = ("test-cuda:ops_test.cc", "test-cuda:accuracy_test.cc")
        program = build.link("test-cuda", targets=("test-main", "test-ops", "cuda-emulation", *tests))
        build.test(program, ["every operation has CUDA kernels*", "operations of elements are right to 1e-6*"])


def follow_trainer(build):
    build.compile(["dynet-like/train/lion.cc", "tests/train/rules_test.cc", "tests/train/sparse_test.cc"])
    build.test(build.link("test-train", targets=("test-main",)), ["*"])
    if build.settings["objects"]["cuda-emulation"]:
        build.compile(["kernels/cuda/update.cu", "tests/cuda/training_test.cc"])
        only = ["dynet-like/train/lion.cc", "kernels/cuda/update.cu", "tests/cuda/training_test.cc"]
        build.test(build.link("test-cuda", only, ("test-main", "cuda-emulation")), ["every trainer does on the device *"])


def follow_layer(build):
    build.compile(["dynet-like/layers/highway.cc", "dynet-like/layers/recurrent/mgu.cc", "tests/layers/highway_test.cc", "tests/layers/cells_test.cc"])
    build.compile(["tests/layers/layers_save_test.cc"], define=[f'LIBRARY_HEADERS="{build.root}/dynet-like"'])
    build.test(build.link("test-layers", targets=("test-main",)), ["*"])
    if build.settings["objects"]["cuda-emulation"]:
        build.compile(["tests/cuda/builders_test.cc"], define=[f'LIBRARY_HEADERS="{build.root}/dynet-like"'])
        only = ["dynet-like/layers/highway.cc", "dynet-like/layers/recurrent/mgu.cc", "tests/cuda/builders_test.cc"]
        build.test(build.link("test-cuda", only, ("test-main", "cuda-emulation")), ["every builder does *", "no builder is left out *"])


def follow_backend(build):
    if not build.settings["objects"]["cuda-emulation"]:
        raise Skipped("there is no Boost.Context, which plays the threads of a kernel")
    folder = build.root / "kernels/cuda"
    users = {p.name for p in folder.iterdir() if re.search(r"\bcuda[A-Z]\w*\(|\bcublas", p.read_text(encoding="utf-8"))}
    guide = (build.root / "docs/extending/backend.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `kernels/cuda/([\w.]+)`", guide, re.MULTILINE))
    if users != listed:
        raise Broken(f"backend.md lists {sorted(listed)} as what names CUDA, but that is {sorted(users)}")
    # The .cu files with the port's header, which stands on what plays HIP's.
    stand_in = "tests/extending/hip"
    build.compile(["kernels/cuda/elementwise.cu", "kernels/cuda/softmax.cu"], include=["kernels/rocm", stand_in])
    build.compile(["tests/rocm/driver.cc", "tests/rocm/port_test.cc"])
    without = [f"emulation/{name}.cc" for name in ("driver", "memory", "streams", "checks")]
    build.test(build.link("test-rocm", targets=("test-main", "cuda-emulation"), without=without), ["*"])


def follow_example(build):
    settings = build.settings
    if not settings["libraries"]["nlp"]:
        raise Skipped("the examples are not built")
    build.compile([f"examples/nlp/bow/{name}.cc" for name in ("main", "model")])
    binary = build.link("bow", libraries=("nlp",))
    build.compile(["tests/examples/bow_test.cc"], define=[f'BOW_BINARY="{binary}"'])
    only = ["examples/nlp/bow/model.cc", "tests/examples/bow_test.cc"]
    build.test(build.link("test-examples", only, ("test-main",), ("nlp",)), ["*"])


class Skipped(Exception):
    pass


GUIDES = {
    "op": follow_op, "trainer": follow_trainer, "layer": follow_layer, "backend": follow_backend,
    "example": follow_example,
}  # fmt: skip


def house(root):
    """The copy keeps the rules that hold for texts."""
    for check in ("ranks", "eigen", "manners", "length", "globals"):
        done = subprocess.run(
            [sys.executable, str(root / "tests/house/check_text.py"), check, "--root", str(root)],
            text=True, capture_output=True, check=False)  # fmt: skip
        if done.returncode != 0:
            raise Broken(f"house/{check}:\n{done.stdout}{done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("guide", choices=sorted(GUIDES))
    parser.add_argument("--root", required=True, help="the checkout")
    parser.add_argument("--out", required=True, help="where the copy goes")
    parser.add_argument("--settings", required=True, help="of the build, written by CMake")
    parser.add_argument("--apply-only", action="store_true", help="compile and run nothing")
    arguments = parser.parse_args()
    out = pathlib.Path(arguments.out).resolve()
    copy = out / "checkout"
    shutil.rmtree(copy, ignore_errors=True)
    for folder in FOLDERS:
        shutil.copytree(pathlib.Path(arguments.root) / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    begun = time.monotonic()
    try:
        guide = copy / "docs/extending" / (arguments.guide + ".md")
        if others := set(re.findall(r"--preset (\w+)|build/(\w+)/", guide.read_text(encoding="utf-8"))) - PRESET:
            raise Broken(f"{guide.name}: another preset than in the other guides: {sorted(others)}")
        blocks = [b for b in blocks_of(guide) if b.how]
        for block in blocks:
            apply(block, copy)
        house(copy)
        if not arguments.apply_only:
            settings = json.loads(pathlib.Path(arguments.settings).read_text(encoding="utf-8"))
            GUIDES[arguments.guide](Build(copy, settings, out))
    except Broken as broken:
        print(broken)
        return 1
    except Skipped as skipped:
        print(f"skipped: {skipped}")
        return 77
    print(f"{arguments.guide}: {len(blocks)} blocks, {time.monotonic() - begun:.0f} s")
    return 0 if blocks else 1


if __name__ == "__main__":
    sys.exit(main())
