#!/usr/bin/env python3
"""Plants mistakes in web pages and expects the check of links to name the page and the line; lays out the pages of a
small checkout; writes the Python reference of a small module; shows the filter of the reference a header."""

import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "house"))
import small_tree  # noqa: E402

PAGE = '<link href="style.css" rel="stylesheet">\n<h1 id="top">Top</h1>\n'
SITE = {
    "style.css": "",
    "index.html": PAGE + '<a href="guide/page.html#part">part</a>\n<a href="guide/">folder</a> <a href="/guide/page.html">root</a>\n'
    '<a href="#top">here</a> <a href="https://host/x">far</a> <a href="mailto:a@b">mail</a>\n',
    "guide/index.html": '<a href="../index.html">up</a>\n',
    "guide/page.html": '<p>\n<a name="part"></a> <img src="data:image/png;base64,AA"> <a href="a%20b.html">spaces</a>\n',
    "guide/a b.html": "<p>",
    "reference/menudata.js": 'var menudata={children:[{text:"Guides",url:"../index.html"}]}\n',
}  # fmt: skip

# file, text before, text after, what the check says
PLANTED = [
    ("index.html", "guide/page.html#part", "guide/pages.html#part", "index.html:3: the link to guide/pages.html#part leads nowhere"),
    ("index.html", "page.html#part", "page.html#parts", "index.html:3: guide/page.html has no place #parts"),
    ("index.html", "#top", "#bottom", "index.html:5: index.html has no place #bottom"),
    ("index.html", '"/guide/page', '"/guides/page', "index.html:4: the link to /guides/page.html leads nowhere"),
    ("index.html", 'href="style.css"', 'href="styles.css"', "index.html:1: the link to styles.css leads nowhere"),
    ("index.html", 'href="style.css"', 'href="https://host/style.css"', "index.html:1: https://host/style.css comes from elsewhere"),
    ("guide/index.html", "../index.html", "../../index.html", "guide/index.html:1: the link to ../../index.html leads nowhere"),
    ("guide/page.html", "data:image/png;base64,AA", "//host/a.png", "guide/page.html:2: //host/a.png comes from elsewhere"),
    ("guide/page.html", "a%20b", "a%20c", "guide/page.html:2: the link to a%20c.html leads nowhere"),
    ("reference/menudata.js", "../index", "../indexes", "reference/menudata.js:1: the link to ../indexes.html"),
]  # fmt: skip


def run(script, *arguments):
    return subprocess.run([sys.executable, str(ROOT / script), *arguments], text=True, capture_output=True, check=False)


class Links(small_tree.SmallTree):
    CLEAN = SITE

    def test_clean_pages_pass(self):
        done = run("docs/site/check_links.py", str(self.root))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("links: 4 pages, 11 links, 0 problems", done.stdout)

    def test_every_mistake_is_found(self):
        for name, old, new, message in PLANTED:
            with self.subTest(new=new):
                self.assertIn(old, SITE[name])
                self.write(name, SITE[name].replace(old, new))
                done = run("docs/site/check_links.py", str(self.root))
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn(message, done.stdout)
                self.write(name, SITE[name])

    def test_an_empty_site_is_a_failure(self):
        self.assertEqual(run("docs/site/check_links.py", str(self.root / "guide/none")).returncode, 1)


