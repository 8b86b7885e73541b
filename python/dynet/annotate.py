"""Annotation of text: its sentences, words, parts of speech, features, lemmas and trees.

    import dynet.annotate

    nlp = dynet.annotate.load("en.model")
    for sentence in nlp("Dr. Smith didn't come. He's ill."):
        for word in sentence:
            print(word.form, word.lemma, word.upos, word.head, word.deprel)

The program `annotate`, which is installed beside this package, makes models from treebanks.
"""

from __future__ import annotations

import functools
import itertools
import operator
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .errors import ArgumentError

_RANGE = re.compile(r"^(\d.*\t)(.*?)\|?TokenRange=\d+:\d+$", re.MULTILINE)  # at the end of MISC


def _extension() -> Any:
    """The compiled module. ImportError if the package was built without it."""
    try:
        from . import _annotate  # type: ignore[attr-defined, unused-ignore]
    except ImportError as error:
        raise ImportError("this build of dynet has no annotation, since CLI11, utf8proc or pkg-config (Debian's "
                          "libcli11-dev, libutf8proc-dev, pkg-config) was missing when it was installed") from error
    return _annotate


def load(path: str | os.PathLike[str], *, threads: int = 1, multiwords: bool = True,
         lexicon: str | os.PathLike[str] | None = None) -> Pipeline:
    """The pipeline of a model that `annotate train` wrote.

    threads: how many threads annotate the sentences of a call. The annotation is the same for any number.
    multiwords: tokens such as `don't` are split into words.
    lexicon: a file of words whose analyses are known, which take precedence over the model: form, UPOS, lemma and
        perhaps FEATS, separated by tabs, `_` for what the model is to say.

    FileError: a file that cannot be read, or is no model or lexicon. ImportError: the package was built without
    annotation."""
    return Pipeline(path, threads=threads, multiwords=multiwords, lexicon=lexicon)


