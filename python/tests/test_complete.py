"""All operations, layers and trainers of the library are in the module."""

import pathlib
import re

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
