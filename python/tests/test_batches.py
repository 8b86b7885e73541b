"""Updates with whole minibatches, on several threads."""

import threading

import numpy as np
import pytest

import dynet as dy

SIZES = 20, 1, 7, 3


class Tagger:
    """With a loss function that uses a builder of its own."""

    def __init__(self, noise=0.3):
        self.pc = dy.ParameterCollection()
        self.pc.set_seed(3)
        self.words = self.pc.add_lookup_parameters((20, 6))
        self.lstm = dy.LSTMBuilder(1, 6, 7, self.pc)
        self.w = self.pc.add_parameters((5, 7))
        self.noise = noise
        self.trainer = dy.AdamTrainer(self.pc, 0.01)
        self.trainer.set_clip_threshold(0)

    def loss(self, sample):
        state = self.lstm.initial_state()
        for t in range(2 + sample % 4):
            state = state.add_input(dy.dropout(self.words[(7 * sample + 3 * t) % 20], self.noise))
        return dy.pickneglogsoftmax(self.w * state.output(), sample % 5)

    def values(self):
        return np.concatenate([p.as_array().ravel() for p in self.pc.parameters_list()]).tobytes()


def samples_of(update):
    return [100 * update + 13 * i for i in range(SIZES[update])]


def trained(**settings):
    tagger = Tagger()
    trainer = dy.BatchTrainer(tagger.trainer, **settings)
    losses = [trainer.update(samples_of(k), tagger.loss) for k in range(len(SIZES))]
    return losses, tagger.values()


def test_any_number_of_threads_gives_the_same_bits():
    alone = trained()
    for threads in 2, 3, 8:
        assert trained(threads=threads) == alone
    assert trained(lanes=4) != alone and trained(seed=2) != alone


def test_one_lane_is_a_plain_loop_with_the_mean_of_the_losses():
    one, plain = Tagger(noise=0), Tagger(noise=0)
    trainer = dy.BatchTrainer(one.trainer, threads=2, lanes=1)
    for k, size in enumerate(SIZES):
        mean = trainer.update(samples_of(k), one.loss)
        dy.renew_cg()
        loss = dy.esum([plain.loss(s) for s in samples_of(k)])
        assert mean == pytest.approx(loss.value() / size)
        (loss / size).backward()
        plain.trainer.update()
    for p, q in zip(one.pc.parameters_list(), plain.pc.parameters_list()):
        assert np.allclose(p.as_array(), q.as_array(), atol=1e-6)


def test_a_graph_is_built_at_a_time_and_the_one_in_use_is_not_touched():
    dy.renew_cg()
    mine = dy.scalarInput(3)
    tagger = Tagger()
    inside = threading.Lock()

    def loss_of(sample):
        assert inside.acquire(blocking=False)
        first = tagger.loss(sample)
        if sample % 2:  # may be read at once, as anywhere
            assert first.value() > 0
        inside.release()
        return first

    dy.BatchTrainer(tagger.trainer, threads=3).update(samples_of(0), loss_of)
    assert mine.value() == 3 and not mine.is_stale()


def test_after_an_error_everything_is_as_before():
    tagger = Tagger()
    trainer = dy.BatchTrainer(tagger.trainer, threads=2)
    before = tagger.values()
    with pytest.raises(ValueError, match="no samples"):
        trainer.update([], tagger.loss)
    for wrong in None, 5:
        with pytest.raises(TypeError, match="loss_of must return an expression, not (NoneType|int)"):
            trainer.update(samples_of(0), lambda sample: wrong)
    with pytest.raises(ZeroDivisionError):
        trainer.update(samples_of(0), lambda sample: tagger.loss(sample) if sample < 130 else 1 / 0)
    with pytest.raises(ValueError):
        trainer.update(samples_of(0), lambda sample: tagger.words[1])
    assert tagger.values() == before
    trainer.update(samples_of(0), tagger.loss)
    assert tagger.values() != before
    with pytest.raises(ValueError):
        dy.BatchTrainer(tagger.trainer, lanes=0)
