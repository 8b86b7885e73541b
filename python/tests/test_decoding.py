"""CRF layers and decoders against sums over everything that they choose from."""

import copy
import gc
import itertools
import math
import weakref

import numpy as np
import pytest

import dynet as dy


@pytest.fixture
def model():
    dy.renew_cg()
    return dy.ParameterCollection()


def randomize(model, seed):
    random = np.random.RandomState(seed)
    for p in model.parameters_list():
        p.set_value(random.normal(size=p.shape()))


def log_sum(scores):
    return float(np.logaddexp.reduce(list(scores)))


def chain_score(tags, scores, transitions, start, stop):
    total = start[tags[0]] + stop[tags[-1]] + sum(scores[y, t] for t, y in enumerate(tags))
    return total + sum(transitions[a, b] for a, b in zip(tags, tags[1:]))


@pytest.fixture
def chain(model):
    crf = dy.ChainCrf(model, 3)
    randomize(model, 1)
    parts = [p.as_array() for p in model.parameters_list()]
    scores = np.random.RandomState(2).normal(size=(3, 4))
    all_scores = {y: chain_score(y, scores, *parts)
                  for y in itertools.product(range(3), repeat=4)}
    return crf, dy.inputTensor(scores), all_scores


def test_chain_crf_sums_over_all_sequences(chain):
    crf, scores, all_scores = chain
    log_z = log_sum(all_scores.values())
    assert crf.log_partition(scores).scalar_value() == pytest.approx(log_z, abs=1e-5)
    tags = (2, 0, 1, 1)
    assert crf.log_prob(scores, tags).scalar_value() == pytest.approx(
        all_scores[tags] - log_z, abs=1e-5)
    partly = log_sum(s for y, s in all_scores.items() if y[0] == 2 and y[3] == 1)
    assert crf.log_prob(scores, [2, -1, -1, 1]).scalar_value() == pytest.approx(
        partly - log_z, abs=1e-5)
    marginals = np.zeros((3, 4))
    for y, s in all_scores.items():
        marginals[y, range(4)] += math.exp(s - log_z)
    assert np.allclose(crf.marginals(scores).npvalue(), marginals, atol=1e-5)
    entropy = -sum((s - log_z) * math.exp(s - log_z) for s in all_scores.values())
    assert crf.entropy(scores).scalar_value() == pytest.approx(entropy, abs=1e-4)


def test_chain_crf_finds_the_best_of_all_sequences(chain):
    crf, scores, all_scores = chain
    ranked = sorted(all_scores, key=all_scores.get, reverse=True)
    assert crf.best(scores) == list(ranked[0])
    found = crf.best(scores, 5)
    assert [tuple(tags) for tags, _ in found] == ranked[:5]
    assert [s for _, s in found] == pytest.approx([all_scores[y] for y in ranked[:5]], abs=1e-5)
    assert len(crf.best(scores, 1000)) == 81
    probability = math.exp(all_scores[ranked[0]] - log_sum(all_scores.values()))
    drawn = [tuple(crf.sample(scores, key)) for key in range(2000)]
    assert drawn.count(ranked[0]) / 2000 == pytest.approx(probability, abs=0.05)
    assert crf.sample(scores, 7) == list(drawn[7])


def test_constraints_of_a_scheme_are_kept(model):
    names = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    follows, begins, ends = allowed = dy.tag_constraints("bio", names)
    assert begins == [True, True, False, True, False] and ends == [True] * 5
    assert follows == [[b[0] != "I" or a[1:] == b[1:] for b in names] for a in names]
    crf = dy.ChainCrf(model, 5, allowed)
    values = np.zeros((5, 3))
    values[2] = 5  # I-X, which nothing but a B-X may come before
    values[3, 0] = 4
    scores = dy.inputTensor(values)
    assert [names[y] for y in crf.best(scores)] == ["B-X", "I-X", "I-X"]
    assert len(crf.best(scores, 1000)) == sum(
        begins[y[0]] and all(follows[a][b] for a, b in zip(y, y[1:]))
        for y in itertools.product(range(5), repeat=3))
    assert crf.log_prob(scores, [2, 2, 2]).scalar_value() == -math.inf
    assert dy.tag_constraints("bmes", ["B", "M", "E", "S"])[2] == [False, False, True, True]
    for scheme, tags in ("bio", ["X-B"]), ("none", ["O"]), ("bmes", ["O"]):
        with pytest.raises(ValueError, match="tag_constraints"):
            dy.tag_constraints(scheme, tags)


