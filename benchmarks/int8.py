#!/usr/bin/env python3
"""Compares an LSTM over 50 vectors and an encoder layer in 8 bits to ONNX Runtime, on one thread and in one run.

    pip install onnx onnxruntime
    cmake --build build/release --target bench-int8
    python3 benchmarks/int8.py --build build/release

bench-int8 and ONNX Runtime (float32, and its dynamic quantization: 8 bits for weights, for activations at run time)
alternate; the fastest of all rounds counts. A ratio above 1 means that ours is faster.
"""

import argparse
import json
import math
import pathlib
import subprocess
import tempfile
import time

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

SIZE, STEPS, HEADS, HIDDEN = 512, 50, 8, 2048
RANDOM = numpy.random.default_rng(1)


def weights(name, *shape):
    return numpy_helper.from_array((RANDOM.standard_normal(shape) / math.sqrt(shape[-1])).astype(numpy.float32), name)


def model(nodes, constants, shape):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def lstm():
    node = helper.make_node("LSTM", ["x", "W", "R", "B"], ["y"], hidden_size=SIZE)
    constants = [weights("W", 1, 4 * SIZE, SIZE), weights("R", 1, 4 * SIZE, SIZE), weights("B", 1, 8 * SIZE)]
    return model([node], constants, [STEPS, 1, SIZE]), (STEPS, 1, SIZE)


def encoder():
    """norm(h + feed_forward(h)) for h = norm(x + attention(x)), as torch.nn.TransformerEncoderLayer."""
    nodes, constants = [], []

    def node(kind, inputs, name, **options):
        nodes.append(helper.make_node(kind, inputs, [name], **options))
        return name

    def constant(name, value):
        constants.append(numpy_helper.from_array(numpy.array(value), name))
        return name

    def linear(x, name, before, after):
        constants.extend([weights(name + "W", before, after), weights(name + "b", after)])
        return node("Add", [node("MatMul", [x, name + "W"], name + "p"), name + "b"], name)

    def norm(x, name):
        constant(name + "g", numpy.ones(SIZE, numpy.float32))
        constant(name + "h", numpy.zeros(SIZE, numpy.float32))
        return node("LayerNormalization", [x, name + "g", name + "h"], name, axis=-1)

    split = constant("split", numpy.array([STEPS, HEADS, SIZE // HEADS], numpy.int64))
    joined = constant("joined", numpy.array([STEPS, SIZE], numpy.int64))
    scale = constant("scale", numpy.float32(1 / math.sqrt(SIZE // HEADS)))

    def heads(x, name, order):
        return node("Transpose", [node("Reshape", [x, split], name + "r")], name, perm=order)

    q = heads(linear("x", "q", SIZE, SIZE), "qh", [1, 0, 2])
    k = heads(linear("x", "k", SIZE, SIZE), "kh", [1, 2, 0])
    v = heads(linear("x", "v", SIZE, SIZE), "vh", [1, 0, 2])
    scores = node("Softmax", [node("Mul", [node("MatMul", [q, k], "qk"), scale], "scaled")], "scores", axis=-1)
    mixed = node("Transpose", [node("MatMul", [scores, v], "sv")], "mixed", perm=[1, 0, 2])
    attended = linear(node("Reshape", [mixed, joined], "flat"), "o", SIZE, SIZE)
    h = norm(node("Add", ["x", attended], "sum1"), "h1")
    inner = node("Relu", [linear(h, "f", SIZE, HIDDEN)], "inner")
    nodes.append(helper.make_node("Identity", [norm(node("Add", [h, linear(inner, "e", HIDDEN, SIZE)], "sum2"), "h2")], ["y"]))
    return model(nodes, constants, [STEPS, SIZE]), (STEPS, SIZE)


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def milliseconds(run):
    begin = time.thread_time()
    for _ in range(5):
        run()
    return 1000 * (time.thread_time() - begin) / 5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    best = {}

    def note(name, value):
        best[name] = min(best.get(name, math.inf), value)

    with tempfile.TemporaryDirectory() as folder:
        runs = {}
        for name, make in (("lstm", lstm), ("encoder", encoder)):
            made, shape = make()
            path = f"{folder}/{name}.onnx"
            onnx.save(made, path)
            quantize_dynamic(path, path + ".int8", weight_type=QuantType.QInt8, per_channel=True)
            x = {"x": RANDOM.uniform(-1, 1, shape).astype(numpy.float32)}
            for kind, file in (("float", path), ("int8", path + ".int8")):
                runs[name, kind] = lambda s=session(file), x=x: s.run(None, x)
        figures = f"{folder}/figures.json"
        for _ in range(arguments.rounds):
            program = arguments.build / "benchmarks/bench-int8"
            subprocess.run([program, "--rounds", "5", "--json", figures], check=True, stdout=subprocess.DEVNULL)
            ours = json.loads(pathlib.Path(figures).read_text())
            for (name, kind), run in runs.items():
                note((name, kind, "ours"), ours[name][kind])
                note((name, kind, "theirs"), min(milliseconds(run) for _ in range(5)))
    print(f"ONNX Runtime {onnxruntime.__version__}, our kernels for {ours['isa']}; milliseconds of a pass")
    for name, kind in runs:
        mine, other = best[name, kind, "ours"], best[name, kind, "theirs"]
        print(f"{name:8} {kind:6} ours {mine:7.3f}, ONNX Runtime {other:7.3f}: {other / mine:.2f}")
    for who in ("ours", "theirs"):
        print(f"int8 beside float, {who}:", ", ".join(f"{name} {best[name, 'float', who] / best[name, 'int8', who]:.2f}" for name in ("lstm", "encoder")))


if __name__ == "__main__":
    main()
