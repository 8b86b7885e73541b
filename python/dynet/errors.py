"""What this package raises besides TypeError. After any of it what was used still works."""

import sys


class Error(Exception):
    """What all errors of this package have in common. The message names the operation, the shapes,
    the rule that is broken, and the line of the program."""


class ArgumentError(Error, ValueError):
    """An argument that breaks a rule."""


class ShapeError(Error, ValueError):
    """Operands whose shapes or batch sizes do not fit the operation."""


class OutOfRangeError(Error, IndexError, ValueError):
    """An index, slice or dimension outside its range."""


class StaleExpressionError(Error, RuntimeError, ValueError):
    """An expression of a graph that was renewed or is gone, or of another graph."""


class GradientError(Error, RuntimeError, ValueError):
    """A gradient that no backward pass has computed, or that was not kept."""


class NumericError(Error, RuntimeError):
    """A NaN or an infinity that was looked for."""


class FileError(Error, OSError, RuntimeError):
    """A file that cannot be read or written, or does not hold what was asked for."""


class OutOfMemoryError(Error, MemoryError):
    """Memory that could not be had, of the machine or of a device."""


class DeviceError(Error, RuntimeError):
    """A device that is not there, cannot do what is asked, or has failed."""


def cell_name(file: str) -> str:
    """The cell of a notebook as IPython's own tracebacks name it, such as `Cell In[3]`; other names as they are."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    found = getattr(getattr(shell, "compile", None), "format_code_name", lambda name: None)(file)
    return " ".join(found) if found else file