def test_chain_crf_refuses(chain, model):
    crf, scores, _ = chain
    with pytest.raises(ValueError, match=r"3 tags.*\{4,3\}(.|\n)*test_decoding.py:\d+"):
        crf.best(dy.inputTensor(np.zeros((4, 3))))
    with pytest.raises(ValueError, match="one sequence"):
        crf.sample(dy.inputTensor(np.zeros((3, 4, 2)), batched=True), 1)
    with pytest.raises(dy.ShapeError):
        crf.log_partition(dy.inputTensor(np.zeros((4, 3))))
    with pytest.raises(IndexError):
        crf.log_prob(scores, [0, 1, 3, 0])
    with pytest.raises(IndexError):
        crf.log_prob(scores, [0, 1, -2, 0])
    count = len(model)
    with pytest.raises(ValueError, match="tag"):
        dy.ChainCrf(model, 0)
    with pytest.raises(ValueError, match="constraints"):
        dy.ChainCrf(model, 3, dy.tag_constraints("bio", ["O", "B"]))
    with pytest.raises(ValueError, match="allowed"):
        dy.ChainCrf(model, 2, ([[True], [True]], [True, True], [True, True]))
    assert len(model) == count


def test_gradients_of_crf_layers(model):
    scores = model.add_parameters((3, 4), init="normal")
    crf = dy.ChainCrf(model, 3)
    semi = dy.SemiCrf(model, labels=1, longest=3)
    randomize(model, 3)
    report = dy.check_gradients(
        crf.entropy(scores) - crf.log_prob(scores, [0, 2, -1, 1])
        - semi.log_prob(scores, [(0, 1), (0, 3)]))
    assert report.ok() and report.parameters == 7


def test_a_crf_learns(model):
    table = dy.Embedding(model, words=4, size=3)
    crf = dy.ChainCrf(model, 3)
    trainer = dy.SimpleSGDTrainer(model, 0.5)
    words, tags = [0, 1, 2, 3], [2, 1, 1, 0]
    for _ in range(60):
        dy.renew_cg()
        loss = -crf.log_prob(table.apply(words), tags)
        loss.backward()
        trainer.update()
    assert loss.scalar_value() < 0.1 and crf.best(table.apply(words)) == tags


def segmentations(length, longest):
    if length == 0:
        yield ()
    for first in range(1, min(longest, length) + 1):
        for rest in segmentations(length - first, longest):
            yield first, *rest


def test_semi_crf_against_all_segmentations(model):
    labels, longest, length = 2, 2, 4
    crf = dy.SemiCrf(model, labels, longest)
    randomize(model, 4)
    transitions, start, stop = (p.as_array() for p in model.parameters_list())
    scores = np.random.RandomState(5).normal(size=(labels * longest, length))
    all_scores = {}
    for lengths in segmentations(length, longest):
        for ys in itertools.product(range(labels), repeat=len(lengths)):
            ends = np.cumsum(lengths) - 1
            total = start[ys[0]] + stop[ys[-1]]
            total += sum(scores[(l - 1) * labels + y, t] for y, l, t in zip(ys, lengths, ends))
            total += sum(transitions[a, b] for a, b in zip(ys, ys[1:]))
            all_scores[tuple(zip(ys, lengths))] = total
    x = dy.inputTensor(scores)
    log_z = log_sum(all_scores.values())
    ranked = sorted(all_scores, key=all_scores.get, reverse=True)
    assert crf.log_partition(x).scalar_value() == pytest.approx(log_z, abs=1e-5)
    assert crf.log_prob(x, ranked[3]).scalar_value() == pytest.approx(
        all_scores[ranked[3]] - log_z, abs=1e-5)
    assert crf.best(x) == list(ranked[0])
    assert [tuple(s) for s, _ in crf.best(x, 6)] == ranked[:6]
    assert tuple(crf.sample(x, 1)) in all_scores and len(crf.best(x, 1000)) == len(all_scores)
    with pytest.raises(ValueError):
        crf.log_prob(x, [(0, 2), (1, 1)])
    with pytest.raises(ValueError, match="a word"):
        dy.SemiCrf(model, 2, 0)


