"""Losses over words: adaptive softmax, smoothed labels, copied words."""


def softmaxes(torch, F, add):
    def adaptive(size, classes, cutoffs, words):
        tails = [b - a for a, b in zip(cutoffs, [*cutoffs[1:], classes])]
        reduced = [size // 2 ** (k + 1) for k in range(len(tails))]
        shapes = [(size, 3), (cutoffs[0] + len(cutoffs), size, 1), (cutoffs[0] + len(cutoffs), 1)]
        for d, n in zip(reduced, tails):
            shapes += [(d, size, 1), (n, d, 1)]

        def module(given):
            given = iter(given)
            names = ["head.weight", "head.bias"] + [f"tail.{k}.{j}.weight" for k in range(len(tails)) for j in (0, 1)]
            named = {name: next(given)[..., 0] for name in names}
            layer = torch.nn.AdaptiveLogSoftmaxWithLoss(size, classes, cutoffs, div_value=2.0, head_bias=True).double()
            call = getattr(torch, "func", torch.nn.utils.stateless).functional_call
            return layer, named, call

        def loss(x, *given):
            layer, named, call = module(given)
            return -call(layer, named, (x.T, torch.tensor(words))).output[None]

        class Distribution(torch.nn.Module):  # `log_prob` is no `forward`
            def __init__(self, layer):
                super().__init__()
                self.layer = layer

            def forward(self, x):
                return self.layer.log_prob(x)

        def distribution(x, *given):
            layer, named, call = module(given)
            return call(Distribution(layer), {f"layer.{k}": v for k, v in named.items()}, (x.T,)).T

        settings = [classes, len(cutoffs), *cutoffs]
        add("adaptive_distribution", shapes, distribution, settings)
        add("adaptive_loss", shapes, loss, [*settings, *words])

    adaptive(8, 20, [5, 12], [3, 19, 7])
    adaptive(6, 9, [4], [8, 0, 3])
    adaptive(8, 15, [2, 3, 9], [2, 8, 14])

    for smoothing in (0.125, 0.5):
        add("label_smoothed_loss", [(6, 3)],
            lambda x, e=smoothing: F.cross_entropy(x.T, torch.tensor([2, 0, 5]), label_smoothing=e,
                                                   reduction="none")[None],
            [smoothing, 2, 0, 5])  # fmt: skip

    words, others, length = 5, 2, 4
    sources = [[3, 6, 0, 3], [5, 5, 2, 1], [4, 6, 5, 6]]

    def mixture(z, x, a, b, source):
        g, p = torch.sigmoid(z[0, b]), torch.zeros(words + others, dtype=x.dtype)
        p = torch.cat([g * torch.softmax(x[:, b], 0), p[words:]])
        return p.index_add(0, torch.tensor(source), (1 - g) * torch.softmax(a[:, b], 0)).log()

    shapes = [(1, 3), (words, 3), (length, 3)]
    for targets in ([3, 5, 6], [1, 2, 0]):
        add("copy_log_prob", shapes,
            lambda z, x, a, t=targets: torch.stack([mixture(z, x, a, b, sources[b])[t[b]] for b in range(3)])[None],
            targets + sum(sources, []))  # fmt: skip
    add("copy_log_distribution", shapes,
        lambda z, x, a: torch.stack([mixture(z, x, a, b, [5, 6, 3, 5]) for b in range(3)], -1),
        [others, 5, 6, 3, 5])  # fmt: skip
