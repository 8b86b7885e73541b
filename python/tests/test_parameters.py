"""Parameters, collections, initial values, trainers."""

import copy
import pickle

import numpy as np
import pytest

import dynet as dy


@pytest.fixture(autouse=True)
def new_graph():
    dy.renew_cg()


@pytest.fixture
def pc():
    return dy.ParameterCollection()


def test_names_and_shapes(pc):
    p, table = pc.add_parameters((3, 2)), pc.add_lookup_parameters((5, 4))
    inside = pc.add_subcollection("sub")
    q = inside.add_parameters(3, name="x")
    assert [p.name(), table.name(), inside.name(), q.name()] == ["/_0", "/_1", "/sub/", "/sub/x"]
    assert repr(p) == "Parameter /_0 {3,2}" and repr(table).startswith("LookupParameter /_1 {")
    assert p.shape() == (3, 2) and p.dim() == ((3, 2), 1) and q.shape() == (3,)
    assert table.shape() == (5, 4) and table.dim() == ((4, 5), 1) and len(table) == 5
    assert pc.parameters_list() == [p, q] and pc.lookup_parameters_list() == [table]
    assert len({p, q, pc.parameters_list()[0]}) == 2
    assert pc.parameter_count() == 6 + 20 + 3 and len(pc) == 3
    assert pc.add_subcollection("sub").name() == "/sub_1/" and dy.Model is dy.ParameterCollection


@pytest.mark.parametrize("given, mean, std", [
    (dict(), 0, np.sqrt(2 / 400)), (dict(init="glorot", scale=2.0), 0, 2 * np.sqrt(2 / 400)),
    (dict(init="he"), 0, np.sqrt(2 / 200)), (dict(init="normal", mean=1.0, std=3.0), 1, 3),
    (dict(init="uniform", scale=0.5), 0, 0.5 / np.sqrt(3)), (dict(init=0.5), 0.5, 0),
    (dict(init=dy.NormalInitializer(1, 4)), 1, 2), (dict(init=dy.UniformInitializer(3)), 0, 3**0.5),
    (dict(init=dy.ConstInitializer(2)), 2, 0), (dict(init=dy.HeInitializer(1)), 0, 200**-0.5),
    (dict(init=dy.GlorotInitializer(gain=2)), 0, 2 * np.sqrt(2 / 400)),
])
def test_initial_values_have_their_moments(pc, given, mean, std):
    values = pc.add_parameters((200, 200), **given).as_array()
    assert values.mean() == pytest.approx(mean, abs=0.01 + 0.02 * std)
    assert values.std() == pytest.approx(std, rel=0.02, abs=1e-6)


def test_he_counts_the_columns_of_a_matrix_and_the_rows_of_a_vector(pc):
    assert pc.add_parameters((500, 40), init="he").as_array().std() == pytest.approx(np.sqrt(2 / 40), rel=0.03)
    assert pc.add_parameters(20000, init="he").as_array().std() == pytest.approx(np.sqrt(2 / 20000), rel=0.03)


def test_initial_values_that_are_given(pc, tmp_path):
    values = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(pc.add_parameters((2, 3), init=values).as_array(), values)
    made = pc.add_parameters((2, 3), init=dy.NumpyInitializer(values))
    assert np.array_equal(made.as_array(), values)
    assert np.array_equal(pc.parameters_from_numpy(values).as_array(), values)
    assert np.array_equal(pc.lookup_parameters_from_numpy(values).as_array(), values)
    assert np.array_equal(pc.add_lookup_parameters((2, 3), init=values).as_array(), values)
    cube = np.arange(24.0).reshape(2, 3, 4)
    table = pc.lookup_parameters_from_numpy(cube)
    assert np.array_equal(table.as_array(), cube)
    assert np.array_equal(table[1].npvalue(), cube[1])
    (tmp_path / "numbers").write_text("0 3 1 4 2 5")
    for given in str(tmp_path / "numbers"), dy.FromFileInitializer(str(tmp_path / "numbers")):
        assert np.array_equal(pc.add_parameters((2, 3), init=given).as_array(), values)
    q = pc.add_parameters((5, 5), init=dy.SaxeInitializer()).as_array()
    assert np.allclose(q @ q.T, np.eye(5), atol=1e-5)
    assert np.array_equal(pc.add_parameters((3, 3), init="identity").as_array(), np.eye(3))
    for wrong in "no file", np.ones(4), np.ones((3, 2)), np.ones(6):
        with pytest.raises((OSError, ValueError)):
            pc.add_parameters((2, 3), init=wrong)
    with pytest.raises(OSError, match='"glorot".*nor a file'):
        pc.add_parameters((2, 3), init="xavier")