class Pipeline:
    """A model that annotates text, see `load`.

    Threads may share one; its calls run one after another. A copy or pickle loads the file of the model again."""

    def __init__(self, path: str | os.PathLike[str], *, threads: int = 1, multiwords: bool = True,
                 lexicon: str | os.PathLike[str] | None = None) -> None:
        if not 1 <= operator.index(threads) <= 1024:
            raise ArgumentError(f"threads must be from 1 to 1024, not {threads}")
        self._path = os.path.abspath(path)
        self._lexicon = None if lexicon is None else os.path.abspath(lexicon)
        self._threads = threads
        self._multiwords = multiwords
        self._model = _extension().Pipeline(os.fsencode(self._path), os.fsencode(self._lexicon or ""), threads)

    @property
    def name(self) -> str:
        """The treebank that the model learned from, as `annotate train --name` says."""
        return str(self._model.name)

    def __call__(self, text: str, *, lines: bool = False) -> Document:
        """Annotates a text. A blank line ends a paragraph, and so a sentence; with `lines` each line is a sentence.

        ArgumentError: a text with a zero byte or half of a surrogate pair. A UserWarning says that sentences of more
        than 1,000 tokens were cut."""
        return self._annotate([text], ["text"], "lines" if lines else "text")[0]

    def pipe(self, texts: Iterable[str], *, batch_size: int = 64, lines: bool = False) -> Iterator[Document]:
        """Annotates many texts, `batch_size` of them together, which is faster for short ones. Yields the document of
        each, the same as that of a call for it alone, in order."""
        if batch_size < 1:
            raise ArgumentError(f"batch_size must be at least 1, not {batch_size}")
        rest = iter(texts)
        first = 1
        while batch := list(itertools.islice(rest, batch_size)):
            names = [f"text {first + i}" for i in range(len(batch))]
            yield from self._annotate(batch, names, "lines" if lines else "text")
            first += len(batch)

    def annotate_words(self, sentences: Iterable[Iterable[str]], *, multiwords: bool = False) -> Document:
        """Annotates sentences whose words are given. They stay as they are; `multiwords` splits them as it does the
        tokens of a text.

        ArgumentError: a sentence without words, or an empty word or one with a tab or line end."""
        rows = []
        for number, sentence in enumerate(sentences, 1):
            words = [sentence] if isinstance(sentence, str) else list(sentence)
            if not words or isinstance(sentence, str):
                raise ArgumentError(f"sentence {number} must be a list of words, not {sentence!r}")
            for word in words:
                if not isinstance(word, str) or not word.strip() or re.search(r"[\t\n\r]", word):
                    raise ArgumentError(f"sentence {number}: expected a word without tabs and line ends, not {word!r}")
            rows += [f"{i}\t{word}" + 8 * "\t_" for i, word in enumerate(words, 1)] + [""]
        return self._annotate(["\n".join(rows)], ["words"], "conllu", multiwords)[0]

    def fill(self, conllu: str) -> Document:
        """Fills the fields of CoNLL-U that are `_`, FEATS and the tree only where those of a whole sentence are. Tokens
        are split only in sentences that have nothing but forms.

        ArgumentError: malformed CoNLL-U, with its line."""
        return self._annotate([conllu], ["conllu"], "conllu")[0]

    def _annotate(self, texts: list[str], names: list[str], kind: str,
                  multiwords: bool | None = None) -> list[Document]:
        for name, text in zip(names, texts):
            if not isinstance(text, str):
                raise TypeError(f"{name} must be a str, not {type(text).__name__}")
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise ArgumentError(f"{name}: {text[error.start]!r} at {error.start} is half of a surrogate pair, "
                                    "no character") from None
        found, cut = self._model.annotate(list(zip(names, texts)), kind,
                                          self._multiwords if multiwords is None else multiwords)
        if cut:
            warnings.warn(f"sentences of more than 1,000 tokens were cut: {cut}", stacklevel=3)
        return [Document(None if kind == "conllu" else text, conllu) for text, conllu in zip(texts, found)]

    def __reduce__(self) -> tuple[Callable[..., Pipeline], tuple[object, ...]]:
        return functools.partial(load, threads=self._threads, multiwords=self._multiwords, lexicon=self._lexicon), (
            self._path,)


class Document:
    """An annotated text: a sequence of sentences.

    text: the text as it was given; that of given words or CoNLL-U is its sentences' texts, a line each."""

    def __init__(self, text: str | None, conllu: str) -> None:
        self._conllu = conllu
        # Ranges do not count a byte order mark; those of CoNLL-U that was given are of another text.
        offset = None if text is None else 1 if text.startswith("\ufeff") else 0
        self.sentences = [Sentence(block.split("\n"), offset) for block in conllu.split("\n\n")[:-1]]
        self._has_ranges = offset is not None
        self.text = "\n".join(s.text for s in self.sentences) if text is None else text

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    def __getitem__(self, index: int) -> Sentence:
        return self.sentences[index]

    def __repr__(self) -> str:
        return f"<Document of {len(self)} sentences: {_shortened(self.text)}>"

    def to_conllu(self, *, ranges: bool = False) -> str:
        """CoNLL-U, as `annotate run` prints it. With `ranges` MISC says where each token is in the text: TokenRange, in
        code points from 0."""
        if ranges or not self._has_ranges:
            return self._conllu
        return _RANGE.sub(lambda found: found[1] + (found[2] or "_"), self._conllu)

    def to_json(self, *, ranges: bool = False) -> str:
        """A JSON object for each sentence, one a line, as `annotate run --json` prints them."""
        return str(_extension().json(self.to_conllu(ranges=ranges))) if self.sentences else ""


