"""Eight threads train on eight graphs each, with most of what the module offers, and do not change what comes out.

    python eight_threads.py [UPDATES]

Each thread has eight graphs at once, and gradient buffers of its own for them; the parameters are shared. One thread reads them
meanwhile, into files and arrays. The values after all updates must be those of one thread that does everything, bit for bit.
`tools/python-tsan` runs this under the thread sanitizer.
"""

import copy
import os
import sys
import tempfile
import threading

import numpy as np

import dynet as dy

THREADS = GRAPHS = 8
SIZE = 6


class Softplus(dy.Operation):
    def forward(self, x):
        return np.logaddexp(0, x)

    def backward(self, dy, x):
        return dy / (1 + np.exp(-x))


class Network:
    """A tagger of which each thread has a copy, with the same parameters."""

    def __init__(self, pc):
        self.table = pc.add_lookup_parameters((20, SIZE))
        self.w, self.b = pc.add_parameters((3, 2 * SIZE)), pc.add_parameters(3, init=0.0)
        self.ahead, self.behind = (dy.LSTMBuilder(1, SIZE, SIZE, pc) for _ in "ab")
        self.ahead.set_dropouts(0.1, 0.1)
        self.norm, self.crf = dy.LayerNorm(pc, size=SIZE), dy.ChainCrf(pc, tags=3)
        self.softplus = Softplus()

    def of_another_thread(self):
        own = copy.copy(self)
        for name in ("ahead", "behind", "norm", "crf"):
            setattr(own, name, copy.copy(getattr(self, name)))
        return own

    def loss(self, words):
        xs = [self.norm.apply(self.table[w]) for w in words]
        ahead = self.ahead.initial_state().transduce(xs)
        behind = self.behind.initial_state().transduce(xs[::-1])[::-1]
        scores = [dy.affine_transform([self.b, self.w, self.softplus(dy.concatenate([f, b]))])
                  for f, b in zip(ahead, behind)]
        tags = [w % 3 for w in words]
        return -self.crf.log_prob(dy.concatenate_cols(scores), tags)


def work(network, thread, update, losses):
    """The eight graphs of one thread: all of them are there before the first one is computed."""
    graphs = []
    for k in range(GRAPHS):
        number = thread * GRAPHS + k
        # The draws of dropout are those of the graph, whichever thread makes it.
        graph = dy.graph(autobatching=k % 2 == 0, seed=1 + update * THREADS * GRAPHS + number)
        graph.set_gradient_buffer(1 + number)
        with graph:
            words = [(update + number + j * j) % 20 for j in range(2 + number % 5)]
            graphs.append((number, graph, network.loss(words)))
            try:  # an error in one thread is nothing to the others
                dy.inputVector([1, 2]) + dy.inputVector([1, 2, 3])
            except dy.ShapeError:
                pass
    for number, graph, loss in graphs:
        losses[number] = loss.value()
        loss.backward()
        with graph:
            assert loss.npvalue().shape == (1,) and not loss.is_stale()


def read(pc, folder, done):
    """Writes and copies values while they are used."""
    while not done.wait(0.001):
        dy.save_safetensors(os.path.join(folder, "exchange"), pc)
        dy.save_model(os.path.join(folder, "model"), pc)
        sum(p.as_array().sum() for p in pc.parameters_list())


def trained(threads, updates):
    """The losses of all graphs, and the values of all parameters as bytes."""
    dy.reset_random_seed(1)
    pc = dy.ParameterCollection()
    network, trainer = Network(pc), dy.AdamTrainer(pc, 0.01)
    own = [network.of_another_thread() for _ in range(THREADS)]
    losses = [0.0] * (THREADS * GRAPHS)
    every_loss = []
    with tempfile.TemporaryDirectory() as folder:
        for update in range(updates):
            done = threading.Event()
            numbers = [range(k, THREADS, threads) for k in range(threads)]
            running = [threading.Thread(target=lambda mine: [work(own[t], t, update, losses) for t in mine],
                                        args=(mine,)) for mine in numbers]
            reader = threading.Thread(target=read, args=(pc, folder, done))
            for t in (*running, reader):
                t.start()
            for t in running:
                t.join()
            done.set()
            reader.join()
            trainer.update()
            every_loss.append(sum(losses))
    return every_loss, b"".join(
        np.ascontiguousarray(p.as_array()).tobytes()
        for p in (*pc.parameters_list(), *pc.lookup_parameters_list()))


def main(updates):
    alone, together = trained(1, updates), trained(THREADS, updates)
    assert together[0] == alone[0], (together[0], alone[0])
    assert together[1] == alone[1]
    assert together[0][-1] < together[0][0]
    print(f"{THREADS} threads, {updates} updates of {THREADS * GRAPHS} graphs: "
          f"from {together[0][0]:.3f} to {together[0][-1]:.3f}, as one thread")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
