"""Event files, read back by TensorBoard itself where it is installed."""

import numpy as np
import pytest

import dynet as dy


def test_a_folder_with_events(tmp_path):
    pc = dy.ParameterCollection()
    pc.add_parameters((2, 3), init=2.0, name="w")
    with dy.TensorBoardWriter(str(tmp_path / "run")) as board:
        board.add_scalar("loss/train", 0.5, 1)
        board.add_histogram("numbers", [1.0, 2.0, float("nan")], 1)
        board.add_histogram("array", np.ones((2, 3)), 1)
        board.add_parameters(pc, 1)
        board.add_gradients(pc, 1)
    (file,) = (tmp_path / "run").iterdir()
    assert "tfevents" in file.name
    data = file.read_bytes()
    for text in (b"brain.Event:2", b"loss/train", b"numbers", b"gradients/w"):
        assert text in data
    for folder in ("/proc/nowhere", "a\0b", ""):
        with pytest.raises(OSError):
            dy.TensorBoardWriter(folder)


def test_tensorboard_reads_it_back(tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    pc = dy.ParameterCollection()
    pc.add_parameters((2, 3), init=2.0, name="w")
    with dy.TensorBoardWriter(str(tmp_path)) as board:
        for step in range(1, 6):
            board.add_scalar("loss/dev", 1 / step, step)
        board.add_parameters(pc, 3)
    # A run that goes on from step 4, a second later: files are read in the order of their names.
    second = dy.TensorBoardWriter(str(tmp_path), resumed_at=4)
    second.add_scalar("loss/dev", 9.0, 4)
    second.flush()
    events = reader.EventAccumulator(str(tmp_path))
    events.Reload()
    assert [(e.step, e.value) for e in events.Scalars("loss/dev")] == [
        (1, 1.0),
        (2, 0.5),
        (3, pytest.approx(1 / 3)),
        (4, 9.0),
    ]
    histogram = events.Histograms("w")[0].histogram_value
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (2, 2, 6, 12)
    assert sum(histogram.bucket) == 6
