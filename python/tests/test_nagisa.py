"""nagisa, a Japanese tagger written to the old module, runs on this one unchanged.

Skipped where nagisa is absent: `pip install --no-deps nagisa && pip install numpy six`.
"""

import json
import logging
import os
import pathlib
import subprocess
import sys

import pytest

nagisa = pytest.importorskip("nagisa", reason="nagisa is not installed")

import numpy as np  # noqa: E402

import dynet as dy  # noqa: E402

DATA = pathlib.Path(nagisa.__file__).parent / "data"
SENTENCES = [
    "Pythonで簡単に使えるツールです",
    "今日はとても良い天気ですね。",
    "東京都に住んでいます",
]


@pytest.fixture(scope="module")
def networks():
    """nagisa's network in NumPy, and the same one made with dynet, from the model it comes with."""
    import nagisa.model
    from nagisa import Tagger

    assert nagisa.model.dy is dy
    by_numpy, by_dynet = Tagger(), Tagger()
    model = nagisa.model.Model(by_dynet._hp, str(DATA / "nagisa_v001.model"))
    scores = model.encode_ws  # expressions, of which the tagger wants the numbers
    model.encode_ws = lambda features: [e.npvalue() for e in scores(features)]
    by_dynet._model = model
    return by_numpy, by_dynet


def test_loads_its_own_model_and_finds_the_same_words_and_tags(networks):
    by_numpy, by_dynet = networks
    for text in SENTENCES:
        expected, found = by_numpy.tagging(text), by_dynet.tagging(text)
        assert found.words == expected.words and len(found.words) > 3
        assert found.postags == expected.postags


def test_scores_are_those_of_its_own_arithmetic(networks):
    utils = sys.modules["nagisa_utils"]
    by_numpy, by_dynet = networks
    features = [
        utils.feature_extraction(text=utils.preprocess(SENTENCES[0]).lower(), uni2id=t._uni2id,
                                 bi2id=t._bi2id, dictionary=t._word2id,
                                 window_size=t._hp["WINDOW_SIZE"])
        for t in networks
    ]
    expected = np.array(by_numpy._model.encode_ws(features[0]))
    found = np.array(by_dynet._model.encode_ws(features[1]))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def lines_of(*path):
    """The lines of a file in the folder with data."""
    folder = os.environ.get("DYNET_DATA")
    if not folder:
        pytest.skip("DYNET_DATA names no folder with data")
    return pathlib.Path(folder, *path).read_text(encoding="utf-8").splitlines()


def japanese(name, count):
    """Sentences of the corpus enja, without the blanks between their parts."""
    return [line.replace(" ", "") for line in lines_of("enja", name)[:count]]


def tagged_sentences(corpus, by_numpy):
    """Sentences of words with tags, for `fit`: of enja as nagisa tags it, of ud-ewt as linguists did."""
    if corpus == "enja":
        return [list(zip(t.words, t.postags))
                for t in map(by_numpy.tagging, japanese("train.ja", 60))]
    sentences = [[]]
    for line in lines_of("ud-ewt", "train.conllu"):
        fields = line.split("\t")
        if not line:
            sentences.append([])
        elif fields[0].isdigit():
            sentences[-1].append((fields[1], fields[3]))
    return sentences[:60]


def test_five_hundred_sentences_have_the_same_words_and_tags(networks):
    by_numpy, by_dynet = networks
    sentences = japanese("test.ja", 500)
    assert len(sentences) == 500
    for text in sentences:
        expected, found = by_numpy.tagging(text), by_dynet.tagging(text)
        assert (found.words, found.postags) == (expected.words, expected.postags)


def losses_of(python, corpus, epochs, environment):
    program = pathlib.Path(__file__).parent / "reference" / "nagisa_losses.py"
    ran = subprocess.run([python, program, corpus, str(epochs)], env=environment, check=True,
                         capture_output=True, text=True)
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.mark.parametrize("corpus", ["sample", "enja", "ud-ewt"])
def test_losses_are_those_under_the_old_wheel(networks, corpus, tmp_path):
    old = os.environ.get("DYNET38_PYTHON")
    if not old or subprocess.run([old, "-c", "import nagisa"], capture_output=True,
                                 env={"PATH": os.environ["PATH"]}).returncode:
        pytest.skip("DYNET38_PYTHON names no interpreter with dynet38 and nagisa")
    file = DATA / "sample_datasets" / "sample.train"
    if corpus != "sample":
        file = tmp_path / corpus
        file.write_text("".join(
            "".join(f"{word}\t{tag}\n" for word, tag in sentence) + "EOS\n"
            for sentence in tagged_sentences(corpus, networks[0])), encoding="utf-8")
    without_ours = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    theirs = losses_of(old, file, 3, without_ours)
    ours = losses_of(sys.executable, file, 3, os.environ)
    assert len(ours) == 3 and ours[-1] < 0.8 * ours[0]
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)


def test_fit_learns_what_it_is_shown(tmp_path, caplog):
    corpus = DATA / "sample_datasets" / "sample.train"
    name = str(tmp_path / "trained")
    with caplog.at_level(logging.INFO):
        nagisa.fit(*[str(corpus)] * 3, name, epoch=12, min_count=1, dropout_rate=0.0)
    lines = [r.getMessage().split("\t") for r in caplog.records if r.getMessage()[:1].isdigit()]
    losses = [float(line[2]) for line in lines]
    assert len(losses) == 12 and losses[-1] < losses[0] / 3, caplog.text
    tagger = nagisa.Tagger(vocabs=f"{name}.vocabs", params=f"{name}.params", hp=f"{name}.hp")
    words = [line.split("\t")[0] for line in corpus.read_text(encoding="utf-8").splitlines()]
    words = words[: words.index("EOS")]
    found = tagger.tagging("".join(words)).words
    assert len(set(found) & set(words)) >= 0.8 * len(set(words))
