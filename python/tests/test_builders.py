"""Recurrent networks and softmax layers beyond what is compared with the old module."""

import copy

import numpy as np
import pytest

import dynet as dy

NETWORKS = [dy.SimpleRNNBuilder, dy.GRUBuilder, dy.LSTMBuilder, dy.CompactVanillaLSTMBuilder,
            dy.CoupledLSTMBuilder, dy.FastLSTMBuilder, dy.SparseLSTMBuilder]


@pytest.fixture
def model():
    dy.renew_cg()
    return dy.ParameterCollection()


@pytest.mark.parametrize("network", NETWORKS)
def test_spec_makes_another_one_of_the_same_sizes(network, model):
    builder = network(2, 3, 4, model)
    other = network.from_spec(builder.spec, model)
    assert type(other) is network and other.spec == builder.spec and other.spec[:3] == (2, 3, 4)
    assert repr(builder) == f"{builder.whoami()}(layers=2, input_dim=3, hidden_dim=4)"
    sizes = [[p.shape() for p in layer] for layer in builder.get_parameters()]
    assert sizes == [[p.shape() for p in layer] for layer in other.get_parameters()]
    assert len(sizes) == 2
    state = builder.initial_state().add_input(dy.inputVector([1, 2, 3]))
    assert state.output().dim() == ((4,), 1) and len(state.h()) == 2


def test_spec_of_an_lstm_has_its_options(model):
    builder = dy.LSTMBuilder(1, 3, 4, model, ln_lstm=True, forget_bias=0.5)
    assert builder.spec == (1, 3, 4, True, 0.5)
    assert dy.LSTMBuilder.from_spec(builder.spec, model).spec == builder.spec
    assert dy.LSTMBuilder is dy.VanillaLSTMBuilder and builder.whoami() == "VanillaLSTMBuilder"


def test_states_of_a_renewed_graph_are_refused(model):
    builder = dy.GRUBuilder(1, 3, 4, model)
    x = dy.inputVector([1, 2, 3])
    old = builder.initial_state().add_inputs([x, x])[-1]
    dy.renew_cg()
    x = dy.inputVector([1, 2, 3])
    with pytest.raises(ValueError, match="before|initial_state"):
        builder.get_parameter_expressions()
    new = builder.initial_state().add_inputs([x, x, x])
    with pytest.raises(ValueError, match="renewed"):
        old.add_input(x)
    with pytest.raises(ValueError, match="renewed"):
        old.h()
    assert len(new) == 3


def test_copies_share_parameters_and_have_graphs_of_their_own(model):
    builder = dy.LSTMBuilder(1, 2, 3, model)
    other = copy.copy(builder)
    state = builder.initial_state().add_input(dy.inputVector([1, 2]))
    with dy.graph():
        there = other.initial_state().add_input(dy.inputVector([1, 2])).output().value()
    assert state.add_input(dy.inputVector([1, 2])).prev().output().value() == there
    assert len(model.parameters_list()) == 3 and other.spec == builder.spec


def test_states_are_a_tree(model):
    builder = dy.LSTMBuilder(1, 2, 3, model)
    start = builder.initial_state()
    a, b = dy.inputVector([1, 0]), dy.inputVector([0, 1])
    first = start.add_input(a)
    left, right = first.add_input(a), first.add_input(b)
    again = first.add_input(a).output().npvalue()
    assert np.array_equal(left.output().npvalue(), again)
    assert not np.array_equal(right.output().npvalue(), again)
    assert left.prev().output().npvalue().tolist() == first.output().npvalue().tolist()
    assert start.prev() is None and start.output() is None
    assert start.h() == () and start.b() is builder


def test_cells_alone_leave_the_outputs(model):
    builder = dy.LSTMBuilder(2, 2, 3, model)
    start = builder.initial_state()
    cells = [dy.inputVector([1, 2, 3]), dy.inputVector([4, 5, 6])]
    for made in start.set_s(cells), builder.initial_state(cells):
        assert [c.value() for c in made.s()] == [[1, 2, 3], [4, 5, 6], [0] * 3, [0] * 3]
    state = start.add_input(dy.inputVector([1, 0]))
    made = state.set_s(cells)
    assert [c.value() for c in made.s()[:2]] == [[1, 2, 3], [4, 5, 6]]
    assert [h.value() for h in made.h()] == [h.value() for h in state.h()]
    for wrong in cells[:1], cells + cells[:1], []:
        with pytest.raises(ValueError, match="4 components"):
            state.set_s(wrong)


def test_masked_batch_elements_keep_their_state(model):
    builder = dy.LSTMBuilder(1, 2, 3, model)
    x = dy.inputTensor([[1.0, 2.0], [3.0, 4.0]], batched=True)
    first = builder.initial_state().add_input(x)
    masked = first.add_masked_input(x, dy.inputTensor([[1.0, 0.0]], batched=True))
    taken, kept = masked.output().npvalue().T
    assert np.array_equal(kept, first.output().npvalue().T[1])
    assert np.array_equal(taken, first.add_input(x).output().npvalue().T[0])


def test_a_state_keeps_its_builder(model):
    state = dy.LSTMBuilder(1, 2, 3, model).initial_state()
    assert state.add_input(dy.inputVector([1, 2])).output().dim() == ((3,), 1)


