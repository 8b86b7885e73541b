"""Transformers, as PyTorch's modules compute them.

Operands are inputs and then the parameters in the library's order, which are given to PyTorch's module by
its names, so that gradients reach them.
"""


def transformers(torch, add):
    # So that float does as well.
    small = {"low": -0.8, "high": 0.8}
    call = getattr(torch, "func", torch.nn.utils.stateless).functional_call

    def run(module, named, *inputs, **options):
        inputs = [x.permute(2, 1, 0) for x in inputs]
        y = call(module.double(), named, tuple(inputs), options)
        return (y[0] if isinstance(y, tuple) else y).permute(2, 1, 0)

    def padding(lengths, n):
        """True where there is no key."""
        return torch.tensor([[j >= length for j in range(n)] for length in lengths]) if lengths else None

    def order(queries, keys):
        """True where a key is behind the query."""
        return torch.ones(queries, keys).triu(keys - queries + 1).bool()

    def attention_shapes(size, memory, bias=True):
        shapes = []
        for n in (size, memory, memory, size):
            shapes += [(size, n, 1)] + ([(size, 1)] if bias else [])
        return shapes

    def attention_names(given, prefix="", bias=True, packed=True):
        """The next parameters from the iterator `given`."""
        matrices, biases = [], []
        for _ in range(4):
            matrices.append(next(given)[..., 0])
            if bias:
                biases.append(next(given)[:, 0])
        named = {"out_proj.weight": matrices[3]}
        if packed:
            named["in_proj_weight"] = torch.cat(matrices[:3])
        else:
            named |= {f"{n}_proj_weight": w for n, w in zip("qkv", matrices)}
        if bias:
            named |= {"in_proj_bias": torch.cat(biases[:3]), "out_proj.bias": biases[3]}
        return {prefix + name: value for name, value in named.items()}

    def norm_names(given, prefix):
        return {f"{prefix}.weight": next(given)[:, 0], f"{prefix}.bias": next(given)[:, 0]}

    def layer_shapes(size, hidden, memory=None):
        norm = [(size, 1)] * 2
        shapes = attention_shapes(size, size) + norm
        if memory:
            shapes += attention_shapes(size, memory) + norm
        return shapes + [(hidden, size, 1), (hidden, 1), (size, hidden, 1), (size, 1)] + norm

    def layer_names(given, prefix, memory):
        named = attention_names(given, f"{prefix}self_attn.") | norm_names(given, f"{prefix}norm1")
        if memory:
            named |= attention_names(given, f"{prefix}multihead_attn.") | norm_names(given, f"{prefix}norm2")
        for k in (1, 2):
            named[f"{prefix}linear{k}.weight"] = next(given)[..., 0]
            named[f"{prefix}linear{k}.bias"] = next(given)[:, 0]
        return named | norm_names(given, f"{prefix}norm{3 if memory else 2}")

    def stack_names(given, layers, final_norm, memory, prefix=""):
        named = {}
        for k in range(layers):
            named |= layer_names(given, f"{prefix}layers.{k}.", memory)
        return named | (norm_names(given, f"{prefix}norm") if final_norm else {})

    def attention(size, memory, queries, keys, heads, causal, bias, lengths):
        def compute(x, m, *given):
            module = torch.nn.MultiheadAttention(size, heads, bias=bool(bias), kdim=memory, vdim=memory,
                                                 batch_first=True)  # fmt: skip
            named = attention_names(iter(given), bias=bias, packed=memory == size)
            return run(module, named, x, m, m, key_padding_mask=padding(lengths, keys),
                       attn_mask=order(queries, keys) if causal else None)  # fmt: skip

        shapes = [(size, queries, 2), (memory, keys, 2), *attention_shapes(size, memory, bias)]
        add("model_attention_layer", shapes, compute, [heads, causal, bias, *lengths], **small)

    for bias in (1, 0):
        attention(8, 8, 5, 5, 2, 0, bias, [])
        attention(8, 8, 5, 5, 4, 1, bias, [])
        attention(8, 8, 5, 6, 4, 0, bias, [6, 2])
        attention(8, 6, 3, 7, 2, 0, bias, [4, 7])
        attention(8, 6, 3, 7, 1, 1, bias, [5, 7])

    # The library scales with a root of a half that is a float, in double too. With a root like this one
    # GELU is as exact as all else; PyTorch's own differs by what the rounding of that number makes.
    half = float(torch.tensor(0.5).sqrt())

    def rounded_gelu(x):
        return 0.5 * x * (1 + torch.erf(x * half))

    relu, gelu, rounded = 0, 1, 2
    activations = {relu: "relu", gelu: "gelu", rounded: rounded_gelu}

    def accuracy(activation):
        return small | ({"in_double": 1e-6} if activation == gelu else {})

    def part(kind, size, heads, hidden, norm_first, activation):
        return kind(size, heads, hidden, 0.0, activations[activation], norm_first=bool(norm_first),
                    batch_first=True)  # fmt: skip

    def stack(kind, layer, layers, size, final_norm):
        return kind(layer, layers, torch.nn.LayerNorm(size) if final_norm else None)

    def encoder(layers, heads, norm_first, final_norm, activation, causal, lengths, size=8, hidden=10, words=5):
        def compute(x, *given):
            layer = part(torch.nn.TransformerEncoderLayer, size, heads, hidden, norm_first, activation)
            options = {"src_key_padding_mask": padding(lengths, words)}
            mask = order(words, words) if causal else None
            if layers == 1 and not final_norm:  # the layer itself
                return run(layer, layer_names(iter(given), "", False), x, src_mask=mask, **options)
            module = stack(torch.nn.TransformerEncoder, layer, layers, size, final_norm)
            return run(module, stack_names(iter(given), layers, final_norm, False), x, mask=mask, **options)

        shapes = [(size, words, 2)] + layer_shapes(size, hidden) * layers + [(size, 1)] * (2 * final_norm)
        add("model_transformer_encoder", shapes, compute,
            [layers, heads, hidden, norm_first, final_norm, activation, causal, *lengths], **accuracy(activation))  # fmt: skip

    def decoder(layers, heads, norm_first, final_norm, activation, steps, lengths, memory=6, size=8, hidden=10,
                words=4):  # fmt: skip
        def compute(x, m, *given):
            layer = part(torch.nn.TransformerDecoderLayer, size, heads, hidden, norm_first, activation)
            module = stack(torch.nn.TransformerDecoder, layer, layers, size, final_norm)
            return run(module, stack_names(iter(given), layers, final_norm, True), x, m,
                       tgt_mask=order(words, words),
                       memory_key_padding_mask=padding(lengths, memory))  # fmt: skip

        shapes = [(size, words, 2), (size, memory, 2)]
        shapes += layer_shapes(size, hidden, size) * layers + [(size, 1)] * (2 * final_norm)
        add("model_transformer_decoder", shapes, compute,
            [layers, heads, hidden, norm_first, final_norm, activation, steps, *lengths], **accuracy(activation))  # fmt: skip

    for norm_first in (0, 1):
        for layers, final_norm in ((1, 0), (2, 0), (2, 1)):
            for activation in activations:
                for flag in (0, 1):
                    for lengths in ([], [5, 2]):
                        encoder(layers, 2, norm_first, final_norm, activation, flag, lengths)
                        decoder(layers, 2, norm_first, final_norm, activation, flag, lengths)

    def whole(layers, heads, norm_first, activation, lengths, source=6, target=4, size=8, hidden=10):
        def compute(x, y, *given):
            module = torch.nn.Transformer(size, heads, layers, layers, hidden, 0.0, activations[activation],
                                          norm_first=bool(norm_first), batch_first=True)  # fmt: skip
            given = iter(given)
            named = stack_names(given, layers, True, False, "encoder.")
            named |= stack_names(given, layers, True, True, "decoder.")
            mask = padding(lengths, source)
            return run(module, named, x, y, tgt_mask=order(target, target), src_key_padding_mask=mask,
                       memory_key_padding_mask=mask)  # fmt: skip

        shapes = [(size, source, 2), (size, target, 2)]
        for memory in (None, size):
            shapes += layer_shapes(size, hidden, memory) * layers + [(size, 1)] * 2
        add("model_transformer", shapes, compute,
            [layers, heads, hidden, norm_first, 1, activation, *lengths], **accuracy(activation))  # fmt: skip

    for norm_first in (0, 1):
        for lengths in ([], [3, 6]):
            for activation in activations:
                whole(2, 4, norm_first, activation, lengths)