class Sentence:
    """A sequence of words.

    id: sent_id; text: the text, with a space for any white space; comments: the lines of CoNLL-U that begin with `#`;
    words: the syntactic words; tokens: what is written, of one word or several."""

    def __init__(self, lines: list[str], offset: int | None) -> None:
        self.comments = list(itertools.takewhile(lambda line: line.startswith("#"), lines))
        self.id = self._comment("sent_id")
        self.text = self._comment("text")
        self.words: list[Word] = []
        self.tokens: list[Token] = []
        end = 0  # of the last token of several words
        for fields in (line.split("\t") for line in lines[len(self.comments):]):
            first, _, last = fields[0].partition("-")
            if last:
                end = int(last)
                self.tokens.append(Token(fields, offset))
            elif first.isdecimal():  # no empty node
                if int(first) > end:
                    self.tokens.append(Token(fields, offset))
                word = Word(self, self.tokens[-1], fields)
                self.tokens[-1].words.append(word)
                self.words.append(word)

    def _comment(self, name: str) -> str:
        begin = f"# {name} ="
        return next((line[len(begin):].strip() for line in self.comments if line.startswith(begin)), "")

    @property
    def root(self) -> Word | None:
        """The root of the tree; None without a tree."""
        return next((word for word in self.words if word.head_id == 0), None)

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def __getitem__(self, index: int) -> Word:
        return self.words[index]

    def __repr__(self) -> str:
        return f"<Sentence of {len(self)} words: {_shortened(self.text)}>"


class Token:
    """A word, or several written as one.

    form: what is written; words: its words; misc: MISC, without TokenRange; start, end: where the token is in the text,
    in code points, so that it is text[start:end]; None if words or CoNLL-U were given."""

    __slots__ = ("form", "words", "misc", "start", "end")

    def __init__(self, fields: list[str], offset: int | None) -> None:
        self.form = fields[1]
        self.words: list[Word] = []
        self.misc = _attributes(fields[9])
        self.start: int | None = None
        self.end: int | None = None
        if offset is not None:
            start, _, end = self.misc.pop("TokenRange").partition(":")
            self.start, self.end = int(start) + offset, int(end) + offset

    def __repr__(self) -> str:
        return f"<Token {self.form}>"


class Word:
    """A syntactic word. A field that is `_` is empty.

    id: its number in the sentence, from 1; form; lemma; upos; xpos; feats: the features by name; head_id: the number of
    the head, 0 for the root, None without a tree; deprel: the relation to the head; deps; misc: MISC, without
    TokenRange; sentence: that of the word; token: the token that the word is, or is a part of."""

    __slots__ = ("id", "form", "lemma", "upos", "xpos", "feats", "head_id", "deprel", "deps", "misc", "sentence",
                 "token")

    def __init__(self, sentence: Sentence, token: Token, fields: list[str]) -> None:
        self.sentence = sentence
        self.token = token
        self.id = int(fields[0])
        self.form = fields[1]
        self.lemma = fields[2] if fields[2] != "_" or self.form == "_" else ""
        self.upos, self.xpos, self.deprel, self.deps = ("" if fields[i] == "_" else fields[i] for i in (3, 4, 7, 8))
        self.feats = _attributes(fields[5])
        self.head_id = int(fields[6]) if fields[6].isdecimal() else None
        self.misc = _attributes(fields[9])
        if token.start is not None:
            self.misc.pop("TokenRange", None)

    @property
    def head(self) -> Word | None:
        """The head; None for the root and without a tree."""
        if self.head_id is None or not 0 < self.head_id <= len(self.sentence):
            return None
        return self.sentence.words[self.head_id - 1]

    @property
    def children(self) -> list[Word]:
        """The words whose head this is, in order."""
        return [word for word in self.sentence.words if word.head_id == self.id]

    @property
    def start(self) -> int | None:
        """Where its token begins in the text, see Token."""
        return self.token.start

    @property
    def end(self) -> int | None:
        """Where its token ends in the text, see Token."""
        return self.token.end

    def __repr__(self) -> str:
        return f"<Word {self.id} {self.form} {self.upos}>"


def _attributes(field: str) -> dict[str, str]:
    """The parts of FEATS or MISC by name; a part without `=` has an empty value."""
    if field == "_":
        return {}
    return {name: value for name, _, value in (part.partition("=") for part in field.split("|"))}


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
