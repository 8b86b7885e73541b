"""Arguments and results of decoders."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class BeamHypothesis(NamedTuple):
    """A result of `beam_search`."""

    tokens: list[int]
    """Without the end."""
    log_prob: float
    """With the end, in nats."""
    score: float
    """log_prob by length, and the penalty."""
    state: Any
    """After the last of the tokens."""


class SampledSequence(NamedTuple):
    """A result of `sample_sequences`."""

    tokens: list[int]
    """Without the end."""
    log_prob: float
    """By the model, in nats, with the end if there is one."""
    ended: bool
    """With the token that ends it."""
    state: Any
    """After the last of the tokens."""


class ExtendedSource(NamedTuple):
    """A source as numbers of a vocabulary extended by the source's own words."""

    numbers: list[int]
    """Of its words."""
    others: list[str]
    """Words that the vocabulary has not: the one of number len(words) + k is others[k]."""


def extend_vocabulary(words: Mapping[str, int], source: Iterable[str]) -> ExtendedSource:
    """Numbers of the words of a source for `copy_log_prob`. Words missing in `words`, a dictionary from words to 0, 1,
    2, ...,
    get the numbers after its last one, in order of first appearance."""
    others: dict[str, int] = {}
    numbers = [words[word] if word in words else others.setdefault(word, len(words) + len(others))
               for word in source]
    return ExtendedSource(numbers, list(others))
