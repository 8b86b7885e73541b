#!/usr/bin/env python3
"""Compares beam search with a transformer to CTranslate2 with equal weights, on one thread and in one run.

    cmake --build build/release --target bench-beam-search
    python3 benchmarks/beam_search.py --build build/release

bench-beam-search stores its weights and sentences, from which a CTranslate2 model makes the same translations; the two
alternate. Translations have equal numbers of tokens, and the end has probability zero before. Several sentences are
translated at a time: ours in a graph, in the given order, CTranslate2's in a batch sorted by length. The fastest of all
rounds counts, in CPU time of our thread and of CTranslate2's process. A ratio above 1 means that ours is faster. Fails
unless the log-probabilities of translations are equal. CTranslate2, which needs numpy, is needed for nothing else.
"""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time


def ours(program, options, folder):
    """Figures of bench-beam-search, with sentences and translations."""
    path = folder / "figures.json"
    subprocess.run([program, "--only-together", "--json", path, *options], check=True, stdout=subprocess.DEVNULL)
    return json.loads(path.read_text())


def read_weights(np, path):
    """Arrays of a safetensors file by name, in the order of their bytes."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    weights = {}
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        first, end = (8 + size + offset for offset in entry["data_offsets"])
        weights[name] = np.frombuffer(data[first:end], "<f4").reshape(entry["shape"])
    return weights


def positions(np, count, size):
    """Sines and cosines alternating, as in sinusoidal_positions; CTranslate2's own are in two halves, and begin at 1.
    """
    angles = np.arange(count)[:, None] / 10000.0 ** (np.arange(0, size, 2) / size)
    return np.stack((np.sin(angles), np.cos(angles)), 2).reshape(count, size).astype(np.float32)


def write_model(np, specs, weights, figures, folder):
    """Writes a CTranslate2 model with our weights. Words are numbers."""
    spec = specs.TransformerSpec.from_config(figures["layers"], figures["heads"], pre_norm=False)

    def norm(to, given):
        to.gamma, to.beta = next(given), next(given)

    def linear(to, given, layers=1):
        """Combines several layers on the same input into one product."""
        matrices, biases = zip(*((next(given), next(given)) for _ in range(layers)))
        to.weight, to.bias = np.concatenate(matrices), np.concatenate(biases)

    def attention(to, given, widths):
        """Combines the products of queries, keys and values; then the output product and its norm."""
        for each, layers in zip(to.linear, widths):
            linear(each, given, layers)
        norm(to.layer_norm, given)

    def stack(to, given):
        to.scale_embeddings = False
        for layer in to.layer:
            attention(layer.self_attention, given, (3, 1))
            if hasattr(layer, "attention"):
                attention(layer.attention, given, (1, 2, 1))
            linear(layer.ffn.linear_0, given)
            linear(layer.ffn.linear_1, given)
            norm(layer.ffn.layer_norm, given)
        assert next(given, None) is None

    def below(name):
        return (values for key, values in weights.items() if key.startswith(name + "/"))

    stack(spec.encoder, below("transformer-encoder"))
    stack(spec.decoder, below("transformer-decoder"))
    linear(spec.decoder.projection, below("linear"))
    spec.encoder.embeddings[0].weight = next(below("embedding"))
    spec.decoder.embeddings.weight = next(below("embedding_1"))
    words, size = spec.decoder.embeddings.weight.shape
    for part in (spec.encoder, spec.decoder):
        part.position_encodings.encodings = positions(np, 128, size)
    names = [str(word) for word in range(words)]
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    end = str(figures["end"])
    for token in ("bos_token", "eos_token", "unk_token", "decoder_start_token"):
        setattr(spec.config, token, end)
    spec.config.layer_norm_epsilon = figures["epsilon"]
    spec.validate()
    folder.mkdir()
    spec.save(str(folder))


def theirs(translator, figures, rounds, together):
    """Seconds of CTranslate2's fastest round, and its translations."""
    sources = [[str(word) for word in source] for source in figures["sources"]]
    length = figures["length"]
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        results = translator.translate_batch(sources, max_batch_size=together, beam_size=figures["beam"],
                                             length_penalty=0, min_decoding_length=length, max_decoding_length=length,
                                             return_scores=True)  # fmt: skip
        best = min(best, time.process_time() - start)
    return best, results


def difference(figures, results):
    """Number of equal translations, and maximum difference of log-probabilities."""
    same, worst = 0, 0.0
    for own, log_prob, other in zip(figures["translations"], figures["log_probs"], results):
        same += own == [int(word) for word in other.hypotheses[0]]
        worst = max(worst, abs(log_prob - other.scores[0]))
    return same, worst


def take_turns(ctranslate2, np, arguments, folder):
    """Prints a line for each number of simultaneous sentences; false if a log-probability differs."""
    program = pathlib.Path(arguments.build, "benchmarks", "bench-beam-search")
    options = []
    for name in ("rounds", "length", "beam", "sentences"):
        options += [f"--{name}", str(getattr(arguments, name))]
    translator, agree = None, True
    row = "{:>9} {:>8} {:>15} {:>6} {:>6} {:>11}"
    print(row.format("sentences", "ours, s", "CTranslate2, s", "ratio", "same", "differ by"))
    for together in arguments.together:
        mine = other = float("inf")
        for _ in range(arguments.turns):
            extra = ["--together", str(together)]
            if not translator:
                extra += ["--save", folder / "weights.safetensors"]
            figures = ours(program, options + extra, folder)
            mine = min(mine, figures["seconds"])
            if not translator:
                weights = read_weights(np, folder / "weights.safetensors")
                write_model(np, ctranslate2.specs, weights, figures, folder / "model")
                translator = ctranslate2.Translator(str(folder / "model"), device="cpu", compute_type="float32",
                                                    inter_threads=1, intra_threads=1)  # fmt: skip
            seconds, results = theirs(translator, figures, arguments.rounds, together)
            other = min(other, seconds)
            same, worst = difference(figures, results)
            agree = agree and worst < 1e-3
        ratio = f"{other / mine:.2f}"
        print(row.format(together, f"{mine:.3f}", f"{other:.3f}", ratio, same, f"{worst:.1g}"), flush=True)
    return agree


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--sentences", type=int, default=32, help="of 5 to 40 tokens")
    parser.add_argument("--together", type=int, nargs="+", default=[32, 8, 1], help="sentences at a time")
    parser.add_argument("--beam", type=int, default=5, help="hypotheses of a sentence")
    parser.add_argument("--length", type=int, default=24, choices=range(1, 101), metavar="1..100",
                        help="tokens of a translation")  # fmt: skip
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        import ctranslate2
        import numpy as np
    except ImportError as e:
        print(f"skipped: {e}", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        if take_turns(ctranslate2, np, arguments, pathlib.Path(folder)):
            return 0
    print("the translations differ", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
