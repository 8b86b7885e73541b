"""What decoders give."""

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
