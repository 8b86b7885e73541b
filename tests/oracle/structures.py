"""Sums over sequences, segments, trees and alignments, as PyTorch computes them.

A structure is given by the log of its sum, from which automatic differentiation makes the rest: of the
log partition function log Z of scores x the gradient is the probability of each use of a score, and the
entropy is log Z - sum x dlogZ/dx. Small sums are over all structures, one by one.
"""

import itertools


def structures(torch, F, add):
    def answers(name, shapes, log_z, log_prob, settings=(), truth=()):
        """Cases of the four questions; batch elements are computed one by one."""

        def elements(f):
            def compute(*xs):
                batch = max(x.shape[-1] for x in xs)
                return torch.stack([f(b, *(x[..., min(b, x.shape[-1] - 1)] for x in xs))
                                    for b in range(batch)], -1)  # fmt: skip

            return compute

        def gradients(xs):
            xs = [x if x.requires_grad else x.requires_grad_() for x in xs]
            z = log_z(*xs)
            return z, torch.autograd.grad(z, xs, create_graph=True)

        def entropy(b, *xs):
            z, slopes = gradients(xs)
            return (z - sum((x * d).sum() for x, d in zip(xs, slopes))).reshape(1)

        all_cases = {
            "log_partition": (lambda b, *xs: log_z(*xs).reshape(1), settings),
            "log_prob": (lambda b, *xs: log_prob(b, *xs).reshape(1), [*settings, *truth]),
            "marginals": (lambda b, *xs: gradients(xs)[1][0], settings),
            "entropy": (entropy, settings),
        }
        for question, (f, given) in all_cases.items():
            add(f"{name}_{question}", shapes, elements(f), given)

    chains(torch, answers, add)
    segments(torch, answers)
    spans(torch, answers)
    dependencies(torch, answers)
    alignments(torch, F, add)


def chains(torch, answers, add):
    tags, words, batch = 4, 6, 3
    given = [[0, 3, 3, 1, 0, 2], [1, 1, 1, 1, 1, 1], [2, 0, 3, 2, 1, 0]]

    def log_z(emissions, transitions, start, stop):
        ways = start + emissions[:, 0]
        for t in range(1, emissions.shape[1]):
            ways = (ways[:, None] + transitions).logsumexp(0) + emissions[:, t]
        return (ways + stop).logsumexp(0)

    def log_prob(b, emissions, transitions, start, stop):
        y = given[b]
        score = start[y[0]] + stop[y[-1]] + sum(emissions[k, t] for t, k in enumerate(y))
        score = score + sum(transitions[j, k] for j, k in zip(y, y[1:]))
        return score - log_z(emissions, transitions, start, stop)

    shapes = [(tags, words, batch), (tags, tags, 1), (tags, 1), (tags, 1)]
    flat = [k for y in given for k in y]
    answers("crf", shapes, log_z, log_prob, truth=flat)

    try:
        import torchcrf
    except ImportError:
        return

    def with_package(emissions, transitions, start, stop):
        crf = torchcrf.CRF(tags)
        for name, value in (("transitions", transitions[..., 0]), ("start_transitions", start[:, 0]),
                            ("end_transitions", stop[:, 0])):  # fmt: skip
            delattr(crf, name)
            setattr(crf, name, value)
        y = torch.tensor(given).T
        return crf(emissions.permute(1, 2, 0), y, reduction="none").unsqueeze(0)

    add("crf_log_prob", shapes, with_package, flat)


def segments(torch, answers):
    labels, longest, words, batch = 3, 4, 6, 2
    # Labels and lengths.
    given = [[(2, 1), (0, 4), (0, 1)], [(1, 3), (1, 2), (2, 1)]]

    def log_z(scores, transitions, start, stop):
        ends = []
        for t in range(words):
            ways = []
            for n in range(1, min(longest, t + 1) + 1):
                before = start if n == t + 1 else (ends[t - n][:, None] + transitions).logsumexp(0)
                ways.append(before + scores[(n - 1) * labels : n * labels, t])
            ends.append(torch.stack(ways).logsumexp(0))
        return (ends[-1] + stop).logsumexp(0)

    def log_prob(b, scores, transitions, start, stop):
        y, end = given[b], -1
        score = start[y[0][0]] + stop[y[-1][0]]
        for k, n in y:
            end += n
            score = score + scores[(n - 1) * labels + k, end]
        score = score + sum(transitions[j[0], k[0]] for j, k in zip(y, y[1:]))
        return score - log_z(scores, transitions, start, stop)

    shapes = [(labels * longest, words, batch), (labels, labels, 1), (labels, 1), (labels, 1)]
    answers("semi_crf", shapes, log_z, log_prob, truth=[n for y in given for s in y for n in s])


