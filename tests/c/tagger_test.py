#!/usr/bin/env python3
"""The tagger in C learns, and the same calls from Python's ctypes have the same losses, to the last digit."""

import ctypes
import pathlib
import random
import subprocess
import sys
import tempfile

SIZE, MINIBATCH, EPOCHS = 32, 8, 3
EXPRESSION, EXPRESSIONS, INTEGER, PARAMETER = 1, 2, 3, 8


class Error(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("code", ctypes.c_int32), ("line", ctypes.c_uint32), ("file", ctypes.c_char_p), ("message", ctypes.c_char * 1024)]


class Expression(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_uint64 * 4)]


class As(ctypes.Union):
    _fields_ = [
        ("expression", Expression),
        ("expressions", ctypes.POINTER(Expression)),
        ("integer", ctypes.c_int64),
        ("parameter", ctypes.c_void_p),
    ]


class Value(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("count", ctypes.c_uint32), ("held", As)]


def value_of(x):
    if isinstance(x, Expression):
        return Value(EXPRESSION, 1, As(expression=x))
    if isinstance(x, list):
        return Value(EXPRESSIONS, len(x), As(expressions=(Expression * len(x))(*x)))
    if isinstance(x, ctypes.c_void_p):
        return Value(PARAMETER, 1, As(parameter=x.value))
    return Value(INTEGER, 1, As(integer=x))


class Library:
    """Functions of the library; a failure is a RuntimeError."""

    def __init__(self, path):
        self.functions = ctypes.CDLL(path)

    def call(self, result, name, *arguments):
        error = Error(size=ctypes.sizeof(Error))
        function = getattr(self.functions, name)
        function.restype = result
        done = function(*arguments, ctypes.byref(error))
        if error.code:
            raise RuntimeError(error.message.decode())
        return done

    def new(self, name, *arguments):
        return ctypes.c_void_p(self.call(ctypes.c_void_p, name, *arguments))

    def apply(self, graph, operation, *arguments):
        values = (Value * len(arguments))(*map(value_of, arguments))
        return self.call(Expression, "dynet_apply", graph, operation.encode(), values, ctypes.c_size_t(len(values)))


def sizes(*numbers):
    return (ctypes.c_uint32 * len(numbers))(*numbers), ctypes.c_size_t(len(numbers))


def losses_of(path, data):
    """The mean loss of each epoch, by the steps of examples/c/tagger.c."""
    lib = Library(path)
    words, tags = {"<unk>": 0}, {}
    sentences = [[(words.setdefault(w, len(words)), tags.setdefault(t, len(tags))) for w, t in s] for s in data]
    model = lib.new("dynet_model_new")
    table = lib.new("dynet_add_lookup_parameters", model, b"words", ctypes.c_uint32(len(words)), *sizes(SIZE), None)
    weights = lib.new("dynet_add_parameters", model, b"W", *sizes(len(tags), 2 * SIZE), None)
    bias = lib.new("dynet_add_parameters", model, b"b", *sizes(len(tags)), b"constant(0)")
    three = (Value * 3)(*map(value_of, (1, SIZE, SIZE)))
    networks = [lib.new("dynet_rnn_new", model, b"lstm", three, ctypes.c_size_t(3)) for _ in range(2)]
    trainer = lib.new("dynet_trainer_new", model, b"adam", None, ctypes.c_size_t(0))
    graph = lib.new("dynet_graph_new", None)

    def outputs(network, inputs):
        lib.call(None, "dynet_rnn_new_graph", network, graph, ctypes.c_int32(1))
        lib.call(None, "dynet_rnn_start", network, None, ctypes.c_size_t(0))
        return [lib.call(Expression, "dynet_rnn_add_input", network, x) for x in inputs]

    means = []
    for _ in range(EPOCHS):
        total = seen = 0.0
        for first in range(0, len(sentences), MINIBATCH):
            lib.call(None, "dynet_graph_renew", graph, None)
            losses = []
            for sentence in sentences[first : first + MINIBATCH]:
                w, b = (lib.apply(graph, "parameter", p) for p in (weights, bias))
                x = [lib.apply(graph, "lookup", table, word) for word, _ in sentence]
                ahead, back = outputs(networks[0], x), outputs(networks[1], x[::-1])[::-1]
                for h, k, (_, tag) in zip(ahead, back, sentence):
                    state = lib.apply(graph, "concatenate", [h, k])
                    scores = lib.apply(graph, "affine_transform", [b, w, state])
                    losses.append(lib.apply(graph, "pickneglogsoftmax", scores, tag))
            loss = lib.apply(graph, "average", losses)
            total += lib.call(ctypes.c_float, "dynet_get_scalar", loss) * len(losses)
            seen += len(losses)
            lib.call(None, "dynet_backward", loss, ctypes.c_int32(0))
            lib.call(None, "dynet_trainer_update", trainer, ctypes.c_double(1))
        means.append(f"{total / seen:.4f}")
    for network in networks:
        lib.functions.dynet_rnn_free(network)
    lib.functions.dynet_trainer_free(trainer)
    lib.functions.dynet_graph_free(graph)
    lib.functions.dynet_model_free(model)
    return means


def sentences(count):
    """Words whose tag depends on the word before: "the" or "to", then a word that is a noun or a verb."""
    draw = random.Random(3)
    return [
        [pair for _ in range(draw.randint(1, 5)) for pair in draw.choice(((("the", "D"), (f"w{draw.randint(1, 9)}", "N")), (("to", "T"), (f"w{draw.randint(1, 9)}", "V"))))]
        for _ in range(count)
    ]


def main():
    program, *library = sys.argv[1:]
    data = sentences(200)
    with tempfile.TemporaryDirectory() as folder:
        tagged, model = pathlib.Path(folder, "tagged"), str(pathlib.Path(folder, "model"))
        tagged.write_text("".join("".join(f"{w} {t}\n" for w, t in s) + "\n" for s in data))
        trained = subprocess.run([program, "train", tagged, model], text=True, capture_output=True, check=True).stdout
        test = "the\nw1\nto\nw1 NEW\n\nto\nnever-seen\n\n"
        answers = subprocess.run([program, "tag", model], input=test, text=True, capture_output=True, check=True).stdout
        wrong = subprocess.run([program, "tag", tagged], input=test, text=True, capture_output=True, check=False)
    print(trained, answers, wrong.stderr, sep="\n")
    assert answers == "the D\nw1 N\nto T\nw1 V\n\nto T\nnever-seen V\n\n", answers
    assert wrong.returncode == 1 and "tagged" in wrong.stderr, wrong
    if library:
        found = losses_of(library[0], data)
        expected = [line.split()[-1] for line in trained.splitlines()[:EPOCHS]]
        assert found == expected, (found, expected)
        try:
            Library(library[0]).apply(None, "tanh", 1)
            raise AssertionError("no error")
        except RuntimeError as e:
            assert str(e) == "graph is NULL", e


if __name__ == "__main__":
    main()
