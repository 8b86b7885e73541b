#!/usr/bin/env python3
"""Plants a violation of each rule in a small tree and expects the check to name file and line."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import small_tree

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = argparse.Namespace(compiler="c++", nm="nm")

CLEAN = {
    "dynet-like/dynet.h": '#pragma once\n#include "dynet-like/graph/node.h"\n',
    "dynet-like/base/errors.h": "#pragma once\n#include <string>\nstd::string words();\n",
    "dynet-like/graph/node.h": '#pragma once\n#include "dynet-like/base/errors.h"\n',
    "dynet-like/graph/node.cc": '#include "dynet-like/graph/node.h"\n// abort() and printf( in a comment\n'
    'const char* text() { return "printf(\\"std::cout\\")"; }\nstatic int twice(int x) { return 2 * x; }\n'
    "static const int kThree = 3;\nint six() { return twice(kThree) + 1'000; }\n",
    "dynet-like/ops/unary.h": '#pragma once\n#include "dynet-like/graph/node.h"\n',
    "kernels/cpu/elementwise.h": '#pragma once\n#include "dynet-like/ops/unary.h"\n',
    "kernels/cpu/elementwise.cc": '#include <Eigen/Core>\n#include "kernels/cpu/elementwise.h"\n',
    "tests/support/catch.h": "#pragma once\n",
    "README.md": "# Name\n\n```cpp\nint main() {}\n```\n",
    "docs/map.md": "# Map: a `b`\n\n[up](../README.md#name), [here](#map-a-b), [far](https://host/x#y), [code](../tests)\n"
    "`[no](link)`\n\n```sh\n[no](link)\n# Map\n```\n",
}

# check, file, text added at its end, part of the message (%d: the first added line)
PLANTED = [
    ("ranks", "dynet-like/base/errors.h", '#include "dynet-like/graph/node.h"', "errors.h:%d: includes dynet-like/graph"),
    ("ranks", "dynet-like/graph/node.cc", '#include "dynet-like/run/run.h"', "rank 3 (graph) may not include rank 7"),
    ("ranks", "dynet-like/graph/node.cc", '#include "node.h"', "from the root of the checkout"),
    ("ranks", "dynet-like/graph/node.cc", "#include <dynet-like/graph/node.h>", "with quotes"),
    ("ranks", "dynet-like/graph/node.cc", '#include "dynet-like/dynet.h"', "umbrella"),
    ("ranks", "dynet-like/graph/node.cc", '#include "kernels/cpu/elementwise.h"', "rank 3 (graph) may not include rank 5"),
    ("ranks", "dynet-like/ops/unary.h", '#include "kernels/cpu/elementwise.h"', "headers are installed"),
    ("ranks", "dynet-like/attic/old.h", "#pragma once\n" + '#include "dynet-like/base/errors.h"', "is not a module"),
    ("ranks", "kernels/cpu/elementwise.cc", '#include "dynet-like/plan/plan.h"', "elementwise.cc:%d: includes dynet-like/plan"),
    ("ranks", "kernels/cpu/elementwise.cc", '#include "kernels/cuda/queue.h"', "knows nothing of another"),
    ("ranks", "kernels/cuda/queue.cc", '#include "kernels/cpu/elementwise.h"', "knows nothing of another"),
    ("ranks", "kernels/cpu/elementwise.cc", '#include "dynet-like/io/save.h"', "elementwise.cc:%d: includes dynet-like/io"),
    ("eigen", "dynet-like/graph/node.h", "#include <Eigen/Dense>", "node.h:%d: includes Eigen/Dense"),
    ("eigen", "dynet-like/graph/node.cc", "Eigen::MatrixXf m;", "node.cc:%d: names Eigen"),
    ("manners", "dynet-like/graph/node.cc", 'void f() { printf("x"); }', "node.cc:%d: 'printf(' prints"),
    ("manners", "dynet-like/graph/node.cc", "void f() { std::cerr << 1; }", "node.cc:%d: 'std::cerr' prints"),
    ("manners", "dynet-like/graph/node.h", "#include <iostream>", "node.h:%d:"),
    ("manners", "kernels/cpu/elementwise.cc", "void f() { std::abort(); }", "elementwise.cc:%d: 'abort(' ends"),
    ("manners", "kernels/cpu/elementwise.cc", "void f() { exit (1); }", "elementwise.cc:%d: 'exit (' ends"),
    ("manners", "kernels/cpu/elementwise.cc", "void f(int x) { assert(x); }", "elementwise.cc:%d: 'assert(' ends"),
    ("length", "dynet-like/graph/node.cc", "\n" * 600, "longer than 600 lines"),
    ("globals", "dynet-like/graph/node.cc", "static int counter = 0;", "node.cc:%d: 'counter'"),
    ("globals", "dynet-like/graph/node.cc", "thread_local std::vector<int> scratch;", "node.cc:%d: 'scratch'"),
    ("globals", "kernels/cpu/elementwise.cc", "int f() {\n  static unsigned seed{1};\n return seed++;\n}", "'seed'"),
    ("words", "dynet-like/graph/node.cc", "// Runs on the processor.", "node.cc:%d: 'processor': we say CPU"),
    ("words", "README.md", "Sums are made anew.", "README.md:%d: 'anew'"),
    ("comments", "dynet-like/graph/node.cc", "int x;  // What is left.", "node.cc:%d: begins with 'What'"),
    ("comments", "tests/support/catch.h", 'TEST_CASE("plans: what is kept") {}', "catch.h:%d: begins with 'what'"),
    ("links", "docs/map.md", "[gone](gone.md)", "docs/map.md:%d: the link to gone.md leads nowhere"),
    ("links", "README.md", "[gone](docs/gone)", "README.md:%d: the link to docs/gone leads nowhere"),
    ("links", "docs/map.md", "[out](../../elsewhere.md)", "leads nowhere"),
    ("links", "docs/map.md", "[up](../README.md#other)", "docs/map.md:%d: README.md has no heading for the link to #other"),
    ("links", "docs/map.md", "[here](#map)", "has no heading for the link to #map"),
    ("links", "docs/map.md", "     ##Ten minutes", "docs/map.md:%d: a heading needs a space after '#'"),
    ("headers", "dynet-like/ops/unary.h", "inline std::vector<int> v;", "unary.h:1: does not compile alone"),
    ("headers", "tests/support/twice.h", "struct Twice {};", "twice.h:1: does not compile alone"),
    ("headers", "dynet-like/graph/node.h", "#include <functional>\n#include <iostream>\n#include <memory>\n#include <regex>", "too many"),
]  # fmt: skip


def run(check, root):
    if check == "headers":
        script, extra = "check_headers.py", ["--compiler", TOOLS.compiler]
    else:
        script, extra = "check_text.py", [check]
    return subprocess.run(
        [sys.executable, str(HERE / script), *extra, "--root", str(root)],
        text=True, capture_output=True, check=False)  # fmt: skip


class Planted(small_tree.SmallTree):
    CLEAN = CLEAN

    def test_clean_tree_passes(self):
        for check in sorted({check for check, *_ in PLANTED}):
            done = run(check, self.root)
            self.assertEqual(done.returncode, 0, f"{check}: {done.stdout}{done.stderr}")

    def test_every_violation_is_found(self):
        for check, name, added, message in PLANTED:
            with self.subTest(check=check, file=name, added=added[:60]):
                before = CLEAN.get(name, "")
                self.write(name, before + added + "\n")
                done = run(check, self.root)
                expected = message.replace("%d", str(before.count("\n") + 1))
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn(expected, done.stdout)
                if name in CLEAN:
                    self.write(name, before)
                else:
                    (self.root / name).unlink()

    def test_empty_tree_fails(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(run("ranks", empty).returncode, 1)

    def test_symbols_of_an_archive(self):
        source = self.root / "state.cc"
        source.write_text(
            "#include <vector>\nnamespace dynet { std::vector<int>& all() { static std::vector<int> kept; return kept; }\n"
            "int plain = 1; const int kFine = 2; thread_local int mine; const char* const kNames[] = {\"a\"};\n"
            "const int* fine() { return &kFine; } const char* name(int i) { return kNames[i]; } }\n", encoding="utf-8")  # fmt: skip
        archive = self.root / "state.o"
        subprocess.run([TOOLS.compiler, "-std=c++20", "-fPIC", "-c", str(source), "-o", str(archive)], check=True)
        done = subprocess.run(
            [sys.executable, str(HERE / "check_symbols.py"), "--nm", TOOLS.nm, "--archives", str(archive)],
            text=True, capture_output=True, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stderr)
        found = {line.split(": ")[0] for line in done.stdout.split("\n") if "outlives" in line}
        self.assertEqual(found, {"dynet::all()::kept", "dynet::plain", "dynet::mine"})

    def test_forms(self):
        shutil.copytree(HERE.parent.parent / "dynet-like", self.root / "dynet-like", dirs_exist_ok=True)
        command = [sys.executable, str(HERE / "check_forms.py"), "--root", str(self.root), "--compiler", TOOLS.compiler]
        self.assertEqual(subprocess.run(command, capture_output=True, check=False).returncode, 0)
        for name, old, new, message in [
            ("graph/op.h", "Required<AuxRule> aux", "AuxRule aux", "op.h:1: a form compiles without its field aux"),
            ("ops/broadcast.cc", "&kSum,", "", "the form kSum is not in the list of its family"),
        ]:
            path = self.root / "dynet-like" / name
            before = path.read_text(encoding="utf-8")
            self.assertIn(old, before)
            path.write_text(before.replace(old, new), encoding="utf-8")
            done = subprocess.run(command, text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(message, done.stdout)
            path.write_text(before, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--nm", default="nm")
    TOOLS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
