"""Habits of users of PyTorch and NumPy: shapes, `@`, numbers, arrays as operands, names of settings, copies."""

import copy
import pickle

import dynet as dy
import numpy as np
import pytest


@pytest.fixture
def W():
    dy.renew_cg()
    pc = dy.ParameterCollection()
    w = pc.add_parameters((3, 2), name="W")
    w.set_value(np.arange(6).reshape(3, 2))
    return w


def test_shapes_are_those_of_arrays(W):
    table = dy.ParameterCollection().add_lookup_parameters((5, 4, 2))
    assert W.shape == (3, 2) and W.shape() == (3, 2) and table.shape == table.shape() == (5, 4, 2)
    assert type(W.shape()) is tuple
    e = W * dy.inputTensor(np.ones((2, 7)), batched=True)
    assert e.shape == e.npvalue().shape == (3, 7) and e.dim() == ((3,), 7)
    assert (W * dy.inputVector([1, 2])).shape == (3,)


def test_at_is_the_product_of_numpy(W):
    w, x, y = W.numpy(), np.array([1.0, 2.0]), np.array([1.0, 0.5, -1.0])
    wx = w @ x
    assert (W @ dy.inputVector(x)).value() == (W @ x).value() == list(wx)
    assert (y @ W).value() == (dy.inputVector(y) @ W).value() == list(y @ w)
    assert float(dy.inputVector(x) @ x) == float(x @ x)
    assert (W @ W.T).npvalue().tolist() == (w @ w.T).tolist()
    with pytest.raises(TypeError):
        W @ 2
    with pytest.raises(ValueError, match=r"3,2.*3,2|columns"):
        W @ W


@pytest.mark.parametrize("op", ["+", "-", "*"])
def test_arrays_are_operands(W, op):
    x, y = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    e = dy.inputVector(x)
    ours = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: W * (a + b)}[op]
    both = [ours(e, y), ours(x, dy.inputVector(y)), ours(e, dy.inputVector(y))]
    assert both[0].value() == both[1].value() == both[2].value()
    assert (W * x).value() == (W * e).value() and (x.T @ W.T).value() == (W * e).value()
    assert (e * np.float64(2)).value() == (e * np.array(2)).value() == [2, 4]


def test_arrays_join_the_graph_of_the_other_operand(W):
    with dy.graph() as g:
        e = dy.inputVector([1, 2])
        size = len(g)
    sum_ = e + np.ones(2)
    assert len(g) == size + 2 and sum_.value() == [2, 3]
    dy.renew_cg()
    stale = dy.inputVector([1, 2])
    dy.renew_cg()
    with pytest.raises(dy.StaleExpressionError):
        stale + np.ones(2)
    with pytest.raises(ValueError, match="has 2 and 3"):
        dy.inputVector([1, 2]) + np.ones(3)


def test_one_number_is_a_number(W):
    loss = dy.squared_norm(W)
    assert float(loss) == loss.item() == loss.value() == 55 and int(loss) == 55 and round(float(loss), 1) == 55.0
    assert f"{float(loss):.2f}" == "55.00"
    for several in (W, W * dy.inputVector([1, 2])):
        with pytest.raises(ValueError, match="one value"):
            float(several)
        with pytest.raises(ValueError, match="one value"):
            several.item()


def test_truth_equality_and_hashes_are_those_of_objects(W):
    zero = dy.scalarInput(0)
    assert zero and bool(zero) and zero == zero and zero != dy.scalarInput(0) and len({zero, zero}) == 1


def test_representations_show_operation_and_shape(W):
    e = dy.tanh(W * dy.inputVector([1, 2]))
    assert repr(W) == "Parameter /W {3,2}"
    assert repr(e).startswith("<Expression tanh {3}, node ")
    assert str(e).startswith("expression ")  # as in DyNet
    dy.renew_cg()
    assert repr(e) == "<stale expression>"


@pytest.mark.parametrize("name", ["SimpleSGD", "MomentumSGD", "Adagrad", "RMSProp", "Adam", "Amsgrad", "AdamW", "EG"])
def test_learning_rates_have_one_name(name):
    trainer = getattr(dy, f"{name}Trainer")
    pc = dy.ParameterCollection()
    for made in (trainer(pc, 0.25), trainer(pc, learning_rate=0.25), trainer(pc, lr=0.25)):
        assert made.lr == made.learning_rate == 0.25
    made.lr = 0.5
    assert made.learning_rate == 0.5
    with pytest.raises(TypeError):
        trainer(pc, lr=0.1, learning_rate=0.1)


