"""Questions and the passages that answer them, and how well scores rank passages."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from milepost.errors import InputError
from milepost.wording import counted
from milepost_train.loading import pair_of, rows

PACKAGED_FILE = Path(__file__).parent / "packaged" / "open-questions.jsonl.gz"
"""1,500 questions about documents in the public domain; its README says where from."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Training pairs, and test questions that search the passages of the test documents.

    Attributes:
        train: ``(question, passage)``.
        test_queries: questions.
        test_passages: searched by all of them.
        test_answers: number of each question's passage.
        test_documents: document of each question; of documents none is in both parts.
    """

    train: list[tuple[str, str]]
    test_queries: list[str]
    test_passages: list[str]
    test_answers: list[int]
    test_documents: list[str]

    def sides(self) -> dict[str, list[str]]:
        """The four lists of texts by name."""
        return {
            "train queries": [query for query, _ in self.train],
            "train passages": [passage for _, passage in self.train],
            "test queries": self.test_queries,
            "test passages": self.test_passages,
        }


def read_pairs(path: str | Path | None, train: int | None = None, test: int | None = None) -> Pairs:
    """Read the pairs of a file as ``[data] pairs`` of training does, with ``document`` if known.

    About a third of the documents, chosen by their names, are for the test; pairs without one are
    divided by their passages.

    Args:
        path: JSON lines, CSV or Parquet; None for the pairs that come along.
        train: most training pairs; None for all.
        test: most test questions; None for all.

    Raises:
        InputError: the file cannot be read, or leaves nothing to train on or to choose between.
    """
    file = Path(path or PACKAGED_FILE)
    bad: list[InputError] = []
    found: list[tuple[str, str, str]] = []
    for line in rows(file, bad):
        query, passage = pair_of(line)
        document = line.name("document") if "document" in line.fields else passage
        found.append((query, passage, document))
    if bad:
        raise bad[0]
    found.sort(key=lambda row: stable(row[0]))
    learned = [(query, passage) for query, passage, document in found if not _tested(document)]
    asked = [row for row in found if _tested(row[2])][:test]
    passages = list(dict.fromkeys(passage for _, passage, _ in asked))
    if len(learned) < 2 or len(passages) < 2 or len({document for *_, document in asked}) < 2:
        raise InputError(
            f"{file}: {counted(len(learned), 'pair')} to train on, and "
            f"{counted(len(passages), 'passage')} of other documents to search",
            "pairs of more documents: two of each, the passages of two documents",
        )
    number = {passage: n for n, passage in enumerate(passages)}
    return Pairs(
        learned[:train],
        [query for query, _, _ in asked],
        passages,
        [number[passage] for _, passage, _ in asked],
        [document for _, _, document in asked],
    )


def ndcg(scores: NDArray[np.floating], answers: Sequence[int], k: int = 10) -> list[float]:
    """nDCG@k of each question with one answer: ``1 / log2(1 + rank)``; ties share the middle rank.

    Args:
        scores: ``(questions, passages)``.
        answers: ``(questions,)``.
        k: ranks that count.
    """
    own = np.take_along_axis(scores, np.asarray(answers)[:, None], axis=1)
    ranks = 0.5 + (scores > own).sum(1) + (scores == own).sum(1) / 2
    found: list[float] = np.where(ranks <= k, 1 / np.log2(1 + ranks), 0.0).tolist()
    return found


def stable(name: str) -> str:
    """A hexadecimal number that depends on the name alone, for draws and orders."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def _tested(document: str) -> bool:
    return int(stable(document)[:8], 16) % 3 == 0
