"""Texts of the study as token ids: training pairs, a stream of text, cuts of long documents.

Made once from folders of pairs, documents and questions, and kept as one file, so that another
machine needs neither the folders nor the time. No pair and no training document shares more than
boilerplate with a test document: runs of ``RUN`` tokens are compared.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.errors import InputError
from milepost_lab.data.pairs import stable

LENGTHS, LONGEST = (256, 512, 2048, 8192), 16_384
QUERY, PASSAGE = 64, 256
TASKS = ("covid_papers", "meetings", "squad_articles", "trials", "written", "questions")
CHARACTERS = 36_000  # of a test document, at least
EACH = 3  # questions of a document, at most
HELD = 25  # one passage in so many is held out
RUN = 16
_TOGETHER = 64  # texts that are tokenised at once


@dataclass(frozen=True, slots=True)
class Material:
    """Arrays of one file; texts of a kind lie in one array, text ``n`` from ``starts[n]`` on.

    Attributes:
        queries, query_starts: of all pairs.
        passages, passage_starts: different ones.
        passage_of: passage of each pair.
        held: whether a pair is held out.
        stream: training documents, joined.
        asked, asked_starts: test questions.
        documents, document_starts: test documents; tokens that no cut holds are 0.
        document_of: document of each question.
        names: of the documents.
        cuts: ``(questions, lengths)``: first token of each question's cut; -1 where the document is
            shorter. The last column is of ``LONGEST``.
        depths: the same: place of the evidence in the cut, 0 for the front, 1 for the end.
    """

    queries: NDArray[np.uint16]
    query_starts: NDArray[np.int64]
    passages: NDArray[np.uint16]
    passage_starts: NDArray[np.int64]
    passage_of: NDArray[np.int64]
    held: NDArray[np.bool_]
    stream: NDArray[np.uint16]
    asked: NDArray[np.uint16]
    asked_starts: NDArray[np.int64]
    documents: NDArray[np.uint16]
    document_starts: NDArray[np.int64]
    document_of: NDArray[np.int64]
    names: NDArray[np.str_]
    cuts: NDArray[np.int64]
    depths: NDArray[np.float64]

    def write(self, path: Path) -> None:
        """Keep it as one file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            np.savez_compressed(file, **asdict(self))

    @classmethod
    def read(cls, path: Path) -> Material:
        """Read what ``write`` kept."""
        with np.load(path) as file:
            return cls(**{name: file[name] for name in file.files})


