"""Parameters, tables and builders in the two-file format of DyNet's `save` and `load`."""

import os
import pickle
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ._core import LookupParameters, ParameterCollection, Parameters

_KINDS: dict[type, str] = {Parameters: "Parameters", LookupParameters: "LookupParameters"}


def save(basename: str, objects: Iterable[Any]) -> None:
    """Writes parameters, tables and builders to basename.data, as text, and basename.meta.

    A builder is an object with `spec`, `param_collection()` and, in its class, `from_spec(spec, collection)`. The files
    have the format of DyNet. Both are first written next to the old ones, which remain unchanged after an error.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dy.save(f"{folder}/model", [pc.add_parameters((2, 3))])
    ...     sorted(os.listdir(folder))
    ['model.data', 'model.meta']
    """
    data, meta = f"{basename}.data", f"{basename}.meta"
    new_data, new_meta = f"{data}.new", f"{meta}.new"
    try:
        with open(new_data, "w"):
            pass
        with open(new_meta, "wb") as file:
            for thing in objects:
                _Pickler(file, protocol=4).dump(_entry(thing, new_data))
        os.replace(new_data, data)
        os.replace(new_meta, meta)
    finally:
        for left in new_data, new_meta:
            if os.path.exists(left):
                os.remove(left)


def _entry(thing: Any, data: str) -> tuple[Any, ...]:
    kind = _KINDS.get(type(thing))
    if kind:
        thing.save(data, append=True)
        return kind, thing.name()
    if not (hasattr(thing, "spec") and hasattr(thing, "param_collection")):
        raise TypeError(f"save: {thing!r} is no parameter, table or builder")
    collection = thing.param_collection()
    collection.save(data, append=True)
    return type(thing), thing.spec, collection.name()


def load_generator(basename: str, params: ParameterCollection) -> Iterator[Any]:
    """Yields the objects written by `save`, with new parameters in the collection `params`."""
    data = f"{basename}.data"
    with open(f"{basename}.meta", "rb") as file:
        while file.peek(1):
            entry = _Unpickler(file).load()
            if entry[0] == "Parameters":
                yield params.load_param(data, entry[1])
            elif entry[0] == "LookupParameters":
                yield params.load_lookup_param(data, entry[1])
            else:
                builder_class, spec, name = entry
                builder = builder_class.from_spec(spec, params)
                builder.param_collection().populate(data, name)
                yield builder


def load(basename: str, params: ParameterCollection) -> list[Any]:
    """The objects written by `save`, as a list, with new parameters in the collection `params`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dy.save(f"{folder}/model", [pc.add_parameters((2, 3))])
    ...     [p.shape for p in dy.load(f"{folder}/model", dy.ParameterCollection())]
    [(2, 3)]
    """
    return list(load_generator(basename, params))


_PicklerInPython: Any = getattr(pickle, "_Pickler")  # its steps can be overridden


class _Pickler(_PicklerInPython):  # type: ignore[misc]
    """Writes our classes under their names in DyNet."""

    def save_global(self, obj: Any, name: str | None = None) -> None:
        if obj.__module__.partition(".")[0] != "dynet":
            super().save_global(obj, name)
            return
        self.save("_dynet")
        self.save(obj.__qualname__)
        self.write(pickle.STACK_GLOBAL)
        self.memoize(obj)


class _Unpickler(pickle.Unpickler):
    """Finds classes of builders only, so that files cannot run code."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "_dynet":
            module = "dynet"
        found = getattr(sys.modules.get(module), name, None)
        if not hasattr(found, "from_spec"):
            raise pickle.UnpicklingError(
                f"load: {module}.{name} is no class of builders that the program has imported")
        return found
