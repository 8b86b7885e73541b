"""An encoder-decoder with attention learns to reverse a word.

The encoder is bidirectional; at each step the decoder attends to the encoder's outputs with weights that
depend on its own state (Bahdanau, Cho and Bengio 2015).

    python attention.py
"""

import random

import dynet as dy

END = 0  # symbol before the first and after the last letter
LETTERS = 8
EPOCHS, SIZE = 8, 32


def make_word(rng):
    return [rng.randint(1, LETTERS) for _ in range(rng.randint(3, 6))]


class EncoderDecoder:
    def __init__(self, model):
        self.source = model.add_lookup_parameters((LETTERS + 1, SIZE))
        self.target = model.add_lookup_parameters((LETTERS + 1, SIZE))
        self.encoder = dy.BiRNNBuilder(1, SIZE, SIZE, model, dy.LSTMBuilder)
        self.decoder = dy.LSTMBuilder(1, 2 * SIZE, SIZE, model)
        self.W1 = model.add_parameters((SIZE, SIZE))
        self.W2 = model.add_parameters((SIZE, SIZE))
        self.v = model.add_parameters((1, SIZE))
        self.R = model.add_parameters((LETTERS + 1, SIZE))
        self.b = model.add_parameters(LETTERS + 1)

    def encode(self, word):
        """Outputs as columns {SIZE, letters}, and W1 times these columns."""
        letters = [self.source[c] for c in [END, *word, END]]
        columns = dy.concatenate_cols(self.encoder.transduce(letters))
        return columns, self.W1 * columns

    def attend(self, encoded, state):
        columns, keys = encoded
        query = self.W2 * state.output()
        weights = dy.softmax(dy.transpose(self.v * dy.tanh(dy.colwise_add(keys, query))))
        return columns * weights

    def start(self):
        return self.decoder.initial_state().add_input(dy.zeros(2 * SIZE))

    def step(self, encoded, state, previous):
        """Next state, and scores of the next letter."""
        x = dy.concatenate([self.attend(encoded, state), self.target[previous]])
        state = state.add_input(x)
        return state, dy.affine_transform([self.b, self.R, state.output()])

    def loss(self, word):
        encoded, state, previous, losses = self.encode(word), self.start(), END, []
        for letter in [*reversed(word), END]:
            state, scores = self.step(encoded, state, previous)
            losses.append(dy.pickneglogsoftmax(scores, letter))
            previous = letter
        return dy.esum(losses)

    def write(self, word):
        """Writes the most likely letter at each step."""
        encoded, state, letters = self.encode(word), self.start(), [END]
        while len(letters) <= 2 * len(word):
            state, scores = self.step(encoded, state, letters[-1])
            letters.append(int(scores.npvalue().argmax()))
            if letters[-1] == END:
                return letters[1:-1]
        return letters[1:]


def main():
    rng = random.Random(3)
    train, test = [make_word(rng) for _ in range(400)], [make_word(rng) for _ in range(50)]
    dy.reset_random_seed(1)
    model = dy.ParameterCollection()
    network = EncoderDecoder(model)
    trainer = dy.AdamTrainer(model, alpha=0.003)
    mean = float("nan")
    for epoch in range(EPOCHS):
        rng.shuffle(train)
        total = 0.0
        for word in train:
            dy.renew_cg()
            loss = network.loss(word)
            total += loss.scalar_value()
            loss.backward()
            trainer.update()
        mean = total / sum(len(word) + 1 for word in train)
        print(f"epoch {epoch} loss {mean:.4f}")
    right = 0
    for word in test:
        dy.renew_cg()
        right += network.write(word) == word[::-1]
    print(f"accuracy {right / len(test):.3f}")
    print(f"loss {mean:.4f}")
    return mean


if __name__ == "__main__":
    main()