class Pages(small_tree.SmallTree):
    CLEAN = {
        "README.md": "# Name\n\n[guide](docs/guide.md#part), [code](examples/a.cc), [folder](examples/), [far](https://host/x.cc)\n"
        "`[no](link.cc)`\n\n<!-- cpp: from examples/a.cc -->\n```cpp\nf[](int x.cc);\n```\n",
        "docs/guide.md": "# Guide\n\n## Part\n\n[code](../examples/a.cc)<!-- site: names | ../x.md -->\n",
        "docs/reference/notes.md": "# Not a page\n",
        "docs/site/site.css": "",
        "examples/README.md": "# Examples\n\n[notebook](n.ipynb)\n",
        "examples/n.ipynb": '{"cells": [{"cell_type": "markdown", "source": ["# Note"]}, {"cell_type": "code", "source": ["cg()"], '
        '"outputs": [{"data": {"image/svg+xml": ["<svg>\\n", "<text>a*b*</text></svg>\\n"]}}, {"text": ["1\\n"]}]}]}',
        "examples/a.cc": "int main() {}\n",
    }

    def test_pages(self):
        to = self.root / "pages"
        done = run("docs/site/pages.py", "--root", str(self.root), "--to", str(to))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "pages: 3 documents, 2 other files\n")
        self.assertEqual(
            (to / "README.md").read_text(),
            "---\nhide: [navigation, toc]\n---\n\n# Name\n\n[guide](docs/guide.md#part), [code](examples/a.cc.md), "
            "[folder](examples/README.md), [far](https://host/x.cc)\n`[no](link.cc)`\n\n```cpp\nf[](int x.cc);\n```\n")  # fmt: skip
        self.assertEqual((to / "docs/guide.md").read_text(), "# Guide\n\n## Part\n\n[code](../examples/a.cc.md) ([names](../x.md))\n")
        self.assertIn("\n````cpp\nint main() {}\n````\n", (to / "examples/a.cc.md").read_text())
        self.assertFalse((to / "docs/reference").exists())
        self.assertEqual(
            (to / "examples/n.ipynb.md").read_text(),
            "---\ntitle: n.ipynb\n---\n\n# Note\n\n````python\ncg()\n````\n\n<div><svg>\n<text>a*b*</text></svg></div>\n\n"
            "````text\n1\n````\n")  # fmt: skip

    def test_a_link_to_nothing_stops_it(self):
        self.write("docs/guide.md", "[code](../examples/b.cc)\n")
        done = run("docs/site/pages.py", "--root", str(self.root), "--to", str(self.root / "pages"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("b.cc", done.stderr)


STUB = '''import dynet.types
from dynet.errors import ShapeError as ShapeError

class _Base:
    """All."""
    def reset(self) -> None: ...

class Box(_Base):
    """
    Holds `add`.

    width: in *units*
    height: more
        of them

    >>> dy.Box(1)
    """
    def __init__(self, width: int, height: int = 1) -> None: ...
    @property
    def T(self) -> dynet.types.Array:
        """Turned."""
    @staticmethod
    def unit() -> Box: ...
    def _hidden(self) -> None: ...

Case: TypeAlias = Box

@overload
def add(x: float, y: float) -> float:
    """Adds."""
@overload
def add(x: Box, *, y: Box) -> Box: ...
def _private() -> None: ...
'''
NAMES = "Box Case _Base add Tensor ShapeError annotate.load"


class PythonReference(small_tree.SmallTree):
    CLEAN = {
        "docs/site/python_reference.py": (ROOT / "docs/site/python_reference.py").read_text(encoding="utf-8"),
        "docs/site/python_pages.txt": f"## index: All\n\n## boxes: Boxes\n> Text.\n{NAMES}\n",
        "dynet/_core.pyi": STUB,
        "dynet/__init__.py": "from . import _core\nfrom ._core import *\nfrom .tensor import Tensor as Tensor\nfrom .x import y as _y\n",
        "dynet/tensor.py": 'class Tensor:\n    """Values."""\n    size: int\n    """How many."""\n',
        "dynet/x.py": "y = 1\n",
        "dynet/errors.py": 'class ShapeError(ValueError):\n    """Shapes."""\n',
        "dynet/annotate.py": 'def load(path: str) -> None:\n    """Loads."""\n',
        "reference.tag": "<tagfile><compound kind='namespace'><name>dynet</name><member kind='function'><name>add</name>"
        "<anchorfile>ops.html</anchorfile><anchor>a1</anchor></member></compound></tagfile>",
    }  # fmt: skip

    def write_pages(self, *options):
        options = options or ("--stubs", str(self.root / "dynet"), "--tags", str(self.root / "reference.tag"))
        command = [sys.executable, str(self.root / "docs/site/python_reference.py"), "--to", str(self.root / "to"), *options]
        return subprocess.run(command, text=True, capture_output=True, check=False)

    def test_entries(self):
        done = self.write_pages()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        page = (self.root / "to/boxes.md").read_text()
        for text in (
            "# Boxes\n\nText.\n\n",
            '## <a id="dynet.Box"></a>Box\n\n```python\nBox(width: int, height: int = 1)\n```\n\nHolds [`add`](boxes.md#dynet.add).',
            "* `width`: in \\*units\\*\n* `height`: more\n    of them\n\n```pycon\n>>> dy.Box(1)\n```\n",
            "the members of [`_Base`](boxes.md#dynet._Base)",
            '### <a id="dynet.Box.T"></a>Box.T\n\n```python\nT: Array\n```\n\nTurned.',
            "```python\nunit() -> Box\n```",
            "The same as [`Box`](boxes.md#dynet.Box).",
            '<a id="dynet._Base.reset"></a>',
            "```python\nadd(x: float, y: float) -> float\nadd(x: Box, *, y: Box) -> Box\n```\n\nAdds.\n\n"
            "In C++: [`dynet::add`](../../reference/ops.html#a1)",
            '<a id="dynet.Tensor.size"></a>Tensor.size\n\n```python\nsize: int\n```\n\nHow many.',
            "class ShapeError(ValueError)",
            '<a id="dynet.annotate.load"></a>',
        ):
            self.assertIn(text, page)
        self.assertNotIn("_hidden", page)
        self.assertNotIn("_private", page)
        self.assertIn("[`Case`](boxes.md#dynet.Case)", (self.root / "to/index.md").read_text())

    def test_a_name_without_a_page_and_a_page_without_the_name_are_errors(self):
        self.write("docs/site/python_pages.txt", "## boxes: Boxes\n" + NAMES.replace("add", "subtract"))
        done = self.write_pages()
        self.assertEqual(done.returncode, 1)
        self.assertIn("add: no page for it in python_pages.txt", done.stderr)
        self.assertIn("subtract: in python_pages.txt, but not public", done.stderr)

    def test_pages_without_stubs_say_so(self):
        done = self.write_pages("--tags", "none")
        self.assertEqual(done.returncode, 0)
        self.assertIn("was built without the Python module", (self.root / "to/boxes.md").read_text())


HEADER = """#pragma once

#include <vector>

// Products. Errors: ShapeError.

namespace dynet {

/// Adds.
int add(int x, SourceLocation at = SourceLocation::current());
int add(const std::vector<int>& x,
        SourceLocation at = SourceLocation::current());

/// Holds.
class Box {
 public:
  Box();
  ~Box();
  Box(const Box&) = delete;

 private:
  int hidden_;
};

}  // namespace dynet
"""

SHOWN = """

namespace dynet {
/** @addtogroup ops_box ops/box.h
@ingroup ops
Products. Errors: ShapeError.
@{ */

/// Adds.
int add(int x);
/** Adds. */ int add(const std::vector<int>& x
);

/// Holds.
class Box {
 public:
  /** See the class. */ Box();





};
/** @} */
}

"""


class Filter(small_tree.SmallTree):
    CLEAN = {"ops/box.h": HEADER}

    def test_a_header(self):
        self.assertEqual(run("docs/reference/filter.py", str(self.root / "ops/box.h")).stdout, SHOWN)


if __name__ == "__main__":
    unittest.main()