def make(
    folders: Sequence[Path], tokenizer: Any, *, pairs: int, asked: int, tokens: int
) -> Material:
    """Read folders that hold ``pairs/*.jsonl.gz``, ``corpus/*.jsonl.gz`` and tasks.

    Args:
        folders: searched for these.
        tokenizer: of ``tokenizers``.
        pairs: most training pairs, those held out included.
        asked: most test questions; one of each document first, documents of dev and test first.
        tokens: of the stream, about.

    Raises:
        InputError: there are too few pairs, or no long document with questions.
    """
    files = sorted(file for folder in folders for file in folder.rglob("*.jsonl.gz"))
    documents, questions, parts = _tasks(files)
    chosen, encoded = _asked(documents, questions, parts, tokenizer, asked)
    if not chosen:
        raise InputError(f"{folders[0]} holds no long documents with questions", "--data FOLDER")
    seen = np.unique(np.concatenate([runs(ids) for ids, _ in encoded.values()]))
    rows = _pairs(files, pairs)
    queries = _encoded([query for query, _ in rows], tokenizer, QUERY)
    different = {passage: n for n, passage in enumerate(dict.fromkeys(row[1] for row in rows))}
    passages = _encoded([*different], tokenizer, PASSAGE)
    fine = [len(ids) > 0 and not known(ids, seen).any() for ids in passages]
    kept = [
        n for n, (_, passage) in enumerate(rows) if fine[different[passage]] and len(queries[n])
    ]
    number = {
        old: new for new, old in enumerate(dict.fromkeys(different[rows[n][1]] for n in kept))
    }
    held = {old: int(stable(text)[:8], 16) % HELD == 0 for text, old in different.items()}
    of = [different[rows[n][1]] for n in kept]
    if len(kept) < 4 or len({held[old] for old in of}) < 2:
        raise InputError(f"{folders[0]} holds too few pairs", "pairs/*.jsonl.gz in --data FOLDER")
    more = {row["id"]: row["text"] for row in _corpus(files) if row["split"] == "train"}
    more |= {name: text for name, text in documents.items() if parts.get(name) == {"train"}}
    more = {name: text for name, text in more.items() if name not in encoded}
    cuts, depths = _cuts(chosen, encoded)
    names = [*encoded]
    packed, starts = joined([ids for ids, _ in encoded.values()])
    of_question = np.array([names.index(question["document"]) for question in chosen])
    wanted = np.zeros(len(packed), bool)
    for question, row in zip(of_question, cuts, strict=True):
        for first, length in zip(row, (*LENGTHS, LONGEST), strict=True):
            if first >= 0:
                wanted[starts[question] + first :][:length] = True
    return Material(
        *joined([queries[n] for n in kept]),
        *joined([passages[old] for old in number]),
        np.array([number[old] for old in of]),
        np.array([held[old] for old in of]),
        _stream(more, tokenizer, seen, tokens),
        *joined(_encoded([question["question"] for question in chosen], tokenizer, QUERY)),
        np.where(wanted, packed, 0).astype(np.uint16),
        starts,
        of_question,
        np.array(names),
        cuts,
        depths,
    )


def joined(texts: Iterable[NDArray[np.uint16]]) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """Texts in one array, and where each starts; one start more than texts."""
    found = list(texts)
    starts = np.concatenate([[0], np.cumsum([len(ids) for ids in found])]).astype(np.int64)
    return np.concatenate([np.zeros(0, np.uint16), *found]), starts


def runs(ids: NDArray[np.uint16]) -> NDArray[np.uint64]:
    """A number for each run of ``RUN`` tokens; none for a shorter text."""
    if len(ids) < RUN:
        return np.zeros(0, np.uint64)
    found = np.zeros(len(ids) - RUN + 1, np.uint64)
    for at in range(RUN):
        found = found * np.uint64(0x9E3779B97F4A7C15) + ids[at : at + len(found)] + np.uint64(1)
    return found


