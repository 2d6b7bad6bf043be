"""Training text: documents as token ids of their sentences, questions with evidence sentences.

Reads the JSON-lines form of the tasks: ``documents.jsonl.gz`` (id, title, text, meta) and
``questions.jsonl.gz`` (id, document, question, spans, split), and of the pairs (query, passage).
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from milepost.text.sentences import split

NON_COMMERCIAL = re.compile(r"\bnc\b", re.IGNORECASE)
"""What a licence says that keeps its document from weights that ship."""


@dataclass(frozen=True, slots=True)
class Text:
    """One document: token ids of all its sentences, flat.

    Attributes:
        ids: ``(tokens,)`` int32, no special tokens.
        starts: ``(n + 1,)`` int64: sentence ``i`` has ``ids[starts[i]:starts[i + 1]]``.
        spans: the sentences' code-point offsets in the text.
    """

    name: str
    task: str
    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    spans: list[tuple[int, int]]

    def sentence(self, number: int) -> NDArray[np.int32]:
        """Token ids of one sentence."""
        return self.ids[self.starts[number] : self.starts[number + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each sentence, ``(n,)``."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the numbers of the sentences of ``text`` that its evidence touches."""

    name: str
    task: str
    ids: NDArray[np.int32]
    text: int
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and its passage as one short text."""

    ids: NDArray[np.int32]
    text: Text


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Objects of a gzipped JSON-lines file, one a line."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def held_out(document: str, share: float) -> bool:
    """Whether a training document is kept back from the encoder, by a hash of its id.

    What the encoder has learned by heart flatters it; the fusion weights are therefore fitted
    on these documents' questions.
    """
    digest = hashlib.sha256(document.encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32 < share


def tokenize(tokenizer: Tokenizer, name: str, task: str, text: str, longest: int = 128) -> Text:
    """Split a text into sentences and those into at most ``longest`` tokens.

    Sentences over the limit are cut at token ``longest``: training needs no finer cut.
    """
    ids: list[int] = []
    starts = [0]
    spans: list[tuple[int, int]] = []
    sentences = split(text)
    encoded = tokenizer.encode_batch_fast(
        [text[a:b] for a, b in sentences], add_special_tokens=False
    )
    for (start, end), encoding in zip(sentences, encoded, strict=True):
        tokens = encoding.ids[:longest]
        if not tokens:
            if spans:
                spans[-1] = (spans[-1][0], end)
            continue
        ids.extend(tokens)
        starts.append(len(ids))
        spans.append((start, end))
    return Text(name, task, np.array(ids, np.int32), np.array(starts, np.int64), spans)


def touched(spans: list[tuple[int, int]], evidence: list[list[int]]) -> tuple[int, ...]:
    """Numbers of the sentences that share a character with one of the evidence spans."""
    starts = np.array([a for a, _ in spans])
    ends = np.array([b for _, b in spans])
    found: set[int] = set()
    for start, end in evidence:
        found.update(np.flatnonzero((starts < end) & (ends > start)).tolist())
    return tuple(sorted(found))


def load_task(
    folder: Path,
    tokenizer: Tokenizer,
    *,
    split_name: str = "train",
    allow_nc: bool = False,
    hold_out: float = 0.0,
) -> tuple[list[Text], list[Question]]:
    """Documents and questions of one split of a task.

    Args:
        folder: holds ``documents.jsonl.gz`` and ``questions.jsonl.gz``.
        tokenizer: the model's.
        split_name: only questions of this split, and the documents they need.
        allow_nc: keep documents whose licence has ``nc`` in it (never for weights that ship).
        hold_out: share of the documents to leave out, see ``held_out``.
    """
    wanted: dict[str, list[dict[str, Any]]] = {}
    for row in read_lines(folder / "questions.jsonl.gz"):
        if row["split"] == split_name and not held_out(row["document"], hold_out):
            wanted.setdefault(row["document"], []).append(row)
    texts: list[Text] = []
    questions: list[Question] = []
    for row in read_lines(folder / "documents.jsonl.gz"):
        licence = str(row.get("meta", {}).get("licence", ""))
        if row["id"] not in wanted or (not allow_nc and NON_COMMERCIAL.search(licence)):
            continue
        text = tokenize(tokenizer, row["id"], folder.name, row["text"])
        for asked in wanted[row["id"]]:
            evidence = touched(text.spans, asked["spans"])
            ids = tokenizer.encode(asked["question"], add_special_tokens=False).ids[:128]
            if evidence and ids:
                questions.append(
                    Question(
                        asked["id"], folder.name, np.array(ids, np.int32), len(texts), evidence
                    )
                )
        texts.append(text)
    return texts, questions


def load_pairs(path: Path, tokenizer: Tokenizer, *, most_tokens: int = 160) -> list[Pair]:
    """Pairs of one file; passages are cut after ``most_tokens``, at a sentence's end."""
    pairs: list[Pair] = []
    for row in read_lines(path):
        text = tokenize(tokenizer, "", path.name.split(".")[0], row["passage"])
        keep = int(np.searchsorted(text.starts, most_tokens, side="right")) - 1
        keep = max(keep, 1)
        ids = tokenizer.encode(row["query"], add_special_tokens=False).ids[:128]
        if ids and len(text.spans):
            short = Text(
                text.name,
                text.task,
                text.ids[: text.starts[keep]],
                text.starts[: keep + 1],
                text.spans[:keep],
            )
            pairs.append(Pair(np.array(ids, np.int32), short))
    return pairs
