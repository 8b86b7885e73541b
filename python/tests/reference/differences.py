"""Differences between the old wheel and this module, with the reasons.

    python differences.py            # the tables of docs/python-from-dynet.md

The tests hold both lists: what is named here differs, and nothing else does.
"""

import re

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


# Calls of calls.txt that differ: part of the call, as a regular expression, what became of it in the
# old wheel and here, an exception or a value, and the reason. The first rule that fits counts.
ERROR = "TypeError|ValueError|IndexError"
CALLS = [
    (r"[^a-z]None|{0:1}|iter\(", "value", "TypeError",
     "None is taken for a flag, a dictionary or an iterator for a list"),
    (r"0\.5|1\.5|2\.5", "value", ERROR,
     "a number that is not whole, where a whole one is wanted, is cut off"),
    (r"2\*\*40", "value", ERROR, "sizes are cut to 32 bits"),
    (r"^dy\.(zeros|zeroes|ones|constant|random_\w+|one_hot|vecInput)\(", "value", ERROR,
     "sizes, batch sizes, indices and parameters of distributions outside their range are taken"),
    (r"dropout\(|dropout_\w+\(|^dy\.noise\(|huber_distance|kmh_ngram|weight_decay|clip_inplace",
     "value", "ValueError", "rates and other numbers outside their range are taken"),
    (r"^dy\.(inverse|contract3d_\w+|constrained_softmax|layer_norm|cumsum|log_softmax|lookup|select_\w+"
     r"|strided_select|reshape)\(|add_input\(p\)", "value", ERROR,
     "operands, lists and dimensions that do not fit are taken"),
    (r"\.set\(|inputMatrixLiteral|init=", "value", ERROR,
     "too few or too many numbers are taken"),
    (r"cg_revert|update_subset|LSTMBuilder\(0|tensor_value", "value", ERROR,
     "what is not there is taken in silence"),
    (r"^dy\.(Trainer|Parameters|RNNState|Expression|ComputationGraph)\(|add_lookup_parameters\(2\)",
     "value|RuntimeError", "TypeError", "an object without contents can be made"),
    (r"^dy\.(silu|poisson_loss|binary_log_loss|logsumexp_dim|filter1d_narrow|fold_rows|cdiv"
     r"|std_\w+|log_softmax|vanilla_lstm_gates\w*|average|concatenate)\(", "value", "value",
     "wrong there: see the table of values; and `cdiv` of fewer dimensions, `average` with a"
     " minibatch in it, `concatenate` along a new dimension, LSTM gates whose state alone has one"),
    (r"^dy\.(dropout|dropout_\w+|block_dropout|noise)\(", "value", "value", "random draws"),
    (r"^dy\.values\(|^vb\.value", "value", "value",
     "`value` of vectors in a minibatch: one flat list; an array here"),
    (r"device|version|\.expr\(|\(\(2,\)\)|a\[0\]\)\.shape|ParameterCollection\(pc\)", "value", "value",
     "names of devices are bytes, `expr` of a table is the table and that of a parameter gets no"
     " gradient, rows of one number have the shape `()`, a collection made of another is that one"),
    (r".", "TypeError|AttributeError|AssertionError|NotImplementedError|OverflowError|IndexError",
     "value",
     "an index or a list, any sequence, arrays, numbers first, `len` of expressions: taken here"),
    (r".", "ValueError|RuntimeError", "value",
     "shapes and minibatches that the old wheel does not compute, empty and negative slices"),
    (r"None", "ValueError", "TypeError", "None for an expression"),
    (r".", "AttributeError|AssertionError|NotImplementedError|OverflowError|KeyError|Exception", ERROR,
     "errors from within the old wheel"),
    (r".", "ValueError|RuntimeError", "TypeError",
     "an argument of a wrong type is noticed before its value"),
    (r".", "TypeError|IndexError|RuntimeError", "ValueError|IndexError",
     "where an index or a list is taken, a wrong one is a ValueError or an IndexError"),
    (r"nonsense|/nowhere", "ValueError", "OSError", "a file that is not there"),
]


def rule(call, old, new):
    """The place in CALLS of the reason why a call differs, None if it must not."""
    for place, (part, theirs, ours, _) in enumerate(CALLS):
        if re.search(part, call) and re.fullmatch(theirs, old) and re.fullmatch(ours, new):
            return place
    return None


def reason(table, name, batch):
    """Why a case differs, None if it must not."""
    return table.get(name, table.get(f"{name}|{batch}"))


def shown(key):
    """A case as the page has it."""
    name, _, batch = key.partition("|")
    name, _, variant = name.partition("/")
    size = {"": "", "1": "no minibatch", "3": "minibatch"}[batch]
    note = ", ".join(part for part in (variant, size) if part)
    return f"`{name}`{f' ({note})' if note else ''}"


def grouped(table, name_of):
    """Rows (names, reason), those with one reason in one row."""
    names = {}
    for key, why in sorted(table.items()):
        names.setdefault(why, []).append(name_of(key))
    return [(", ".join(each), why) for why, each in names.items()]


def tables():
    lines = ["| function | difference |", "|---|---|"]
    lines += [f"| {names} | {why} |" for names, why in grouped(SIGNATURES, "`{}`".format)]
    lines += ["", "| case | the old wheel |", "|---|---|"]
    lines += [f"| {names} | {why} |" for names, why in grouped(VALUES, shown)]
    lines += [f"| {names} | refuses {why} |" for names, why in grouped(REFUSED, shown)]
    lines += ["", "| the old wheel | here | place and reason |", "|---|---|---|"]
    reasons = {}
    for _, old, new, why in CALLS:
        reasons.setdefault((old, new), []).append(why)
    lines += [f"| {old.replace('|', ', ')} | {new.replace('|', ', ')} | {'; '.join(why)} |"
              for (old, new), why in reasons.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    print(tables())
