"""Files: the old module's, ours, safetensors; nothing is lost, nothing is run."""

import os
import pickle
import subprocess

import numpy as np
import pytest

import dynet as dy

OLD = os.environ.get("DYNET38_PYTHON")


@pytest.fixture
def pc():
    dy.renew_cg()
    made = dy.ParameterCollection()
    made.add_parameters((3, 2))
    made.add_lookup_parameters((4, 2))
    inside = made.add_subcollection("sub")
    inside.add_parameters(5, name="b")
    return made


def like(pc):
    """A collection of the same structure, all values zero."""
    other = dy.ParameterCollection()
    other.add_parameters((3, 2), init=0.0)
    other.add_lookup_parameters((4, 2), init=0.0)
    other.add_subcollection("sub").add_parameters(5, init=0.0, name="b")
    return other


def same(a, b):
    pairs = zip(a.parameters_list() + a.lookup_parameters_list(),
                b.parameters_list() + b.lookup_parameters_list())
    return all(np.array_equal(p.as_array(), q.as_array()) for p, q in pairs)


@pytest.mark.parametrize("write, read", [
    (lambda pc, f: pc.save(f), lambda pc, f: pc.populate(f)),
    (lambda pc, f: pc.write_to_textfile(f), lambda pc, f: pc.populate_from_textfile(f)),
    (lambda pc, f: pc.save(f, "/key"), lambda pc, f: pc.populate(f, "/key")),
    (lambda pc, f: dy.save_model(f, pc), lambda pc, f: dy.load_model(f, pc)),
    (lambda pc, f: dy.save_model(f, pc), lambda pc, f: pc.populate(f)),
    (lambda pc, f: dy.save_safetensors(f, pc), lambda pc, f: dy.load_safetensors(f, pc)),
    (lambda pc, f: dy.save_safetensors(f, pc), lambda pc, f: pc.populate(f)),
])
def test_collections_come_back(pc, tmp_path, write, read):
    file = tmp_path / "model"  # a path or a string
    write(pc, file)
    for name in file, str(file):
        other = like(pc)
        read(other, name)
        assert same(pc, other)


def test_single_parameters_come_back(pc, tmp_path):
    file = str(tmp_path / "parts")
    p, table = pc.parameters_list()[0], pc.lookup_parameters_list()[0]
    p.save(file, "/p")
    table.save(file, "/t", append=True)
    other = like(pc)
    other.parameters_list()[0].populate(file, "/p")
    other.lookup_parameters_list()[0].populate(file, "/t")
    made, made_table = other.load_param(file, "/p"), other.load_lookup_param(file, "/t")
    assert np.array_equal(p.as_array(), other.parameters_list()[0].as_array())
    assert np.array_equal(p.as_array(), made.as_array())
    assert np.array_equal(table.as_array(), made_table.as_array())


@pytest.mark.parametrize("text", ["", "nonsense", "#Parameter# /_0 {3,2} 5 ZERO_GRAD\n1 2\n",
                                  "\0" * 40])
def test_bad_files_are_refused_and_change_nothing(pc, tmp_path, text):
    (tmp_path / "bad").write_text(text)
    before = [p.as_array() for p in pc.parameters_list()]
    for name in "bad", "absent":
        for read in pc.populate, lambda f: dy.load_model(f, pc), lambda f: dy.load_safetensors(f, pc):
            with pytest.raises(dy.FileError) as caught:
                read(str(tmp_path / name))
            assert isinstance(caught.value, OSError) and name in str(caught.value)
    assert all(np.array_equal(a, p.as_array()) for a, p in zip(before, pc.parameters_list()))


def test_trainer_goes_on_from_a_checkpoint(pc, tmp_path):
    def train(pc, trainer, updates):
        for _ in range(updates):
            dy.renew_cg()
            dy.squared_norm(pc.parameters_list()[0] + 1).backward()
            trainer.update()

    checkpoints = dy.Checkpoints(str(tmp_path / "run"), keep=2)
    assert not checkpoints.load(like(pc))
    trainer = dy.AdamTrainer(pc)
    for _ in range(3):
        train(pc, trainer, 2)
        checkpoints.save(pc, trainer)
    assert len(checkpoints.paths()) == 2
    other = like(pc)
    other_trainer = dy.AdamTrainer(other)
    assert checkpoints.load(other, other_trainer)
    train(pc, trainer, 3)
    train(other, other_trainer, 3)
    assert same(pc, other)
    file = str(tmp_path / "both")
    dy.save_model(file, pc, trainer)
    assert dy.load_model(file, other, other_trainer) == 3
    with pytest.raises(OSError, match="things"):
        dy.load_model(file, other)


