"""dynet.annotate: the words, trees and texts of the program annotate, and its errors."""

import concurrent.futures
import json
import pathlib
import pickle
import subprocess
import sys

import pytest

import dynet as dy
import dynet.annotate
from dynet.errors import ArgumentError, FileError

pytest.importorskip("dynet._annotate", reason="the package was built without annotation")
# Installed beside the interpreter, or in the build folder of the module.
PROGRAM = next((p for p in (pathlib.Path(sys.executable).parent / "annotate",
                            pathlib.Path(dy.__file__).parents[2] / "examples/nlp/annotate") if p.exists()), None)
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="the program annotate is not installed")

TEXT = "Cats don't sleep.  Dogs\ndon't sleep.\n\n\U0001f600 Cats don't\tsleep."
SIZES = ["--epochs", "6", "--learning-rate", "0.02", "--dropout", "0", "--letter-dropout", "0", "--batch", "4",
         *(word for size in ("letter-hidden 16", "word 8", "char 8", "hidden 8", "tree-hidden 8", "mlp 8", "arc 8",
                             "label 8") for word in ("--" + size).split())]


def treebank():
    sentences = []
    for i in range(60):
        form, lemma = ("Cats", "cat") if i % 2 else ("Dogs", "dog")
        rows = [f"1 {form} {lemma} NOUN N Number=Plur 4 nsubj _ _", "2-3 don't _ _ _ _ _ _ _ _",
                "2 do do AUX A _ 4 aux _ _", "3 n't not PART P _ 4 advmod _ _",
                "4 sleep sleep VERB V _ 0 root _ SpaceAfter=No", "5 . . PUNCT . _ 4 punct _ _"]
        sentences.append("".join(row.replace(" ", "\t") + "\n" for row in rows) + "\n")
    return "".join(sentences)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model that has learned to split "don't", and a lexicon."""
    made = tmp_path_factory.mktemp("annotate")
    (made / "data").write_text(treebank())
    (made / "lexicon").write_text("Cats\tPROPN\tCats\n")
    subprocess.run([PROGRAM, "train", "--train", "data", "--model", "model", "--name", "Cats 1.0", *SIZES], cwd=made,
                   check=True, capture_output=True)
    return made


@pytest.fixture(scope="module")
def nlp(folder):
    return dynet.annotate.load(folder / "model")


def run(folder, text, *options):
    """What the program prints of a text."""
    ran = subprocess.run([PROGRAM, "run", "--model", "model", *options], cwd=folder, input=text.encode(), check=True,
                         capture_output=True)
    return ran.stdout.decode()


def test_words_tokens_and_trees(nlp):
    doc = nlp(TEXT)
    assert nlp.name == "Cats 1.0" and doc.text == TEXT and len(doc) == len(list(doc)) == 3
    sentence = doc.sentences[1]
    assert (sentence.id, sentence.text) == ("2", "Dogs don't sleep.")
    assert [t.form for t in sentence.tokens] == ["Dogs", "don't", "sleep", "."]
    dogs, do, nt, sleep, stop = sentence
    assert (dogs.id, dogs.form, dogs.lemma, dogs.upos, dogs.xpos) == (1, "Dogs", "dog", "NOUN", "N")
    assert dogs.feats == {"Number": "Plur"} and do.feats == {} and sleep.misc == {"SpaceAfter": "No"}
    assert dogs.head is sleep and dogs.head_id == 4 and dogs.deprel == "nsubj"
    assert sentence.root is sleep and sleep.head is None and sleep.children == [dogs, do, nt, stop]
    assert do.token is nt.token is sentence.tokens[1] and do.token.words == [do, nt] and do.sentence is sentence


@pytest.mark.parametrize("text", [TEXT, "\ufeff\r\n \n" + TEXT, TEXT.replace("\n", "\r\n")])
def test_ranges_are_those_of_the_text(nlp, text):
    tokens = [token for sentence in nlp(text) for token in sentence.tokens]
    assert len(tokens) > 10 and all(text[t.start:t.end] == t.form for t in tokens)
    assert all("TokenRange" not in t.misc for t in tokens)


@pytest.mark.parametrize("text", [TEXT, "", " \n", "a|TokenRange=0:1\n\n# 1\tx"])
def test_output_is_that_of_the_program(folder, nlp, text):
    doc = nlp(text)
    assert doc.to_conllu() == run(folder, text)
    assert doc.to_conllu(ranges=True) == run(folder, text, "--ranges")
    assert doc.to_json() == run(folder, text, "--json")
    assert [len(json.loads(line)["words"]) for line in doc.to_json().splitlines()] == [len(s) for s in doc]
    assert nlp(text, lines=True).to_conllu() == run(folder, text, "--input-format", "lines")


def test_options_are_those_of_the_program(folder, nlp):
    def load(**options):
        return dynet.annotate.load(str(folder / "model"), **options)(TEXT).to_conllu()

    assert load(threads=2) == nlp(TEXT).to_conllu()
    assert load(multiwords=False) == run(folder, TEXT, "--no-mwt") != nlp(TEXT).to_conllu()
    assert load(lexicon=folder / "lexicon") == run(folder, TEXT, "--lexicon", "lexicon") != nlp(TEXT).to_conllu()


def test_given_words_and_fields(folder, nlp):
    words = "Cats don't sleep .\nDogs sleep\n"
    sentences = [line.split() for line in words.splitlines()]
    doc = nlp.annotate_words(sentences)
    assert doc.to_conllu() == run(folder, words, "--input-format", "words", "--no-mwt")
    assert doc.text == words.strip() and doc.sentences[0].words[0].start is None
    split = nlp.annotate_words(iter(sentences), multiwords=True)
    assert split.to_conllu() == run(folder, words, "--input-format", "words")
    assert nlp.annotate_words([["New York", "sleep"]]).sentences[0].words[0].form == "New York"
    rows = "1\tCats\t_\tX\t_\t_\t_\t_\t_\tTokenRange=7:11\n1.1\te\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    doc = nlp.fill(rows)
    assert doc.to_conllu() == run(folder, rows, "--input-format", "conllu")
    (word,) = doc.sentences[0]
    assert (word.upos, word.lemma, word.start, word.misc) == ("X", "cat", None, {"TokenRange": "7:11"})


def test_pipe_is_many_calls(nlp):
    texts = [TEXT, "", "Dogs sleep.", *["Cats don't sleep."] * 5]
    single = [nlp(text).to_conllu() for text in texts]
    for batch_size in (1, 3, 64):
        assert [doc.to_conllu() for doc in nlp.pipe(iter(texts), batch_size=batch_size)] == single


def test_threads_share_a_pipeline(nlp):
    expected = nlp(TEXT).to_conllu()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert {doc.to_conllu() for doc in pool.map(nlp, [TEXT] * 40)} == {expected}


def test_pipelines_and_documents_are_pickled(nlp):
    other = pickle.loads(pickle.dumps(nlp))
    doc = pickle.loads(pickle.dumps(other(TEXT)))
    assert doc.to_json() == nlp(TEXT).to_json() and doc.sentences[0].root.form == "sleep"


def test_long_sentences_are_cut_with_a_warning(nlp):
    with pytest.warns(UserWarning, match="more than 1,000 tokens were cut: 1") as caught:
        assert sum(map(len, nlp("sleep " * 1500))) == 1500
    assert caught[0].filename == __file__


@pytest.mark.parametrize("call, error, message", [
    (lambda nlp: nlp("a\nb\0"), ArgumentError, "text:2: expected text, found a zero byte"),
    (lambda nlp: nlp("a\ud800"), ArgumentError, "text: '.ud800' at 1 is half of a surrogate pair, no character"),
    (lambda nlp: nlp(b"a"), TypeError, "text must be a str, not bytes"),
    (lambda nlp: list(nlp.pipe(["a", "b\0"])), ArgumentError, "text 2:1: expected text"),
    (lambda nlp: list(nlp.pipe(["a"], batch_size=0)), ArgumentError, "batch_size must be at least 1, not 0"),
    (lambda nlp: nlp.annotate_words(["Cats"]), ArgumentError, "sentence 1 must be a list of words, not 'Cats'"),
    (lambda nlp: nlp.annotate_words([["a"], []]), ArgumentError, "sentence 2 must be a list of words"),
    (lambda nlp: nlp.annotate_words([["a", "b\tc"]]), ArgumentError, "sentence 1: expected a word without tabs"),
    (lambda nlp: nlp.fill("1\tCats\n"), ArgumentError, "conllu:1: expected the 10 tab-separated columns"),
])
def test_errors_of_input(nlp, call, error, message):
    with pytest.raises(error, match=message):
        call(nlp)
    assert nlp("Dogs sleep.").sentences[0].words


@pytest.mark.parametrize("name, options, error, message", [
    ("missing", {}, FileError, "missing: No such file or directory"),
    ("data", {}, FileError, "data: it is not a model file of this library"),
    ("damaged", {}, FileError, "damaged"),
    ("other", {}, FileError, "other"),
    ("model", {"lexicon": "data"}, FileError, "data:1: expected form, UPOS, lemma and perhaps features"),
    ("model", {"threads": 0}, ArgumentError, "threads must be from 1 to 1024, not 0"),
    ("model", {"threads": 1.5}, TypeError, "cannot be interpreted as an integer"),
])
def test_errors_of_loading(folder, monkeypatch, name, options, error, message):
    monkeypatch.chdir(folder)
    damaged = bytearray(pathlib.Path("model").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    pathlib.Path("damaged").write_bytes(damaged)
    dy.save_model("other", dy.ParameterCollection())
    with pytest.raises(error, match=message):
        dynet.annotate.load(name, **options)
