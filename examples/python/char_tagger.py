"""A tagger that reads words letter by letter, so that it can tag unseen words.

The language is invented: the last letter of a word is its tag, but a word that ends in "o" has the tag
of the previous word. No test word is in the training set.

    python char_tagger.py
"""

import random

import dynet as dy

LETTERS = "abdefgiklmnoprstu"
TAGS = "NVA"
ENDINGS = {"N": "s", "V": "t", "A": "l"}
EPOCHS, SIZE = 6, 16


def make_sentences(rng, count):
    """Lists of (word, tag)."""
    sentences = []
    for _ in range(count):
        sentence, tag = [], "N"
        for place in range(rng.randint(3, 7)):
            stem = "".join(rng.choice(LETTERS) for _ in range(rng.randint(2, 5)))
            if place and rng.random() < 0.3:
                sentence.append((stem + "o", tag))
            else:
                tag = rng.choice(TAGS)
                sentence.append((stem + ENDINGS[tag], tag))
        sentences.append(sentence)
    return sentences


class Tagger:
    def __init__(self, model):
        self.letters = model.add_lookup_parameters((len(LETTERS), SIZE))
        self.forward = dy.LSTMBuilder(1, SIZE, SIZE, model)
        self.backward = dy.LSTMBuilder(1, SIZE, SIZE, model)
        self.words = dy.BiRNNBuilder(1, 2 * SIZE, 2 * SIZE, model, dy.LSTMBuilder)
        self.W = model.add_parameters((len(TAGS), 2 * SIZE))
        self.b = model.add_parameters(len(TAGS))

    def read(self, word):
        """Vector of a word: the final states in both directions."""
        letters = [self.letters[LETTERS.index(c)] for c in word]
        f = self.forward.initial_state().transduce(letters)
        b = self.backward.initial_state().transduce(letters[::-1])
        return dy.concatenate([f[-1], b[-1]])

    def scores(self, sentence):
        outputs = self.words.transduce([self.read(word) for word, _ in sentence])
        return [dy.affine_transform([self.b, self.W, x]) for x in outputs]

    def loss(self, sentence):
        pairs = zip(self.scores(sentence), sentence)
        return dy.esum([dy.pickneglogsoftmax(s, TAGS.index(tag)) for s, (_, tag) in pairs])

    def tag(self, sentence):
        return [TAGS[s.npvalue().argmax()] for s in self.scores(sentence)]


def main():
    rng = random.Random(1)
    train, test = make_sentences(rng, 150), make_sentences(rng, 40)
    dy.reset_random_seed(1)
    model = dy.ParameterCollection()
    tagger = Tagger(model)
    trainer = dy.AdamTrainer(model, alpha=0.005)
    mean = float("nan")
    for epoch in range(EPOCHS):
        rng.shuffle(train)
        total = 0.0
        for sentence in train:
            dy.renew_cg()
            loss = tagger.loss(sentence)
            total += loss.scalar_value()
            loss.backward()
            trainer.update()
        mean = total / sum(map(len, train))
        print(f"epoch {epoch} loss {mean:.4f}")
    right = 0
    for sentence in test:
        dy.renew_cg()
        right += sum(t == tag for t, (_, tag) in zip(tagger.tag(sentence), sentence))
    print(f"accuracy {right / sum(map(len, test)):.3f}")
    print(f"loss {mean:.4f}")
    return mean


if __name__ == "__main__":
    main()
