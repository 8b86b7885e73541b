"""Values detached from graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Tensor:
    """Values of an expression: an array with the batch as last dimension, if there is one."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self._array = array

    def as_numpy(self) -> npt.NDArray[Any]:
        """The array."""
        return self._array

    def argmax(self, dim: int = 0, num: int = 1) -> Tensor:
        """Indices of the `num` largest values along `dim`, in descending order; they replace that dimension."""
        return Tensor(self._best(dim, num))

    def topk(self, dim: int = 0, num: int = 1) -> tuple[Tensor, Tensor]:
        """The `num` largest values along `dim` and their indices, in descending order."""
        best = self._best(dim, num)
        return Tensor(np.take_along_axis(self._array, best, dim)), Tensor(best)

    def categorical_sample_log_prob(self, dim: int = 0, num: int = 1) -> Tensor:
        """`num` indices along `dim`, each drawn from the distribution with these log-probabilities by NumPy's global
        generator."""
        shape = (num, *self._array.shape)
        drawn = np.argmax(self._array + np.random.gumbel(size=shape), axis=dim + 1)
        return Tensor(np.moveaxis(drawn, 0, dim))

    def _best(self, dim: int, num: int) -> npt.NDArray[Any]:
        order = np.argsort(-self._array, axis=dim, kind="stable")
        return np.take(order, np.arange(num), axis=dim)

    def __str__(self) -> str:
        kind = "int" if np.issubdtype(self._array.dtype, np.integer) else "float"
        return f"<Dynet Tensor:{kind}>"

    def __array__(self, dtype: npt.DTypeLike | None = None,
                  copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self._array, dtype=dtype)
