"""Values and gradients of all operations of the module `dynet` that this interpreter imports.

    python operations.py OUT.npz

It is written only to the interface that the old wheel and the new module share, and draws the same
operands under both. For each case OUT has, with a row for each draw, the shapes, the values,
column-major, and the gradients of all operands; where a case raises or ends the process, what
happened.
"""

import os
import pickle
import sys
import tempfile
import zlib

import dynet_config
import numpy as np

sys.argv, ARGUMENTS = sys.argv[:1], sys.argv[1:]  # the old wheel reads the command line
dynet_config.set(mem=32)  # what it has takes time to fork
import dynet as dy  # noqa: E402

DRAWS = 20
BATCH = 3


class Case:
    """A function of operands of these shapes, drawn from [low, high).

    `batches`: the batch sizes that it is tried with; `alone`: operands that have none.
    """

    def __init__(self, name, shapes, function, low=-1.5, high=1.5, batches=(1, BATCH), alone=()):
        self.name, self.shapes, self.function = name, shapes, function
        self.low, self.high, self.batches, self.alone = low, high, batches, alone


def elementwise():
    for name in ("tanh logistic rectify exp square cube abs log_sigmoid selu erf sin cos atan sinh"
                 " cosh asinh softsign nobackprop flip_gradient").split():
        yield Case(name, [(4, 3)], getattr(dy, name))
    yield Case("softsign/vector", [(5,)], dy.softsign)
    for name in ("log", "sqrt", "lgamma"):
        yield Case(name, [(4, 3)], getattr(dy, name), 0.3, 4)
    for name in ("asin", "acos", "atanh", "tan"):
        yield Case(name, [(4, 3)], getattr(dy, name), -0.9, 0.9)
    yield Case("acosh", [(4, 3)], dy.acosh, 1.2, 4)
    yield Case("elu", [(4, 3)], dy.elu)
    yield Case("elu/alpha", [(4, 3)], lambda x: dy.elu(x, alpha=0.75))
    yield Case("silu", [(4, 3)], dy.silu)
    yield Case("silu/beta", [(4, 3)], lambda x: dy.silu(x, beta=0.5))
    for name in ("round", "ceil", "floor"):
        for mode in ("zero_gradient", "straight_through_gradient"):
            yield Case(f"{name}/{mode}", [(4, 3)],
                       lambda x, f=getattr(dy, name), m=mode: f(x, gradient_mode=m), -3, 3)
    for mode in ("zero_gradient", "straight_through_gradient"):
        yield Case(f"argmax/{mode}", [(6,)], lambda x, m=mode: dy.argmax(x, gradient_mode=m))
    yield Case("scale_gradient", [(4, 3)], lambda x: dy.scale_gradient(x, lambd=0.5))
    yield Case("to_device", [(4, 3)], lambda x: dy.to_device(x, "CPU"))
    for name, function in (("dropout", dy.dropout), ("dropout_batch", dy.dropout_batch),
                           ("block_dropout", dy.block_dropout), ("noise", dy.noise)):
        yield Case(name, [(4, 3)], lambda x, f=function: f(x, 0.0))
    yield Case("dropout_dim", [(4, 3)], lambda x: dy.dropout_dim(x, 1, 0.0))