def test_other_settings_beside_the_learning_rate():
    pc = dy.ParameterCollection()
    w = [pc.add_parameters(1, init=1.0) for _ in range(2)]
    values = []
    for trainer in (dy.AdamTrainer(pc, 0.1, 0.5, 0.6), dy.AdamTrainer(pc, lr=0.1, beta_1=0.5, beta_2=0.6)):
        w[0].set_value([1.0])
        for _ in range(3):
            dy.renew_cg()
            dy.squared_norm(w[0]).backward()
            trainer.update()
        values.append(w[0].as_array()[0])
    assert values[0] == values[1] < 1


@pytest.mark.parametrize("given, found", [(None, "None"), ([1.0, None], "None"), (np.array([1j]), "complex128"),
                                          ([1j, 2], "complex128"), (["a"], "<U1")])
def test_only_real_numbers_are_inputs(given, found):
    dy.renew_cg()
    size = len(dy.cg())
    with pytest.raises(TypeError, match=f"real numbers, not {found}"):
        dy.inputTensor(given)
    if isinstance(given, np.ndarray):
        with pytest.raises(TypeError, match=f"real numbers, not {found}"):
            dy.inputVector([1]) + given
    assert len(dy.cg()) <= size + 1


@pytest.mark.parametrize("copied", [copy.deepcopy, pickle.dumps])
def test_parts_of_a_collection_name_the_way_to_copy_them(copied):
    pc = dy.ParameterCollection()
    for part in (pc.add_parameters(1), pc.add_lookup_parameters((1, 1)), dy.AdamTrainer(pc),
                 dy.VanillaLSTMBuilder(1, 1, 1, pc), dy.BiRNNBuilder(1, 2, 2, pc, dy.GRUBuilder)):
        with pytest.raises(TypeError, match="copy the collection .* or use dynet.save_model"):
            copied(part)


def test_tables_are_arrays_with_their_rows_first():
    dy.renew_cg()
    table = dy.ParameterCollection().add_lookup_parameters((5, 3))
    rows, x, y = table.as_array(), np.array([1.0, 2.0, -1.0]), np.arange(5.0)
    assert (table @ x).npvalue() == pytest.approx(rows @ x, abs=1e-6)
    assert (y @ table).npvalue() == pytest.approx(y @ rows, abs=1e-6)
    assert (table.T @ y).npvalue() == pytest.approx(rows.T @ y, abs=1e-6)
    assert table.T.shape == (3, 5) and (table @ table.T).shape == (5, 5)


@pytest.mark.parametrize("base", [2, -2, 0, 1, 10, 1.5])
@pytest.mark.parametrize("exponent", [0, 1, 3, 5])
def test_powers_of_numbers_are_exact(base, exponent):
    dy.renew_cg()
    assert float(base ** dy.scalarInput(exponent)) == base**exponent
    assert (base ** dy.inputVector([exponent, exponent])).value() == [base**exponent] * 2


def test_expressions_are_no_inputs():
    dy.renew_cg()
    x = dy.scalarInput(1) + 1
    for given in (lambda: dy.scalarInput(x), lambda: dy.inputVector([x, x]), lambda: dy.inputTensor(x),
                  lambda: dy.inputTensor([x])):
        with pytest.raises(TypeError, match="an expression is no input"):
            given()
    assert dy.scalarInput(np.float64(2)).value() == 2
    with pytest.raises(TypeError):
        dy.scalarInput("2")


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda pc: pickle.loads(pickle.dumps(pc))])
def test_names_of_digits_are_kept(copied):
    pc = dy.ParameterCollection()
    for name in ("1", "2024", "\u00b2", "", "", "dense", "dense"):
        part = pc.add_subcollection(name)
        part.add_parameters(2, name=name)
    names = [p.name() for p in pc.parameters_list()]
    assert [p.name() for p in copied(pc).parameters_list()] == names


def test_errors_of_operands_come_through():
    class Odd:
        def __float__(self):
            raise KeyboardInterrupt

    dy.renew_cg()
    with pytest.raises(KeyboardInterrupt):
        dy.scalarInput(1) + Odd()
