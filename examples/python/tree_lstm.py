"""A tree-LSTM learns the values of formulas with "and", "or" and "not".

The network of each formula has the shape of its tree (Tai, Socher and Manning 2015, for binary trees; "not"
has its operand twice).

    python tree_lstm.py
"""

import random

import dynet as dy

LEAVES = ["false", "true"]
OPERATORS = ["and", "or", "not"]
EPOCHS, SIZE = 12, 16


def make_tree(rng, depth):
    """A leaf, or (operator, left, right)."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(LEAVES)
    operator = rng.choice(OPERATORS)
    left = make_tree(rng, depth - 1)
    return (operator, left, left if operator == "not" else make_tree(rng, depth - 1))


def truth(tree):
    if isinstance(tree, str):
        return tree == "true"
    operator, left, right = tree
    if operator == "not":
        return not truth(left)
    return truth(left) and truth(right) if operator == "and" else truth(left) or truth(right)


class TreeLSTM:
    def __init__(self, model):
        self.leaves = model.add_lookup_parameters((len(LEAVES), SIZE))
        self.operators = model.add_lookup_parameters((len(OPERATORS), SIZE))
        # Weights of the input, the output, the new value, and the forget gates of both children.
        self.W = [model.add_parameters((SIZE, SIZE)) for _ in range(5)]
        self.U = [model.add_parameters((SIZE, 2 * SIZE)) for _ in range(5)]
        self.b = [model.add_parameters(SIZE) for _ in range(5)]
        self.V = model.add_parameters((2, SIZE))
        self.a = model.add_parameters(2)

    def state(self, tree):
        """Output and cell of a tree."""
        if isinstance(tree, str):
            c = self.leaves[LEAVES.index(tree)]
            return dy.tanh(c), c
        x = self.operators[OPERATORS.index(tree[0])]
        (h1, c1), (h2, c2) = self.state(tree[1]), self.state(tree[2])
        h = dy.concatenate([h1, h2])
        sums = [dy.affine_transform([b, W, x, U, h]) for b, W, U in zip(self.b, self.W, self.U)]
        i, o, f1, f2 = (dy.logistic(sums[k]) for k in (0, 1, 3, 4))
        c = dy.cmult(i, dy.tanh(sums[2])) + dy.cmult(f1, c1) + dy.cmult(f2, c2)
        return dy.cmult(o, dy.tanh(c)), c

    def scores(self, tree):
        return self.V * self.state(tree)[0] + self.a


def main():
    rng = random.Random(2)
    train = [make_tree(rng, 3) for _ in range(150)]
    test = [make_tree(rng, 4) for _ in range(100)]
    dy.reset_random_seed(1)
    model = dy.ParameterCollection()
    network = TreeLSTM(model)
    trainer = dy.AdamTrainer(model, alpha=0.01)
    mean = float("nan")
    for epoch in range(EPOCHS):
        rng.shuffle(train)
        total = 0.0
        for tree in train:
            dy.renew_cg()
            loss = dy.pickneglogsoftmax(network.scores(tree), int(truth(tree)))
            total += loss.scalar_value()
            loss.backward()
            trainer.update()
        mean = total / len(train)
        print(f"epoch {epoch} loss {mean:.4f}")
    right = 0
    for tree in test:
        dy.renew_cg()
        right += network.scores(tree).npvalue().argmax() == truth(tree)
    print(f"accuracy {right / len(test):.3f}")
    print(f"loss {mean:.4f}")
    return mean


if __name__ == "__main__":
    main()
