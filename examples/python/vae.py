"""A variational autoencoder (Kingma and Welling 2014) for small pictures of bars.

A picture has one horizontal or vertical bar, and some wrong pixels. The encoder computes the mean and log-variance
of two numbers; the decoder computes a picture from two numbers drawn from that distribution.

    python vae.py
"""

import random

import dynet as dy

SIDE, HIDDEN, CODE, BATCH, EPOCHS = 6, 32, 2, 16, 40
PIXELS = SIDE * SIDE


def make_picture(rng):
    place, across = rng.randrange(SIDE), rng.random() < 0.5
    on = [(k // SIDE if across else k % SIDE) == place for k in range(PIXELS)]
    return [float(pixel != (rng.random() < 0.02)) for pixel in on]


class Autoencoder:
    def __init__(self, model):
        def layer(outputs, inputs):
            return model.add_parameters(outputs), model.add_parameters((outputs, inputs))

        self.read = layer(HIDDEN, PIXELS)
        self.mean = layer(CODE, HIDDEN)
        self.log_variance = layer(CODE, HIDDEN)
        self.widen = layer(HIDDEN, CODE)
        self.draw = layer(PIXELS, HIDDEN)

    def encode(self, x):
        """Mean and log-variance: {CODE} each."""
        h = dy.tanh(dy.affine_transform([*self.read, x]))
        return dy.affine_transform([*self.mean, h]), dy.affine_transform([*self.log_variance, h])

    def decode(self, z):
        """Logit of each pixel: {PIXELS}."""
        h = dy.tanh(dy.affine_transform([*self.widen, z]))
        return dy.affine_transform([*self.draw, h])

    def loss(self, pictures):
        """-log p(x | z) plus the divergence from N(0, 1), averaged over a minibatch."""
        x = dy.inputTensor(list(zip(*pictures)), batched=True)
        mean, log_variance = self.encode(x)
        noise = dy.random_normal(CODE, batch_size=len(pictures))
        z = mean + dy.cmult(dy.exp(log_variance * 0.5), noise)
        scores = self.decode(z)
        fit = dy.sum_elems(scores - dy.cmult(x, scores) - dy.log_sigmoid(scores))
        divergence = dy.sum_elems(dy.exp(log_variance) + dy.square(mean) - log_variance - 1) * 0.5
        return dy.mean_batches(fit), dy.mean_batches(divergence)


def main():
    rng = random.Random(5)
    pictures = [make_picture(rng) for _ in range(320)]
    dy.reset_random_seed(1)
    model = dy.ParameterCollection()
    network = Autoencoder(model)
    trainer = dy.AdamTrainer(model, alpha=0.01)
    fit_sum = divergence_sum = float("nan")
    batches = len(pictures) // BATCH
    for epoch in range(EPOCHS):
        rng.shuffle(pictures)
        fit_sum = divergence_sum = 0.0
        for k in range(batches):
            dy.renew_cg()
            fit, divergence = network.loss(pictures[k * BATCH:(k + 1) * BATCH])
            loss = fit + divergence
            loss.forward()
            fit_sum += fit.scalar_value()
            divergence_sum += divergence.scalar_value()
            loss.backward()
            trainer.update()
        if epoch % 5 == 4:
            print(f"epoch {epoch} fit {fit_sum / batches:.2f}"
                  f" divergence {divergence_sum / batches:.2f}")
    loss = (fit_sum + divergence_sum) / batches
    print(f"loss {loss:.4f}")
    return loss


if __name__ == "__main__":
    main()
