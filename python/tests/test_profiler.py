import gzip
import json
import os
import subprocess
import sys

import dynet as dy
import pytest


def train(updates, early=False):
    pc = dy.ParameterCollection()
    w = pc.add_parameters((4, 4))
    trainer = dy.SimpleSGDTrainer(pc)
    for _ in range(updates):
        dy.renew_cg()
        losses = []
        for k in range(8):
            losses.append(dy.squared_norm(dy.tanh(w * dy.inputVector([float(k)] * 4))))
            if early:
                losses[-1].value()
        dy.esum(losses).backward()
        trainer.update()


def test_table_and_timeline(tmp_path):
    with dy.Profiler(skip=1, record=4) as profiler:
        train(10)
    assert profiler.is_complete()
    table = profiler.table()
    assert table.startswith("4 updates after the first 1: ")
    assert "Not batched: nothing" in table and "Read too early: nothing" in table
    assert "test_profiler.py:" in table
    profiler.write_trace(str(tmp_path / "t.json.gz"))
    with gzip.open(tmp_path / "t.json.gz", "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    names = [e["name"] for e in events if e["ph"] == "X"]
    assert names.count("tanh") == names.count("tanh gradient") == 4
    assert names.count("update") == 4
    profiler.write_table(str(tmp_path / "table"))
    assert (tmp_path / "table").read_text().startswith("4 updates")


def test_early_reads_are_named():
    with dy.Profiler(skip=0) as profiler:
        train(2, early=True)
    early = profiler.table().partition("Read too early:")[2]
    assert "value at" in early and "test_profiler.py:" in early


def test_the_inner_one_records():
    with dy.Profiler(skip=0) as outer:
        train(2)
        with dy.Profiler(skip=0) as inner:
            train(3)
        train(4)
    assert inner.table().startswith("3 updates: ")
    assert outer.table().startswith("6 updates: ")
    with pytest.raises(ValueError, match="make another one"):
        with outer:
            pass


def test_a_table_does_not_record_itself():
    with dy.Profiler(skip=0) as profiler:
        train(2)
        profiler.table()
        train(1)
    assert "table.cc" not in profiler.table()


def test_nothing_computed_and_no_file():
    with dy.Profiler() as profiler:
        pass
    assert profiler.table() == "No graph was computed.\n"
    with pytest.raises(OSError):
        profiler.write_trace("/nonexistent/t.json")


def test_programs_are_profiled_by_environment(tmp_path):
    program = "import dynet as dy\nwith dy.Profiler(): pass\nfor k in range(3):\n    dy.renew_cg()\n    dy.tanh(dy.scalarInput(k)).value()\n"
    environment = {"DYNET_PROFILE": str(tmp_path / "table"), "DYNET_TRACE": str(tmp_path / "trace.json")}
    command = [sys.executable, "-c", program]
    subprocess.run(command, check=True, env={**os.environ, **environment})
    assert "tanh" in (tmp_path / "table").read_text()
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
