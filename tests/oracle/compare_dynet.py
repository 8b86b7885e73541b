#!/usr/bin/env python3
"""Compares operations, builders, trainers and model files with DyNet 2.1.

    pip install dynet38
    cmake --build build/release --target oracle-values oracle-training
    python3 tests/oracle/compare_dynet.py --values build/release/tests/oracle/oracle-values \\
        --training build/release/tests/oracle/oracle-training

Without DyNet one line says so. Each pair of a builder and a trainer starts from a file that DyNet has written, makes the
same updates here and there, and each side reads what the other has written in the end.
"""

import argparse
import math
import random
import subprocess
import sys
import tempfile

sys.argv, arguments = sys.argv[:1], sys.argv[1:]  # DyNet reads the command line when it is imported
try:
    import dynet as dy
    import dynet_cases
    import numpy as np
except ImportError as error:
    print(f"skipped: DyNet cannot be imported: {error}")
    sys.exit(77)

TOLERANCE, TRAINED, NORMALIZED = 2e-4, 2e-5, 1e-3  # dividing by deviations makes rounding larger
# Their gradients are made of memory that nobody has written.
ONLY_VALUES = ["round", "ceil", "floor"]
BUILDERS = {
    "SimpleRNNBuilder": "SimpleRNNBuilder", "GRUBuilder": "GRUBuilder", "VanillaLSTMBuilder": "VanillaLSTMBuilder",
    "NormalizedLSTMBuilder": "VanillaLSTMBuilder", "CompactVanillaLSTMBuilder": "CompactVanillaLSTMBuilder",
    "CoupledLSTMBuilder": "CoupledLSTMBuilder", "FastLSTMBuilder": "FastLSTMBuilder",
    "SparseLSTMBuilder": "SparseLSTMBuilder",
}  # fmt: skip
TRAINERS = {
    "SimpleSGDTrainer": (), "CyclicalSGDTrainer": (0.01, 0.1, 3.0), "MomentumSGDTrainer": (), "AdagradTrainer": (),
    "AdadeltaTrainer": (), "RMSPropTrainer": (0.01, 1e-20, 0.95), "AdamTrainer": (), "AmsgradTrainer": (),
}  # fmt: skip
LAYERS, IN, HIDDEN, WORDS, STEPS, UPDATES = 2, 3, 4, 6, 4, 6


def difference(ours, theirs):
    if len(ours) != len(theirs):
        return math.inf
    worst = 0.0
    for a, b in zip(ours, theirs):
        worst = max(worst, 0.0 if a == b else abs(a - b) / max(1.0, abs(a), abs(b)))
        if math.isnan(a) != math.isnan(b):
            return math.inf
    return worst


def column_major(x):
    return np.asarray(x, dtype=float).flatten(order="F").tolist()


def evaluate(function, shapes, operands, weights):
    """Elements of the result and the gradients, all column-major."""
    dy.renew_cg()
    model = dy.ParameterCollection()
    parameters = [model.add_parameters((len(x),), init=dy.NumpyInitializer(np.array(x))) for x in operands]
    inputs = [dy.reshape(p, tuple(s[:-1]), s[-1]) for p, s in zip(parameters, shapes)]
    y = function(*inputs)
    dim, batch = y.dim()
    values = column_major(y.npvalue())
    w = weights(len(values))
    loss = dy.sum_elems(dy.cmult(dy.reshape(y, (len(values),), 1), dy.inputVector(w)))
    loss.forward()
    loss.backward()
    return [values, *(column_major(p.grad_as_array()) for p in parameters)], w


