"""Operations beyond those of the old module: `set`, lists for indices, structures, errors."""

import itertools
import math

import numpy as np
import pytest

import dynet as dy


@pytest.fixture(autouse=True)
def new_graph():
    dy.renew_cg()


def test_set_gives_an_input_new_values_and_all_that_is_made_of_it():
    x, s, m = dy.vecInput(2), dy.scalarInput(1), dy.inputTensor([[1.0, 2.0], [3.0, 4.0]])
    y = dy.cmult(s, m * x)
    assert y.npvalue().tolist() == [0, 0]
    x.set([1, 1])
    assert y.npvalue().tolist() == [3, 7]
    s.set(2)
    m.set(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert y.npvalue().tolist() == [2, 2]
    with pytest.raises(ValueError, match="needs 2 values"):
        x.set([1, 2, 3])
    with pytest.raises(ValueError, match="no input"):
        y.set([1, 2])


@pytest.mark.parametrize("numbers", [
    [1, 2.5, -3], (1, 2.5, -3), [True, False], [np.float64(1.5), 2], [np.float32(1.5), 2], range(3), [2**70, -1],
    [float("inf"), float("nan"), 0.1], np.arange(3), [[1, 2], [3, 4]], [],
])
def test_inputs_are_what_numpy_makes_of_them(numbers):
    expected = np.asarray(numbers, dtype=np.float32)
    tensor = dy.inputTensor(numbers)
    assert tensor.dim()[0] == expected.shape
    np.testing.assert_array_equal(tensor.npvalue(), expected)
    vector = dy.inputVector(numbers)
    assert vector.dim() == ((expected.size,), 1)
    np.testing.assert_array_equal(vector.npvalue(), expected.ravel(order="F"))


@pytest.mark.parametrize("number", [1e300, -1e39, 10**400])
def test_numbers_too_large_for_a_float_are_treated_as_numpy_does(number):
    with np.errstate(over="ignore"):
        try:
            expected = np.asarray([number], dtype=np.float32)
        except OverflowError:
            with pytest.raises(OverflowError):
                dy.inputVector([number])
        else:
            np.testing.assert_array_equal(dy.inputVector([number]).npvalue(), expected)


def test_set_of_a_sparse_input_keeps_the_places():
    x = dy.sparse_inputTensor([[0, 1], [1, 0]], [5.0, 6.0], (2, 2), defval=1.0)
    x.set([7.0, 8.0])
    assert x.npvalue().tolist() == [[1, 7], [8, 1]]


def test_set_of_lookups_and_picks_moves_their_gradients_too():
    table = dy.ParameterCollection().lookup_parameters_from_numpy(np.arange(8.0).reshape(4, 2))
    row, rows, x = table[1], dy.lookup_batch(table, [0, 1]), dy.inputVector([1, 2, 3])
    one = dy.pick(x, 0)
    assert (one * 1.0).scalar_value() == 1
    row.set(3)
    rows.set([2, 2])
    one.set_index(2)
    assert row.npvalue().tolist() == [6, 7]
    assert rows.npvalue().T.tolist() == [[4, 5], [4, 5]]
    assert (one * 1.0).scalar_value() == 3
    dy.cmult(dy.sum_elems(row), one).backward()
    assert table.grad_as_array().tolist() == [[0, 0], [0, 0], [0, 0], [3, 3]]
    with pytest.raises(IndexError, match="outside the 4"):
        row.set(4)
    with pytest.raises(IndexError, match="outside the 3"):
        one.set_index(3)
    with pytest.raises(ValueError):
        x.set_index(0)


def test_indices_are_one_or_several():
    batch = dy.inputTensor([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]], batched=True)
    both = dy.pick(batch, [2, 0])
    assert both.npvalue().ravel().tolist() == [3, 4]
    assert (dy.pickneglogsoftmax(batch, [2, 0]).npvalue().tolist() ==
            dy.pickneglogsoftmax_batch(batch, [2, 0]).npvalue().tolist())
    assert (dy.hinge(batch, [2, 0]).npvalue().tolist() ==
            dy.hinge_batch(batch, [2, 0]).npvalue().tolist())
    assert dy.pick(batch, np.array([2, 0])).npvalue().ravel().tolist() == [3, 4]


