"""The operations and models that are compared, as PyTorch computes them.

Shapes are the dimensions of the library and then the batch size.
"""

import dataclasses
import math

import softmaxes
import structures
import transformers


@dataclasses.dataclass
class Case:
    name: str
    settings: list
    shapes: list
    function: object
    low: float = -1.5
    high: float = 1.5
    diagonal: float = 0
    in_double: float = 1e-9  # largest difference, relative to values above one

    def draw(self, torch, shape):
        """Numbers that a float holds exactly; `diagonal` is added to that of matrices."""
        x = torch.rand(shape) * (self.high - self.low) + self.low
        if self.diagonal:
            x += self.diagonal * torch.eye(shape[0]).unsqueeze(-1)
        return x.float().double().requires_grad_()


def all_cases(torch, F):
    cases = []

    def add(name, shapes, function, settings=(), **ranges):
        cases.append(Case(name, list(settings), shapes, function, **ranges))

    elementwise(torch, F, add)
    broadcast(torch, add)
    reductions(torch, F, add)
    losses(torch, F, add)
    algebra(torch, F, add)
    windows(torch, F, add)
    selections(torch, add)
    structures.structures(torch, F, add)
    models(torch, F, add)
    transformers.transformers(torch, add)
    softmaxes.softmaxes(torch, F, add)
    return cases


def elementwise(torch, F, add):
    anywhere = {
        "tanh": torch.tanh, "logistic": torch.sigmoid, "rectify": torch.relu, "exp": torch.exp,
        "square": torch.square, "cube": lambda x: x**3, "abs": torch.abs,
        "log_sigmoid": F.logsigmoid, "softsign": F.softsign, "selu": F.selu, "erf": torch.erf,
        "sin": torch.sin, "cos": torch.cos, "atan": torch.atan, "sinh": torch.sinh,
        "cosh": torch.cosh, "asinh": torch.asinh,
    }  # fmt: skip
    for name, f in anywhere.items():
        add(name, [(4, 3, 5)], f, low=-4, high=4)
    for name, f in {"log": torch.log, "sqrt": torch.sqrt, "lgamma": torch.lgamma}.items():
        add(name, [(4, 3, 5)], f, low=0.2, high=5)
    for name, f in {"asin": torch.asin, "acos": torch.acos, "atanh": torch.atanh, "tan": torch.tan}.items():
        add(name, [(4, 3, 5)], f, low=-0.9, high=0.9)
    add("acosh", [(4, 3, 5)], torch.acosh, low=1.2, high=5)
    add("elu", [(7, 2)], lambda x: F.elu(x, 0.75), [0.75])
    add("silu", [(7, 2)], F.silu, [1])
    add("silu", [(7, 2)], lambda x: x * torch.sigmoid(0.75 * x), [0.75])


def broadcast(torch, add):
    def all_of(f):
        return lambda *xs: f(torch.stack(torch.broadcast_tensors(*xs)))

    pairs = [[(4, 3, 5), (4, 3, 5)], [(4, 1, 5), (1, 3, 1)], [(1, 3, 2), (4, 3, 1)]]
    for shapes in pairs:
        add("add", shapes, torch.add)
        add("subtract", shapes, torch.subtract)
        add("cmult", shapes, torch.multiply)
        add("cdiv", shapes, torch.divide, low=0.3, high=2)
        add("pow", shapes, torch.pow, low=0.3, high=2)
    three = [(4, 3, 5), (4, 1, 1), (1, 3, 5)]
    add("max", three, all_of(lambda x: x.amax(0)))
    add("min", three, all_of(lambda x: x.amin(0)))
    add("sum", three, all_of(lambda x: x.sum(0)))
    add("average", three, all_of(lambda x: x.mean(0)))
    add("logsumexp", three, all_of(lambda x: x.logsumexp(0)))


