"""Operations as DyNet's Python interface has them, by their names in models.cc.

A case is (name, settings, shapes, function, least, largest operand). Shapes end in the batch size; those of one
operand hold for all if there is one.
"""

ONE, BATCH = (4, 3, 1), (4, 3, 2)


def all_cases(dy):
    return [*elementwise(dy), *reductions(dy), *losses(dy), *structure(dy), *selections(dy)]


def case(name, shapes, function, settings=(), low=-1.5, high=1.5):
    return name, list(settings), shapes, function, low, high


def elementwise(dy):
    everywhere = """tanh logistic rectify exp square cube abs log_sigmoid selu erf sin cos atan sinh cosh asinh
                 nobackprop flip_gradient""".split()
    for name in everywhere:
        yield case(name, [BATCH], getattr(dy, name))
    for name in ("log", "sqrt", "lgamma"):
        yield case(name, [BATCH], getattr(dy, name), low=0.3, high=4)
    for name in ("asin", "acos", "atanh", "tan"):
        yield case(name, [BATCH], getattr(dy, name), low=-0.9, high=0.9)
    yield case("acosh", [BATCH], dy.acosh, low=1.2, high=4)
    yield case("softsign", [(5, 2)], dy.softsign)
    yield case("elu", [BATCH], lambda x: dy.elu(x, 0.75), [0.75])
    yield case("silu", [BATCH], dy.silu, [1])  # the gradient of others is wrong there
    for name in ("round", "ceil", "floor"):
        f = getattr(dy, name)
        yield case(name, [BATCH], lambda x, f=f: f(x, gradient_mode="straight_through_gradient"), low=-3, high=3)
    yield case("argmax", [(6, 1)], lambda x: dy.argmax(x, gradient_mode="straight_through_gradient"))
    yield case("scale_gradient", [BATCH], lambda x: dy.scale_gradient(x, 0.5), [0.5])
    yield case("negate", [BATCH], lambda x: -x)
    yield case("constant_minus", [BATCH], lambda x: -x + 0.75, [0.75])
    yield case("constant_plus", [BATCH], lambda x: x + 0.75, [0.75])
    yield case("scale", [BATCH], lambda x: x * 0.75, [0.75])
    yield case("divide", [BATCH], lambda x: x / 0.75, [0.75])
    yield case("add", [BATCH, ONE], lambda x, y: x + y)
    yield case("subtract", [BATCH, ONE], lambda x, y: x - y)
    yield case("cmult", [BATCH, ONE], dy.cmult)
    yield case("cdiv", [BATCH, ONE], dy.cdiv, low=0.5, high=3)
    yield case("pow", [BATCH, (1, 1)], dy.pow, low=0.5, high=2)
    yield case("max", [BATCH, BATCH], dy.bmax)
    yield case("min", [BATCH, BATCH], dy.bmin)
    for name, f in (("sum", dy.esum), ("average", dy.average), ("logsumexp", dy.logsumexp)):
        yield case(name, [BATCH] * 3, lambda *x, f=f: f(list(x)))


def reductions(dy):
    for name in ("sum_elems", "mean_elems", "std_elems", "squared_norm", "l2_norm", "sum_batches", "mean_batches",
                 "std_batches"):  # fmt: skip
        yield case(name, [BATCH], getattr(dy, name))
    for k in (1, 2, 3):
        yield case("moment_elems", [BATCH], lambda x, k=k: dy.moment_elems(x, k), [k])
        yield case("moment_batches", [BATCH], lambda x, k=k: dy.moment_batches(x, k), [k])
        yield case("moment_dim", [BATCH], lambda x, k=k: dy.moment_dim(x, [0], k, False), [k, 0])
    for d in (0, 1):
        for name in ("sum_dim", "mean_dim", "std_dim"):
            f = getattr(dy, name)
            yield case(name, [BATCH], lambda x, f=f, d=d: f(x, [d], False), [d])
        for name in ("max_dim", "min_dim", "cumsum"):
            f = getattr(dy, name)
            yield case(name, [BATCH], lambda x, f=f, d=d: f(x, d), [d])
        yield case("softmax", [BATCH], lambda x, d=d: dy.softmax(x, d), [d])
    yield case("logsumexp_dim", [BATCH], lambda x: dy.logsumexp_dim(x, 0), [0])  # along rows it is wrong there
    yield case("log_softmax", [BATCH], dy.log_softmax)
    yield case("restricted_log_softmax", [(6, 1)],
               lambda x: dy.pick_range(dy.log_softmax(x, [1, 2, 3]), 1, 4), [1, 2, 3])  # fmt: skip
    yield case("sparsemax", [(6, 1)], dy.sparsemax)