def arithmetic():
    yield Case("operator-", [(4, 3)], lambda x: -x)
    yield Case("operator+/number", [(4, 3)], lambda x: x + 0.75)
    yield Case("operator-/number", [(4, 3)], lambda x: x - 0.75)
    yield Case("operator*/number", [(4, 3)], lambda x: x * 0.75)
    yield Case("operator//number", [(4, 3)], lambda x: x / 0.75)
    yield Case("operator**/number", [(4, 3)], lambda x: x**2, 0.5, 2)
    yield Case("operator+", [(4, 3), (4, 3)], lambda x, y: x + y)
    yield Case("operator+/one batch", [(4, 3), (4, 3)], lambda x, y: x + y, alone=(1,))
    yield Case("operator-/two", [(4, 3), (4, 3)], lambda x, y: x - y)
    yield Case("operator*", [(4, 3), (3, 5)], lambda x, y: x * y)
    yield Case("operator*/vector", [(4, 3), (3,)], lambda x, y: x * y, alone=(0,))
    yield Case("operator[]", [(4, 3)], lambda x: x[1])
    yield Case("operator[]/last", [(5,)], lambda x: x[-1])
    yield Case("operator[]/slice", [(5,)], lambda x: x[1:4])
    yield Case("operator[]/step", [(5,)], lambda x: x[::2])
    yield Case("cmult", [(4, 3), (4, 3)], dy.cmult)
    yield Case("cmult/number", [(1,), (4, 3)], dy.cmult)
    yield Case("cdiv", [(4, 3), (4, 3)], dy.cdiv, 0.5, 3)
    yield Case("pow", [(4, 3), (1,)], dy.pow, 0.5, 2)
    yield Case("bmax", [(4, 3), (4, 3)], dy.bmax)
    yield Case("bmin", [(4, 3), (4, 3)], dy.bmin)
    yield Case("colwise_add", [(4, 3), (4,)], dy.colwise_add)
    for name in ("esum", "average", "emax", "logsumexp"):
        yield Case(name, [(4, 3)] * 3, lambda *x, f=getattr(dy, name): f(list(x)))
        yield Case(f"{name}/one", [(4, 3)], lambda x, f=getattr(dy, name): f([x]))
    yield Case("affine_transform", [(4,), (4, 3), (3,), (4, 5), (5,)],
               lambda *x: dy.affine_transform(list(x)), alone=(0, 1, 3))
    yield Case("affine_transform/matrix", [(4, 2), (4, 3), (3, 2)],
               lambda *x: dy.affine_transform(list(x)))
    yield Case("dot_product", [(6,), (6,)], dy.dot_product)
    yield Case("trace_of_product", [(4, 3), (4, 3)], dy.trace_of_product)
    yield Case("circ_conv", [(5,), (5,)], dy.circ_conv)
    yield Case("circ_corr", [(5,), (5,)], dy.circ_corr)
    yield Case("inverse", [(3, 3)], lambda x: dy.inverse(x), 0.5, 3)
    yield Case("logdet", [(1, 1)], dy.logdet, 0.5, 2)
    yield Case("contract3d_1d", [(3, 4, 5), (5,)], dy.contract3d_1d)
    yield Case("contract3d_1d_bias", [(3, 4, 5), (5,), (3, 4)], dy.contract3d_1d_bias)
    yield Case("contract3d_1d_1d", [(3, 4, 5), (5,), (4,)], dy.contract3d_1d_1d)
    yield Case("contract3d_1d_1d_bias", [(3, 4, 5), (5,), (4,), (3,)], dy.contract3d_1d_1d_bias)


def reductions():
    for name in ("sum_elems mean_elems std_elems squared_norm l2_norm sum_batches mean_batches"
                 " std_batches").split():
        yield Case(name, [(4, 3)], getattr(dy, name))
    for r in (1, 2, 3):
        yield Case(f"moment_elems/{r}", [(4, 3)], lambda x, r=r: dy.moment_elems(x, r))
        yield Case(f"moment_batches/{r}", [(4, 3)], lambda x, r=r: dy.moment_batches(x, r))
        yield Case(f"moment_dim/{r}", [(4, 3)], lambda x, r=r: dy.moment_dim(x, [1], r, False))
    for d in ([0], [1], [0, 1]):
        for b in (False, True):
            yield Case(f"sum_dim/{d} {b}", [(4, 3)], lambda x, d=d, b=b: dy.sum_dim(x, d, b))
            yield Case(f"mean_dim/{d} {b}", [(4, 3)], lambda x, d=d, b=b: dy.mean_dim(x, d, b))
            yield Case(f"std_dim/{d} {b}", [(4, 3)], lambda x, d=d, b=b: dy.std_dim(x, d, b))
    yield Case("mean_dim/n", [(4, 3)], lambda x: dy.mean_dim(x, [0], False, n=7))
    yield Case("std_dim/n", [(4, 3)], lambda x: dy.std_dim(x, [0], False, n=7))
    for d in (0, 1):
        for name in ("max_dim", "min_dim", "cumsum", "logsumexp_dim", "softmax"):
            yield Case(f"{name}/{d}", [(4, 3)], lambda x, f=getattr(dy, name), d=d: f(x, d))


