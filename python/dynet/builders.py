"""Recurrent networks composed of other networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from ._core import Expression, ParameterCollection, RNNState, concatenate

# Makes a network of one direction, like LSTMBuilder(1, input_dim, hidden_dim, model). Any: all builders qualify, and
# custom classes with their methods.
Factory: TypeAlias = Callable[[int, int, int, ParameterCollection], Any]
Pair: TypeAlias = tuple[Any, Any]


class BiRNNBuilder:
    """A bidirectional network in layers.

    Each layer has a forward and a backward network with half of hidden_dim; their concatenated outputs for each
    input are the inputs of the next layer.

    Args:
        num_layers: number of layers; ValueError unless positive
        input_dim: size of inputs
        hidden_dim: size of outputs; ValueError unless even
        model: collection of the parameters
        rnn_builder_factory: makes a network, like `LSTMBuilder(1, input_dim, hidden_dim, model)`
        builder_layers: pairs of existing networks, instead of new ones
    """

    def __init__(self, num_layers: int, input_dim: int, hidden_dim: int, model: ParameterCollection,
                 rnn_builder_factory: Factory,
                 builder_layers: Sequence[Pair] | None = None) -> None:
        self.spec = num_layers, input_dim, hidden_dim, rnn_builder_factory, builder_layers
        self.model = model
        if builder_layers is not None:
            self.builder_layers: Sequence[Pair] = builder_layers
            return
        if num_layers < 1:
            raise ValueError(f"BiRNNBuilder: needs at least one layer, not {num_layers}")
        if hidden_dim % 2:
            raise ValueError(f"BiRNNBuilder: hidden_dim must be even, not {hidden_dim}")
        self.model = model.add_subcollection("birnn")
        sizes = [input_dim] + [hidden_dim] * (num_layers - 1)
        self.builder_layers = [
            (rnn_builder_factory(1, size, hidden_dim // 2, self.model),
             rnn_builder_factory(1, size, hidden_dim // 2, self.model))
            for size in sizes
        ]

    def whoami(self) -> str:
        """The name of the class."""
        return "BiRNNBuilder"

    @classmethod
    def from_spec(cls, spec: tuple[Any, ...], model: ParameterCollection) -> BiRNNBuilder:
        """A network with the sizes in `spec` and new parameters in `model`."""
        num_layers, input_dim, hidden_dim, factory, builder_layers = spec
        return cls(num_layers, input_dim, hidden_dim, model, factory, builder_layers)

    def param_collection(self) -> ParameterCollection:
        """The collection of the parameters."""
        return self.model

    def set_dropout(self, p: float) -> None:
        """Sets the dropout rate of all networks."""
        for pair in self.builder_layers:
            for builder in pair:
                builder.set_dropout(p)

    def disable_dropout(self) -> None:
        """Disables dropout."""
        for pair in self.builder_layers:
            for builder in pair:
                builder.disable_dropout()

    def _below_top(self, es: Iterable[Expression]) -> list[Expression]:
        below = list(es)
        for pair in self.builder_layers[:-1]:
            below = self._outputs(pair, below)
        return below

    @staticmethod
    def _outputs(pair: Pair, es: list[Expression]) -> list[Expression]:
        forward = pair[0].initial_state().transduce(es)
        backward = pair[1].initial_state().transduce(list(reversed(es)))
        return [concatenate([f, b]) for f, b in zip(forward, reversed(backward))]

    def add_inputs(self, es: Iterable[Expression]) -> list[tuple[RNNState, RNNState]]:
        """Pairs of states of the top layer, forward and backward, one pair per input."""
        below = self._below_top(es)
        forward, backward = self.builder_layers[-1]
        states = forward.initial_state().add_inputs(below)
        reverse = backward.initial_state().add_inputs(list(reversed(below)))
        return list(zip(states, reversed(reverse)))

    def transduce(self, es: Iterable[Expression]) -> list[Expression]:
        """Outputs {hidden_dim} of the top layer, one per input.

        >>> birnn = dy.BiRNNBuilder(1, 3, 8, pc, dy.LSTMBuilder)
        >>> [h.dim() for h in birnn.transduce([dy.zeros(3), dy.ones(3)])]
        [((8,), 1), ((8,), 1)]
        """
        return self._outputs(self.builder_layers[-1], self._below_top(es))


    def transduce_columns(self, xs: Expression) -> Expression:
        """Outputs {hidden_dim,T} of the top layer for the columns of xs {input_dim,T}.

        >>> birnn = dy.BiRNNBuilder(1, 3, 8, pc, dy.LSTMBuilder)
        >>> birnn.transduce_columns(dy.zeros((3, 7))).dim()
        ((8, 7), 1)
        """
        for forward, backward in self.builder_layers:
            ahead = forward.initial_state().transduce_columns(xs)
            xs = concatenate([ahead, backward.initial_state().transduce_columns(xs, reverse=True)])
        return xs


class StackedRNNState:
    """States of stacked networks, each of which reads the output of the previous one."""

    def __init__(self, states: Iterable[RNNState], prev: StackedRNNState | None = None) -> None:
        self.states = list(states)
        self._prev = prev

    def add_input(self, x: Expression) -> StackedRNNState:
        """The states after x."""
        states = []
        for state in self.states:
            states.append(state.add_input(x))
            output = states[-1].output()
            assert output is not None  # not None after an input
            x = output
        return StackedRNNState(states, self)

    def add_inputs(self, xs: Iterable[Expression]) -> list[StackedRNNState]:
        """The states after each input."""
        states, state = [], self
        for x in xs:
            state = state.add_input(x)
            states.append(state)
        return states

    def transduce(self, xs: Iterable[Expression]) -> list[Expression | None]:
        """Outputs of the last network, one per input."""
        return [state.output() for state in self.add_inputs(xs)]

    def output(self) -> Expression | None:
        """The output of the last network."""
        return self.states[-1].output()

    def prev(self) -> StackedRNNState | None:
        """The states before the last input; None at the start."""
        return self._prev

    def h(self) -> list[tuple[Expression, ...]]:
        """Outputs of all layers of all networks."""
        return [state.h() for state in self.states]

    def s(self) -> list[tuple[Expression, ...]]:
        """Complete states of all networks."""
        return [state.s() for state in self.states]
