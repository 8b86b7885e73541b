"""All operations, layers and trainers of the library are in the module."""

import inspect
import pathlib
import re
import subprocess
import sys

import dynet as dy
import pytest

ROOT = pathlib.Path(__file__).parents[2]
# DyNet's Python names of operations whose C++ names are words of Python or have overloads.
OTHER_NAMES = {"input": "inputTensor", "const_lookup": "lookup", "max": "bmax", "min": "bmin", "sum": "esum",
               "sum_rows": "sum_dim", "sum_cols": "sum_dim", "average_cols": "mean_dim"}


def text(path):
    if not (ROOT / path).is_file():
        pytest.skip("the checkout is not beside the tests")
    return (ROOT / path).read_text(encoding="utf-8")


def test_operations():
    names = re.findall(r"^\| `(\w+)`", text("docs/operations.md"), re.MULTILINE)
    assert len(names) > 150
    assert [name for name in names if not hasattr(dy, OTHER_NAMES.get(name, name))] == []
    assert [name for name in OTHER_NAMES if hasattr(dy, name)] == []  # no longer needed


def test_layers_and_trainers():
    table = text("docs/layers.md").split("\n## ")[0]
    layers = set(re.findall(r"`([A-Z]\w+)`", table))
    trainers = {name for header in (ROOT / "dynet-like/train").glob("*.h")
                for name in re.findall(r"^class (\w+Trainer)\b", header.read_text(encoding="utf-8"), re.MULTILINE)}
    assert len(layers) > 25 and len(trainers) > 9
    assert sorted(name for name in layers | trainers if not hasattr(dy, name)) == []


def test_reference(tmp_path):
    """The Python reference of the site has an entry for each public name, and for each public member of a class."""
    text("docs/site/python_reference.py")
    folder = pathlib.Path(dy.__file__).parent
    if not (folder / "_core.pyi").is_file():
        pytest.skip("the module was built without its stub")
    subprocess.run([sys.executable, ROOT / "docs/site/python_reference.py", "--stubs", folder, "--to", tmp_path], check=True)
    entries = set(re.findall(r'<a id="dynet\.([\w.]+)"', "".join(p.read_text(encoding="utf-8") for p in tmp_path.glob("*.md"))))
    expected = {name for name, thing in vars(dy).items() if not name.startswith("_") and not inspect.ismodule(thing)}
    for thing in [thing for thing in vars(dy).values() if isinstance(thing, type)]:
        for base in thing.__mro__:
            if base.__module__.partition(".")[0] == "dynet" and base.__name__ in entries:
                expected |= {f"{base.__name__}.{name}" for name, member in vars(base).items()
                             if not name.startswith("_") and (callable(member) or inspect.isdatadescriptor(member)
                                                              or isinstance(member, (classmethod, staticmethod)))}
    assert len(expected) > 600
    assert sorted(expected - entries) == []
