"""Converts files of arrays: NumPy's .npz and .npy from and to model files, safetensors, word vectors.

    python -m dynet.convert tagger.model.dynet tagger.npz
    python -m dynet.convert tagger.npz again.dynet

Suffixes select the formats: .npz, .npy, .dynet, .safetensors, and for word vectors .vec, .txt and
.bin. In .npz and .safetensors, the contents of a model file other than arrays are an array of bytes,
`dynet-like.layout`, so that it can be converted back completely. An .npy file has one array.
Nothing is pickled, and files are replaced atomically.
"""

from __future__ import annotations

import argparse
import os
import sys
import zipfile
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from ._core import _read_arrays, _write_arrays
from .errors import FileError

_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
          "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1"}
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}
_OF_NUMPY = (".npz", ".npy")
_ALONE = "arr_0"  # NumPy's name of an unnamed array

Arrays = dict[str, npt.NDArray[Any]]


def convert(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Writes the arrays of one file into another. After a FileError an existing `target` is unchanged."""
    source, target = os.fspath(source), os.fspath(target)
    metadata: dict[str, str] = {}
    if source.endswith(_OF_NUMPY):
        arrays = _read_numpy(source)
    else:
        read, metadata = _read_arrays(source)
        arrays = {}
        for name, kind, shape, values in read:
            if kind not in _TYPES:
                raise FileError(f"cannot load {source}: NumPy has no type {kind}, which {name!r} has")
            arrays[name] = np.frombuffer(values, _TYPES[kind]).reshape(shape)
    if target.endswith(_OF_NUMPY):
        _write_numpy(target, arrays)
    else:
        _write_arrays(target, [(name, _NAMES[a.dtype], a.shape, a.tobytes())
                               for name, a in arrays.items()], metadata)


def _read_numpy(path: str) -> Arrays:
    """The arrays in file order, little-endian."""
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            arrays = {_ALONE: loaded}
        else:
            with loaded:
                arrays = {name: loaded[name] for name in loaded.files}
        for name, array in arrays.items():
            kind = getattr(array, "dtype", np.dtype("O")).newbyteorder("<")
            if kind not in _NAMES:
                raise ValueError(f"{name!r} is no array of floats, integers or booleans")
            arrays[name] = array.astype(kind, copy=False)
        return arrays
    except (OSError, ValueError, EOFError, KeyError, NotImplementedError, RuntimeError, SyntaxError,
            zipfile.BadZipFile, zlib.error) as error:
        raise FileError(f"cannot load {path}: {error}") from error


def _write_numpy(path: str, arrays: Arrays) -> None:
    if path.endswith(".npy") and len(arrays) != 1:
        raise FileError(f"cannot save {path}: .npy holds one array, not {len(arrays)}")
    new = f"{path}.new"
    try:
        with open(new, "wb") as file:
            if path.endswith(".npy"):
                (array,) = arrays.values()
                np.save(file, array, allow_pickle=False)
            else:  # not np.savez, whose own argument names are unavailable as array names
                with zipfile.ZipFile(file, "w") as archive:
                    for name, array in arrays.items():
                        with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                            np.lib.format.write_array(member, array, allow_pickle=False)
        os.replace(new, path)
    except OSError as error:
        raise FileError(f"cannot save {path}: {error.strerror}") from error
    finally:
        if os.path.exists(new):
            os.remove(new)


def main(arguments: list[str] | None = None) -> int:
    """The command: returns 0, or 2 after printing one sentence on standard error."""
    parser = argparse.ArgumentParser(prog="python -m dynet.convert", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("IN", help="a file of any of the formats")
    parser.add_argument("OUT", help="a new file")
    given = parser.parse_args(arguments)
    try:
        convert(given.IN, given.OUT)
    except (OSError, ValueError, MemoryError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