def losses():
    yield Case("log_softmax", [(6,)], dy.log_softmax)
    yield Case("log_softmax/restrict", [(6,)],
               lambda x: dy.pick_range(dy.log_softmax(x, [1, 2, 3]), 1, 4))
    yield Case("sparsemax", [(6,)], dy.sparsemax)
    yield Case("constrained_softmax", [(5,), (5,)], dy.constrained_softmax, 0.3, 0.6)
    for name in ("l1_distance", "squared_distance"):
        yield Case(name, [(6,), (6,)], getattr(dy, name))
    yield Case("huber_distance", [(6,), (6,)], dy.huber_distance)
    yield Case("huber_distance/c", [(6,), (6,)], lambda x, y: dy.huber_distance(x, y, c=0.5))
    yield Case("binary_log_loss", [(6,), (6,)], dy.binary_log_loss, 0.1, 0.9)
    yield Case("pairwise_rank_loss", [(1,), (1,)], dy.pairwise_rank_loss)
    yield Case("pairwise_rank_loss/m", [(1,), (1,)],
               lambda x, y: dy.pairwise_rank_loss(x, y, m=0.5))
    yield Case("pickneglogsoftmax", [(6,)], lambda x: dy.pickneglogsoftmax(x, 2), batches=(1,))
    yield Case("pickneglogsoftmax_batch", [(6,)],
               lambda x: dy.pickneglogsoftmax_batch(x, [2, 0, 5]), batches=(BATCH,))
    yield Case("hinge", [(6,)], lambda x: dy.hinge(x, 2), batches=(1,))
    yield Case("hinge/m", [(6,)], lambda x: dy.hinge(x, 2, m=0.75), batches=(1,))
    yield Case("hinge_batch", [(6,)], lambda x: dy.hinge_batch(x, [2, 0, 5], m=0.75),
               batches=(BATCH,))
    yield Case("hinge_dim/0", [(4, 3)], lambda x: dy.hinge_dim(x, [2, 0, 3]))
    yield Case("hinge_dim/1", [(4, 3)], lambda x: dy.hinge_dim(x, [2, 0, 1, 1], d=1, m=0.5))
    yield Case("poisson_loss", [(1,)], lambda x: dy.poisson_loss(x, 3))


def selection():
    yield Case("pick", [(6,)], lambda x: dy.pick(x, 2))
    yield Case("pick/0", [(4, 3)], lambda x: dy.pick(x, 2, 0))
    yield Case("pick/1", [(4, 3)], lambda x: dy.pick(x, index=1, dim=1))
    yield Case("pick_batch", [(6,)], lambda x: dy.pick_batch(x, [2, 0, 5]), batches=(BATCH,))
    yield Case("pick_batch/1", [(4, 3)], lambda x: dy.pick_batch(x, [2, 0, 1], dim=1),
               batches=(BATCH,))
    yield Case("pick_range", [(4, 3)], lambda x: dy.pick_range(x, 1, 3))
    yield Case("pick_range/1", [(4, 3)], lambda x: dy.pick_range(x, 1, 3, d=1))
    yield Case("pickrange", [(4, 3)], lambda x: dy.pickrange(x, 1, 3))
    yield Case("pick_batch_elem", [(4, 3)], lambda x: dy.pick_batch_elem(x, 1), batches=(BATCH,))
    yield Case("pick_batch_elems", [(4, 3)], lambda x: dy.pick_batch_elems(x, [2, 0]),
               batches=(BATCH,))
    yield Case("select_rows", [(4, 3)], lambda x: dy.select_rows(x, [3, 0, 3]))
    yield Case("select_cols", [(4, 3)], lambda x: dy.select_cols(x, [2, 0]))
    yield Case("strided_select", [(4, 3)],
               lambda x: dy.strided_select(x, [2, 2], [0, 0], [4, 3]))
    yield Case("transpose", [(4, 3)], lambda x: dy.transpose(x))
    yield Case("transpose/vector", [(4,)], lambda x: dy.transpose(x))
    yield Case("transpose/dims", [(4, 3, 2)], lambda x: dy.transpose(x, [2, 0, 1]))
    yield Case("reshape", [(4, 3)], lambda x: dy.reshape(x, (2, 6)))
    yield Case("reshape/batch", [(4, 3)], lambda x: dy.reshape(x, (2, 2), batch_size=3),
               batches=(1,))
    for d in (0, 1):
        yield Case(f"concatenate/{d}", [(4, 3), (4, 3)],
                   lambda *x, d=d: dy.concatenate(list(x), d=d), alone=(1,))
    yield Case("concatenate_cols", [(4,), (4, 3)], lambda *x: dy.concatenate_cols(list(x)))
    yield Case("concatenate_to_batch", [(4, 3), (4, 3)],
               lambda *x: dy.concatenate_to_batch(list(x)), alone=(1,))


