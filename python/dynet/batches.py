"""Updates with whole minibatches, on several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from ._core import Expression, Trainer, _LaneTrainer, esum, graph

Sample = TypeVar("Sample")


class BatchTrainer:
    """Trains on minibatches: an update is one line, and has the same bits for any number of threads.

        trainer = dy.BatchTrainer(dy.AdamTrainer(pc), threads=4)
        for minibatch in minibatches:
            mean_loss = trainer.update(minibatch, loss_of)

    A minibatch of n samples is divided into min(n, lanes) graphs of consecutive samples, whose operations are batched:
    fewer lanes make wider batches, more lanes serve more threads. While the values and gradients of one graph are
    computed, the next one is built; Python builds one at a time, so builders and other objects need no copies.

    Args:
        trainer: makes the updates
        threads: any number gives the same bits
        lanes: parts of a minibatch; they decide the bits
        seed: of random nodes
        device: such as "GPU:0"; the default one if empty
        check_validity: NaN and infinities are a NumericError that names the node
        precision: see `dynet.graph`
    """

    def __init__(self, trainer: Trainer, threads: int = 1, lanes: int = 8, seed: int = 1, device: str = "",
                 check_validity: bool = False, precision: str = "float32") -> None:
        self.trainer = trainer
        self._lanes = _LaneTrainer(trainer, threads, lanes, seed)
        self._device, self._check, self._precision = device, check_validity, precision
        self._building = threading.Lock()

    def update(self, samples: Sequence[Sample], loss_of: Callable[[Sample], Expression]) -> float:
        """One update with the gradient of the mean of the losses of all samples; returns the mean.

        `loss_of(sample)` adds a sample to the graph in use and returns its loss, a scalar. It may run on any thread, one
        call at a time. After an error in it, in forward or in backward, the gradients are dropped and nothing else has
        changed. ValueError if there are no samples, TypeError if it returns something else.

        >>> w, trainer = pc.add_parameters(1, init=1), dy.BatchTrainer(dy.SimpleSGDTrainer(pc, lr=0.25))
        >>> trainer.update([1, 3], lambda y: dy.squared_distance(w, dy.scalarInput(y)))
        2.0
        >>> w.value()
        1.5
        """
        if not len(samples):
            raise ValueError("BatchTrainer.update: the minibatch has no samples")

        def learn(lane: int, begin: int, end: int, seed: int) -> float:
            with self._building, graph(seed=seed, device=self._device, check_validity=self._check,
                                       precision=self._precision) as cg:
                cg.set_gradient_buffer(lane)
                losses = [loss_of(samples[i]) for i in range(begin, end)]
                for loss in losses:
                    if not isinstance(loss, Expression):
                        raise TypeError("BatchTrainer.update: loss_of must return an expression, not "
                                        f"{type(loss).__name__}")
                total = esum(losses)
            value: float = total.scalar_value()
            total.backward()
            return value

        return self._lanes.update(len(samples), learn)