def operations(program):
    """A line for each case that differs; how many cases there are."""
    generator = random.Random(5)
    asked, expected = [], []
    for name, settings, shapes, function, low, high in dynet_cases.all_cases(dy):
        operands = [[float(np.float32(generator.uniform(low, high))) for _ in range(math.prod(s))] for s in shapes]
        theirs, w = evaluate(function, shapes, operands,
                             lambda n: [float(np.float32(generator.uniform(0.25, 1.25))) for _ in range(n)])  # fmt: skip
        if name == "poisson_loss":  # its gradient leaves out what comes from above
            theirs[1] = [g * w[0] for g in theirs[1]]
        if name == "restricted_log_softmax":  # what is left out is minus infinity here and there
            w = [0.0, *w, 0.0, 0.0]
        asked.append(" ".join([name, str(len(settings)), *map(str, settings), str(len(operands))]))
        for shape, x in zip(shapes, operands):
            asked.append(" ".join(map(str, [len(shape) - 1, *shape, *map(repr, x)])))
        asked.append(" ".join([str(len(w)), *map(repr, w)]))
        expected.append((name, settings, shapes, theirs))
    run = subprocess.run([program], input="\n".join(asked) + "\n", capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{program}: {run.stderr.strip() or run.returncode}")
    lines = [[float(v) for v in line.split()] for line in run.stdout.split("\n")[:-1]]
    wrong, at = [], 0
    for name, settings, shapes, theirs in expected:
        n = len(theirs)
        ours = lines[at + 1 + n : at + 1 + 2 * n]
        at += 1 + 2 * n
        if name == "restricted_log_softmax":
            ours[0] = ours[0][1:4]
        if name == "binary_log_loss":
            ours, theirs = ours[:2], theirs[:2]
        if name in ONLY_VALUES:
            ours, theirs = ours[:1], theirs[:1]
        worst = max(map(difference, ours, theirs))
        if not worst <= TOLERANCE:
            wrong.append(f"{name} {settings} of {shapes}: {worst:.1e}")
    return wrong, len(expected), len({name for name, *_ in expected})


def word(t, step):
    return (t * 2 + step * step) % WORDS


class Model:
    def __init__(self, builder):
        self.parameters = dy.ParameterCollection()
        self.table = self.parameters.add_lookup_parameters((WORDS, IN))
        more = (True, 1.0) if builder.startswith("Normalized") else ()
        self.builder = getattr(dy, BUILDERS[builder])(LAYERS, IN, HIDDEN, self.parameters, *more)
        self.w = self.parameters.add_parameters((WORDS, HIDDEN))
        self.b = self.parameters.add_parameters((WORDS,))

    def loss(self, t):
        dy.renew_cg()
        state, losses = self.builder.initial_state(), []
        for k in range(STEPS):
            state = state.add_input(dy.lookup(self.table, word(t, k)))
            scores = dy.affine_transform([self.b, self.w, state.output()])
            losses.append(dy.pickneglogsoftmax(scores, word(t, k + 1)))
        return dy.esum(losses)

    def values(self):
        all_values = [column_major(p.as_array()) for p in self.parameters.parameters_list()]
        all_values += [np.asarray(p.as_array(), dtype=float).flatten().tolist()
                       for p in self.parameters.lookup_parameters_list()]  # fmt: skip
        return [x for values in all_values for x in values]


def training(program, folder):
    pairs, asked = [], []
    for b in BUILDERS:
        for t in TRAINERS:
            model = Model(b)
            start, end = f"{folder}/{b}.{t}.start", f"{folder}/{b}.{t}.end"
            model.parameters.save(start)
            trainer = getattr(dy, t)(model.parameters, *TRAINERS[t])
            losses = []
            for update in range(UPDATES + 1):
                loss = model.loss(update)
                losses.append(loss.value())
                if update < UPDATES:
                    loss.backward()
                    trainer.update()
            pairs.append((b, t, losses, model.values(), end))
            asked.append(f"{b} {t} {UPDATES} {start} {end}")
    run = subprocess.run([program], input="\n".join(asked) + "\n", capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{program}: {run.stderr.strip() or run.returncode}")
    wrong = []
    for (b, t, losses, values, end), line in zip(pairs, run.stdout.split("\n")):
        again = Model(b)
        again.parameters.populate(end)
        ours = [float(v) for v in line.split()]
        worst = difference(ours, losses)
        files = difference(again.values(), values)
        if not max(worst, files) <= (NORMALIZED if b.startswith("Normalized") else TRAINED):
            wrong.append(f"{b} with {t}: losses {worst:.1e}, parameters {files:.1e}")
    return wrong, len(pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--values", required=True, help="the program oracle-values")
    parser.add_argument("--training", required=True, help="the program oracle-training")
    options = parser.parse_args(arguments)
    dy.reset_random_seed(5)
    wrong, cases, names = operations(options.values)
    with tempfile.TemporaryDirectory() as folder:
        unlike, pairs = training(options.training, folder)
    for line in [*wrong, *unlike]:
        print(f"differs from DyNet: {line}")
    print(f"DyNet {dy.__version__}: {cases} cases of {names} operations, {len(wrong)} differ; "
          f"{pairs} pairs of builder and trainer, {len(unlike)} differ")  # fmt: skip
    return bool(wrong or unlike) or names < 90 or pairs < 64


if __name__ == "__main__":
    sys.exit(main())
