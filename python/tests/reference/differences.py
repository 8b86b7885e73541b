"""What differs between the old wheel and this module, with the reasons.

    python differences.py            # the tables of docs/python-from-dynet.md

The tests hold both lists: what is named here differs, and nothing else does.
"""

# Names, or "Class.method": the parameters that differ.
SIGNATURES = {
    "argmax": "`d=0` more: along any dimension",
    "layer_norm": "`epsilon=0.0` more, under the root",
    "vanilla_lstm_gates": "`forget_bias=1.0` more",
    "vanilla_lstm_gates_concat": "`forget_bias=1.0` more",
    "vanilla_lstm_gates_dropout": "`forget_bias=1.0` more",
    "vanilla_lstm_gates_dropout_concat": "`forget_bias=1.0` more",
    "inputTensorTranspose": "a function of an array, as `inputTensor`; a class that needs the sizes"
                            " of a flat list in the old one",
    "ComputationGraph": "made by `cg()` and `graph()` only",
    "RNNState": "made by builders only",
}

# Cases of operations.py, by name or name|batch: what the old wheel does.
VALUES = {
    "silu/beta": "the gradient is that of beta = 1",
    **dict.fromkeys(
        [f"{name}/{mode}" for name in ("round", "ceil", "floor")
         for mode in ("zero_gradient", "straight_through_gradient")],
        "the gradient is memory that nobody has written"),
    "to_device": "a copy to the same device is memory that nobody has written",
    "contract3d_1d": "the result without a bias is added to what the memory held before",
    "std_batches|1": "the gradient of the deviation of one number is not a number; here 0",
    "ClassFactoredSoftmaxBuilder/full_log_distribution":
        "is not the negative of its own `neg_log_softmax`",
    "std_dim/n": "`n` is not used",
    "logsumexp_dim/1": "along dimension 1 both value and gradient are wrong",
    "binary_log_loss": "the gradient of the target is that of another function",
    "poisson_loss": "the gradient leaves out what comes from above",
    "filter1d_narrow|3": "only the first element of a minibatch is computed",
    "filter1d_narrow/several|3": "only the first element of a minibatch is computed",
    "fold_rows|3": "only the first element of a minibatch is computed",
    "fold_rows/3|3": "only the first element of a minibatch is computed",
    "vanilla_lstm_gates_dropout": "masks get no gradient",
    "vanilla_lstm_gates_dropout_concat": "masks get no gradient",
}

# Cases that the old wheel refuses, and this module computes.
REFUSED = {
    "softsign": "matrices",
    **dict.fromkeys(
        ["block_dropout|3", "pow|3", "trace_of_product|3", "circ_conv|3", "circ_corr|3",
         "inverse|3", "logdet|3", "contract3d_1d_1d|3", "contract3d_1d_1d_bias|3",
         "log_softmax/restrict|3", "sparsemax|3", "constrained_softmax|3", "l1_distance|3",
         "huber_distance|3", "huber_distance/c|3", "binary_log_loss|3", "poisson_loss|3",
         "kmh_ngram|3", "weight_norm|3"],
        "minibatches"),
}


def reason(table, name, batch):
    """Why a case differs, None if it must not."""
    return table.get(name, table.get(f"{name}|{batch}"))


def shown(key):
    """A case as the page has it."""
    name, _, batch = key.partition("|")
    name, _, variant = name.partition("/")
    with_batch = {"": "", "1": ", without a minibatch", "3": ", minibatches"}[batch]
    return f"`{name}`{f' ({variant})' if variant else ''}{with_batch}"


def tables():
    lines = ["| function | what differs |", "|---|---|"]
    lines += [f"| `{name}` | {why} |" for name, why in sorted(SIGNATURES.items())]
    lines += ["", "| case | what the old wheel does |", "|---|---|"]
    lines += [f"| {shown(key)} | {why} |" for key, why in sorted(VALUES.items())]
    lines += [f"| {shown(key)} | refuses {why} |" for key, why in sorted(REFUSED.items())]
    return "\n".join(lines)


if __name__ == "__main__":
    print(tables())
