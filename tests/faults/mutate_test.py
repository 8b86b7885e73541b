#!/usr/bin/env python3
"""Mutants of small sources are the expected ones, and those that were judged to be equal still fit the sources."""

import contextlib
import io
import pathlib
import tempfile
import unittest

from builds import ROOT, Misfit
from mutate import CAUGHT, EQUAL_FILE, SAME, SURVIVED, Trial, read_equal, report
from mutations import Mutant, mutants_of

CPP = """\
#include "a < b.h"
static_assert(1 < 2, "no");
// x = 1;
int f(int n, float* at) {
  if (n <= 2 && !at) return 10;
  for (int k = 0; k < n; ++k) at[k] += 1.5f;
  call(n, at);  // "n - 1"
  const char* text = "n + 1";
  long_call(text,
            text);
  return std::min(v.begin(), other);
}
"""
PYTHON = '''\
def f(n, at):
    """n - 1"""
    if n is not None and n > 2:
        at.append(n * 2)
    return not n
'''
EXPECTED_CPP = {
    (5, "if (n < 2 && !at) return 10;"), (5, "if (n > 2 && !at) return 10;"), (5, "if (n <= 2 || !at) return 10;"),
    (5, "if (n <= 2 && at) return 10;"), (5, "if (n <= 3 && !at) return 10;"), (5, "if (n <= 1 && !at) return 10;"),
    (5, "if (n <= 0 && !at) return 10;"), (5, "if (n <= 2 && !at) return 11;"), (5, "if (n <= 2 && !at) return 9;"),
    (5, "if (n <= 2 && !at) return 0;"), (5, "if (!(n <= 2 && !at)) return 10;"),
    (6, "for (int k = 1; k < n; ++k) at[k] += 1.5f;"), (6, "for (int k = 0; k <= n; ++k) at[k] += 1.5f;"),
    (6, "for (int k = 0; k >= n; ++k) at[k] += 1.5f;"), (6, "for (int k = 0; k < n; --k) at[k] += 1.5f;"),
    (6, "for (int k = 0; k < n; ++k) at[k] -= 1.5f;"), (6, "for (int k = 0; k < n; ++k) at[k] = 1.5f;"),
    (6, "for (int k = 0; k < n; ++k) at[k] += 2.5f;"), (6, "for (int k = 0; k < n; ++k) at[k] += 0.0f;"),
    (6, "for (int k = 0; k < n; ++k) ;"),
    (7, 'call(at, n);  // "n - 1"'), (7, ';  // "n - 1"'),
    (11, "return std::max(v.begin(), other);"), (11, "return std::min(v.end(), other);"),
}  # fmt: skip
EXPECTED_PYTHON = {
    (3, "if n is None and n > 2:"), (3, "if n is not None or n > 2:"), (3, "if n is not None and n >= 2:"),
    (3, "if n is not None and n <= 2:"), (3, "if n is not None and n > 3:"), (3, "if n is not None and n > 1:"),
    (3, "if n is not None and n > 0:"), (3, "if not (n is not None and n > 2):"),
    (4, "at.append(n / 2)"), (4, "at.append(n * 3)"), (4, "at.append(n * 1)"), (4, "at.append(n * 0)"), (4, "pass"),
    (5, "return n"),
}  # fmt: skip


class Mutants(unittest.TestCase):
    def mutants(self, path, source):
        found = [m for mutants in mutants_of(path, source).values() for m in mutants]
        for m in found:
            changed = m.apply(source).split("\n")
            self.assertEqual(changed[m.number - 1].strip(), m.new)
            self.assertEqual(sum(a != b for a, b in zip(changed, source.split("\n"))), 1)
        return {(m.number, m.new) for m in found}

    def test_cpp(self):
        self.assertEqual(self.mutants("a.cc", CPP), EXPECTED_CPP)

    def test_python(self):
        self.assertEqual(self.mutants("a.py", PYTHON), EXPECTED_PYTHON)

    def test_a_line_that_is_another_by_now(self):
        with self.assertRaises(ValueError):
            Mutant("a.cc", 5, "if (n < 2)", "if (n > 2)", "operator").apply(CPP)


class Copy(unittest.TestCase):
    def test_files_of_its_folder_are_beside_it(self):
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial.__new__(Trial)
            trial.mutant, trial.copy = Mutant("examples/nlp/tagger/commands.cc", 1, "", "", "statement"), pathlib.Path(folder)
            for text in ("a", "b"):
                trial.write(text)
                self.assertEqual((trial.copy / trial.mutant.path).read_text(), text)
            header = (trial.copy / trial.mutant.path).with_suffix(".h")
            self.assertEqual(header.resolve(), ROOT / "examples/nlp/tagger/commands.h")


class Equal(unittest.TestCase):
    def test_lines_are_in_the_sources(self):
        for (path, old, new), reason in read_equal(EQUAL_FILE).items():
            lines = [line.strip() for line in (ROOT / path).read_text().split("\n")]
            self.assertIn(old, lines, f"{EQUAL_FILE.name}: {path} has no such line: take the entry out, or judge it again")
            self.assertNotEqual(old, new)
            self.assertTrue(reason)

    def test_an_entry_without_a_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "equal.txt")
            for text in ("= a.cc\n- a\n+ b\n? \n", "- a\n+ b\n? c\n", "= a.cc\n- a\n? c\n", "a.cc\n"):
                file.write_text(text)
                with self.assertRaises(Misfit):
                    read_equal(file)

    def test_the_rate_leaves_out_what_was_judged(self):
        line = {"path": "dynet-like/io/a.cc", "number": 1, "old": "a", "new": "b"}
        results = [{**line, "new": str(k), "status": CAUGHT} for k in range(9)]
        results += [{**line, "status": SURVIVED}, {**line, "new": "c", "status": SURVIVED}, {**line, "status": SAME}]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertFalse(report(results, {}))
            self.assertTrue(report(results, {("dynet-like/io/a.cc", "a", "b"): "why"}))
        self.assertIn("9 of 10 mutants caught, 90.0 %", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