def reductions(torch, F, add):
    x = [(4, 3, 2, 5)]

    def elements(f):
        return lambda x: f(x.reshape(-1, x.shape[-1])).unsqueeze(0)

    add("sum_elems", x, elements(lambda v: v.sum(0)))
    add("mean_elems", x, elements(lambda v: v.mean(0)))
    add("std_elems", x, elements(lambda v: v.std(0, unbiased=False)))
    add("squared_norm", x, elements(lambda v: v.square().sum(0)))
    add("l2_norm", x, elements(lambda v: v.norm(dim=0)))
    add("moment_elems", x, elements(lambda v: (v**3).mean(0)), [3])
    add("sum_batches", x, lambda x: x.sum(-1, keepdim=True))
    add("mean_batches", x, lambda x: x.mean(-1, keepdim=True))
    add("std_batches", x, lambda x: x.std(-1, unbiased=False, keepdim=True))
    for dims in ([0], [1], [0, 2]):
        add("sum_dim", x, lambda x, d=dims: x.sum(d), dims)
        add("mean_dim", x, lambda x, d=dims: x.mean(d), dims)
        add("std_dim", x, lambda x, d=dims: x.std(d, unbiased=False), dims)
    for d in range(3):
        add("max_dim", x, lambda x, d=d: x.amax(d), [d])
        add("min_dim", x, lambda x, d=d: x.amin(d), [d])
        add("cumsum", x, lambda x, d=d: x.cumsum(d), [d])
        add("softmax", x, lambda x, d=d: x.softmax(d), [d])
        add("logsumexp_dim", x, lambda x, d=d: x.logsumexp(d), [d])
    add("log_softmax", x, lambda x: x.log_softmax(0), low=-8, high=8)


def losses(torch, F, add):
    def summed(f):
        return lambda x, y: f(x, y).reshape(-1, x.shape[-1]).sum(0).unsqueeze(0)

    two = [(4, 3, 5), (4, 3, 5)]
    add("l1_distance", two, summed(lambda x, y: (x - y).abs()))
    add("squared_distance", two, summed(lambda x, y: F.mse_loss(x, y, reduction="none")))
    add("dot_product", two, summed(torch.multiply))
    add("huber_distance", two, summed(lambda x, y: F.huber_loss(x, y, reduction="none", delta=0.75)), [0.75])
    add("binary_log_loss", two,
        summed(lambda x, y: F.binary_cross_entropy(x, y, reduction="none")), low=0.1, high=0.9)  # fmt: skip
    add("pairwise_rank_loss", two, lambda x, y: torch.clamp(0.75 - x + y, min=0), [0.75])
    classes = [2, 0, 5, 3]
    target = torch.tensor(classes)
    add("pickneglogsoftmax", [(6, 4)],
        lambda x: F.cross_entropy(x.T, target, reduction="none").unsqueeze(0), classes)  # fmt: skip
    add("hinge", [(6, 4)],
        lambda x: 6 * F.multi_margin_loss(x.T, target, margin=0.75, reduction="none").unsqueeze(0),
        [0.75, *classes])  # fmt: skip
    counts = [3, 0, 7, 1]
    factorials = torch.tensor([math.lgamma(n + 1) for n in counts], dtype=torch.double)
    add("poisson_loss", [(1, 4)],
        lambda x: F.poisson_nll_loss(x, torch.tensor([counts]).double(), reduction="none") + factorials,
        counts)  # fmt: skip


def algebra(torch, F, add):
    def product(x, y):
        return torch.einsum("mkb,knb->mnb", *batched(x, y))

    def batched(*xs):
        b = max(x.shape[-1] for x in xs)
        return [x.expand(*x.shape[:-1], b) for x in xs]

    def front(f):
        return lambda x: f(x.permute(2, 0, 1))

    add("matmul", [(4, 3, 5), (3, 2, 5)], product)
    add("matmul", [(4, 3, 1), (3, 2, 5)], product)
    add("matmul", [(17, 9, 2), (9, 5, 1)], product)
    add("affine_transform", [(4, 1, 1), (4, 3, 1), (3, 2, 5), (4, 6, 1), (6, 2, 5)],
        lambda b, w, x, u, h: b + product(w, x) + product(u, h))  # fmt: skip
    add("inverse", [(4, 4, 3)], front(lambda x: torch.linalg.inv(x).permute(1, 2, 0)), diagonal=5)
    add("logdet", [(3, 3, 4)], front(lambda x: torch.logdet(x).unsqueeze(0)), diagonal=5)
    add("contract3d_1d", [(4, 3, 2, 5), (2, 5), (4, 3, 1)],
        lambda x, y, b: torch.einsum("ijkb,kb->ijb", *batched(x, y)) + b)  # fmt: skip
    add("contract3d_1d_1d", [(4, 3, 2, 1), (2, 5), (3, 5), (4, 1)],
        lambda x, y, z, b: torch.einsum("ijkb,kb,jb->ib", *batched(x, y, z)) + b)  # fmt: skip

    def through_frequencies(f):
        def compute(u, v):
            a, b = torch.fft.fft(u, dim=0), torch.fft.fft(v, dim=0)
            return torch.fft.ifft(f(a) * b, dim=0).real

        return compute

    add("circ_conv", [(6, 3), (6, 3)], through_frequencies(lambda a: a))
    add("circ_corr", [(6, 3), (6, 3)], through_frequencies(torch.conj))

    def normalized(x, g, b):
        def elements(v):
            return v.reshape(-1, v.shape[-1]).T

        n = F.layer_norm(elements(x), [x[..., 0].numel()], eps=0.5)
        return (n * elements(g) + elements(b)).T.reshape(x.shape)

    add("layer_norm", [(4, 3, 5), (4, 3, 1), (4, 3, 1)], normalized, [0.5])
    add("weight_norm", [(4, 3, 1), (1, 1, 1)], lambda w, g: g * w / w.norm())


