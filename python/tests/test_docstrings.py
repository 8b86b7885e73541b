"""Examples in docstrings give the results that they show."""

import doctest

import dynet as dy
import numpy as np
import pytest


def docstrings():
    """Docstrings of all public functions, classes and their methods, with the first name of each."""
    found = {}
    for name, thing in vars(dy).items():
        if name.startswith("_") or not callable(thing):
            continue
        found.setdefault(thing.__doc__, name)
        for base in thing.__mro__ if isinstance(thing, type) else ():
            if base.__module__.partition(".")[0] != "dynet":
                continue
            for method in vars(base):
                member = getattr(base, method)
                public = not method.startswith("_") or method.endswith("__")
                if public and (callable(member) or isinstance(member, property)):
                    found.setdefault(member.__doc__, f"{name}.{method}")
    return {name: text for text, name in found.items() if text}


EXAMPLES = {name: text for name, text in docstrings().items() if ">>>" in text}


def run(name, text):
    dy.renew_cg()
    names = {"dy": dy, "np": np, "pc": dy.ParameterCollection()}
    test = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    report = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted > 0
    assert result.failed == 0, "".join(report)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(name, EXAMPLES[name])
    assert list(tmp_path.iterdir()) == []


def test_most_used():
    assert len(EXAMPLES) >= 40
    assert {"renew_cg", "tanh", "Expression.value", "Trainer.update", "ChainCrf", "save"} <= EXAMPLES.keys()


def test_wrong_example():
    with pytest.raises(AssertionError, match=r"Expected:\s+2.0\s+Got:\s+1.0"):
        run("wrong", "f() -> float\n\nOne.\n\n>>> dy.scalarInput(1).value()\n2.0")
