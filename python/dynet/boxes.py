"""Numbers in boxes, which old programs hand around."""

from collections.abc import Iterable


class FloatValue:
    """A number."""

    def __init__(self, val: float = 0.0) -> None:
        self._value = float(val)

    def set(self, val: float) -> None:
        """Another number from now on."""
        self._value = float(val)

    def get(self) -> float:
        """The number."""
        return self._value


class UnsignedValue(FloatValue):
    """A whole number that is not negative."""

    def __init__(self, val: int = 0) -> None:
        self.set(val)

    def set(self, val: float) -> None:
        """Another number from now on. OverflowError for a negative one."""
        if val < 0:
            raise OverflowError("can't convert negative value to unsigned int")
        self._value = int(val)


class FloatVectorValue:
    """A list of numbers."""

    _kind: type[float] = float

    def __init__(self, vals: Iterable[float]) -> None:
        self.set(vals)

    def set(self, newval: Iterable[float]) -> None:
        """Other numbers from now on."""
        self._values = [self._kind(v) for v in newval]

    def get(self) -> list[float]:
        """The numbers."""
        return list(self._values)

    def size(self) -> int:
        """How many there are."""
        return len(self._values)


class UnsignedVectorValue(FloatVectorValue):
    """A list of whole numbers."""

    _kind: type[float] = int