def layers():
    for valid in (True, False):
        yield Case(f"conv2d/{valid}", [(5, 6, 2), (3, 2, 2, 3)],
                   lambda x, f, v=valid: dy.conv2d(x, f, [2, 1], is_valid=v), alone=(1,))
        yield Case(f"conv2d_bias/{valid}", [(5, 6, 2), (3, 2, 2, 3), (3,)],
                   lambda x, f, b, v=valid: dy.conv2d_bias(x, f, b, [2, 1], is_valid=v),
                   alone=(1, 2))
        yield Case(f"maxpooling2d/{valid}", [(5, 6, 2)],
                   lambda x, v=valid: dy.maxpooling2d(x, [3, 2], [2, 1], is_valid=v))
    yield Case("filter1d_narrow", [(4, 6), (4, 3)], dy.filter1d_narrow)
    yield Case("filter1d_narrow/several", [(4, 6), (4, 3, 2)], dy.filter1d_narrow)
    yield Case("kmax_pooling", [(4, 6)], lambda x: dy.kmax_pooling(x, 3))
    yield Case("fold_rows", [(6, 4)], dy.fold_rows)
    yield Case("fold_rows/3", [(6, 4)], lambda x: dy.fold_rows(x, nrows=3))
    yield Case("kmh_ngram", [(4, 6)], lambda x: dy.kmh_ngram(x, 2))
    yield Case("layer_norm", [(6,), (6,), (6,)], dy.layer_norm, alone=(1, 2))
    yield Case("weight_norm", [(4, 3), (1,)], dy.weight_norm, 0.2)
    gates = [(3,), (4,), (16, 3), (16, 4), (16,)]
    matrices = (2, 3, 4)
    yield Case("vanilla_lstm_gates", gates, dy.vanilla_lstm_gates, alone=matrices)
    yield Case("vanilla_lstm_gates_concat", [(1,), (2,), *gates[1:]],
               lambda a, b, *x: dy.vanilla_lstm_gates_concat([a, b], *x), alone=(3, 4, 5))
    yield Case("vanilla_lstm_gates_dropout", [*gates, (3,), (4,)], dy.vanilla_lstm_gates_dropout,
               alone=matrices)
    yield Case("vanilla_lstm_gates_dropout_concat", [(1,), (2,), *gates[1:], (3,), (4,)],
               lambda a, b, *x: dy.vanilla_lstm_gates_dropout_concat([a, b], *x),
               alone=(3, 4, 5))
    yield Case("vanilla_lstm_c", [(4,), (16,)], dy.vanilla_lstm_c)
    yield Case("vanilla_lstm_h", [(4,), (16,)], dy.vanilla_lstm_h)


