#!/usr/bin/env python3
"""Plants mistakes in documents and expects the check of snippets to name the document and the line."""

import argparse
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))
import small_tree  # noqa: E402

TOOLS = argparse.Namespace(compiler="c++", system=[])

PROGRAM = "#include <iostream>\n\nint main() {\n  const int sum = 1 + 2;\n  std::cout << sum;\n}\n" + "// more\n" * 34
CLEAN = {
    "dynet-like/dynet.h": "#pragma once\n#include <vector>\nnamespace dynet { struct Graph { int size() const; }; }\n",
    "tests/docs/preludes/includes.inl": '#include "dynet-like/dynet.h"\n',
    "tests/docs/preludes/common.inl": "dynet::Graph cg;\n",
    "tests/docs/preludes/list.inl": "std::vector<int> list;\n",
    "examples/basics/01_sum.cc": PROGRAM,
    "examples/basics/README.md": "| program | idea | lines |\n|---|---|---|\n| [01_sum.cc](01_sum.cc) | sums | 40 |\n",
    "docs/tutorial.md": "One programs of a screen.\n\n## 1. Sums\n\n[sums](../examples/basics/01_sum.cc)\n\n    int, node 1, made at 01_sum.cc:4\n\n**Exercises**\n\n1. Add.\n2. Why?\n",
    "docs/answers.md": "## 1. Sums\n\n**1.** 3\n\n**2.** So.\n",
    "README.md": "# Name\n\nIt has one programs of a screen.\n\n```cpp\n#include <iostream>\nint main() { std::cout << 1; }\n```\n"
    "\n```cpp\nint n = cg.size();\n```\n\n<!-- cpp: prelude list -->\n```cpp\nlist.push_back(1);\n```\n"
    "\n<!-- cpp: file -->\n```cpp\ntemplate <class T>\nT twice(T x) { return 2 * x; }\n```\n\n```cpp\ntwice(cg.size());\n```\n"
    "\n<!-- cpp: from examples/basics/01_sum.cc -->\n```cpp\nconst int sum = 1 + 2;\nstd::cout << sum;\n```\n",
}  # fmt: skip

# file, its text before, its text after, what the check says
PLANTED = [
    ("README.md", "cg.size();\n```\n\n<", "cg.length();\n```\n\n<", "README.md:11"),
    ("README.md", "std::cout << 1", "std::cout << one", "README.md:7"),
    ("README.md", "list.push_back(1)", "list.push_back(many)", "README.md:16"),
    ("README.md", "return 2 * x", "return 2 * y", "README.md:22"),
    ("README.md", "twice(cg", "thrice(cg", "README.md:26"),
    ("README.md", "const int sum = 1 + 2;\n", "const int sum = 3;\n", "README.md:31: these lines are not in"),
    ("README.md", "from examples/basics/01_sum.cc", "from examples/basics/02.cc", "README.md:31: there is no"),
    ("README.md", "prelude list", "prelude lists", "there is no tests/docs/preludes/lists.inl"),
    ("README.md", "cpp: file", "cpp: files", "README.md:21: nobody knows what 'files' means"),
    ("README.md", "```cpp\nint n", "```c++\nint n", "another form than"),
    ("examples/basics/README.md", "| 40 |", "| 41 |", "the row of 01_sum.cc should say 40 lines"),
    ("examples/basics/README.md", "| [01_sum.cc]", "| [02_sum.cc](02_sum.cc) | | 1 |\n| [01_sum.cc]", "there is no 02_sum"),
    ("examples/basics/01_sum.cc", "// more\n", "", "01_sum.cc: 6 lines"),
    ("docs/tutorial.md", "01_sum", "01_sums", "docs/tutorial.md: has no link to 01_sum.cc"),
    ("docs/tutorial.md", "01_sum.cc:4", "01_sum.cc:5", "docs/tutorial.md: line 5 of 01_sum.cc makes no int"),
    ("docs/tutorial.md", "One programs", "Two programs", "docs/tutorial.md: there are one programs"),
    ("README.md", "one programs", "some programs", "README.md: there are one programs"),
    ("docs/tutorial.md", "2. Why?\n", "", "docs/tutorial.md: '1. Sums' has 1 exercises"),
    ("docs/answers.md", "**2.** So.\n", "", "docs/tutorial.md: '1. Sums' has 2 exercises"),
    ("docs/answers.md", "## 1. Sums\n", "## 2. Sums\n", "docs/answers.md: docs/tutorial.md has no section '2. Sums'"),
]  # fmt: skip


def run(root):
    command = [sys.executable, str(HERE / "check_snippets.py"), "--root", str(root), "--compiler", TOOLS.compiler]
    return subprocess.run([*command, "--system", *TOOLS.system], text=True, capture_output=True, check=False)


class Planted(small_tree.SmallTree):
    CLEAN = CLEAN

    def test_clean_documents_pass(self):
        done = run(self.root)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("1 quoted, 5 compiled, 0 problems", done.stdout)

    def test_every_mistake_is_found(self):
        for name, old, new, message in PLANTED:
            with self.subTest(file=name, new=new):
                self.assertIn(old, CLEAN[name])
                self.write(name, CLEAN[name].replace(old, new))
                done = run(self.root)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn(message, done.stdout + done.stderr)
                self.write(name, CLEAN[name])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--system", nargs="*", default=[])
    parser.parse_args(namespace=TOOLS)
    unittest.main(argv=sys.argv[:1])
