"""Types of arrays, for annotations, and of shapes."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Float32Array: TypeAlias = npt.NDArray[np.float32]
Float64Array: TypeAlias = npt.NDArray[np.float64]


class Shape(tuple[int, ...]):
    """The sizes of a parameter: `W.shape`, or `W.shape()` as in DyNet."""

    __slots__ = ()

    def __call__(self) -> tuple[int, ...]:
        """The sizes as a plain tuple."""
        return tuple(self)