def inputs():
    array = np.arange(12.0).reshape(4, 3) / 7
    for name, function in (
        ("inputTensor", lambda: dy.inputTensor(array)),
        ("inputTensor/batched", lambda: dy.inputTensor(array, batched=True)),
        ("inputTensor/list", lambda: dy.inputTensor([[1.0, 2.0], [3.0, 4.0]])),
        ("inputVector", lambda: dy.inputVector([1, 2, 3.5])),
        ("scalarInput", lambda: dy.scalarInput(2.5)),
        ("vecInput", lambda: dy.vecInput(3)),
        ("sparse_inputTensor",
         lambda: dy.sparse_inputTensor([[0, 1], [1, 2]], [5.0, 6.0], (2, 3), defval=1.5)),
        ("sparse_inputTensor/batched",
         lambda: dy.sparse_inputTensor([[0, 1], [1, 2]], [5.0, 6.0], (2, 3), batched=True)),
        ("one_hot", lambda: dy.one_hot(4, 2)),
        ("one_hot/several", lambda: dy.one_hot(4, [2, 0])),
        ("zeros", lambda: dy.zeros((2, 3), batch_size=2)),
        ("zeroes", lambda: dy.zeroes(3)),
        ("ones", lambda: dy.ones((2, 3))),
        ("constant", lambda: dy.constant((2, 3), 1.5, batch_size=2)),
    ):
        yield Case(name, [(1,)], lambda x, f=function: dy.cmult(f(), x), batches=(1,))
    for name, function in (
        ("lookup", lambda table: dy.lookup(table, 2)),
        ("lookup/update", lambda table: dy.lookup(table, index=1, update=False)),
        ("lookup_batch", lambda table: dy.lookup_batch(table, [3, 0, 3])),
    ):
        yield Case(name, [(1,)],
                   lambda x, f=function: dy.cmult(
                       f(dy.ParameterCollection().lookup_parameters_from_numpy(array)), x),
                   batches=(1,))
    yield Case("parameter", [(4,)], lambda x: dy.parameter(x), batches=(1,))
    yield Case("const_parameter", [(1,)], lambda x: dy.cmult(dy.const_parameter(
        dy.ParameterCollection().parameters_from_numpy(array)), x), batches=(1,))


class Network(Case):
    """A builder: `make` has the sizes and the collection, `function` the builder and 4 inputs."""

    def __init__(self, name, make, function, batches=(1, BATCH)):
        super().__init__(name, [(3,)] * 4, function, batches=batches)
        self.make = make


def outputs(builder, xs):
    return builder.initial_state().transduce(list(xs))[-1]


def networks():
    kinds = "SimpleRNN GRU VanillaLSTM CompactVanillaLSTM CoupledLSTM FastLSTM SparseLSTM".split()
    for kind in kinds:
        factory = getattr(dy, f"{kind}Builder")
        for layers in (1, 2):
            yield Network(f"{kind}Builder/{layers}", lambda m, f=factory, n=layers: f(n, 3, 4, m),
                          lambda b, *xs: outputs(b, xs))

    def lstm(model):
        return dy.LSTMBuilder(2, 3, 4, model)

    def states(b, *xs):
        first = b.initial_state(update=True)
        last = first.add_inputs(list(xs))[-1]
        branch = last.prev().add_input(xs[0])
        return dy.concatenate([*last.s(), *branch.h(), last.output()])

    def given(b, *xs):
        vectors = [dy.tanh(dy.concatenate([x, dy.pick_range(x, 0, 1)])) for x in xs]
        return b.initial_state(vectors).add_input(xs[0]).output()

    def replaced(b, *xs):
        state = b.initial_state().add_input(xs[0])
        vectors = [dy.tanh(dy.concatenate([x, dy.pick_range(x, 0, 1)])) for x in xs]
        state = state.set_h(vectors[:2]).add_input(xs[1]).set_s(vectors).add_input(xs[2])
        return state.output()

    yield Network("RNNState", lstm, states)
    yield Network("RNNState/initial_state", lstm, given)
    yield Network("RNNState/set_h set_s", lstm, replaced)
    yield Network("LSTMBuilder/ln_lstm",
                  lambda m: dy.LSTMBuilder(1, 3, 4, m, ln_lstm=True, forget_bias=0.5),
                  lambda b, *xs: outputs(b, xs))
    yield Network("BiRNNBuilder", lambda m: dy.BiRNNBuilder(2, 3, 4, m, dy.LSTMBuilder),
                  lambda b, *xs: dy.concatenate(b.transduce(list(xs))))
    yield Network("BiRNNBuilder/states", lambda m: dy.BiRNNBuilder(1, 3, 4, m, dy.GRUBuilder),
                  lambda b, *xs: dy.concatenate(
                      [s.output() for pair in b.add_inputs(list(xs)) for s in pair]))
    yield Network("StandardSoftmaxBuilder", lambda m: dy.StandardSoftmaxBuilder(3, 5, m),
                  lambda b, *xs: dy.concatenate([b.neg_log_softmax(xs[0], 2), b.full_logits(xs[1]),
                                                 b.full_log_distribution(xs[2])]), batches=(1,))
    yield Network("StandardSoftmaxBuilder/bias",
                  lambda m: dy.StandardSoftmaxBuilder(3, 5, m, False),
                  lambda b, *xs: b.neg_log_softmax_batch(xs[0], [2, 0, 1]), batches=(BATCH,))
    def classes(model):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("0 a\n0 b\n1 c\n1 d\n2 e\n")
            file.flush()
            words = {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4}
            return dy.ClassFactoredSoftmaxBuilder(3, file.name, words, model)

    yield Network("ClassFactoredSoftmaxBuilder", classes,
                  lambda b, *xs: dy.concatenate(
                      [b.neg_log_softmax(xs[0], 2), b.neg_log_softmax(xs[1], 4),
                       b.class_log_distribution(xs[2]), b.subclass_logits(xs[3], 1),
                       b.class_logits(xs[0]), b.subclass_log_distribution(xs[1], 0)]),
                  batches=(1,))
    yield Network("ClassFactoredSoftmaxBuilder/full_log_distribution", classes,
                  lambda b, *xs: b.full_log_distribution(xs[0]), batches=(1,))