def test_rows_of_a_table(pc):
    table = pc.lookup_parameters_from_numpy(np.arange(6.0).reshape(3, 2))
    assert table[2].value() == [4, 5] and table[np.int64(1)].value() == [2, 3]
    assert table[[2, 0]].dim() == ((2,), 2) and table[[2, 0]].npvalue().T.tolist() == [[4, 5], [0, 1]]
    for wrong in 3, -1, [0, 3]:
        with pytest.raises(IndexError):
            table[wrong]


def test_values_are_read_and_set(pc):
    p, table = pc.add_parameters((2, 3)), pc.add_lookup_parameters((4, 2))
    p.set_value(np.arange(6).reshape(2, 3))
    p.scale(2)
    assert p.as_array().tolist() == [[0, 2, 4], [6, 8, 10]]
    p.clip_inplace(1, 7)
    assert p.as_array().tolist() == [[1, 2, 4], [6, 7, 7]]
    p.zero()
    assert not p.as_array().any()
    for i in range(4):
        table.init_row(i, [i, -i])
    assert table.row_as_array(2).tolist() == [2, -2]
    assert table.rows_as_array([3, 1]).tolist() == [[3, -3], [1, -1]]
    table.init_from_array(np.ones((4, 2)))
    assert table.as_array().tolist() == [[1, 1]] * 4
    dy.sum_elems(table.batch([1, 1, 3])).value()
    dy.sum_batches(dy.sum_elems(table.batch([1, 1, 3]))).backward()
    assert table.grad_as_array().tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]
    assert table.row_grad_as_array(1).tolist() == [2, 2]
    assert table.rows_grad_as_array([3]).tolist() == [[1, 1]]
    table.scale_gradient(2)
    assert table.row_grad_as_array(1).tolist() == [4, 4]
    for wrong in (lambda: p.set_value([1, 2]), lambda: p.set_value(np.ones((3, 2))),
                  lambda: table.init_from_array(np.ones((2, 4))), lambda: table.init_row(9, [1, 2]),
                  lambda: table.init_row(0, [1]), lambda: table.init_from_array(np.ones((3, 2))),
                  lambda: table.row_as_array(4), lambda: table[4], lambda: table[-1]):
        with pytest.raises((ValueError, IndexError)):
            wrong()


def test_frozen_parameters_stay(pc):
    p = pc.add_parameters(2, init=1.0)
    p.set_updated(False)
    dy.squared_norm(p + pc.add_parameters(2, init=1.0)).backward()
    dy.SimpleSGDTrainer(pc).update()
    assert not p.is_updated() and p.as_array().tolist() == [1, 1]


def models_of(pc):
    return {p.name(): p.as_array() for p in pc.parameters_list() + pc.lookup_parameters_list()}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy,
                                    lambda pc: pickle.loads(pickle.dumps(pc))])
def test_collections_are_copied(pc, copied):
    pc.set_weight_decay(0.01)
    pc.set_seed(7)
    for k, inside in enumerate([pc, pc.add_subcollection("a"), pc.add_subcollection("a")]):
        inside.add_parameters((2, 3))
        inside.add_lookup_parameters((4, 3, 2)).set_updated(k == 1)
        inside.add_parameters(k + 1, name="named").set_updated(False)
        inside.add_parameters(2, name="named")
    other = copied(pc)
    ours, theirs = models_of(pc), models_of(other)
    assert list(ours) == list(theirs) and len(ours) == 12
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    assert other.get_weight_decay() == pytest.approx(0.01) and other != pc
    ours, theirs = ([p.is_updated() for p in of.parameters_list() + of.lookup_parameters_list()]
                    for of in (pc, other))
    assert ours == theirs and ours.count(False) == 5
    # Parameters added later begin with equal values.
    for of in pc, other:
        of.add_parameters((3, 3))
        of.add_lookup_parameters((2, 5), name="later")
        of.add_subcollection("b").add_parameters(4, init="normal")
    ours, theirs = models_of(pc), models_of(other)
    assert list(ours) == list(theirs) and len(ours) == 15
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    other.parameters_list()[0].zero()
    assert pc.parameters_list()[0].as_array().any()