def test_initial_state_from_numbers(model):
    builder = dy.LSTMBuilder(1, 2, 3, model)
    state = builder.initial_state_from_raw_vectors([[1, 2, 3], [4, 5, 6]])
    assert [e.npvalue().tolist() for e in state.s()] == [[1, 2, 3], [4, 5, 6]]
    assert state.output().npvalue().tolist() == [4, 5, 6]
    with pytest.raises(ValueError):
        builder.initial_state([dy.inputVector([1, 2, 3])] * 3)


def test_dropout_is_one_mask_for_a_sequence(model):
    builder = dy.SimpleRNNBuilder(1, 40, 40, model)
    builder.set_dropouts(0.5, 0.0)
    x = dy.inputVector([1.0] * 40)
    plain = dy.SimpleRNNBuilder.from_spec(builder.spec, model)
    for p, q in zip(builder.get_parameters()[0], plain.get_parameters()[0]):
        q.set_value(p.as_array())
    dropped, expected = (b.initial_state().transduce([x])[0].npvalue() for b in (builder, plain))
    assert not np.allclose(dropped, expected)
    builder.disable_dropout()
    dy.renew_cg()
    x = dy.inputVector([1.0] * 40)
    assert np.array_equal(builder.initial_state().transduce([x])[0].npvalue(), expected)
    with pytest.raises(ValueError):
        builder.set_dropout(1.0)


def test_sparse_weights_are_switched_off(model):
    builder = dy.SparseLSTMBuilder(1, 4, 4, model)
    x = [1.0, 2.0, 3.0, 4.0]
    before = builder.initial_state().add_input(dy.inputVector(x)).output().npvalue()
    builder.set_sparsity(100.0)
    dy.renew_cg()
    after = builder.initial_state().add_input(dy.inputVector(x)).output().npvalue()
    assert not np.allclose(before, after) and np.allclose(after, after[0])


def test_both_directions(model):
    with pytest.raises(ValueError, match="even"):
        dy.BiRNNBuilder(1, 3, 5, model, dy.GRUBuilder)
    with pytest.raises(ValueError, match="layer"):
        dy.BiRNNBuilder(0, 3, 4, model, dy.GRUBuilder)
    builder = dy.BiRNNBuilder(2, 3, 4, model, dy.GRUBuilder)
    xs = [dy.inputVector([i, 1, 2]) for i in range(3)]
    outputs, states = builder.transduce(xs), builder.add_inputs(xs)
    for output, (forward, backward) in zip(outputs, states):
        parts = dy.concatenate([forward.output(), backward.output()])
        assert np.array_equal(output.npvalue(), parts.npvalue())
    assert len(states) == 3 and builder.transduce([]) == []


def test_dropout_of_networks_in_both_directions(model):
    builder = dy.BiRNNBuilder(2, 40, 40, model, dy.SimpleRNNBuilder)

    def outputs():
        dy.renew_cg()
        x = dy.inputVector([1.0] * 40)
        return [network.initial_state().transduce([x])[0].npvalue()
                for pair in builder.builder_layers for network in pair]

    plain = outputs()
    builder.set_dropout(0.5)
    dropped = outputs()
    assert len(plain) == 4
    assert not any(np.allclose(a, b) for a, b in zip(plain, dropped))
    builder.disable_dropout()
    assert all(np.array_equal(a, b) for a, b in zip(plain, outputs()))


def test_stacked_states(model):
    lstm, gru = dy.LSTMBuilder(1, 2, 3, model), dy.GRUBuilder(1, 3, 4, model)
    start = dy.StackedRNNState([lstm.initial_state(), gru.initial_state()])
    xs = [dy.inputVector([1, 2]), dy.inputVector([3, 4])]
    last = start.add_inputs(xs)[-1]
    by_hand = gru.initial_state().transduce(lstm.initial_state().transduce(xs))[-1]
    assert np.array_equal(last.output().npvalue(), by_hand.npvalue())
    assert last.prev().prev() is start and len(last.h()) == 2


def test_softmax_layers_give_probabilities(model, tmp_path):
    clusters = tmp_path / "clusters"
    clusters.write_text("0 a\n0 b\n1 c\n1 d\n2 e\n")
    words = {"a": 0, "b": 1}
    factored = dy.ClassFactoredSoftmaxBuilder(3, str(clusters), words, model)
    assert words == {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4}
    x = dy.inputVector([1, 2, 3])
    for builder in (factored, dy.StandardSoftmaxBuilder(3, 5, model)):
        logs = builder.full_log_distribution(x).npvalue()
        assert np.exp(logs).sum() == pytest.approx(1, abs=1e-5)
        assert builder.neg_log_softmax(x, 2).scalar_value() == pytest.approx(-logs[2], abs=1e-5)
        assert 0 <= builder.sample(x) < 5
    with pytest.raises(ValueError, match="0, 1, 2"):
        dy.ClassFactoredSoftmaxBuilder(3, str(clusters), {"a": 1}, model)
    with pytest.raises((OSError, RuntimeError)):
        dy.ClassFactoredSoftmaxBuilder(3, str(tmp_path / "none"), {}, model)