@pytest.mark.parametrize("make, error, text", [
    (lambda x: dy.pick(x, 3), IndexError, "pick"),
    (lambda x: dy.pick(x, -1), IndexError, "pick"),
    (lambda x: dy.pick_batch(x, [-1]), IndexError, "pick"),
    (lambda x: dy.select_rows(x, [5]), IndexError, "select_rows"),
    (lambda x: dy.one_hot(3, 3), IndexError, "one_hot"),
    (lambda x: dy.esum([]), ValueError, "esum: the list is empty"),
    (lambda x: dy.concatenate([]), ValueError, "concatenate: the list is empty"),
    (lambda x: x * x, ValueError, "rows of the right"),
    (lambda x: dy.round(x, "none"), ValueError, "gradient_mode"),
    (lambda x: dy.dropout(x, 1.0), ValueError, "dropout"),
    (lambda x: dy.to_device(x, "GPU:99"), RuntimeError, "GPU:99"),
    (lambda x: dy.inputTensor(3.0), ValueError, "inputTensor"),
    (lambda x: dy.sparse_inputTensor([[0]], [1.0], (2, 2)), ValueError, "each of the 2"),
    (lambda x: dy.sparse_inputTensor([[0], [2]], [1.0], (2, 2)), IndexError, "outside the 2"),
    (lambda x: dy.tanh(3), TypeError, "tanh"),
])
def test_mistakes_name_the_operation(make, error, text):
    with pytest.raises(error, match=text):
        make(dy.inputVector([1, 2, 3]))


def test_attention_is_the_softmax_of_products():
    rng = np.random.RandomState(1)
    q, k, v = (rng.randn(4, n).astype(np.float32) for n in (3, 5, 5))
    y = dy.attention(dy.inputTensor(q), dy.inputTensor(k), dy.inputTensor(v)).npvalue()
    scores = k.T @ q / 2
    weights = np.exp(scores) / np.exp(scores).sum(axis=0)
    np.testing.assert_allclose(y, v @ weights, rtol=1e-5, atol=1e-6)
    operands = [dy.inputTensor(x) for x in (q, k, v)]
    two = dy.attention(*operands, heads=2, causal=True)
    assert two.dim() == ((4, 3), 1)
    assert np.abs(two.npvalue() - y).max() > 1e-3


def all_scores(emissions, transitions, start, stop):
    tags, length = emissions.shape
    for y in itertools.product(range(tags), repeat=length):
        yield y, (start[y[0]] + stop[y[-1]] + sum(emissions[y[t], t] for t in range(length)) +
                  sum(transitions[a, b] for a, b in zip(y, y[1:])))


def test_chains_sum_over_all_sequences():
    rng = np.random.RandomState(2)
    arrays = [rng.randn(*shape) for shape in ((3, 4), (3, 3), (3,), (3,))]
    chain = [dy.inputTensor(a) for a in arrays]
    scores = dict(all_scores(*arrays))
    log_z = math.log(sum(math.exp(s) for s in scores.values()))
    assert dy.crf_log_partition(*chain).scalar_value() == pytest.approx(log_z, abs=1e-4)
    y = (0, 2, 1, 1)
    found = dy.crf_log_prob(*chain, list(y)).scalar_value()
    assert found == pytest.approx(scores[y] - log_z, abs=1e-4)
    partly = sum(math.exp(s - log_z) for t, s in scores.items() if t[0] == 0)
    known = dy.crf_log_prob(*chain, [0, -1, -1, -1]).scalar_value()
    assert known == pytest.approx(math.log(partly), abs=1e-4)
    np.testing.assert_allclose(dy.crf_marginals(*chain).npvalue().sum(axis=0), 1, atol=1e-5)
    entropy = -sum(math.exp(s - log_z) * (s - log_z) for s in scores.values())
    assert dy.crf_entropy(*chain).scalar_value() == pytest.approx(entropy, abs=1e-4)


def test_segments_of_one_word_are_a_chain():
    rng = np.random.RandomState(3)
    chain = [dy.inputTensor(rng.randn(*shape)) for shape in ((3, 4), (3, 3), (3,), (3,))]
    assert (dy.semi_crf_log_partition(*chain).scalar_value() ==
            pytest.approx(dy.crf_log_partition(*chain).scalar_value(), abs=1e-5))
    segments = [(0, 1), (2, 1), (1, 1), (1, 1)]
    assert (dy.semi_crf_log_prob(*chain, segments).scalar_value() ==
            pytest.approx(dy.crf_log_prob(*chain, [0, 2, 1, 1]).scalar_value(), abs=1e-5))


