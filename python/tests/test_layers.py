"""Layers and transformers against their formulas."""

import copy
import math

import numpy as np
import pytest

import dynet as dy
from support import close, column, logistic, norm, random, randomized, softmax


@pytest.fixture
def model():
    dy.renew_cg()
    return dy.ParameterCollection()


def attention(x, memory, weights, heads, causal=False):
    wq, bq, wk, bk, wv, bv, wo, bo = weights
    queries, keys, values = wq @ x + column(bq), wk @ memory + column(bk), wv @ memory + column(bv)
    d = len(queries) // heads
    results = []
    for h in range(heads):
        part = slice(h * d, (h + 1) * d)
        scores = keys[part].T @ queries[part] / math.sqrt(d)  # keys down, queries across
        if causal:
            scores[np.tril_indices_from(scores, -1)] = -np.inf
        results.append(values[part] @ softmax(scores))
    return wo @ np.concatenate(results) + column(bo)


def test_linear(model):
    layer, (w, b) = randomized(dy.Linear(model, 3, 2))
    x = random(3, 4)
    assert close(layer.apply(dy.inputTensor(x)), w @ x + column(b))
    assert close(layer.apply(dy.inputVector(x[:, 0])), w @ x[:, 0] + b)
    plain, (w,) = randomized(dy.Linear(model, input=3, output=2, bias=False))
    batch = random(3, 4, 2, seed=1)
    expected = np.einsum("oi,itb->otb", w, batch)
    assert close(plain.apply(dy.inputTensor(batch, batched=True)), expected)
    with pytest.raises(dy.ShapeError, match=r"test_layers.py:\d+"):
        layer.apply(dy.inputVector([1, 2]))
    assert repr(plain) == "Linear(input=3, output=2, bias=False)"
    with pytest.raises(ValueError, match="Linear"):
        dy.Linear(model, 0, 2)
    with pytest.raises(TypeError):
        dy.Linear(model, 3)


def test_norms(model):
    x = random(4, 3)
    layer, (g, b) = randomized(dy.LayerNorm(model, 4, epsilon=0.1))
    assert close(layer.apply(dy.inputTensor(x)), norm(x, g, b, 0.1))
    assert layer.spec == {"size": 4, "bias": True, "epsilon": 0.1}
    layer, (g,) = randomized(dy.RMSNorm(model, 4))
    expected = column(g) * x / np.sqrt((x * x).mean(axis=0) + 1e-6)
    assert close(layer.apply(dy.inputTensor(x)), expected)
    for wrong in (lambda: dy.LayerNorm(model, 0), lambda: dy.RMSNorm(model, 3, epsilon=0.0),
                  lambda: dy.LayerNorm(model, 3, epsilon=-1.0)):
        with pytest.raises(ValueError, match="Norm"):
            wrong()
    with pytest.raises(dy.ShapeError):
        layer.apply(dy.inputVector([1, 2, 3]))


def gelu(x):
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def test_feed_forward(model):
    x = random(3, 2)
    for name, activation in ("relu", lambda z: np.maximum(z, 0)), ("gelu", gelu):
        layer, (w1, b1, w2, b2) = randomized(dy.FeedForward(model, 3, 5, activation=name))
        expected = w2 @ activation(w1 @ x + column(b1)) + column(b2)
        assert close(layer.apply(dy.inputTensor(x)), expected)
    layer, (w1, b1, w2, b2, v, c) = randomized(dy.FeedForward(model, 3, 5, "swiglu"))
    gate = v @ x + column(c)
    expected = w2 @ (gate * logistic(gate) * (w1 @ x + column(b1))) + column(b2)
    assert close(layer.apply(dy.inputTensor(x)), expected) and layer.spec["activation"] == "swiglu"
    layer.set_dropout(0.5)
    assert not close(layer.apply(dy.inputTensor(x)), expected)
    layer.disable_dropout()
    assert close(layer.apply(dy.inputTensor(x)), expected)
    with pytest.raises(ValueError):
        layer.set_dropout(1.0)
    with pytest.raises(ValueError, match="swiglu"):
        dy.FeedForward(model, 3, 5, activation="tanh")


def test_embedding(model):
    layer = dy.Embedding(model, words=5, size=3)
    rows = layer.table().as_array()
    assert close(layer.apply([4, 0, 4]), rows[[4, 0, 4]].T)
    assert close(layer.apply([1]), rows[[1]].T)
    h = random(3, 2)
    assert close(layer.logits(dy.inputTensor(h)), rows @ h)
    with pytest.raises(ValueError, match="word"):
        layer.apply([])
    for wrong in 5, -1:
        with pytest.raises(IndexError):
            layer.apply([wrong])


