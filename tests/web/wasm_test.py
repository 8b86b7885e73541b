#!/usr/bin/env python3
"""Compares the WebAssembly tagger with the program: in Node, and in headless Chromium where it is installed. Called by
tools/wasm."""

import argparse
import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "tests/fuzz/corpus/tagger"
TEXT = "The dog sleeps. We saw her duck, in Łódź."
SENTENCES = [
    ["the", "dog", "sleeps", "."],
    ["naïve", "größer", "Łódź", "犬", "🐕", "'s"],
    ["x"],
    ["in", "the", "beginning", "God", "created", "the", "heaven", "and", "the", "earth"] * 30,
]


def in_node(folder, model, **given):
    command = ["node", str(ROOT / "tests/web/tag.mjs"), str(folder), str(model)]
    done = subprocess.run(command, input=json.dumps(given), text=True, capture_output=True, check=False)
    if done.returncode != 0:
        # A file of one line is shown as a whole.
        sys.exit("\n".join(line[:200] for line in done.stderr.splitlines()))
    return json.loads(done.stdout)


def by_program(program, model, sentences):
    """Pairs of tag and probability by sentence, with the kernels that use the same registers as the module."""
    command = [program, "tag", "--model", model, "--format", "json", "--probabilities"]
    text = "".join(" ".join(words) + "\n" for words in sentences)
    done = subprocess.run(
        command, input=text, text=True, capture_output=True, check=True, env=dict(os.environ, DYNET_ISA="baseline")
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [list(zip(answer["tags"], map(single, answer["probabilities"]))) for answer in answers]


def single(x):
    """x in single precision."""
    return struct.unpack("f", struct.pack("f", x))[0]


def pairs(found):
    return [[(word["tag"], single(word["probability"])) for word in sentence] for sentence in found]


def require(holds, what):
    if not holds:
        sys.exit(f"wasm_test: {what}")


def check_models(program, folder):
    models = [MODELS / name for name in ("good-words", "good-crf")] + [ROOT / "tests/examples/golden/tagger-0.1.0.model"]
    for model in models:
        answer = in_node(folder, model, sentences=SENTENCES)
        require("error" not in answer, f"{model}: {answer.get('error')}")
        require(pairs(answer["found"]) == by_program(program, model, SENTENCES), f"{model}: other bits than the program")
    print(f"{len(models)} models: the bits of the program")


def check_sizes(program, folder):
    """Empty and long sentences, many, long and odd words."""
    model = MODELS / "good-words"
    for sentences in (
        [[], ["the", "dog"], [], [], ["sleeps"], []],
        [],
        [["x"] * 20000],
        [["a" * 1500000], ["dog"]],
        [["the", "dog", "sleeps", "in", "the", "sun"]] * 30000,
    ):
        found = pairs(in_node(folder, model, sentences=sentences)["found"])
        require([len(words) for words in found] == [len(words) for words in sentences], "numbers of words")
        if sum(map(len, sentences)) > 10000:
            require(all(tag for words in found for tag, _ in words), "a word has no tag")
            continue
        full = [words for words in sentences if words]
        require([words for words in found if words] == (by_program(program, model, full) if full else []), f"{sentences}"[:80])
    # A lone surrogate is the replacement character.
    odd, plain = (in_node(folder, model, sentences=[["The", x, "dog"], ["sleeps"]])["found"] for x in ("a\ud800", "a\ufffd"))
    require(pairs(odd) == pairs(plain), "a lone surrogate")
    require(len(in_node(folder, model, text="The dog sleeps. " * 20000)["found"]) == 20000, "a long text")
    print("sentences and words of any size")


def check_errors(folder):
    good = (MODELS / "good-words").read_bytes()
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "model"
        for data, expected in (
            (b"", "cut short"),
            (b"no model" * 100, "."),
            (good[: len(good) // 2], "."),
            (good[:-40] + b"\0" * 40, "."),
            ((ROOT / "tests/fuzz/corpus/parser/good-moves").read_bytes(), "parser"),
        ):
            path.write_bytes(data)
            answer = in_node(folder, path, sentences=[["x"]])
            require(re.search(expected, answer.get("error", "")), f"{data[:20]}: {answer}")
    for word in ("", "a\nb", 7):
        answer = in_node(folder, MODELS / "good-words", sentences=[["x", word]])
        require("a word is a text" in answer.get("error", ""), f"{word!r}: {answer}")
    for sentences in ("text", [["x"], "x"], [None], [["x", None]]):
        answer = in_node(folder, MODELS / "good-words", sentences=sentences)
        require(re.search("a (word|sentence) is", answer.get("error", "")), f"{sentences!r}: {answer}")
    answer = in_node(folder, MODELS / "good-text", sentences=[["x"]])
    require("restores text" in answer.get("error", ""), f"a model of running text: {answer}")
    print("what cannot be read or tagged is an error")


def check_page(program, folder, model):
    """The words and tags that the page shows."""
    browser = shutil.which("chromium")
    if browser is None:
        print("skipped: the page itself, since there is no chromium")
        return
    served = pathlib.Path(tempfile.mkdtemp())
    for file in (*folder.iterdir(), model):
        shutil.copy(file, served)
    handler = functools.partial(Silent, directory=served)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = f"http://127.0.0.1:{server.server_port}/index.html?model={model.name}"
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=30000", "--dump-dom", page]
    shown = subprocess.run(command, text=True, capture_output=True, check=True, timeout=120).stdout
    server.shutdown()
    shutil.rmtree(served)
    words = re.findall(r'<span class="word[^"]*" title="([^ ]+) [^>]*>([^<]+)<small>([^<]+)<', shown)
    sentences = [["The", "dog", "sleeps", "."], ["We", "saw", "her", "duck", "."]]
    expected = by_program(program, model, sentences)
    flat = [(tag, word, tag) for words, found in zip(sentences, expected) for word, (tag, _) in zip(words, found)]
    require(words == flat, f"the page shows {words}, not {flat}: {shown[-3000:]}")
    print("Chromium shows the tags of the program")


class Silent(http.server.SimpleHTTPRequestHandler):
    extensions_map = dict(http.server.SimpleHTTPRequestHandler.extensions_map, **{".mjs": "text/javascript"})

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tagger", required=True, help="the program")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="that of the page")
    arguments = parser.parse_args()
    check_models(arguments.tagger, arguments.folder)
    check_sizes(arguments.tagger, arguments.folder)
    check_errors(arguments.folder)
    split = in_node(arguments.folder, MODELS / "good-words", text=TEXT)["found"]
    require([w["word"] for w in split[1]] == ["We", "saw", "her", "duck", ",", "in", "Łódź", "."], f"split as {split}")
    check_page(arguments.tagger, arguments.folder, MODELS / "good-words")


if __name__ == "__main__":
    main()
