"""Type checkers read stubs that are true: mypy --strict accepts programs, and finds mistakes."""

import os
import pathlib
import site
import subprocess
import sys

import pytest

import dynet as dy

pytest.importorskip("mypy", reason="mypy is not installed")
pytestmark = pytest.mark.skipif(
    not (pathlib.Path(dy.__file__).parent / "_core.pyi").exists(),
    reason="the module was built without stubs")

PROGRAM = """
from typing import Any

import dynet as dy
import dynet.annotate
import numpy as np
import numpy.typing as npt

pc = dy.ParameterCollection()
w: dy.Parameters = pc.add_parameters((3, 2))
table = pc.add_lookup_parameters((10, 2))
lstm = dy.LSTMBuilder(1, 2, 3, pc)
trainer = dy.AdamTrainer(pc, alpha=0.01)


class Softplus(dy.Operation):
    def forward(self, *xs: npt.NDArray[Any]) -> npt.ArrayLike:
        return np.asarray(np.logaddexp(0, xs[0]))


def loss_of(words: list[int]) -> dy.Expression:
    states = lstm.initial_state().transduce([table[i] for i in words])
    scores = [dy.log_softmax(2 * h + 1 - h / 3) for h in states]
    return -dy.esum([dy.pick(s, 0) for s in scores]) + dy.squared_norm(dy.tanh(w * table[0]))


with dy.graph(seed=1) as cg:
    loss = loss_of([1, 2])
    value: float = loss.scalar_value()
    array = loss.npvalue()
    mean: float = float(array.mean())
    loss.backward()
    nodes: int = len(cg)
trainer.update()
dy.save_model("model", pc, trainer)

crf = dy.ChainCrf(pc, 3, allowed=dy.tag_constraints("bio", ["O", "B", "I"]))
decoder = dy.TransformerDecoder(pc, size=4, hidden=6)
scores = dy.inputTensor(np.zeros((3, 4)))
tags: list[int] = crf.best(scores)
ranked: list[tuple[list[int], float]] = crf.best(scores, 2)
spans: list[tuple[int, int, int]] = dy.best_span_tree(dy.inputTensor(np.zeros((3, 3))))


def step(state: dy.DecoderCache, last: int) -> tuple[dy.Expression, dy.DecoderCache]:
    y, after = decoder.step(state, dy.inputVector([last, 1, 2, 3]))
    return dy.log_softmax(dy.reshape(y, (4,))), after


found = dy.beam_search([decoder.start()], step, width=2)[0][0]
log_prob: float = found.log_prob
document = dynet.annotate.load("en.model", threads=2)("Dogs bark.")
heads: list[int | None] = [word.head_id for word in document.sentences[0]]
labels: list[int] = dy.CtcDecoder(extend=lambda prefix, label: 0.1 * len(prefix)).best(scores)
"""


def mypy(tmp_path, *arguments):
    """The errors that it finds, a line each."""
    environment = dict(os.environ)
    folder = str(pathlib.Path(dy.__file__).parents[1])
    if folder not in site.getsitepackages():  # where mypy looks anyway
        environment["MYPYPATH"] = folder
    ran = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir",
                          str(tmp_path / "cache"), *arguments], env=environment,
                         capture_output=True, text=True)
    return [line for line in ran.stdout.splitlines() if "error:" in line]


def checked(program, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(program)
    return mypy(tmp_path, str(path))


def test_package_and_its_stubs(tmp_path):
    assert mypy(tmp_path, "-p", "dynet") == []


def test_program_without_mistakes(tmp_path):
    assert checked(PROGRAM, tmp_path) == []


@pytest.mark.parametrize("mistake", [
    "dy.squared_norm(3)", "value: str = dy.inputVector([1]).scalar_value()", "dy.tanh()",
    "dy.AdamTrainer(pc, rate=1)", "pc.add_parameter(3)", "dy.inputVector([1]) + 'a'",
    "dy.ChainCrf(pc)", "dy.Linear(pc, 3, '2')", "dy.CtcDecoder(finish=3)",
    "dy.ChainCrf(pc, 3).best(dy.inputVector([1])).score", "dynet.annotate.load('en.model')(3)"])
def test_mistake_is_found(tmp_path, mistake):
    assert len(checked(f"import dynet as dy\nimport dynet.annotate\npc = dy.ParameterCollection()\n{mistake}\n", tmp_path)) >= 1
