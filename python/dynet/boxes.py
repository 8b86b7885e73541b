"""Mutable numbers and lists of numbers, for programs written to DyNet."""

from collections.abc import Iterable


class FloatValue:
    """A number."""

    def __init__(self, val: float = 0.0) -> None:
        self._value = float(val)

    def set(self, val: float) -> None:
        """Sets the number."""
        self._value = float(val)

    def get(self) -> float:
        """The number."""
        return self._value


class UnsignedValue(FloatValue):
    """A non-negative integer."""

    def __init__(self, val: int = 0) -> None:
        self.set(val)

    def set(self, val: float) -> None:
        """Sets the number. OverflowError if it is negative."""
        if val < 0:
            raise OverflowError("can't convert negative value to unsigned int")
        self._value = int(val)


class FloatVectorValue:
    """A list of numbers."""

    _kind: type[float] = float

    def __init__(self, vals: Iterable[float]) -> None:
        self.set(vals)

    def set(self, newval: Iterable[float]) -> None:
        """Sets the numbers."""
        self._values = [self._kind(v) for v in newval]

    def get(self) -> list[float]:
        """The numbers."""
        return list(self._values)

    def size(self) -> int:
        """The length of the list."""
        return len(self._values)


class UnsignedVectorValue(FloatVectorValue):
    """A list of integers."""

    _kind: type[float] = int
