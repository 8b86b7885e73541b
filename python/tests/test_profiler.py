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


def test_only_one_records_at_a_time():
    with dy.Profiler() as first:
        with pytest.raises(ValueError, match="another one is recording"):
            with dy.Profiler():
                pass
    with pytest.raises(ValueError, match="was used already"):
        with first:
            pass
    with dy.Profiler():
        pass


def test_nothing_computed_and_no_file():
    with dy.Profiler() as profiler:
        pass
    assert profiler.table() == "No graph was computed.\n"
    with pytest.raises(OSError):
        profiler.write_trace("/nonexistent/t.json")


def test_programs_are_profiled_by_environment(tmp_path):
    program = "import dynet as dy\nfor k in range(3):\n    dy.renew_cg()\n    dy.tanh(dy.scalarInput(k)).value()\n"
    environment = {"DYNET_PROFILE": str(tmp_path / "table"), "DYNET_TRACE": str(tmp_path / "trace.json")}
    command = [sys.executable, "-c", program]
    subprocess.run(command, check=True, env={**os.environ, **environment})
    assert "tanh" in (tmp_path / "table").read_text()
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