def losses(dy):
    two = [(6, 1), (6, 1)]
    for name in ("l1_distance", "squared_distance", "dot_product"):
        yield case(name, two, getattr(dy, name))
    for c in (0.5, 1.345):
        yield case("huber_distance", two, lambda x, y, c=c: dy.huber_distance(x, y, c), [c])
    # The gradient of DyNet's with respect to the target is that of another function.
    yield case("binary_log_loss", [(6, 1), (6, 1)], lambda x, y: dy.binary_log_loss(x, dy.nobackprop(y)), low=0.1,
               high=0.9)  # fmt: skip
    yield case("pairwise_rank_loss", [(1, 1), (1, 1)], lambda x, y: dy.pairwise_rank_loss(x, y, 0.75), [0.75])
    yield case("pickneglogsoftmax", [(6, 1)], lambda x: dy.pickneglogsoftmax(x, 2), [2])
    yield case("pickneglogsoftmax", [(6, 3)], lambda x: dy.pickneglogsoftmax_batch(x, [2, 0, 5]), [2, 0, 5])
    yield case("hinge", [(6, 1)], lambda x: dy.hinge(x, 2, 0.75), [0.75, 2])
    yield case("hinge", [(6, 3)], lambda x: dy.hinge_batch(x, [2, 0, 5], 0.75), [0.75, 2, 0, 5])
    yield case("hinge_dim", [(4, 3, 1)], lambda x: dy.hinge_dim(x, [2, 0, 3], d=0), [0, 2, 0, 3])
    yield case("poisson_loss", [(1, 1)], lambda x: dy.poisson_loss(x, 3), [3])
    yield case("constrained_softmax", [(5, 1), (5, 1)], dy.constrained_softmax, low=0.3, high=0.6)


def structure(dy):
    yield case("matmul", [(4, 3, 1), (3, 5, 2)], lambda x, y: x * y)
    yield case("affine_transform", [(4, 1), (4, 3, 1), (3, 2), (4, 5, 1), (5, 2)],
               lambda *x: dy.affine_transform(list(x)))  # fmt: skip
    yield case("colwise_add", [(4, 3, 1), (4, 1)], dy.colwise_add)
    yield case("trace_of_product", [(4, 3, 1), (4, 3, 1)], dy.trace_of_product)
    yield case("inverse", [(3, 3, 1)], dy.inverse)
    yield case("logdet", [(1, 1, 1)], dy.logdet, low=0.5, high=2)
    yield case("contract3d_1d", [(3, 4, 5, 1), (5, 1), (3, 4, 1)], dy.contract3d_1d_bias)
    yield case("contract3d_1d_1d", [(3, 4, 5, 1), (5, 1), (4, 1), (3, 1)], dy.contract3d_1d_1d_bias)
    yield case("circ_conv", [(5, 1), (5, 1)], dy.circ_conv)
    yield case("circ_corr", [(5, 1), (5, 1)], dy.circ_corr)
    for valid in (0, 1):
        yield case("conv2d", [(5, 6, 2, 2), (3, 2, 2, 3, 1), (3, 1)],
                   lambda x, f, b, v=valid: dy.conv2d_bias(x, f, b, [2, 1], is_valid=bool(v)),
                   [2, 1, valid])  # fmt: skip
    yield case("maxpooling2d", [(5, 6, 2, 2)], lambda x: dy.maxpooling2d(x, [3, 2], [2, 1]), [3, 2, 2, 1])
    yield case("filter1d_narrow", [(4, 6, 1), (4, 3, 1)], dy.filter1d_narrow)
    yield case("kmax_pooling", [(4, 6, 1)], lambda x: dy.kmax_pooling(x, 3, 1), [3, 1])
    yield case("fold_rows", [(6, 4, 1)], lambda x: dy.fold_rows(x, 2), [2])
    yield case("kmh_ngram", [(4, 6, 1)], lambda x: dy.kmh_ngram(x, 2), [2])
    yield case("weight_norm", [(4, 3, 1), (1, 1)], dy.weight_norm, low=0.2)
    yield case("vanilla_lstm_gates", [(3, 1), (4, 1), (16, 3, 1), (16, 4, 1), (16, 1)], dy.vanilla_lstm_gates)
    yield case("vanilla_lstm_c", [(4, 1), (16, 1)], dy.vanilla_lstm_c)
    yield case("vanilla_lstm_h", [(4, 1), (16, 1)], dy.vanilla_lstm_h)


def selections(dy):
    yield case("pick", [(4, 3, 1)], lambda x: dy.pick(x, 2, 0), [0, 2])
    yield case("pick", [(4, 3, 2)], lambda x: dy.pick_batch(x, [2, 1], 1), [1, 2, 1])
    yield case("pick_range", [BATCH], lambda x: dy.pick_range(x, 1, 3), [1, 3, 0])
    yield case("pick_batch_elems", [(4, 3, 4)], lambda x: dy.pick_batch_elems(x, [3, 1]), [3, 1])
    yield case("select_rows", [(4, 3, 1)], lambda x: dy.select_rows(x, [3, 0, 3]), [3, 0, 3])
    yield case("select_cols", [(4, 3, 1)], lambda x: dy.select_cols(x, [2, 0]), [2, 0])
    yield case("strided_select", [(4, 3, 1)], lambda x: dy.strided_select(x, [2, 2], [0, 0], [4, 3]), [2, 2])
    yield case("transpose", [BATCH], lambda x: dy.transpose(x), [1, 0])
    yield case("reshape", [BATCH], lambda x: dy.reshape(x, (2, 6), 2), [2, 6])
    for d in (0, 1):
        yield case("concatenate", [BATCH, BATCH], lambda *x, d=d: dy.concatenate(list(x), d), [d])
    yield case("concatenate_to_batch", [(4, 3, 1), (4, 3, 2)], lambda *x: dy.concatenate_to_batch(list(x)))
