"""Data of the study: pre-training texts, pairs, and documents to find."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from milepost.errors import InputError
from milepost_eval.tasks.reading import lines
from milepost_lab.data.long_documents import Asked, LongDocument, Words, gather
from milepost_lab.lmk.needles import Host, NeedleQuestion, held_out, with_needles
from milepost_lab.lmk.pairs import Pair, read_pairs
from milepost_lab.lmk.reader import Text

_DRAWN_FROM = 12
"""Held-out pairs per document; four of them must be usable."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """How much data is read.

    Attributes:
        lengths: document lengths in tokens, ascending.
        pairs: maximum number of pairs; None for all.
        texts: maximum number of texts to pre-train the encoder on; None for all.
        hosts: maximum number of documents with inserted passages.
        documents: maximum number of natural documents with questions.
        questions: maximum number of questions about a natural document.
        tuning: number of held-out pairs that choose learning rates.
        short: number of held-out pairs that measure short texts.
        short_tokens: maximum tokens of a passage in the gate and in the choice of learning rates.
    """

    lengths: tuple[int, ...] = (512, 2048, 8192)
    pairs: int | None = None
    texts: int | None = None
    hosts: int = 240
    documents: int = 120
    questions: int = 8
    tuning: int = 512
    short: int = 512
    short_tokens: int = 256


@dataclass(frozen=True, slots=True)
class Search:
    """Documents at one length, and questions that one document each answers.

    Attributes:
        documents: token ids of each document.
        queries: token ids of each query.
        right: number of the document that answers each query.
    """

    documents: Sequence[Text]
    queries: Sequence[Text]
    right: Sequence[int]


@dataclass(frozen=True, slots=True)
class Material:
    """All data of the study except the pre-training texts.

    Attributes:
        training: training pairs.
        tuning: held-out pairs that choose learning rates.
        short: held-out pairs that measure short texts.
        hosts: documents with inserted passages.
        needles: questions about the hosts.
        documents: natural documents, cut around evidence.
        asked: questions about the natural documents.
        plain: held-out texts without inserted passages, for attribution.
    """

    training: Sequence[Pair]
    tuning: Sequence[Pair]
    short: Sequence[Pair]
    hosts: Sequence[Host]
    needles: Sequence[NeedleQuestion]
    documents: Sequence[LongDocument]
    asked: Sequence[Asked]
    plain: Sequence[Text]

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that identify the pairs, the questions and the long texts."""
        told = hashlib.sha256()
        for pair in chain(self.training, self.tuning, self.short):
            told.update(pair.words.encode("utf-8", "surrogatepass"))
            told.update(array("i", pair.passage).tobytes())
        texts = (
            (question.query for question in self.needles),
            (host.text for host in self.hosts),
            (_flat(question.text) for question in self.asked),
            (_flat(document.text) for document in self.documents),
        )
        for text in chain.from_iterable(texts):
            told.update(array("i", text).tobytes())
        return told.hexdigest()[:8]

    def needle_search(self, length: int) -> Search:
        """The search among documents with inserted passages, cut to ``length`` tokens."""
        return Search(
            [host.cut(length) for host in self.hosts],
            [question.query for question in self.needles],
            [question.host for question in self.needles],
        )

    def natural_search(self, length: int) -> Search:
        """The search among natural documents, cut to ``length`` tokens."""
        places = {document.name: n for n, document in enumerate(self.documents)}
        return Search(
            [_flat(document.cut(length)) for document in self.documents],
            [_flat(question.text) for question in self.asked],
            [places[question.document] for question in self.asked],
        )

    def short_search(self, pairs: Sequence[Pair], length: int) -> Search:
        """The search among the first ``length`` tokens of the passages of held-out pairs."""
        return Search(
            [pair.passage[:length] for pair in pairs],
            [pair.query for pair in pairs],
            range(len(pairs)),
        )


def training_texts(data: Path, most: int | None = None) -> list[str]:
    """Read the training documents of the corpus, at most ``most``.

    Raises:
        InputError: there is no corpus.
    """
    files = sorted((data / "corpus").glob("*.jsonl.gz"))
    if not files:
        raise InputError(f"{data} has no corpus/", "--data FOLDER with corpus/, pairs/ and tasks/")
    texts = (
        line.text("text")
        for path in files
        for line in lines(path)
        if line.fields.get("split") == "train"
    )
    return list(islice(texts, most))


def gathered(
    data: Path, words: Words, amounts: Amounts, longest_passage: int, batch: int
) -> Material:
    """Read pairs and documents.

    Args:
        data: folder with ``corpus/``, ``pairs/`` and ``tasks/``.
        words: the tokenizer.
        amounts: how much to read.
        longest_passage: maximum tokens of a pair's passage.
        batch: minimum number of training pairs.

    Raises:
        InputError: a folder is missing, or there is too little in it.
    """
    if not (data / "pairs").is_dir():
        raise InputError(f"{data} has no pairs/", "--data FOLDER with corpus/, pairs/ and tasks/")
    pairs = read_pairs(data / "pairs", words, longest_passage, amounts.pairs)
    tuning, short, rest = _split(pairs, amounts.tuning, amounts.short)
    longest = amounts.lengths[-1]
    texts = held_out(data / "corpus", words, longest, amounts.hosts)
    if len(texts) < 2:
        raise InputError(
            f"{data / 'corpus'} has {len(texts)} held-out documents of {longest:,} tokens, "
            "fewer than 2",
            "--data FOLDER with more or longer documents",
        )
    # Inserted passages are held out too, with all other passages that answer the same queries.
    needed = len(texts) * _DRAWN_FROM
    hosts, needles = with_needles(texts, rest[:needed])
    known = {pair.words.casefold() for pair in rest[:needed]}
    training = [pair for pair in rest[needed:] if pair.words.casefold() not in known]
    if len(training) < batch:
        raise InputError(
            f"{len(pairs)} pairs are too few: {len(training)} are left for training, "
            f"fewer than a batch of {batch}",
            "--data FOLDER with more pairs",
        )
    documents, asked = gather(
        data,
        words,
        least=longest,
        documents=amounts.documents,
        questions=amounts.questions,
        shortest=amounts.lengths[0],
        splits=("dev", "test"),
    )
    plain = [text for _, text in texts]
    return Material(training, tuning, short, hosts, needles, documents, asked, plain)


def _split(
    pairs: Sequence[Pair], tuning: int, short: int
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Split off two held-out parts in which each query occurs once, and return them and the rest.

    Other pairs with a held-out query are dropped.
    """
    held: list[Pair] = []
    taken: set[str] = set()
    for pair in pairs:
        if len(held) == tuning + short:
            break
        if pair.words.casefold() not in taken:
            held.append(pair)
            taken.add(pair.words.casefold())
    rest = [pair for pair in pairs if pair.words.casefold() not in taken]
    if len(held) < tuning + short or not rest:
        raise InputError(
            f"{len(pairs)} pairs are too few: {tuning + short} are held out",
            "--data FOLDER with more pairs",
        )
    return held[:tuning], held[tuning:], rest


def _flat(sentences: Sequence[Sequence[int]]) -> list[int]:
    return [token for sentence in sentences for token in sentence]
