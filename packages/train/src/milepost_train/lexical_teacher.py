"""Words as the teacher: BM25 of every sentence with its neighbours. It scores, without vectors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from milepost.language.terms import question_terms, terms
from milepost.search.fusion import LANDMARK_UNIT, WORDS_UNIT
from milepost.search.lexical import SCALES, bm25, idf
from milepost_train.data import Text


class LexicalTeacher:
    """Scores sentences for a question as the search's words do.

    Memory is four bytes a term of the texts.
    """

    def __init__(self, texts: Sequence[Text]) -> None:
        self._numbers: dict[str, int] = {}
        self._terms: list[NDArray[np.int32]] = []  # of each text, one sentence behind the other
        self._lengths: list[NDArray[np.int64]] = []  # terms of each sentence
        for text in texts:
            said = [terms(text.words[a:b]) for a, b in text.spans]
            numbers = [self._numbers.setdefault(t, len(self._numbers)) for t in chain(*said)]
            self._terms.append(np.array(numbers, np.int32))
            self._lengths.append(np.array([len(each) for each in said], np.int64))
        self._sentences = sum(map(len, self._lengths))
        self._mean = sum(map(len, self._terms)) / max(1, self._sentences)
        self._frequency = np.zeros(len(self._numbers), np.int64)  # sentences that hold a term
        for own, lengths in zip(self._terms, self._lengths, strict=True):
            owner = np.repeat(np.arange(len(lengths)), lengths)
            held = np.unique(np.stack([owner, own]), axis=1)[1]
            self._frequency += np.bincount(held, minlength=len(self._numbers))

    def scores(self, question: str, owners: NDArray[np.int64]) -> NDArray[np.float32]:
        """BM25 at the search's scales, their mean, on the scale of cosines.

        ``10 / 20 * mean over scales of BM25 / sum of the rarities of the question's terms``. A
        scale is the sentence with 0, 1 or 3 neighbours on each side, in its document; rarities are
        of all texts, so that sentences of several documents are compared. 10 and 20 are what the
        search multiplies words and cosines by to add them (``search/fusion.py``): over the usual
        temperature a score is a log-odds here as there.

        Args:
            question: in words.
            owners: ``(n, 2)``, text and sentence of each landmark.

        Returns:
            ``(n,)``, 0 or more; all 0 if no term of the question occurs.
        """
        asked = [self._numbers[t] for t in question_terms(question) if t in self._numbers]
        weights = {str(n): idf(int(self._frequency[n]), self._sentences) for n in asked}
        result = np.zeros(len(owners), np.float32)
        if not asked:
            return result
        for text in np.unique(owners[:, 0]).tolist():
            own, lengths = self._terms[text], self._lengths[text]
            owner = np.repeat(np.arange(len(lengths)), lengths)
            counts = {
                str(n): np.bincount(owner[own == n], minlength=len(lengths)).astype(np.float32)
                for n in asked
            }
            document_offsets = np.array([0, len(lengths)], np.int64)
            size = lengths.astype(np.float32)
            found = bm25(counts, size, document_offsets, weights, self._mean, SCALES).mean(axis=0)
            rows = owners[:, 0] == text
            result[rows] = found[owners[rows, 1]]
        return result * np.float32(WORDS_UNIT / LANDMARK_UNIT / sum(weights.values()))
