"""An LSTM language model with minibatches of sentences of different lengths.

Sentences count: "two three four end". The first word is random, all others can be predicted, so the loss of
a sentence is at least log(STARTS). Shorter sentences of a batch are padded; a mask removes the padding from
the loss.

    python language_model.py
"""

import math
import random

import dynet as dy

END, STARTS, LONGEST = 0, 6, 8
WORDS = 1 + STARTS + LONGEST
EPOCHS, SIZE, BATCH = 20, 24, 16


def make_sentence(rng):
    """Consecutive numbers between two ENDs; the first number determines the length."""
    start = rng.randint(1, STARTS)
    return [END, *range(start, start + 2 + (start * 3) % LONGEST), END]


def make_batches(sentences):
    """Batches of sentences of similar length."""
    ordered = sorted(sentences, key=len)
    return [ordered[k:k + BATCH] for k in range(0, len(ordered), BATCH)]


class LanguageModel:
    def __init__(self, model):
        self.words = model.add_lookup_parameters((WORDS, SIZE))
        self.rnn = dy.VanillaLSTMBuilder(1, SIZE, SIZE, model)
        self.R = model.add_parameters((WORDS, SIZE))
        self.b = model.add_parameters(WORDS)

    def loss(self, batch):
        """Summed loss of all words, and the number of words."""
        longest = max(map(len, batch))
        padded = [s + [END] * (longest - len(s)) for s in batch]
        state, losses = self.rnn.initial_state(), []
        for t in range(longest - 1):
            state = state.add_input(dy.lookup_batch(self.words, [s[t] for s in padded]))
            scores = dy.affine_transform([self.b, self.R, state.output()])
            loss = dy.pickneglogsoftmax_batch(scores, [s[t + 1] for s in padded])
            mask = [float(t + 1 < len(s)) for s in batch]
            if 0.0 in mask:
                loss = dy.cmult(loss, dy.inputTensor([mask], batched=True))
            losses.append(loss)
        return dy.sum_batches(dy.esum(losses)), sum(len(s) - 1 for s in batch)


def main():
    rng = random.Random(4)
    sentences = [make_sentence(rng) for _ in range(256)]
    batches = make_batches(sentences)
    dy.reset_random_seed(1)
    model = dy.ParameterCollection()
    network = LanguageModel(model)
    trainer = dy.AdamTrainer(model, alpha=0.01)
    mean = float("nan")
    for epoch in range(EPOCHS):
        rng.shuffle(batches)
        total, words = 0.0, 0
        for batch in batches:
            dy.renew_cg()
            loss, count = network.loss(batch)
            total += loss.scalar_value()
            words += count
            (loss / len(batch)).backward()
            trainer.update()
        mean = total / words
        print(f"epoch {epoch} loss {mean:.4f} perplexity {math.exp(mean):.3f}")
    least = len(sentences) * math.log(STARTS) / words
    print(f"the least that can be expected: {least:.4f}")
    print(f"loss {mean:.4f}")
    return mean


if __name__ == "__main__":
    main()