def cases():
    for family in (elementwise, arithmetic, reductions, losses, selection, layers, inputs,
                   networks):
        yield from family()


def draw(case, batch, number):
    """Values, and gradients of all operands, of one draw."""
    generator = np.random.RandomState(zlib.crc32(f"{case.name} {batch} {number}".encode()))
    dy.renew_cg()
    model = dy.ParameterCollection()
    parameters, operands = [], []
    for i, shape in enumerate(case.shapes):
        own = 1 if i in case.alone else batch
        numbers = generator.uniform(case.low, case.high, int(np.prod(shape)) * own)
        parameters.append(model.parameters_from_numpy(numbers.astype(np.float32)))
        operands.append(dy.reshape(parameters[-1], shape, own))
    if isinstance(case, Network):
        network = case.make(model)
        for p in model.parameters_list()[len(parameters):]:
            parameters.append(p)
            p.set_value(generator.uniform(-0.7, 0.7, p.shape()).astype(np.float32))
        operands.insert(0, network)
    y = case.function(*operands)
    values = np.asarray(y.npvalue(), dtype=np.float64).flatten(order="F")
    weights = generator.uniform(0.25, 1.25, len(values)).astype(np.float32)
    loss = dy.sum_elems(dy.cmult(dy.reshape(y, (len(values),), 1), dy.inputVector(weights)))
    loss.forward()
    loss.backward()
    shape, size = y.dim()
    return [np.array([*shape, size], dtype=np.float64), values,
            *(np.asarray(p.grad_as_array(), np.float64).flatten(order="F") for p in parameters)]


def in_child(task):
    """Result of `task`, computed by a process of its own, or how the process ended."""
    with tempfile.NamedTemporaryFile() as file:
        pid = os.fork()
        if pid == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                result = task()
            except Exception as error:
                result = f"{type(error).__name__}: {error}"
            with open(file.name, "wb") as out:
                pickle.dump(result, out)
            os._exit(0)
        status = os.waitpid(pid, 0)[1]
        if status:
            return f"ended the process with signal {os.WTERMSIG(status)}"
        with open(file.name, "rb") as result:
            return pickle.load(result)


def main(path):
    arrays = {}
    for case in cases():
        for batch in case.batches:
            key = f"{case.name}|{batch}"
            drawn = in_child(lambda: [draw(case, batch, n) for n in range(DRAWS)])
            if isinstance(drawn, str):
                arrays[f"{key}|error"] = np.array(drawn)
                continue
            for k, part in enumerate(zip(*drawn)):
                arrays[f"{key}|{k}"] = np.stack(part)
    np.savez_compressed(path, **arrays)


if __name__ == "__main__":
    main(ARGUMENTS[0])