def spans(torch, answers):
    words, labels = 5, 3
    # First and last word, label.
    given = [(0, 4, 2), (0, 1, 0), (0, 0, 1), (1, 1, 1), (2, 4, 2), (2, 3, 0), (2, 2, 0), (3, 3, 2), (4, 4, 1)]

    def log_z(scores):
        inside = {}
        for width in range(1, words + 1):
            for i in range(words - width + 1):
                j = i + width - 1
                inside[i, j] = scores[i, j].logsumexp(0)
                if width > 1:
                    ways = [inside[i, m] + inside[m + 1, j] for m in range(i, j)]
                    inside[i, j] = inside[i, j] + torch.stack(ways).logsumexp(0)
        return inside[0, words - 1]

    def log_prob(b, scores):
        return sum(scores[span] for span in given) - log_z(scores)

    answers("span", [(words, words, labels, 1)], log_z, log_prob, truth=[n for s in given for n in s])


def is_tree(heads, projective, single_root):
    """Of words 1 to n, each with a head."""
    for d in range(1, len(heads) + 1):
        h, steps = d, 0
        while h and steps <= len(heads):
            h, steps = heads[h - 1], steps + 1
        if h:
            return False
    if single_root and heads.count(0) != 1:
        return False

    def cross(a, b):
        return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]

    arcs = [(min(h, d), max(h, d)) for d, h in enumerate(heads, 1)]
    return not (projective and any(cross(a, b) for a, b in itertools.combinations(arcs, 2)))


def dependencies(torch, answers):
    def one_by_one(n, projective, single_root):
        trees = [heads for heads in itertools.product(range(n + 1), repeat=n)
                 if is_tree(heads, projective, single_root)]  # fmt: skip
        heads = torch.tensor(trees)
        return lambda arcs: arcs[heads, torch.arange(1, n + 1)].sum(1).logsumexp(0)

    def by_determinant(n, single_root):
        def log_z(arcs):
            words = arcs[1:, 1:].exp() * (1 - torch.eye(n, dtype=arcs.dtype))
            root = arcs[0, 1:].exp()
            if single_root:  # Koo, Globerson, Carreras, Collins 2007
                laplacian = torch.cat([root[None], (torch.diag(words.sum(0)) - words)[1:]])
            else:
                laplacian = torch.diag(words.sum(0) + root) - words
            return torch.logdet(laplacian)

        return log_z

    def compare(n, given, log_z, projective, single_root):
        def log_prob(b, arcs):
            return sum(arcs[h, d] for d, h in enumerate(given, 1)) - log_z(arcs)

        answers("dependency", [(n + 1, n + 1, 1)], log_z, log_prob, [projective, single_root], given)

    for single_root in (1, 0):
        for projective in (1, 0):
            compare(4, [2, 0, 4, 2], one_by_one(4, projective, single_root), projective, single_root)
        compare(9, [2, 0, 6, 2, 3, 2, 6, 4, 2], by_determinant(9, single_root), 0, single_root)


def alignments(torch, F, add):
    symbols, batch = 4, 2

    def loss(labels, frames):
        def compute(x):
            scores = x.log_softmax(0).permute(1, 2, 0)
            sizes = [torch.full((batch,), n, dtype=torch.long) for n in (frames, len(labels[0]))]
            return F.ctc_loss(scores, torch.tensor(labels), *sizes, reduction="none").unsqueeze(0)

        return compute

    for frames, labels in ((7, [[1, 1, 3], [2, 3, 2]]), (30, [[3, 3, 2, 1, 1, 3, 2], [1, 2, 3, 1, 2, 3, 1]])):
        add("ctc_loss", [(symbols, frames, batch)], loss(labels, frames), [k for y in labels for k in y])

    def sums(labels, frames):
        """The log of the sum over all alignments of one utterance, one by one."""

        def spelled(way):
            return [k for k, _ in itertools.groupby(way) if k != 0]

        ways = [w for w in itertools.product(range(symbols), repeat=frames) if spelled(w) == labels]
        ways = torch.tensor(ways)
        return lambda scores: scores[ways, torch.arange(frames)].sum(1).logsumexp(0)

    frames, labels = 5, [[2, 2], [1, 3]]

    def differentiated(x, use):
        results = []
        for b, y in enumerate(labels):
            scores = x[..., b].log_softmax(0)
            z = sums(y, frames)(scores)
            (shares,) = torch.autograd.grad(z, [scores], create_graph=True)
            results.append(use(z, scores, shares))
        return torch.stack(results, -1)

    flat = [k for y in labels for k in y]
    add("ctc_alignment", [(symbols, frames, batch)],
        lambda x: differentiated(x, lambda z, scores, shares: shares), flat)  # fmt: skip
    add("ctc_entropy", [(symbols, frames, batch)],
        lambda x: differentiated(x, lambda z, scores, shares: (z - (scores * shares).sum()).reshape(1)),
        flat)  # fmt: skip
