"""A query: the question, checked and encoded once, and all options of a search."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsFloat, SupportsIndex

from milepost.errors import BadQuestion, InputError, WrongType
from milepost.filters import Filter, as_filter
from milepost.search.operators import Operators, read_operators
from milepost.store.base import DocumentSelection
from milepost.terms import question_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT_K = 5
"""Default number of passages if neither ``k`` nor a budget is given."""


class QueryEncoder(Protocol):
    """Encodes questions, as ``milepost.Encoder`` does."""

    def encode_query(self, question: str) -> NDArray[np.float32]:
        """Encode a question: ``(d,)`` float32, unit length; it needs a letter or a digit."""

    def vocab_coverage(self, question: str) -> float:
        """Compute the share of the question that the tokenizer knows as whole words, 0–1."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Maximum total length of the passages, in characters (``c``) or the model's tokens (``t``)."""

    size: int
    unit: Literal["c", "t"] = "c"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a result, checked.

    Attributes:
        k: maximum number of passages; None for as many as fit the budget.
        budget: maximum total length; None for no budget.
        min_score: least probability; passages below it are dropped and not replaced.
    """

    k: int | None = DEFAULT_K
    budget: Budget | None = None
    min_score: float = 0.0

    @staticmethod
    def parse(
        k: int | None = None, budget: str | int | None = None, min_score: float = 0.0
    ) -> Limits:
        """Check the arguments; ``k`` is ``DEFAULT_K`` if nothing limits the result.

        Raises:
            InputError: ``k`` is less than 1, ``budget`` is not a length, or ``min_score`` is not
                a probability.
            WrongType: ``k`` is not an integer, or ``min_score`` not a number.

        >>> Limits.parse(budget="400t")
        Limits(k=None, budget=Budget(size=400, unit='t'), min_score=0.0)
        """
        if k is not None:
            k = _whole(k)
        if k is not None and k < 1:
            raise InputError(f"k = {k} passages cannot be returned", "k=1 or more")
        if isinstance(min_score, bool) or not isinstance(min_score, SupportsFloat):
            raise WrongType(
                f"min_score must be a number, not {type(min_score).__name__}", "min_score=0.2"
            )
        if not 0.0 <= min_score <= 1.0:
            raise InputError(
                f"min_score = {min_score} is not a probability", "0 to 1, such as 0.2 for 20%"
            )
        parsed = None if budget is None else parse_length(budget, "budget")
        if k is None and parsed is None:
            k = DEFAULT_K
        return Limits(k, parsed, min_score)


@dataclass(frozen=True, slots=True)
class Query:
    """A query as all steps of the search receive it.

    Attributes:
        text: the text as the user wrote it, with operators.
        vector: ``(d,)`` float32, unit length.
        terms: distinct terms of the question, see ``terms.question_terms``.
        vocab_coverage: share of the question that the tokenizer knows as whole words, 0–1.
        limits: limits on number, length and probability of passages.
        documents: names of the documents to search; None for all.
        rerank: whether the model's reranker, if it has one, scores the best windows.
        phrases: phrases that every passage must contain word for word, see ``operators.py``.
        excluded: words and phrases that no passage may contain.
        where: filter on the documents' properties; None for all documents.
    """

    text: str
    vector: NDArray[np.float32]
    terms: tuple[str, ...]
    vocab_coverage: float = 1.0
    limits: Limits = Limits()
    documents: frozenset[str] | None = None
    rerank: bool = True
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    where: Filter | None = None

    @property
    def among(self) -> DocumentSelection:
        """The documents to search, by name and by filter."""
        return DocumentSelection(self.documents, self.where)

    @property
    def question(self) -> str:
        """The text without operators, which is encoded and reranked."""
        return read_operators(self.text).question if self.has_operators else self.text

    @property
    def has_operators(self) -> bool:
        """Whether the question has required phrases or excluded words."""
        return bool(self.phrases or self.excluded)

    @staticmethod
    def parse(
        text: str,
        encoder: QueryEncoder,
        *,
        k: int | None = None,
        budget: str | int | None = None,
        documents: Iterable[str] | None = None,
        min_score: float = 0.0,
        rerank: bool = True,
        operators: bool = True,
        where: str | Filter | None = None,
    ) -> Query:
        """Check all arguments and encode the question.

        Args:
            text: the question in words. Passages contain every phrase in quotation marks word for
                word, and no word that follows a minus sign.
            encoder: the model.
            k: maximum number of passages; None for 5, or with a budget for as many as fit.
            budget: maximum total length: ``"1600c"`` (or 1600) characters, ``"400t"`` tokens.
            documents: names of the documents to search; None for all.
            min_score: least probability, 0–1, of a passage.
            rerank: whether the model's reranker scores the best windows.
            operators: False treats quotation marks and minus signs as ordinary characters.
            where: a filter on documents, such as ``kind = "pdf" and year >= 2020``.

        Raises:
            BadQuestion: the question is empty, has neither letter nor digit, or only excluded
                words.
            WrongType: the question is not a string, or ``k`` not an integer.
            InputError: see ``Limits.parse``, or the filter is invalid.
        """
        check_text(text, "the question")
        limits, filter_ = Limits.parse(k, budget, min_score), as_filter(where)
        found = read_operators(text) if operators else Operators(text)
        question = found.question
        if found.excluded and not any(map(str.isalnum, question)):
            raise BadQuestion(
                f"the question {text.strip()!r} only says what passages must not hold",
                f'ask for something as well, or for the sign itself: "-{found.excluded[0]}"',
            )
        return Query(
            text,
            encoder.encode_query(question),
            tuple(question_terms(question)),
            encoder.vocab_coverage(question),
            limits,
            None if documents is None else frozenset(documents),
            rerank,
            found.phrases,
            found.excluded,
            filter_,
        )


_DIGITS = 12
"""Digits of a length at most: Python refuses to read numbers of thousands."""


def check_text(text: object, name: str) -> str:
    """Refuse what is not a string: ``str([])`` would be looked for as the text ``[]``."""
    if not isinstance(text, str):
        raise WrongType(f"{name} must be str, not {type(text).__name__}", "a question in words")
    return text


def _whole(k: Any) -> int:
    """``k`` as an integer; NumPy's count."""
    if isinstance(k, bool) or not isinstance(k, SupportsIndex):
        raise WrongType(f"k must be int, not {type(k).__name__}", "k=3")
    return index(k)


def parse_length(length: str | int, name: str) -> Budget:
    """Parse a length: ``"1600c"`` or 1600 characters, ``"400t"`` tokens.

    Raises:
        InputError: anything else, or 0.

    >>> parse_length(1600, "budget")
    Budget(size=1600, unit='c')
    """
    if isinstance(length, int):
        length = min(length, 10**_DIGITS - 1)  # as much as there is
    match = re.fullmatch(rf"\s*(\d{{1,{_DIGITS}}})\s*([ct]?)\s*", str(length))
    if match is None or int(match[1]) == 0:
        raise InputError(f"{name} {length!r:.40} is not a length", "1600c or 400t")
    return Budget(int(match[1]), "t" if match[2] == "t" else "c")
