"""Networks over stacks, trees and the characters of words."""

import numpy as np
import pytest

import dynet as dy
from support import close, random, randomized


@pytest.fixture
def model():
    dy.renew_cg()
    return dy.ParameterCollection()


def test_stack_lstm(model):
    layer = dy.StackLSTM(model, layers=1, input=2, hidden=3)
    a, b, c = (dy.inputVector(random(2, seed=k)) for k in range(3))
    stack = layer.start()
    assert stack.empty() and not stack and stack.top().dim() == ((3,), 1)
    stack.push(a)
    one = stack.top().npvalue()
    stack.push(b)
    other = stack.copy()
    other.push(c)
    stack.pop()
    assert close(stack.top(), one) and len(stack) == 1 and len(other) == 3
    stack.push(b)
    stack.push(c)
    assert np.array_equal(stack.top().npvalue(), other.top().npvalue())
    with pytest.raises(ValueError, match="pop"):
        layer.start().pop()
    assert dy.check_gradients(dy.squared_norm(other.top())).ok()


def test_tree_lstms(model):
    layer, _ = randomized(dy.ChildSumTreeLSTMBuilder(model, 1, 2, 3))
    nary, _ = randomized(dy.NaryTreeLSTMBuilder(model, 1, 2, 3, children=2))
    xs = [dy.inputVector(random(2, seed=k)) for k in range(3)]

    def root(builder, children):
        builder.start_new_sequence()
        for k in 0, 1:
            builder.add_input(k, [], xs[k])
        return builder.add_input(2, children, xs[2]).npvalue()

    assert np.allclose(root(layer, [0, 1]), root(layer, [1, 0]), atol=1e-6)
    assert not np.allclose(root(nary, [0, 1]), root(nary, [1, 0]), atol=1e-3)
    assert not np.allclose(root(layer, [0, 1]), root(layer, [0]), atol=1e-3)
    assert [h.dim() for h in layer.get_h(2)] == [((3,), 1)] and len(layer.get_s(2)) == 2
    assert layer.add_input(3, [2]).dim() == ((3,), 1)
    with pytest.raises(ValueError):
        layer.add_input(4, [9], xs[0])
    with pytest.raises(ValueError):
        layer.get_h(7)
    assert dy.check_gradients(dy.squared_norm(nary.get_h(2)[0])).ok()


def test_networks_for_sequences_over_trees(model):
    one_way, _ = randomized(dy.UnidirectionalTreeLSTMBuilder(model, 1, 2, 2))
    both_ways, _ = randomized(dy.BidirectionalTreeLSTMBuilder(model, 1, 4, 4))
    for builder, size in (one_way, 2), (both_ways, 4):
        xs = [dy.inputVector(random(size, seed=k)) for k in range(3)]

        def root(children):
            builder.start_new_sequence()
            for k in 0, 1:
                builder.add_input(k, [], xs[k])
            return builder.add_input(2, children, xs[2])

        assert not np.allclose(root([0, 1]).npvalue(), root([1, 0]).npvalue(), atol=1e-3)
        assert dy.check_gradients(dy.squared_norm(root([0, 1]))).ok()
    # A leaf is a sequence of one.
    one_way.start_new_sequence()
    x = dy.inputVector(random(2))
    lstm = dy.LSTMBuilder(1, 2, 2, model)
    for to, of in zip(lstm.param_collection().parameters_list(), one_way.param_collection().parameters_list()):
        to.set_value(of.as_array())
    assert close(one_way.add_input(0, [], x), lstm.initial_state().add_input(x).output().npvalue())
    with pytest.raises(ValueError):
        dy.BidirectionalTreeLSTMBuilder(model, 1, 2, 4)


def test_words_from_characters_by_lstms(model):
    layer, _ = randomized(dy.C2WBuilder(model, vocab_size=5, layers=1, input_dim=2, hidden_dim=6))
    word = layer.compose([3, 1, 4])
    values = [p.as_array() for p in layer.param_collection().parameters_list()]
    outputs = []
    for k, characters in enumerate(([3, 1, 4], [4, 1, 3])):
        lstm = dy.LSTMBuilder(1, 2, 3, model)
        for p, value in zip(lstm.param_collection().parameters_list(), values[3 * k:]):
            p.set_value(value)
        inputs = [layer.table()[c] for c in characters]
        outputs.append(lstm.initial_state().transduce(inputs)[-1].npvalue())
    assert close(word, np.concatenate(outputs)) and close(layer([3, 1, 4]), word.npvalue())
    with pytest.raises(IndexError):
        layer.compose([5])
    with pytest.raises(ValueError):
        layer.compose([])
