"""Texts of the study as token ids: training pairs, a stream of text, cuts of long documents.

Made once from folders of pairs, documents and questions, and kept as one file, so that another
machine needs neither the folders nor the time. No pair and no training document shares more than
boilerplate with a test document: runs of ``RUN`` tokens are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.errors import InputError
from milepost_eval.tasks.reading import objects
from milepost_lab.data.pairs import stable

LENGTHS, LONGEST = (256, 512, 2048, 8192), 16_384
QUERY, PASSAGE = 64, 256
TASKS = ("covid_papers", "meetings", "squad_articles", "trials", "written", "questions")
CHARACTERS = 36_000  # of a test document, at least
EACH = 3  # questions of a document, at most
HELD = 25  # one passage in so many is held out
RUN = 16

Ids = NDArray[np.uint16]
Starts = NDArray[np.int64]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Material:
    """Arrays of one file; texts of a kind lie in one array, text ``n`` from ``starts[n]`` on."""

    queries: Ids
    query_starts: Starts
    passages: Ids  # different ones
    passage_starts: Starts
    passage_of: NDArray[np.int64]  # of each query
    held: NDArray[np.bool_]  # whether a pair is held out
    stream: Ids  # training documents, joined
    asked: Ids  # test questions
    asked_starts: Starts
    documents: Ids  # test documents
    document_starts: Starts
    document_of: NDArray[np.int64]  # of each test question
    names: NDArray[np.str_]  # of test documents
    cuts: NDArray[np.int64]
    """``(questions, lengths)``: first token of each question's cut; -1 where the document is
    shorter. The last column is of ``LONGEST``."""
    depths: NDArray[np.float64]
    """The same: place of the evidence in the cut, 0 for the front, 1 for the end."""

    def write(self, path: Path) -> None:
        """Keep it as one file."""
        np.savez_compressed(path, **vars(self))

    @classmethod
    def read(cls, path: Path) -> Material:
        """Read what ``write`` kept."""
        with np.load(path) as file:
            return cls(**file)


def make(folders: Sequence[Path], tokenizer: Any, pairs: int, asked: int, tokens: int) -> Material:
    """Read folders that hold ``pairs/*.jsonl.gz``, ``corpus/*.jsonl.gz`` and tasks.

    The numbers are the most there may be: of ``pairs``, those held out included; of questions that
    are ``asked``, one of each document first, documents of dev and test first; of the stream's
    ``tokens``.

    Raises:
        InputError: there are too few pairs, or no long document with questions.
    """
    files = sorted(file for folder in folders for file in folder.rglob("*.jsonl.gz"))
    documents: dict[str, str] = {}
    questions: list[Row] = []
    for file in files:
        if file.name == "questions.jsonl.gz" and file.parent.name in TASKS:
            rows = objects(file.parent / "documents.jsonl.gz")
            documents |= {row["id"]: row["text"] for row in rows}
            questions += [row for row in objects(file) if row["spans"]]
    chosen, encoded = _asked(documents, questions, tokenizer, asked)
    if not chosen:
        raise InputError(f"{folders[0]} holds no long documents with questions", "--data FOLDER")
    seen = np.unique(np.concatenate([runs(ids) for ids, _ in encoded.values()]))

    kept = _pairs(files, tokenizer, pairs, seen)
    passages = {text: ids for _, text, ids in kept}
    held = np.array([int(stable(text)[:8], 16) % HELD == 0 for _, text, _ in kept])
    if len(kept) < 4 or held.all() or not held.any():
        raise InputError(f"{folders[0]} holds too few pairs", "pairs/*.jsonl.gz in --data FOLDER")

    tested = {row["document"] for row in questions if row["split"] != "train"}
    learned = {row["document"] for row in questions} - tested
    corpus = [row for file in files if file.parent.name == "corpus" for row in objects(file)]
    texts = {row["id"]: row["text"] for row in corpus if row["split"] == "train"}
    texts |= {name: documents[name] for name in learned if name in documents}
    texts = {name: text for name, text in texts.items() if name not in encoded}

    number = {text: n for n, text in enumerate(passages)}
    place = {name: n for n, name in enumerate(encoded)}
    cuts = np.array([_cuts(question, *encoded[question["document"]]) for question in chosen])
    return Material(
        *joined(query for query, _, _ in kept),
        *joined(passages.values()),
        np.array([number[text] for _, text, _ in kept]),
        held,
        _stream(texts, tokenizer, seen, tokens),
        *joined(_encoded(question["question"], tokenizer, QUERY) for question in chosen),
        *joined(ids for ids, _ in encoded.values()),
        np.array([place[question["document"]] for question in chosen]),
        np.array([*encoded]),
        cuts[..., 0].astype(np.int64),
        cuts[..., 1],
    )


def joined(texts: Iterable[Ids]) -> tuple[Ids, Starts]:
    """Texts in one array, and where each starts; one start more than texts."""
    found = list(texts)
    starts = np.cumsum([0, *map(len, found)], dtype=np.int64)
    return np.concatenate([np.zeros(0, np.uint16), *found]), starts


def runs(ids: Ids) -> NDArray[np.uint64]:
    """A number for each run of ``RUN`` tokens; none for a shorter text."""
    found = np.zeros(max(0, len(ids) - RUN + 1), np.uint64)
    for at in range(RUN):
        found = found * np.uint64(0x9E3779B97F4A7C15) + ids[at : at + len(found)] + np.uint64(1)
    return found


def known(ids: Ids, seen: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which runs of a text are among ``seen``, in order."""
    found = runs(ids)
    same: NDArray[np.bool_] = seen[np.searchsorted(seen, found).clip(max=len(seen) - 1)] == found
    return same


def cut(name: str, evidence: tuple[int, int], tokens: int, length: int) -> tuple[int, float]:
    """First token of a cut of ``length`` tokens, and the depth of the evidence in it, 0 to 1.

    All cuts that hold the evidence (its first token, and the one behind its last) are equally
    likely. Evidence longer than the cut is at its front.
    """
    start = evidence[0]
    size = min(evidence[1] - start, length)
    lowest, highest = max(0, start + size - length), min(start, tokens - length)
    share = int(stable(f"{name} {length}")[:12], 16) / 16**12
    first = lowest + int(share * (highest - lowest + 1)) if highest > lowest else highest
    return first, (start - first) / max(1, length - size)


def _asked(
    documents: Mapping[str, str], questions: Sequence[Row], tokenizer: Any, most: int
) -> tuple[list[Row], dict[str, tuple[Ids, Starts]]]:
    """Test questions; ids and offsets in characters of their documents."""
    own: dict[str, list[Row]] = {}
    for question in sorted(questions, key=lambda row: stable(row["id"])):
        if len(documents.get(question["document"], "")) >= CHARACTERS:
            own.setdefault(question["document"], []).append(question)
    learned = {row["document"] for row in questions if row["split"] == "train"}
    found: dict[str, tuple[Ids, Starts]] = {}
    for name in sorted(own, key=lambda name: (name in learned, stable(name))):
        if len(found) == most:
            break
        one = tokenizer.encode(documents[name], add_special_tokens=False)
        if len(one.ids) >= LENGTHS[-1]:
            found[name] = np.array(one.ids, np.uint16), np.array(one.offsets, np.int64)
    rounds = [own[name][n : n + 1] for n in range(EACH) for name in found]
    return [question for some in rounds for question in some][:most], found


def _cuts(question: Row, ids: Ids, offsets: Starts) -> list[tuple[int, float]]:
    start, end = question["spans"][0]
    first = min(int(np.searchsorted(offsets[:, 1], start, "right")), len(ids) - 1)
    last = max(first + 1, int(np.searchsorted(offsets[:, 0], end, "left")))
    return [
        cut(question["id"], (first, last), len(ids), length) if len(ids) >= length else (-1, -1.0)
        for length in (*LENGTHS, LONGEST)
    ]


def _pairs(
    files: Sequence[Path], tokenizer: Any, most: int, seen: NDArray[np.uint64]
) -> list[tuple[Ids, str, Ids]]:
    """Ids of queries, passages and their ids; no passage that shares a run with ``seen``."""
    rows = [row for file in files if file.parent.name == "pairs" for row in objects(file)]
    pairs = dict.fromkeys((row["query"], row["passage"]) for row in rows)
    chosen = sorted(pairs, key=lambda pair: stable("\n".join(pair)))[:most]
    passages = {text: _encoded(text, tokenizer, PASSAGE) for _, text in chosen}
    fine = {text for text, ids in passages.items() if len(ids) and not known(ids, seen).any()}
    found = [
        (_encoded(query, tokenizer, QUERY), text, passages[text])
        for query, text in chosen
        if text in fine
    ]
    return [row for row in found if len(row[0])]


def _stream(texts: Mapping[str, str], tokenizer: Any, seen: NDArray[np.uint64], tokens: int) -> Ids:
    """Documents in a fixed order until there are ``tokens``; none that is a test document."""
    found: list[Ids] = []
    for name in sorted(texts, key=stable):
        if sum(map(len, found)) >= tokens:
            break
        ids = _encoded(texts[name][:100_000], tokenizer, tokens)
        if len(ids) >= RUN and known(ids, seen).mean() < 0.02:
            found.append(ids)
    return joined(found)[0][:tokens]


def _encoded(text: str, tokenizer: Any, most: int) -> Ids:
    return np.array(tokenizer.encode(text, add_special_tokens=False).ids[:most], np.uint16)