def known(ids: NDArray[np.uint16], seen: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which runs of a text are among ``seen``, in order."""
    found = runs(ids)
    at = np.searchsorted(seen, found).clip(max=len(seen) - 1)
    same: NDArray[np.bool_] = seen[at] == found
    return same


def cut(name: str, evidence: tuple[int, int], tokens: int, length: int) -> tuple[int, float]:
    """First token of a cut that holds evidence, and the depth of the evidence in it, 0 to 1.

    All cuts that hold it are equally likely. Evidence longer than the cut is at its front.

    Args:
        name: what the draw depends on, with ``length``.
        evidence: first token, and the one behind the last.
        tokens: of the document, at least ``length``.
        length: of the cut.
    """
    start = evidence[0]
    size = min(evidence[1] - start, length)
    lowest, highest = max(0, start + size - length), min(start, tokens - length)
    share = int(stable(f"{name} {length}")[:12], 16) / 16**12
    first = lowest + int(share * (highest - lowest + 1)) if highest > lowest else highest
    return first, (start - first) / max(1, length - size)


def _tasks(
    files: Sequence[Path],
) -> tuple[dict[str, str], list[dict[str, Any]], dict[str, set[str]]]:
    """Text of each document, questions with evidence, and the splits of each document."""
    documents: dict[str, str] = {}
    questions: list[dict[str, Any]] = []
    parts: dict[str, set[str]] = {}
    for file in files:
        if file.name != "questions.jsonl.gz" or file.parent.name not in TASKS:
            continue
        documents |= {row["id"]: row["text"] for row in _rows(file.parent / "documents.jsonl.gz")}
        found = [row for row in _rows(file) if row["spans"]]
        questions += found
        for row in found:
            parts.setdefault(row["document"], set()).add(row["split"])
    return documents, questions, parts


def _asked(
    documents: dict[str, str],
    questions: list[dict[str, Any]],
    parts: dict[str, set[str]],
    tokenizer: Any,
    most: int,
) -> tuple[list[dict[str, Any]], dict[str, tuple[NDArray[np.uint16], NDArray[np.int64]]]]:
    """Test questions, and ids and offsets of their documents, which hold all ``LENGTHS``."""
    own: dict[str, list[dict[str, Any]]] = {}
    for question in sorted(questions, key=lambda row: stable(row["id"])):
        if len(documents.get(question["document"], "")) >= CHARACTERS:
            own.setdefault(question["document"], []).append(question)
    order = sorted(own, key=lambda name: ("train" in parts[name], stable(name)))
    found: dict[str, tuple[NDArray[np.uint16], NDArray[np.int64]]] = {}
    for name in order:
        if len(found) == most:
            break
        one = tokenizer.encode(documents[name], add_special_tokens=False)
        if len(one.ids) >= LENGTHS[-1]:
            found[name] = np.array(one.ids, np.uint16), np.array(one.offsets, np.int64)
    rounds = [own[name][n : n + 1] for n in range(EACH) for name in found]
    return [question for some in rounds for question in some][:most], found


def _cuts(
    chosen: Sequence[dict[str, Any]],
    encoded: dict[str, tuple[NDArray[np.uint16], NDArray[np.int64]]],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    found = []
    for question in chosen:
        ids, offsets = encoded[question["document"]]
        start, end = question["spans"][0]
        first = min(int(np.searchsorted(offsets[:, 1], start, "right")), len(ids) - 1)
        last = max(first + 1, int(np.searchsorted(offsets[:, 0], end, "left")))
        found.append(
            [
                cut(question["id"], (first, last), len(ids), length)
                if len(ids) >= length
                else (-1, -1.0)
                for length in (*LENGTHS, LONGEST)
            ]
        )
    both = np.array(found, np.float64)
    return both[..., 0].astype(np.int64), both[..., 1]


def _pairs(files: Sequence[Path], most: int) -> list[tuple[str, str]]:
    rows = [
        (row["query"], row["passage"])
        for file in files
        if file.parent.name == "pairs"
        for row in _rows(file)
    ]
    return sorted(dict.fromkeys(rows), key=lambda row: stable("\n".join(row)))[:most]


def _corpus(files: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for file in files:
        if file.parent.name == "corpus":
            yield from _rows(file)


def _stream(
    texts: dict[str, str], tokenizer: Any, seen: NDArray[np.uint64], tokens: int
) -> NDArray[np.uint16]:
    """Documents in a fixed order until there are ``tokens``; none that is a test document."""
    found: list[NDArray[np.uint16]] = []
    for name in sorted(texts, key=stable):
        if sum(map(len, found)) >= tokens:
            break
        [ids] = _encoded([texts[name][:100_000]], tokenizer, tokens)
        if len(ids) >= RUN and known(ids, seen).mean() < 0.02:
            found.append(ids)
    return joined(found)[0][:tokens]


def _encoded(texts: Sequence[str], tokenizer: Any, most: int) -> list[NDArray[np.uint16]]:
    found = []
    for at in range(0, len(texts), _TOGETHER):
        some = tokenizer.encode_batch(list(texts[at : at + _TOGETHER]), add_special_tokens=False)
        found += [np.array(one.ids[:most], np.uint16) for one in some]
    return found


def _rows(file: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {error}", "JSON lines, compressed") from error