def test_positions(model):
    size, count, first = 6, 4, 2
    p = np.arange(first, first + count)
    angles = np.array([p / 10000 ** (2 * i / size) for i in range(size // 2)])
    expected = np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(size, count)
    assert close(dy.sinusoidal_positions(size, count, first), expected)
    x = random(8, 4)  # two heads of size 4
    heads = x.reshape(2, 2, 2, 4)  # head, half, pair, position
    a = np.array([p / 100 ** (2 * i / 4) for i in range(2)])
    left, right = heads[:, 0], heads[:, 1]
    turned = np.stack([left * np.cos(a) - right * np.sin(a), right * np.cos(a) + left * np.sin(a)],
                      axis=1)
    assert close(dy.rotary_positions(dy.inputTensor(x), 2, first=first, base=100),
                 turned.reshape(8, 4))
    layer = dy.LearnedPositions(model, positions=5, size=3)
    (table,) = layer.param_collection().lookup_parameters_list()
    assert close(layer.apply(3, first=1), table.as_array()[1:4].T)
    with pytest.raises(ValueError):
        layer.apply(3, first=3)
    with pytest.raises(dy.ShapeError):
        dy.rotary_positions(dy.inputTensor(random(6, 4)), 2)
    with pytest.raises(ValueError):
        dy.sinusoidal_positions(0, 1)


def test_char_cnn(model):
    layer, parameters = randomized(
        dy.CharCnn(model, characters=6, character_size=2, filters=3, widths=[1, 3], highways=1))
    f1, b1, *f3, b3, w, b, v, c = parameters
    vectors = layer.table().as_array()

    def expected(word):
        x = vectors[word]
        padded = np.concatenate([x, np.zeros((max(3 - len(word), 0), 2))])
        y1 = np.max([f1 @ x_t + b1 for x_t in x], axis=0)
        y3 = np.max([sum(f3[k] @ padded[t + k] for k in range(3)) + b3
                     for t in range(len(padded) - 2)], axis=0)
        y = np.tanh(np.concatenate([y1, y3]))
        return y + logistic(v @ y + c) * (np.maximum(w @ y + b, 0) - y)

    for word in [0, 3, 5, 2], [4]:
        assert close(layer.apply(word), expected(word))
    assert layer.spec["widths"] == [1, 3]
    with pytest.raises(IndexError):
        layer.apply([6])
    with pytest.raises(ValueError):
        layer.apply([])
    with pytest.raises(ValueError):
        dy.CharCnn(model, 6, 2, 3, widths=[])


def test_biaffine_scorer(model):
    layer, parameters = randomized(dy.BiaffineScorer(model, heads=3, dependents=2))
    heads, dependents = random(3, 4), random(2, 5, seed=1)
    hs, ds = ([dy.inputVector(v) for v in vs.T] for vs in (heads, dependents))
    shapes = sorted(p.size for p in parameters)
    assert shapes == [1, 2, 3, 6]
    product, head, dependent, bias = (next(p for p in parameters if p.size == n)
                                      for n in (6, 3, 2, 1))
    expected = (heads.T @ product.reshape(3, 2) @ dependents
                + column(head.reshape(3) @ heads) + dependent.reshape(2) @ dependents + bias)
    assert close(layer.all_pairs(hs, ds), expected)
    assert close(layer.pair(hs[1], ds[2]), expected[1, 2])
    kinds = dy.BiaffineScorer(model, 3, 2, outputs=4, dependent_bias=False)
    assert kinds.pair(hs[0], ds[0]).dim() == ((4,), 1)
    with pytest.raises(ValueError, match="all_pairs"):
        kinds.all_pairs(hs, ds)
    with pytest.raises(ValueError):
        layer.all_pairs([], ds)
    with pytest.raises(dy.ShapeError):
        layer.pair(ds[0], hs[0])


def test_label_smoothed_loss():
    dy.renew_cg()
    scores = random(4, 2)
    logs = np.log(softmax(scores))

    def expected(v, b, e):
        return -(1 - e) * logs[v, b] - e * logs[:, b].mean()

    x = dy.inputVector(scores[:, 0])
    assert close(dy.label_smoothed_loss(x, 3, 0.2), expected(3, 0, 0.2))
    batch = dy.label_smoothed_loss(dy.inputTensor(scores, batched=True), [1, 2], 0.3)
    assert close(batch, [[expected(1, 0, 0.3), expected(2, 1, 0.3)]])
    with pytest.raises(ValueError):
        dy.label_smoothed_loss(x, 3, 1.5)
    for wrong in 4, -1:
        with pytest.raises(IndexError):
            dy.label_smoothed_loss(x, wrong, 0.1)


def test_copying(model):
    layer, (w, b) = randomized(dy.CopyGate(model, 3))
    x, scores, weights = random(3), random(4, seed=1), random(3, seed=2)
    gate = layer.apply(dy.inputVector(x))
    assert close(gate, w @ x + b)
    source = [2, 5, 2]  # 5: the second word that the vocabulary has not
    g, expected = logistic(w @ x + b), np.zeros(6)
    expected[:4] = g * softmax(scores)
    for i, word in enumerate(source):
        expected[word] += ((1 - g) * softmax(weights)[i]).item()
    words = {word: number for number, word in enumerate("abcd")}
    assert dy.extend_vocabulary(words, "yczc") == ([4, 2, 5, 2], ["y", "z"])
    operands = gate, dy.inputVector(scores), dy.inputVector(weights)
    logs = dy.copy_log_distribution(*operands, source, others=2)
    assert np.allclose(np.exp(logs.npvalue()), expected, atol=1e-6)
    for word in 0, 2, 5:
        p = dy.copy_log_prob(*operands, [source], [word])
        assert p.scalar_value() == pytest.approx(np.log(expected[word]), abs=1e-5)
    with pytest.raises(ValueError):
        dy.copy_log_prob(*operands, [[]], [0])
    with pytest.raises(ValueError):
        dy.copy_log_distribution(*operands, [1, 2], 0)


def test_multi_head_attention(model):
    layer, weights = randomized(dy.MultiHeadAttention(model, 4, heads=2, memory=3))
    x, memory = random(4, 5), random(3, 6, seed=2)
    ex, em = dy.inputTensor(x), dy.inputTensor(memory)
    expected = attention(x, memory, weights, 2)
    assert close(layer.apply(ex, em), expected)
    remembered = layer.remember(em)
    assert close(layer.attend(ex, remembered), expected) and remembered.size() == 6
    assert close(remembered.keys, weights[2] @ memory + column(weights[3]))
    parts = layer.remember(layer.remember(dy.inputTensor(memory[:, :2])),
                           dy.inputTensor(memory[:, 2:]))
    assert close(layer.attend(ex, parts), expected)
    lengths = layer.apply(ex, em, key_lengths=[4])
    assert close(lengths, attention(x, memory[:, :4], weights, 2))
    causal, weights = randomized(dy.MultiHeadAttention(model, 4, heads=2, causal=True))
    assert close(causal.apply(ex), attention(x, x, weights, 2, causal=True))
    with pytest.raises(dy.ShapeError):
        layer.apply(ex)  # the memory has another size
    with pytest.raises(ValueError, match="MultiHeadAttention"):
        dy.MultiHeadAttention(model, 4, heads=3)


def test_transformer_encoder(model):
    x = random(4, 3)
    for norm_first in False, True:
        layer, parameters = randomized(
            dy.TransformerEncoder(model, 4, hidden=6, layers=2, heads=2, norm_first=norm_first))
        y = x
        assert len(parameters) == 32
        for part in parameters[:16], parameters[16:]:
            weights, (g1, c1, w1, b1, w2, b2, g2, c2) = part[:8], part[8:]

            def forward(h):
                return w2 @ np.maximum(w1 @ h + column(b1), 0) + column(b2)

            if norm_first:
                n = norm(y, g1, c1)
                h = y + attention(n, n, weights, 2)
                y = h + forward(norm(h, g2, c2))
            else:
                h = norm(y + attention(y, y, weights, 2), g1, c1)
                y = norm(h + forward(h), g2, c2)
        assert close(layer.apply(dy.inputTensor(x)), y)
        padded = np.concatenate([x, random(4, 2, seed=9)], axis=1)
        short = layer.apply(dy.inputTensor(padded), lengths=[3]).npvalue()[:, :3]
        assert np.allclose(short, y, atol=1e-4)
    with pytest.raises(dy.ShapeError, match=r"test_layers.py:\d+"):
        layer.apply(dy.inputTensor(random(3, 4)))
    for wrong in dict(layers=0), dict(memory=3), dict(heads=3), dict(activation="none"):
        with pytest.raises(ValueError):
            dy.TransformerEncoder(model, 4, 6, **wrong)


def test_transformer_decoder_goes_step_by_step(model):
    layer = dy.TransformerDecoder(model, 4, hidden=6, layers=2, heads=2, memory=3, rotary=True)
    x, memory = random(4, 5), dy.inputTensor(random(3, 6, seed=2))
    whole = layer.apply(dy.inputTensor(x), memory).npvalue()
    first = layer.start(memory)
    y, second = layer.step(first, dy.inputVector(x[:, 0]))
    assert close(y, whole[:, 0]) and (first.size(), second.size()) == (0, 1)
    rest, last = layer.step(second, dy.inputTensor(x[:, 1:]))
    assert close(rest, whole[:, 1:]) and last.size() == 5
    # Another way from the same cache: the first one stays as it was.
    other, _ = layer.step(second, dy.inputVector(x[:, 4]))
    again, _ = layer.step(second, dy.inputVector(x[:, 1]))
    assert close(again, whole[:, 1]) and not close(other, whole[:, 1])
    shorter = layer.apply(dy.inputTensor(x), memory, memory_lengths=[2]).npvalue()
    assert not np.allclose(shorter, whole, atol=1e-3)
    with pytest.raises(ValueError, match="memory"):
        layer.apply(dy.inputTensor(x))
    dy.renew_cg()
    with pytest.raises(dy.StaleExpressionError):
        layer.step(second, dy.inputVector(x[:, 1]))
    language = dy.TransformerDecoder(model, 4, 6)
    y, cache = language.step(language.start(), dy.inputTensor(x))
    assert close(y, language.apply(dy.inputTensor(x)).npvalue()) and cache.size() == 5
    with pytest.raises(ValueError, match="memory"):
        language.start(dy.inputTensor(x))


def test_gradients(model):
    words = dy.Embedding(model, 5, 4)
    characters = dy.CharCnn(model, 6, 2, 2, widths=[2, 3], highways=1)
    encoder = dy.TransformerEncoder(model, 4, 6, heads=2, relative=2, activation="gelu")
    decoder = dy.TransformerDecoder(model, 4, 6, heads=2, memory=4, rms_norm=True, rotary=True)
    scorer = dy.BiaffineScorer(model, 4, 4)
    out, gate = dy.Linear(model, 4, 5), dy.CopyGate(model, 4)
    randomized(scorer)
    memory = encoder.apply(words.apply([0, 3]) + dy.sinusoidal_positions(4, 2))
    y, cache = decoder.step(decoder.start(memory), words.apply([2]) + characters.apply([1, 2, 3]))
    y = dy.reshape(decoder.step(cache, words.apply([4]))[0], (4,))
    loss = dy.label_smoothed_loss(words.logits(y), 2, 0.1)
    loss -= dy.copy_log_prob(gate.apply(y), out.apply(y), dy.inputVector([1, 2]), [[0, 5]], [5])
    loss += dy.squared_norm(scorer.all_pairs([y, y * 2], [y]))
    report = dy.check_gradients(loss)
    assert report.ok(1e-4) and report.parameters >= 40


def test_adaptive_softmax(model):
    layer = dy.AdaptiveSoftmaxBuilder(model, rep_dim=4, num_classes=7, cutoffs=[2, 4], shrink=2.0)
    x = random(4, 2)
    batch = dy.inputTensor(x, batched=True)
    shapes = [p.shape() for p in model.parameters_list()]
    head, bias, *tails = [p.as_array() for p in model.parameters_list()]
    assert shapes == [(4, 4), (4,), (2, 4), (2, 2), (1, 4), (3, 1)]
    first = np.log(softmax(head @ x + column(bias)))
    expected = np.concatenate(
        [first[:2]] + [first[2 + i] + np.log(softmax(tails[2 * i + 1] @ tails[2 * i] @ x))
                       for i in range(2)])
    assert close(layer.full_log_distribution(batch), expected)
    assert close(layer.neg_log_softmax_batch(batch, [1, 5]), [-expected[1, 0], -expected[5, 1]])
    assert close(layer.neg_log_softmax(dy.inputVector(x[:, 0]), 3), -expected[3, 0])
    assert 0 <= layer.sample(dy.inputVector(x[:, 0])) < 7
    with pytest.raises(ValueError):
        dy.AdaptiveSoftmaxBuilder(model, 4, 7, cutoffs=[4, 2])
    with pytest.raises(ValueError, match="word 7"):
        layer.neg_log_softmax(dy.inputVector(x[:, 0]), 7)


def test_sampled_softmax(model):
    layer = dy.SampledSoftmaxBuilder(model, rep_dim=3, num_classes=5, samples=4, bias=False)
    (table,) = model.lookup_parameters_list()
    x = random(3)
    expected = np.log(softmax(table.as_array() @ x))
    assert close(layer.full_log_distribution(dy.inputVector(x)), expected)
    assert close(layer.neg_log_softmax(dy.inputVector(x), 2), -expected[2])
    # All negatives of a single class are that class; a sample of two is the class itself or the other.
    one = dy.SampledSoftmaxBuilder(model, 3, 1, samples=4, bias=False)
    u = model.lookup_parameters_list()[1].as_array()[0] @ x - math.log(4)
    expected = -math.log(logistic(u)) - 4 * math.log(logistic(-u))
    assert close(one.nce_loss(dy.inputVector(x), [0]), expected)
    two = dy.SampledSoftmaxBuilder(model, 3, 2, samples=1, weights=[3.0, 1.0], bias=False)
    u = model.lookup_parameters_list()[2].as_array() @ x - np.log([0.75, 0.25])
    losses = [two.sampled_loss(dy.inputVector(x), [0]).scalar_value() for _ in range(40)]
    found = sorted(set(np.round(losses, 4)))
    assert found == pytest.approx(sorted([0, -np.log(softmax(u)[0])]), abs=1e-4)
    with pytest.raises(ValueError):
        dy.SampledSoftmaxBuilder(model, 3, 5, weights=[1.0])


def test_images(model):
    x = random(4, 5, 2)
    layer, (g, b) = randomized(dy.ImageNorm(model, 2, epsilon=0.1))
    normed = (x - x.mean()) / np.sqrt(x.var() + 0.1)
    assert close(layer.apply(dy.inputTensor(x)), g * normed + b)
    residual = dy.ResidualConvolution(model, channels=2)
    assert close(residual.apply(dy.inputTensor(x)), np.maximum(x, 0))  # as it begins
    image = residual.param_collection().add_parameters((3, 3, 2), init="normal")
    randomized(residual)
    assert dy.check_gradients(dy.squared_norm(residual.apply(image))).ok(1e-4)
    with pytest.raises(dy.ShapeError):
        residual.apply(dy.inputTensor(random(4, 5, 3)))


def test_coverage():
    dy.renew_cg()
    coverage, weights = dy.Coverage(3), softmax(random(3, 3))
    total = np.zeros(3)
    for a in weights.T:
        assert close(coverage.vector(), total)
        loss = coverage.add(dy.inputVector(a)).scalar_value()
        assert loss == pytest.approx(np.minimum(a, total).sum(), abs=1e-6)
        total = total + a
    other = copy.copy(coverage)
    other.add(dy.inputVector([1.0, 0.0, 0.0]))
    assert close(coverage.vector(), total)
    with pytest.raises(dy.ShapeError):
        coverage.add(dy.inputVector([1.0]))
    with pytest.raises(ValueError):
        dy.Coverage(0)


LAYERS = [
    (dy.AdaptiveSoftmaxBuilder, dict(rep_dim=4, num_classes=7, cutoffs=[2, 4])),
    (dy.SampledSoftmaxBuilder, dict(rep_dim=2, num_classes=3, weights=[1.0, 2.0, 0.5])),
    (dy.ImageNorm, dict(channels=2)),
    (dy.ResidualConvolution, dict(channels=2, window=5)),
    (dy.Linear, dict(input=3, output=2)),
    (dy.Embedding, dict(words=4, size=3)),
    (dy.LayerNorm, dict(size=3, epsilon=1e-3)),
    (dy.RMSNorm, dict(size=3)),
    (dy.FeedForward, dict(size=3, hidden=4, activation="swiglu", bias=False)),
    (dy.LearnedPositions, dict(positions=4, size=3)),
    (dy.CharCnn, dict(characters=5, character_size=2, filters=2, widths=[1, 2])),
    (dy.C2WBuilder, dict(vocab_size=5, layers=1, input_dim=2, hidden_dim=4)),
    (dy.BiaffineScorer, dict(heads=2, dependents=3, outputs=2)),
    (dy.CopyGate, dict(size=3)),
    (dy.MultiHeadAttention, dict(size=4, heads=2, relative=3)),
    (dy.TransformerEncoder, dict(size=4, hidden=5, layers=2, final_norm=True)),
    (dy.TransformerDecoder, dict(size=4, hidden=5, memory=3, rms_norm=True)),
    (dy.StackLSTM, dict(layers=1, input=2, hidden=3)),
    (dy.ChildSumTreeLSTMBuilder, dict(layers=1, input_dim=2, hidden_dim=3)),
    (dy.NaryTreeLSTMBuilder, dict(layers=1, input_dim=2, hidden_dim=3, children=2)),
    (dy.UnidirectionalTreeLSTMBuilder, dict(layers=1, input_dim=2, hidden_dim=2)),
    (dy.BidirectionalTreeLSTMBuilder, dict(layers=1, input_dim=2, hidden_dim=2)),
    (dy.SemiCrf, dict(labels=2, longest=3)),
]


@pytest.mark.parametrize("kind, settings", LAYERS, ids=[kind.__name__ for kind, _ in LAYERS])
def test_layers_are_saved(kind, settings, model, tmp_path):
    layer = kind(model, **settings)
    assert settings.items() <= layer.spec.items()
    assert kind.from_spec(layer.spec, dy.ParameterCollection()).spec == layer.spec
    collection = layer.param_collection()
    collection.save(str(tmp_path / "values"))
    fresh = kind(dy.ParameterCollection(), **settings).param_collection()
    fresh.populate(str(tmp_path / "values"))
    dy.save(str(tmp_path / "layers"), [layer])
    (loaded,) = dy.load(str(tmp_path / "layers"), dy.ParameterCollection())
    assert type(loaded) is kind and loaded.spec == layer.spec
    for other in fresh, loaded.param_collection():
        for find in "parameters_list", "lookup_parameters_list":
            before, after = getattr(collection, find)(), getattr(other, find)()
            assert len(before) == len(after)
            assert all(np.array_equal(p.as_array(), q.as_array()) for p, q in zip(before, after))
    assert len(collection) > 0


def test_a_layer_is_called_as_its_apply_is(model):
    sentence, x = [2, 0, 1], random(4, 3)
    layers = [(dy.Linear(model, 4, 2), x), (dy.LayerNorm(model, 4), x), (dy.RMSNorm(model, 4), x),
              (dy.FeedForward(model, 4, 5), x), (dy.MultiHeadAttention(model, 4, heads=2), x),
              (dy.TransformerEncoder(model, 4, 5), x), (dy.TransformerDecoder(model, 4, 5), x),
              (dy.CopyGate(model, 4), x[:, 0]), (dy.ImageNorm(model, 1), x[:, :, np.newaxis]),
              (dy.Embedding(model, 3, 2), sentence), (dy.LearnedPositions(model, 3, 2), 3),
              (dy.CharCnn(model, 3, 2, 2), sentence)]
    for layer, operand in layers:
        if isinstance(operand, np.ndarray):
            operand = dy.inputTensor(operand)
        assert np.array_equal(layer(operand).npvalue(), layer.apply(operand).npvalue())


def test_a_layer_enters_each_graph_once(model):
    layer = dy.Linear(model, 3, 2)
    with dy.graph() as cg:
        x = dy.inputVector([1, 2, 3])
        layer.apply(x)
        nodes = len(cg)
        layer.apply(x)
        assert len(cg) == nodes + 1
        with dy.graph():
            inside = layer.apply(dy.inputVector([1, 2, 3])).npvalue()
        assert close(layer.apply(x), inside)
    dy.renew_cg()
    assert close(layer.apply(dy.inputVector([1, 2, 3])), inside)


def test_parameters_without_update_get_no_gradient(model):
    fixed, trained = dy.Linear(model, 3, 2, bias=False), dy.Linear(model, 2, 1, bias=False)
    fixed.new_graph(update=False)
    dy.squared_norm(trained.apply(fixed.apply(dy.inputVector([1, 2, 3])))).backward()
    without, with_gradient = (layer.param_collection().parameters_list()[0].grad_as_array()
                              for layer in (fixed, trained))
    assert not without.any() and with_gradient.any()


def test_copies_share_parameters(model):
    layer = dy.TransformerDecoder(model, 4, 6)
    other = copy.copy(layer)
    x = random(4, 3)
    here = layer.apply(dy.inputTensor(x)).npvalue()
    with dy.graph():
        there = other.apply(dy.inputTensor(x)).npvalue()
    assert np.array_equal(here, there)
    assert close(layer.apply(dy.inputTensor(x)), here)
