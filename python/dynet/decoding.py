"""What decoders give and take."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class BeamHypothesis(NamedTuple):
    """A sequence that `beam_search` found."""

    tokens: list[int]
    """Without the end."""
    log_prob: float
    """With the end, in nats."""
    score: float
    """log_prob by length, and the penalty."""
    state: Any
    """After the last of the tokens."""


class SampledSequence(NamedTuple):
    """A sequence that `sample_sequences` drew."""

    tokens: list[int]
    """Without the end."""
    log_prob: float
    """By the model, in nats, with the end if there is one."""
    ended: bool
    """With the token that ends it."""
    state: Any
    """After the last of the tokens."""


class ExtendedSource(NamedTuple):
    """A source in numbers of a vocabulary that its own words extend."""

    numbers: list[int]
    """Of its words."""
    others: list[str]
    """Words that the vocabulary has not: the one of number len(words) + k is others[k]."""


def extend_vocabulary(words: Mapping[str, int], source: Iterable[str]) -> ExtendedSource:
    """The numbers of the words of a source for `copy_log_prob`: those that the vocabulary `words`, from
    words to 0, 1, 2, ..., has not get the numbers behind it, in the order in which they first appear."""
    others: dict[str, int] = {}
    numbers = [words[word] if word in words else others.setdefault(word, len(words) + len(others))
               for word in source]
    return ExtendedSource(numbers, list(others))
