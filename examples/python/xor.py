"""A network with one hidden layer learns exclusive or: one graph a sample, then a minibatch.

    python xor.py
"""

import dynet as dy

SAMPLES = [([-1, -1], -1), ([-1, 1], 1), ([1, -1], 1), ([1, 1], -1)]
HIDDEN = 8


class Network:
    def __init__(self, model):
        self.W = model.add_parameters((HIDDEN, 2))
        self.b = model.add_parameters(HIDDEN)
        self.V = model.add_parameters((1, HIDDEN))
        self.a = model.add_parameters(1)

    def __call__(self, x):
        return self.V * dy.tanh(self.W * x + self.b) + self.a


def train_by_samples(network, trainer, epochs):
    """One graph and one update per sample."""
    for _ in range(epochs):
        for x, y in SAMPLES:
            dy.renew_cg()
            loss = dy.squared_distance(network(dy.inputVector(x)), dy.scalarInput(y))
            loss.backward()
            trainer.update()


def train_by_batches(network, trainer, epochs):
    """All samples as one minibatch; returns the mean loss of the last epoch."""
    mean = float("nan")
    for _ in range(epochs):
        dy.renew_cg()
        x = dy.inputTensor(list(zip(*(x for x, _ in SAMPLES))), batched=True)
        y = dy.inputTensor([[y for _, y in SAMPLES]], batched=True)
        loss = dy.mean_batches(dy.squared_distance(network(x), y))
        mean = loss.scalar_value()
        loss.backward()
        trainer.update()
    return mean


def main():
    dy.reset_random_seed(1)
    model = dy.ParameterCollection()
    network = Network(model)
    trainer = dy.SimpleSGDTrainer(model, learning_rate=0.1)
    train_by_samples(network, trainer, 200)
    loss = train_by_batches(network, trainer, 300)
    for x, y in SAMPLES:
        dy.renew_cg()
        print(x, y, round(network(dy.inputVector(x)).scalar_value(), 3))
    print(f"loss {loss:.4f}")
    return loss


if __name__ == "__main__":
    main()
