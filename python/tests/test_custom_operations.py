"""Operations of one's own, written with NumPy, and the check of gradients."""

import gc
import weakref

import numpy as np
import pytest

import dynet as dy


class Softplus(dy.Operation):
    def forward(self, x):
        return np.logaddexp(0, x)

    def backward(self, dy, x):
        return dy / (1 + np.exp(-x))


class Outer(dy.Operation):
    def shape(self, x, y):
        return x[0], y[0]

    def forward(self, x, y):
        return np.outer(x, y)

    def backward(self, dz, x, y):
        return dz @ y, x @ dz


@pytest.fixture
def pc():
    dy.renew_cg()
    return dy.ParameterCollection()


def test_value_and_gradient(pc):
    p = pc.add_parameters(4)
    softplus = Softplus()
    y = softplus(p)
    assert np.allclose(y.npvalue(), np.log1p(np.exp(p.as_array())), rtol=1e-6)
    loss = dy.squared_norm(softplus(y))
    report = dy.check_gradients(loss)
    assert report.ok() and report.elements == 4 and report.parameters == 1, report
    a, b = pc.add_parameters(3), pc.add_parameters(2)
    z = Outer()(a, b)
    assert z.dim() == ((3, 2), 1)
    assert dy.check_gradients(dy.squared_norm(z)).ok()


def test_batches(pc):
    x = dy.inputTensor(np.arange(6.0).reshape(2, 3), batched=True)
    w = pc.add_parameters((2, 2))
    y = Softplus()(w * x)
    assert y.dim() == ((2,), 3)
    assert dy.check_gradients(dy.sum_batches(dy.squared_norm(y))).ok()


def test_what_is_wrong_is_found(pc):
    class Wrong(Softplus):
        def backward(self, dy, x):
            return dy * 1.1 / (1 + np.exp(-x))

    p = pc.add_parameters(3)
    report = dy.check_gradients(dy.squared_norm(Wrong()(p)))
    assert not report.ok() and report.max_error == pytest.approx(0.1, rel=0.1)
    assert report.worst_parameter == "/_0" and "/_0" in repr(report)


def test_a_function_will_do(pc):
    p = pc.add_parameters(3)
    y = dy.custom_operation(np.sin, lambda dy, x: dy * np.cos(x), p)
    assert dy.check_gradients(dy.sum_elems(y)).ok()


def test_no_gradient_for_an_operand(pc):
    class Times(dy.Operation):
        def forward(self, x, y):
            return x * y

        def backward(self, dz, x, y):
            return dz * y, None

    p, q = pc.add_parameters(3), pc.add_parameters(3)
    dy.sum_elems(Times()(p, q)).backward()
    assert np.allclose(p.grad_as_array(), q.as_array()) and not q.grad_as_array().any()


def test_errors_leave_the_graph_usable(pc):
    class Failing(dy.Operation):
        def forward(self, x):
            raise KeyError("mine")

    class Misshapen(dy.Operation):
        def forward(self, x):
            return x[:-1]

    class Transposed(Outer):
        def forward(self, x, y):
            return np.outer(y, x)

    p = pc.add_parameters(3)
    with pytest.raises(KeyError, match="mine"):
        Failing()(p).value()
    dy.renew_cg()
    with pytest.raises(dy.ShapeError, match="forward"):
        Misshapen()(p).value()
    dy.renew_cg()
    with pytest.raises(dy.ShapeError, match="forward"):  # as many numbers in another order
        Transposed()(p, dy.inputVector([1, 2])).value()
    dy.renew_cg()
    assert len(Softplus()(p).value()) == 3
    with pytest.raises(NotImplementedError):
        dy.sum_elems(dy.Operation()(p)).value()


def test_graph_keeps_the_operation_and_lets_it_go(pc):
    softplus = Softplus()
    gone = weakref.ref(softplus)
    y = softplus(pc.add_parameters(3))
    del softplus
    gc.collect()
    assert gone() is not None and len(y.value()) == 3
    dy.renew_cg()
    gc.collect()
    assert gone() is None
