"""Operations of one's own, written with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from ._core import Expression, _custom_operation


class Operation:
    """An operation of one's own. Derive a class and call an object of it on expressions.

        class Softplus(dy.Operation):
            def forward(self, x):
                return np.logaddexp(0, x)

            def backward(self, dy, x):
                return dy / (1 + np.exp(-x))

        softplus = Softplus()
        y = softplus(x)

    Arrays have the shapes of the expressions, and the batch as last dimension if there is one.
    They are float32, in `dynet.check_gradients`, which checks such an operation, float64. The
    object is kept as long as the graph.
    """

    def shape(self, *shapes: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the value, of the operands' shapes: that of the first one."""
        return shapes[0]

    def forward(self, *xs: npt.NDArray[Any]) -> npt.ArrayLike:
        """The value, of the operands' values."""
        raise NotImplementedError

    def backward(self, dy: npt.NDArray[Any], *xs: npt.NDArray[Any]) -> Any:
        """The gradients of the operands, of that of the value: one for each, None for zero."""
        raise NotImplementedError

    def __call__(self, *xs: Expression) -> Expression:
        return _custom_operation(self, xs)


def custom_operation(forward: Callable[..., npt.ArrayLike], backward: Callable[..., Any],
                     *xs: Expression,
                     shape: Callable[..., tuple[int, ...]] | None = None) -> Expression:
    """An operation of functions: `Operation` for those who have no use for a class."""
    methods: dict[str, Any] = {"forward": staticmethod(forward),
                               "backward": staticmethod(backward)}
    if shape is not None:
        methods["shape"] = staticmethod(shape)
    operation: Operation = type("FunctionOperation", (Operation,), methods)()
    return operation(*xs)