def images(x):
    """{H,W,C} and batch to what PyTorch's windows slide over."""
    return x.permute(3, 2, 0, 1)


def convolved(F, x, f, b, strides, valid):
    f = f.squeeze(-1)
    if valid:
        y = F.conv2d(images(x), f.permute(3, 2, 0, 1), b.reshape(-1), stride=strides)
    else:
        padding = []
        for n, size, stride in reversed(list(zip(x.shape, f.shape, strides))):
            total = max(0, (math.ceil(n / stride) - 1) * stride + size - n)
            padding += [total // 2, total - total // 2]
        y = F.conv2d(F.pad(images(x), padding), f.permute(3, 2, 0, 1), b.reshape(-1), stride=strides)
    return y.permute(2, 3, 1, 0)


def windows(torch, F, add):
    for strides in ([1, 1], [2, 1], [2, 3]):
        for valid in (1, 0):
            add("conv2d", [(7, 6, 2, 3), (3, 2, 2, 4, 1), (4, 1)],
                lambda x, f, b, s=strides, v=valid: convolved(F, x, f, b, s, v),
                [*strides, valid])  # fmt: skip
    add("maxpooling2d", [(7, 6, 2, 3)],
        lambda x: F.max_pool2d(images(x), (3, 2), (2, 1)).permute(2, 3, 1, 0), [3, 2, 2, 1])  # fmt: skip
    add("filter1d_narrow", [(4, 6, 1), (4, 3, 5, 1)],
        lambda x, f: F.conv1d(x.permute(2, 0, 1), f[..., 0].permute(2, 0, 1)).permute(1, 2, 0))  # fmt: skip

    def largest(x, k, d):
        return x.gather(d, x.topk(k, d).indices.sort(d).values)

    add("kmax_pooling", [(4, 6, 3)], lambda x: largest(x, 3, 1), [3, 1])
    add("kmax_pooling", [(4, 6, 3)], lambda x: largest(x, 2, 0), [2, 0])
    add("fold_rows", [(6, 4, 3)], lambda x: x.reshape(3, 2, 4, 3).sum(1), [2])
    add("kmh_ngram", [(4, 6, 3)], lambda x: x.unfold(1, 3, 1).sum(-1), [3])


def selections(torch, add):
    x = [(4, 3, 2, 5)]
    add("pick", x, lambda x: x[:, 2], [1, 2])
    add("pick", x, lambda x: torch.stack([x[:, v, :, b] for b, v in enumerate([2, 0, 1, 1, 0])], -1),
        [1, 2, 0, 1, 1, 0])  # fmt: skip
    add("pick_range", x, lambda x: x[:, 1:3], [1, 3, 1])
    add("select_rows", x, lambda x: x[[3, 0, 3]], [3, 0, 3])
    add("select_cols", x, lambda x: x[:, [2, 2, 1, 0]], [2, 2, 1, 0])
    add("strided_select", x, lambda x: x[::2, ::3], [2, 3])
    add("transpose", x, lambda x: x.permute(2, 0, 1, 3), [2, 0, 1])
    add("concatenate", [(4, 3, 5), (4, 2, 1), (4, 1, 5)],
        lambda *xs: torch.cat([x.expand(*x.shape[:-1], 5) for x in xs], 1), [1])  # fmt: skip


def models(torch, F, add):
    steps, inputs, hidden, batch = 5, 3, 4, 2
    x = (inputs, steps, batch)

    def weights(gates, layers, sizes):
        """The shapes of Wx, Wh and b of each layer."""
        shapes = []
        for layer in range(layers):
            n = sizes[0] if layer == 0 else sizes[1]
            shapes += [(gates * sizes[1], n, 1), (gates * sizes[1], sizes[1], 1), (gates * sizes[1], 1)]
        return shapes

    def with_parameters(network, x, parameters):
        """What PyTorch's network says; gradients reach `parameters`, given by PyTorch's names."""
        network = network.double()
        y, _ = torch.func.functional_call(network, parameters, (x.permute(1, 2, 0),))
        return y.permute(2, 0, 1)

    def lstm(x, *given):
        # Gates lie in the order i, f, o, g; in PyTorch i, f, g, o. One is added to f's sum.
        named = {}
        for layer in range(2):
            wx, wh, b = given[3 * layer : 3 * layer + 3]

            def turned(w):
                i, f, o, g = w.squeeze(-1).chunk(4)
                return torch.cat([i, f, g, o])

            one = torch.zeros(4 * hidden, dtype=torch.double)
            one[hidden : 2 * hidden] = 1
            named |= {f"weight_ih_l{layer}": turned(wx), f"weight_hh_l{layer}": turned(wh),
                      f"bias_ih_l{layer}": turned(b) + one,
                      f"bias_hh_l{layer}": torch.zeros_like(one)}  # fmt: skip
        return with_parameters(torch.nn.LSTM(inputs, hidden, 2), x, named)

    def rnn(x, *given):
        named = {}
        for layer in range(2):
            wx, wh, b = (w.squeeze(-1) for w in given[3 * layer : 3 * layer + 3])
            named |= {f"weight_ih_l{layer}": wx, f"weight_hh_l{layer}": wh, f"bias_ih_l{layer}": b,
                      f"bias_hh_l{layer}": torch.zeros_like(b)}  # fmt: skip
        return with_parameters(torch.nn.RNN(inputs, hidden, 2), x, named)

    def gru(x, *given):
        # PyTorch's cell multiplies r with U h + b, that of Cho et al. 2014 with h: written out.
        wz, uz, bz, wr, ur, br, wh, uh, bh = (w.squeeze(-1) for w in given)
        h = torch.zeros(hidden, batch, dtype=torch.double)
        outputs = []
        for t in range(steps):
            z = torch.sigmoid(F.linear(x[:, t].T, wz, bz) + F.linear(h.T, uz)).T
            r = torch.sigmoid(F.linear(x[:, t].T, wr, br) + F.linear(h.T, ur)).T
            h = torch.lerp(h, torch.tanh(F.linear(x[:, t].T, wh, bh) + F.linear((r * h).T, uh)).T, z)
            outputs.append(h)
        return torch.stack(outputs, 1)

    add("model_lstm", [x, *weights(4, 2, (inputs, hidden))], lstm, [2, hidden])
    add("model_rnn", [x, *weights(1, 2, (inputs, hidden))], rnn, [2, hidden])
    add("model_gru", [x, *(weights(1, 1, (inputs, hidden)) * 3)], gru, [1, hidden])

    classes = [2, 0, 4]
    target = torch.tensor(classes)

    def perceptron(x, b1, w1, gain, bias, b2, w2):
        h = torch.relu(F.linear(x.T, w1[..., 0], b1[:, 0]))
        h = F.layer_norm(h, [6], gain[:, 0], bias[:, 0], eps=1e-5)
        return F.cross_entropy(F.linear(h, w2[..., 0], b2[:, 0]), target, reduction="none").unsqueeze(0)

    add("model_mlp", [(4, 3), (6, 1), (6, 4, 1), (6, 1), (6, 1), (5, 1), (5, 6, 1)], perceptron, classes)

    def attention(x, wq, wk, wv, wo):
        words = x.permute(2, 1, 0)
        q, k, v = (F.linear(words, w[..., 0]) for w in (wq, wk, wv))
        y = F.scaled_dot_product_attention(q, k, v)
        return x + F.linear(y, wo[..., 0]).permute(2, 1, 0)

    add("model_attention", [(6, 5, 3), (4, 6, 1), (4, 6, 1), (4, 6, 1), (6, 4, 1)], attention)

    def convolutional(x, f, b, w, bias):
        maps = torch.relu(convolved(F, x, f, b, [1, 1], False))
        pooled = F.max_pool2d(images(maps), 2).permute(2, 3, 1, 0)
        features = pooled.permute(3, 2, 1, 0).reshape(x.shape[-1], -1)  # rows run fastest
        return F.cross_entropy(F.linear(features, w[..., 0], bias[:, 0]), target, reduction="none").unsqueeze(0)

    add("model_cnn", [(6, 5, 2, 3), (3, 3, 2, 4, 1), (4, 1), (5, 24, 1), (5, 1)], convolutional, classes)
