"""Random numbers and formulas that tests of layers share."""

import numpy as np


def random(*shape, seed=0):
    return np.random.RandomState(seed).normal(size=shape)


def randomized(layer, seed=1):
    """The layer, and its parameters' values, which are random now."""
    source = np.random.RandomState(seed)
    for p in layer.param_collection().parameters_list():
        p.set_value(source.normal(size=p.shape()))
    return layer, [p.as_array() for p in layer.param_collection().parameters_list()]


def column(v):
    return v[:, np.newaxis]


def softmax(x):
    e = np.exp(x - x.max(axis=0))
    return e / e.sum(axis=0)


def logistic(x):
    return 1 / (1 + np.exp(-x))


def norm(x, g, b, epsilon=1e-5):
    return column(g) * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + epsilon) + column(b)


def close(expression, expected):
    value, expected = expression.npvalue(), np.asarray(expected)
    assert value.size == expected.size
    return np.allclose(value.ravel(), expected.ravel(), atol=1e-5)