def test_ctc_sums_over_alignments():
    log_probs = np.log(np.array([[0.2, 0.5], [0.3, 0.4], [0.5, 0.1]]))  # the blank is row 0
    x = dy.inputTensor(log_probs)
    expected = 0.2 * 0.4 + 0.3 * 0.5 + 0.3 * 0.4
    assert dy.ctc_loss(x, [1]).scalar_value() == pytest.approx(-math.log(expected), abs=1e-5)
    assert math.isinf(dy.ctc_loss(x, [1, 1]).scalar_value())
    assert dy.ctc_loss(x, [1, 1], zero_infinity=True).scalar_value() == 0
    np.testing.assert_allclose(dy.ctc_alignment(x, [1]).npvalue().sum(axis=0), 1, atol=1e-5)
    assert dy.ctc_entropy(x, [1]).scalar_value() > 0


def test_trees_of_two_words():
    arcs = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 0.5], [0.0, 0.25, 0.0]])
    x = dy.inputTensor(arcs)
    one_root = math.log(math.exp(1 + 0.5) + math.exp(2 + 0.25))
    both = math.log(math.exp(1 + 0.5) + math.exp(2 + 0.25) + math.exp(1 + 2))
    assert dy.dependency_log_partition(x).scalar_value() == pytest.approx(one_root, abs=1e-5)
    all_trees = dy.dependency_log_partition(x, projective=False, single_root=False)
    assert all_trees.scalar_value() == pytest.approx(both, abs=1e-5)
    found = dy.dependency_log_prob(x, [0, 1]).scalar_value()
    assert found == pytest.approx(1.5 - one_root, abs=1e-5)
    marginals = dy.dependency_marginals(x).npvalue()
    np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1, atol=1e-5)


def test_labelled_trees_of_two_words():
    spans = dy.inputTensor(np.ones((2, 2, 3)))
    found = dy.span_log_partition(spans).scalar_value()
    assert found == pytest.approx(3 + 3 * math.log(3), abs=1e-4)
    tree = [(0, 0, 1), (1, 1, -1), (0, 1, 2)]
    found = dy.span_log_prob(spans, tree).scalar_value()
    assert found == pytest.approx(-2 * math.log(3), abs=1e-4)


def test_operations_on_sums_of_products():
    pc = dy.ParameterCollection()
    pc.set_seed(1)
    w, b, v, c0 = (pc.add_parameters(d) for d in ((12, 2), (12,), (4, 3), (3,)))
    gradients = []
    for one in (True, False):
        pc.reset_gradient()
        dy.renew_cg()
        x = dy.inputVector([0.5, -1])
        if one:
            h, c = dy.lstm_step([b, w, x], [c0], 1)
            loss = dy.linear_cross_entropy([v, h], 2)
        else:
            h, c = dy.lstm_cell([dy.affine_transform([b, w, x])], [c0], 1)
            loss = dy.pickneglogsoftmax(v * h, 2)
        loss = loss + dy.sum_elems(c)
        gradients.append([loss.value()])
        loss.backward()
        gradients[-1] += [p.grad_as_array() for p in (w, b, v, c0)]
    for x, y in zip(*gradients):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)  # also where nothing is optimized


def test_a_sequence_as_one_node_is_its_steps():
    pc = dy.ParameterCollection()
    pc.set_seed(1)
    wx, wh, b = (pc.add_parameters(d) for d in ((12, 2), (12, 3), (12,)))
    dy.renew_cg()
    xs = dy.inputTensor(np.arange(8).reshape(2, 4) / 8)
    for reverse in (False, True):
        for first in (None, (dy.inputVector([0.5, -1, 0]), dy.inputVector([1, 2, -1]))):
            h, c = dy.lstm_sequence(dy.affine_transform([b, wx, xs]), wh, first, forget_bias=1, reverse=reverse)
            state = first or (dy.zeros(3), dy.zeros(3))
            for t in reversed(range(4)) if reverse else range(4):
                x = dy.pick(xs, t, 1)
                state = dy.lstm_step([b, wx, x, wh, state[0]], [state[1]], 1)
                for matrix, vector in zip((h, c), state):
                    assert np.array_equal(matrix.npvalue()[:, t], vector.npvalue())


def test_gates():
    x, s, c = dy.inputVector([1, 2]), dy.inputVector([0.5, -1]), dy.inputVector([3, -2])
    z = 1 / (1 + np.exp(-np.array([0.5, -1])))
    np.testing.assert_allclose(dy.gated(x, s).npvalue(), [1, 2] * z, rtol=1e-5)
    expected = z * np.tanh([1, 2]) + (1 - z) * np.array([3, -2])
    np.testing.assert_allclose(dy.coupled_update(s, x, c).npvalue(), expected, rtol=1e-5)
