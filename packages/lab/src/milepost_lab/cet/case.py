"""A question with one marked sentence of evidence, and its rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from milepost.terms import terms
from milepost_lab.cet.product import Floats, trust
from milepost_train.collection import Sentences
from milepost_train.negatives import Candidate, Evidence, Limits, reason

Hide = Literal["random", "pooled"]
"""Which sentence of the evidence was marked: any, or the one that shared words rank best, as where
annotators judged what BM25 showed them."""


@dataclass(frozen=True)
class Case:
    """A question with one marked sentence.

    Attributes:
        read: its document.
        asked: the question's words.
        kept: the sentence that is marked.
        hidden: the other sentences of the evidence.
        cosines, words: ``(n,)`` scores of all sentences, by landmarks and by BM25.
        lists: ranker → sentences, best first, at most 50, the marked one left out.
    """

    read: Sentences
    asked: str
    kept: int
    hidden: frozenset[int]
    cosines: NDArray[np.float32]
    words: NDArray[np.float32]
    lists: Mapping[str, Sequence[int]]

    @property
    def document(self) -> str:
        """Name of its document."""
        return self.read.source.document.name

    @cached_property
    def listed(self) -> list[int]:
        """All sentences that some ranker lists, ascending."""
        return sorted({n for ranked in self.lists.values() for n in ranked})

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """``(n,)`` ranks of all sentences by BM25, from 1."""
        ranks = np.empty(len(self.words), np.int64)
        ranks[np.argsort(-self.words, kind="stable")] = np.arange(1, len(self.words) + 1)
        return ranks

    def passes(self, number: int, limits: Limits) -> bool:
        """Whether ``milepost mine`` would take a sentence for a negative."""
        words = frozenset(terms(self.read.text(self.kept)))
        evidence = Evidence(float(self.cosines[self.kept]), [words])
        found = Candidate(
            self.document,
            self.read.spans[number],
            self.read.text(number),
            float(self.cosines[number]),
            abs(number - self.kept),
        )
        return not reason(found, evidence, limits)

    def trust(self, number: int, selected: float) -> float:
        """The weight that ``milepost mine`` gives a sentence as a negative."""
        return trust(float(self.cosines[number]), float(self.cosines[self.kept]), selected)

    def features(self, numbers: Sequence[int]) -> tuple[Floats, Floats]:
        """The features of the relevance model and of the selection model.

        Relevance: the cosine, and its distance from the document's mean in standard deviations.
        Selection, which drives judging: log rank by words, place in the document, log length.

        Returns:
            ``(k, 2)`` and ``(k, 3)``.
        """
        rows = np.asarray(numbers, np.int64)
        cosines = self.cosines.astype(np.float64)
        text = np.stack((cosines, (cosines - cosines.mean()) / (cosines.std() + 1e-9)), axis=1)
        place = np.arange(len(self.words)) / max(1, len(self.words) - 1)
        length = [float(end - start) for start, end in self.read.spans]
        shown = np.stack((np.log(self.ranks), place, np.log1p(length)), axis=1)
        return text[rows], shown[rows]


def marked_of(
    evidence: Sequence[int], words: NDArray[np.float32], hide: Hide, random: Random
) -> int:
    """The sentence of the evidence that stays marked; ``words`` are the BM25 scores of all."""
    if hide == "random":
        return random.choice(evidence)
    return max(evidence, key=lambda n: (float(words[n]), -n))