TRAINERS = [dy.SimpleSGDTrainer, dy.CyclicalSGDTrainer, dy.MomentumSGDTrainer, dy.AdagradTrainer,
            dy.AdadeltaTrainer, dy.RMSPropTrainer, dy.AdamTrainer, dy.AmsgradTrainer,
            dy.AdamWTrainer]


@pytest.mark.parametrize("kind", TRAINERS)
def test_every_trainer_lowers_the_loss(pc, kind):
    p = pc.parameters_from_numpy(np.array([1.0, -2.0]))
    trainer = kind(pc)
    losses = []
    for _ in range(50):
        dy.renew_cg()
        loss = dy.squared_norm(p)
        losses.append(loss.value())
        loss.backward()
        trainer.update()
    assert losses[-1] < losses[0] and trainer.whoami() == kind.__name__
    assert "updates=50" in trainer.summary()


def test_settings_of_trainers(pc, capsys):
    p, q = pc.add_parameters(2, init=1.0), pc.add_parameters(2, init=1.0)
    table = pc.add_lookup_parameters((3, 2), init=1.0)
    trainer = dy.SimpleSGDTrainer(pc, learning_rate=0.5)
    assert repr(trainer) == "<SimpleSGDTrainer, learning rate 0.5>"
    trainer.set_clip_threshold(1.0)
    assert trainer.get_clip_threshold() == 1.0 and trainer.learning_rate == 0.5
    dy.squared_norm(p + q + table[1]).backward()
    trainer.update()
    moved = 1 - p.as_array()[0]
    assert moved == pytest.approx(0.5 / np.sqrt(6))  # the norm of the gradient is clipped to 1
    trainer.set_clip_threshold(0)
    for chosen in ([p], [table]), ([0], [0]):
        dy.renew_cg()
        before = q.as_array()
        dy.squared_norm(p + q + table[1]).backward()
        changed = p.as_array(), table.as_array()
        trainer.update_subset(*chosen)
        assert np.array_equal(q.as_array(), before)
        assert not np.array_equal(p.as_array(), changed[0])
        assert not np.array_equal(table.as_array(), changed[1])
        pc.reset_gradient()
    trainer.learning_rate = 0.25
    trainer.set_learning_rate(trainer.learning_rate / 2)
    assert trainer.learning_rate == 0.125
    trainer.restart(0.5)
    trainer.restart()
    trainer.update_epoch(1)
    trainer.set_sparse_updates(False)
    trainer.status()
    assert "lr=0.5" in capsys.readouterr().err
    with pytest.raises(IndexError):
        trainer.update_subset([2], [])
    trainer.set_schedule(dy.LearningRateSchedule.cosine(0.1, 100, warm_up=10))
    assert dy.LearningRateSchedule.warm_up(0.1, 10).rate(4) == pytest.approx(0.05)
    assert trainer.learning_rate == pytest.approx(0.01)
    trainer.update()
    assert trainer.learning_rate == pytest.approx(0.02)


def test_gradients_that_are_no_numbers_change_nothing(pc):
    p = pc.add_parameters(1, init=0.0)
    trainer = dy.AdamTrainer(pc)
    dy.log(p * 1.0).backward()
    with pytest.raises(dy.NumericError):
        trainer.update()
    trainer.skip_non_finite = True
    dy.log(p * 1.0).backward()
    trainer.update()
    assert p.as_array().tolist() == [0] and "skipped=1" in trainer.summary()


def test_averages(pc):
    p = pc.add_parameters(1, init=0.0)
    trainer = dy.SimpleSGDTrainer(pc, learning_rate=1.0)
    trainer.cumulative_moving_average()
    for _ in range(3):
        dy.renew_cg()
        dy.sum_elems(p * -1.0).backward()
        trainer.update()
    assert p.as_array()[0] == pytest.approx(3)
    trainer.swap_params_to_moving_average()
    assert p.as_array()[0] == pytest.approx(2)
    trainer.swap_params_to_weights()
    assert p.as_array()[0] == pytest.approx(3)


def test_plateau(pc):
    trainer = dy.SimpleSGDTrainer(pc, learning_rate=1.0)
    watcher = dy.ReduceOnPlateau(patience=1)
    assert [watcher.observe(1.0, trainer) for _ in range(3)] == [False, False, True]
    assert trainer.learning_rate == 0.5