def test_missing_and_extra_parameters(pc, tmp_path):
    file = str(tmp_path / "model")
    dy.save_model(file, pc)
    larger = like(pc)
    larger.add_parameters(1)
    with pytest.raises(OSError):
        dy.load_model(file, larger)
    assert dy.load_model(file, larger, allow_missing=True) == 3


def objects(pc):
    builder = dy.LSTMBuilder(1, 2, 3, pc)
    return [pc.parameters_list()[0], builder, pc.lookup_parameters_list()[0],
            dy.BiRNNBuilder(1, 2, 4, pc, dy.GRUBuilder)]


def numbers(thing):
    if hasattr(thing, "as_array"):
        return [thing.as_array()]
    return [p.as_array() for p in thing.param_collection().parameters_list()]


def test_old_save_and_load(pc, tmp_path):
    base = str(tmp_path / "things")
    saved = objects(pc)
    dy.save(base, saved)
    loaded = dy.load(base, dy.ParameterCollection())
    assert [type(t) for t in loaded] == [type(t) for t in saved]
    for a, b in zip(saved, loaded):
        assert all(np.array_equal(x, y) for x, y in zip(numbers(a), numbers(b))) and numbers(b)
    generator = dy.load_generator(base, dy.ParameterCollection())
    assert next(generator).shape() == (3, 2)
    with pytest.raises(TypeError):
        dy.save(base, [3])
    assert len(dy.load(base, dy.ParameterCollection())) == 4  # the old files stayed
    assert sorted(f.name for f in tmp_path.iterdir()) == ["things.data", "things.meta"]


def test_loading_runs_nothing(pc, tmp_path):
    base = str(tmp_path / "evil")
    dy.save(base, [pc.parameters_list()[0]])
    (tmp_path / "evil.meta").write_bytes(pickle.dumps((os.system, "true")))
    with pytest.raises(pickle.UnpicklingError, match="no class of builders"):
        dy.load(base, dy.ParameterCollection())


@pytest.mark.skipif(not OLD, reason="DYNET38_PYTHON names no interpreter with dynet38")
def test_files_go_both_ways(pc, tmp_path):
    """The old wheel reads our files, and writes them again for us."""
    program = """
import dynet as dy
pc = dy.ParameterCollection()
pc.add_parameters((3, 2)), pc.add_lookup_parameters((4, 2))
pc.add_subcollection("sub").add_parameters(5, name="b")
pc.populate("ours")
pc.save("theirs")
dy.save("their things", dy.load("our things", dy.ParameterCollection()))
"""
    saved = objects(pc)[:3]
    base = dy.ParameterCollection()
    other = like(pc)
    values = [numbers(t) for t in saved]
    dy.save(str(tmp_path / "our things"), saved)
    only = like(pc)
    for p, q in zip(only.parameters_list(), pc.parameters_list()):
        p.set_value(q.as_array())
    only.lookup_parameters_list()[0].init_from_array(pc.lookup_parameters_list()[0].as_array())
    only.save(str(tmp_path / "ours"))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run([OLD, "-c", program], cwd=tmp_path, check=True, env=environment,
                   capture_output=True)
    other.populate(str(tmp_path / "theirs"))
    assert same(other, only)
    loaded = dy.load(str(tmp_path / "their things"), base)
    for thing, expected in zip(loaded, values):
        assert all(np.allclose(x, y, rtol=1e-6) for x, y in zip(numbers(thing), expected))


def test_a_mapped_file_has_the_values_and_may_be_unverified(pc, tmp_path):
    file = str(tmp_path / "m")
    dy.save_model(file, pc)
    other = like(pc)
    assert dy.load_model(file, other, map=True) == 3
    assert same(pc, other)
    other.parameters_list()[0].set_value(np.zeros((3, 2)))  # changes this process alone
    again = like(pc)
    dy.load_model(file, again)
    assert same(pc, again)
    damaged = bytearray((tmp_path / "m").read_bytes())
    values = np.asarray(pc.parameters_list()[0].as_array(), dtype=np.float32).tobytes(order="F")
    damaged[damaged.index(values)] ^= 1
    (tmp_path / "m").write_bytes(damaged)
    with pytest.raises(dy.FileError):
        dy.load_model(file, again, map=True)
    dy.load_model(file, again, map=True, verify=False)
    assert not same(pc, again)
