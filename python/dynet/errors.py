"""Exceptions of this package, besides TypeError. Objects remain usable after any of them."""

import sys


class Error(Exception):
    """Base of all exceptions of this package. The message names the operation, the shapes, the broken rule, and the
    line of the program."""


class ArgumentError(Error, ValueError):
    """An invalid argument."""


class ShapeError(Error, ValueError):
    """Operands whose shapes or batch sizes do not fit the operation."""


class OutOfRangeError(Error, IndexError, ValueError):
    """An index, slice or dimension outside its range."""


class StaleExpressionError(Error, RuntimeError, ValueError):
    """An expression of a graph that was renewed or destroyed, or of another graph."""


class GradientError(Error, RuntimeError, ValueError):
    """A gradient that was not computed by a backward pass, or that was freed."""


class NumericError(Error, RuntimeError):
    """A NaN or an infinity found by a check."""


class FileError(Error, OSError, RuntimeError):
    """A file that cannot be read or written, or that has unexpected contents."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation that failed on the CPU or on a device."""


class DeviceError(Error, RuntimeError):
    """A device that does not exist, lacks a feature, or has failed."""


def cell_name(file: str) -> str:
    """Name of a notebook's cell as in IPython's tracebacks, such as `Cell In[3]`; other file names are unchanged."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    found = getattr(getattr(shell, "compile", None), "format_code_name", lambda name: None)(file)
    return " ".join(found) if found else file
