"""Custom operations written with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from ._core import Expression, _custom_operation


class Operation:
    """A custom operation. Derive a class, and call an instance of it on expressions.

        class Softplus(dy.Operation):
            def forward(self, x):
                return np.logaddexp(0, x)

            def backward(self, dy, x):
                return dy / (1 + np.exp(-x))

        softplus = Softplus()
        y = softplus(x)

    Arrays have the shapes of the expressions, with the batch as last dimension if there is one. They are float32, and
    float64 in `dynet.check_gradients`, which checks such an operation. The graph keeps a reference to the instance.
    """

    def shape(self, *shapes: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of the value, given the shapes of the operands; by default that of the first one."""
        return shapes[0]

    def forward(self, *xs: npt.NDArray[Any]) -> npt.ArrayLike:
        """The value, given the values of the operands."""
        raise NotImplementedError

    def backward(self, dy: npt.NDArray[Any], *xs: npt.NDArray[Any]) -> Any:
        """Gradients of the operands, given that of the value: one per operand, None for zero."""
        raise NotImplementedError

    def __call__(self, *xs: Expression) -> Expression:
        return _custom_operation(self, xs)


def custom_operation(forward: Callable[..., npt.ArrayLike], backward: Callable[..., Any],
                     *xs: Expression,
                     shape: Callable[..., tuple[int, ...]] | None = None) -> Expression:
    """An operation made of functions: `Operation` without a class."""
    methods: dict[str, Any] = {"forward": staticmethod(forward),
                               "backward": staticmethod(backward)}
    if shape is not None:
        methods["shape"] = staticmethod(shape)
    operation: Operation = type("FunctionOperation", (Operation,), methods)()
    return operation(*xs)