def is_tree(heads):
    for word in range(1, len(heads) + 1):
        steps, head = 0, word
        while head and steps <= len(heads):
            head, steps = heads[head - 1], steps + 1
        if head:
            return False
    return True


def is_projective(heads):
    arcs = [(min(h, d), max(h, d)) for d, h in enumerate(heads, 1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("single_root", [True, False])
def test_dependency_trees_against_all_trees(projective, single_root):
    dy.renew_cg()
    n = 4
    arcs = np.random.RandomState(6).normal(size=(n + 1, n + 1))
    trees = {}
    for heads in itertools.product(range(n + 1), repeat=n):
        if (is_tree(heads) and (not projective or is_projective(heads))
                and (not single_root or heads.count(0) == 1)):
            trees[heads] = sum(arcs[h, d] for d, h in enumerate(heads, 1))
    ranked = sorted(trees, key=trees.get, reverse=True)
    x = dy.inputTensor(arcs)
    rules = dict(projective=projective, single_root=single_root)
    assert dy.best_tree(x, **rules) == list(ranked[0])
    found = dy.best_trees(x, 7, **rules)
    assert [tuple(heads) for heads, _ in found] == ranked[:7]
    assert [s for _, s in found] == pytest.approx([trees[t] for t in ranked[:7]], abs=1e-5)
    assert len(dy.best_trees(x, 10000, **rules)) == len(trees)
    drawn = [tuple(dy.sample_tree(x, key, **rules)) for key in range(1000)]
    assert set(drawn) <= set(trees) and drawn[3] == tuple(dy.sample_tree(x, 3, **rules))
    probability = math.exp(trees[ranked[0]] - log_sum(trees.values()))
    assert drawn.count(ranked[0]) / 1000 == pytest.approx(probability, abs=0.06)


def test_dependency_trees_refuse():
    dy.renew_cg()
    with pytest.raises(ValueError, match=r"\{n\+1,n\+1\}, got \{3,4\}(.|\n)*test_decoding.py:\d+"):
        dy.best_tree(dy.inputTensor(np.zeros((3, 4))))
    with pytest.raises(ValueError, match="one sentence"):
        dy.best_trees(dy.inputTensor(np.zeros((3, 3, 2)), batched=True), 2)
    assert dy.best_tree(dy.inputTensor(np.full((3, 3), -np.inf))) == []


def span_trees(first, last, labels):
    for label in range(labels):
        if first == last:
            yield [(first, last, label)]
        for middle in range(first, last):
            for left in span_trees(first, middle, labels):
                for right in span_trees(middle + 1, last, labels):
                    yield [(first, last, label), *left, *right]


def test_span_trees_against_all_trees():
    dy.renew_cg()
    scores = np.random.RandomState(7).normal(size=(3, 3, 2))
    trees = {tuple(t): sum(scores[s] for s in t) for t in span_trees(0, 2, 2)}
    ranked = sorted(trees, key=trees.get, reverse=True)
    x = dy.inputTensor(scores)
    assert dy.best_span_tree(x) == list(ranked[0])
    found = dy.best_span_trees(x, 9)
    assert [tuple(t) for t, _ in found] == ranked[:9]
    assert [s for _, s in found] == pytest.approx([trees[t] for t in ranked[:9]], abs=1e-5)
    assert len(dy.best_span_trees(x, 1000)) == len(trees) == 64
    assert tuple(dy.sample_span_tree(x, 5)) in trees
    # The result of the decoder is an argument of the operation.
    log_p = dy.span_log_prob(x, dy.best_span_tree(x)).scalar_value()
    assert log_p == pytest.approx(trees[ranked[0]] - log_sum(trees.values()), abs=1e-5)
    with pytest.raises(ValueError, match="spans"):
        dy.best_span_tree(dy.inputTensor(np.zeros((3, 2))))


def collapse(symbols):
    return tuple(s for s, _ in itertools.groupby(symbols) if s != 0)


@pytest.fixture
def utterance():
    dy.renew_cg()
    log_probs = np.log(np.random.RandomState(8).dirichlet([1, 1, 1], 4).T)
    paths = {p: sum(log_probs[s, t] for t, s in enumerate(p))
             for p in itertools.product(range(3), repeat=4)}
    return dy.inputTensor(log_probs), paths


def test_ctc_against_all_alignments(utterance):
    x, paths = utterance
    labels = {}
    for path, s in paths.items():
        labels[collapse(path)] = np.logaddexp(labels.get(collapse(path), -np.inf), s)
    ranked = sorted(labels, key=labels.get, reverse=True)
    decoder = dy.CtcDecoder()
    assert decoder.best(x) == list(ranked[0])
    found = decoder.best(x, 4)
    assert [tuple(y) for y, _ in found] == ranked[:4]
    assert [s for _, s in found] == pytest.approx([labels[y] for y in ranked[:4]], abs=1e-5)
    best_path = max(paths, key=paths.get)
    assert decoder.greedy(x) == list(collapse(best_path)) == dy.ctc_collapse(best_path)
    wanted = max((p for p in paths if collapse(p) == (2, 1)), key=paths.get)
    assert decoder.align(x, [2, 1]) == (list(wanted), pytest.approx(paths[wanted], abs=1e-5))
    assert decoder.align(x, [1] * 4) == ([], -math.inf)
    drawn = [tuple(decoder.sample(x, key)) for key in range(1000)]
    assert drawn.count(ranked[0]) / 1000 == pytest.approx(math.exp(labels[ranked[0]]), abs=0.06)
    assert dy.ctc_collapse([2, 2, 0, 2, 1], blank=1) == [2, 0, 2]


def test_ctc_with_a_language_model(utterance):
    x, _ = utterance
    plain = dict((tuple(y), s) for y, s in dy.CtcDecoder().best(x, 1000))
    decoder = dy.CtcDecoder(extend=lambda prefix, label: -0.5 * label - 0.1 * len(prefix),
                            finish=lambda labels: 3.0 * (len(labels) == 2))
    for labels, score in decoder.best(x, 1000):
        expected = plain[tuple(labels)] - sum(0.5 * y + 0.1 * i for i, y in enumerate(labels))
        assert score == pytest.approx(expected + 3.0 * (len(labels) == 2), abs=1e-5)
    failing = dy.CtcDecoder(extend=lambda prefix, label: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        failing.best(x)
    with pytest.raises(ValueError, match=r"number(.|\n)*test_decoding.py:\d+"):
        dy.CtcDecoder(finish=lambda labels: None).best(x)
    with pytest.raises(ValueError, match="label 0"):
        decoder.align(x, [0])
    with pytest.raises(ValueError, match="blank 3"):
        dy.CtcDecoder(blank=3).greedy(x)


def test_decoders_are_collected_with_what_they_call():
    class Model:
        def __init__(self):
            self.decoder = dy.CtcDecoder(extend=self.score, finish=lambda labels: self.score)

        def score(self, prefix, label):
            return 0.0

    model = Model()
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def bigrams(size, seed):
    return np.log(np.random.RandomState(seed).dirichlet([1] * size, size))


def test_beam_search_finds_the_best_of_all_sequences():
    dy.renew_cg()
    table, longest = bigrams(4, 9), 4  # token 0 begins and ends

    def step(state, last):
        return dy.inputVector(table[last]), state + [last]

    everything = {}
    for length in range(longest + 1):
        for tokens in itertools.product(range(1, 4), repeat=length):
            path = (0, *tokens, 0)
            everything[tokens] = sum(table[a, b] for a, b in zip(path, path[1:]))
    ranked = sorted(everything, key=everything.get, reverse=True)
    (found,) = dy.beam_search([[]], step, width=200, n=5, max_length=longest)
    assert [h.tokens for h in found] == [list(y) for y in ranked[:5]]
    expected = [everything[y] for y in ranked[:5]]
    assert [h.log_prob for h in found] == pytest.approx(expected, abs=1e-5)
    assert all(h.state == [0, *h.tokens] and h.score == h.log_prob for h in found)

    def normalized(y):
        return everything[y] / (len(y) + 1) ** 0.5 - 0.7 * (1 in y)

    (found,) = dy.beam_search([[]], step, width=200, n=3, max_length=longest, min_length=1,
                              normalization="power", alpha=0.5,
                              penalty=lambda state: -0.7 * (1 in state))
    ranked = sorted((y for y in everything if y), key=normalized, reverse=True)
    assert [h.tokens for h in found] == [list(y) for y in ranked[:3]]
    assert [h.score for h in found] == pytest.approx([normalized(y) for y in ranked[:3]], abs=1e-5)
    two = dy.beam_search([[], []], step, width=50, prefixes=[[3], [2, 1]], max_lengths=[3, 4])
    assert two[0][0].tokens[:1] == [3] and two[1][0].tokens[:2] == [2, 1]


def test_beam_search_refuses():
    dy.renew_cg()

    def step(state, last):
        return dy.inputVector([-1.0, -1.0]), state

    for wrong in (dict(width=0), dict(n=9), dict(normalization="log"), dict(alpha=-1),
                  dict(min_length=3, max_length=2), dict(end=2), dict(penalty=lambda s: 1.0)):
        with pytest.raises(ValueError, match="beam_search"):
            dy.beam_search([0], step, **wrong)
    with pytest.raises(ValueError, match="gives"):
        dy.beam_search([0], lambda state, last: dy.inputVector([-1.0, -1.0]))
    with pytest.raises(ValueError, match="expression"):
        dy.beam_search([0], lambda state, last: (-1.0, state))
    with pytest.raises(ValueError, match="number"):
        dy.beam_search([0], step, penalty=lambda state: "none")
    with pytest.raises(ZeroDivisionError):
        dy.beam_search([0], lambda state, last: 1 / 0)
    assert dy.beam_search([], step) == []


def test_sequences_are_drawn_with_their_probability():
    dy.renew_cg()
    table = bigrams(3, 11)

    def step(state, last):
        return dy.inputVector(table[last]), state + [last]

    keys = list(range(3000))
    drawn = dy.sample_sequences([[] for _ in keys], step, keys)
    for tokens in [], [1], [2, 1]:
        path = [0, *tokens, 0]
        log_p = sum(table[a, b] for a, b in zip(path, path[1:]))
        found = [s for s in drawn if s.tokens == tokens]
        assert len(found) / len(keys) == pytest.approx(math.exp(log_p), abs=0.04)
        assert all(s.log_prob == pytest.approx(log_p, abs=1e-5) and s.ended for s in found)
    again = dy.sample_sequences([[]], step, [17])[0]
    assert again.tokens == drawn[17].tokens and again.state == [0, *again.tokens]
    greedy = dy.sample_sequences([[]], step, [1], temperature=0.0, max_length=4)[0]
    last = 0
    for token in greedy.tokens:
        assert token == table[last].argmax()
        last = token
    assert len(greedy.tokens) == 4 or table[last].argmax() == 0
    assert dy.sample_sequences([[]], step, [5], top_k=1, max_length=4)[0].tokens == greedy.tokens
    for wrong in dict(keys=[1, 2]), dict(temperature=-1.0), dict(top_p=0.0), dict(end=3):
        with pytest.raises(ValueError, match="sampl"):
            dy.sample_sequences([[]], step, **{"keys": [1], **wrong})


def test_layers_are_saved_and_copied(chain, model, tmp_path):
    crf, scores, _ = chain
    other = copy.copy(crf)
    with dy.graph():
        there = other.best(dy.inputTensor(scores.npvalue()), 3)
    assert there == crf.best(scores, 3) and len(model.parameters_list()) == 3
    limited = dy.ChainCrf(model, 3, dy.tag_constraints("bmes", ["B", "E", "S"]))
    randomize(model, 10)
    dy.save(str(tmp_path / "crfs"), [crf, limited])
    loaded = dy.load(str(tmp_path / "crfs"), dy.ParameterCollection())
    for before, after in zip([crf, limited], loaded):
        assert before.spec == after.spec and type(after) is dy.ChainCrf
        dy.renew_cg()
        x = dy.inputTensor(np.random.RandomState(2).normal(size=(3, 4)))
        assert before.best(x, 9) == after.best(x, 9)
