"""Copies of collections: `pickle` and `copy.deepcopy`, and what they say of parts of one."""

import copyreg
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _core
from ._core import LookupParameters, ParameterCollection, Parameters, Trainer, _state_of


def _rebuild(weight_decay: float, seed: int,
             parameters: Iterable[tuple[Any, ...]]) -> ParameterCollection:
    """The collection with a state from `_state_of`, as a new root."""
    root = ParameterCollection()
    root.set_weight_decay(weight_decay)
    root.set_seed(seed)
    inside = {"/": root}
    for name, is_table, rows, shape, data, updated in parameters:
        collection, _, own = name.rpartition("/")
        owner = _inside(inside, f"{collection}/")
        values = np.frombuffer(data, np.float32)
        given = _given(own)
        if is_table:
            table = owner.add_lookup_parameters((rows, *shape), init=0.0, name=given)
            table.init_from_array(values.reshape((rows, *shape[::-1])).transpose(
                0, *range(len(shape), 0, -1)))
            table.set_updated(updated)
        else:
            made = owner.add_parameters(shape, init=0.0, name=given)
            made.set_value(values.reshape(shape, order="F"))
            made.set_updated(updated)
    return root


def _given(own: str) -> str:
    """The name that was given to a part: "dense" of "dense_2", nothing of "_0", "7" of "7"."""
    return re.sub(r"_[0-9]+\Z", "", own)


def _inside(known: dict[str, ParameterCollection], path: str) -> ParameterCollection:
    """The collection with this full name, created with its ancestors if it does not exist."""
    if path not in known:
        above, _, own = path[:-1].rpartition("/")
        parent = _inside(known, f"{above}/")
        # Creates earlier collections of this name first, which have lower numbers.
        while path not in known:
            made = parent.add_subcollection(_given(own))
            known[made.name()] = made
    return known[path]


def _refuse(part: object) -> Any:
    raise TypeError(f"{type(part).__name__} cannot be copied or pickled, for its parameters belong to a "
                    "ParameterCollection: copy the collection and make the rest from it, or use dynet.save_model")


def register() -> None:
    """Registers collections with `pickle` and `copy`."""
    copyreg.pickle(ParameterCollection, lambda pc: (_rebuild, _state_of(pc)))
    for part in vars(_core).values():
        if isinstance(part, type) and (issubclass(part, (Parameters, LookupParameters, Trainer)) or
                                       hasattr(part, "param_collection")):
            copyreg.pickle(part, _refuse)
