"""A query: the question, checked and encoded once, and all options of a search.

Quotation marks and minus signs give words that a passage must or must not contain: with
`how is "natural selection" tested -pigeons` the passages contain "natural selection" word for word
and do not contain "pigeons"; the question is "how is natural selection tested".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from operator import index
from typing import TYPE_CHECKING, Literal

from milepost._numpy import NDArray, np
from milepost._typed import typed
from milepost.errors import BadQuestion, InputError
from milepost.filters import Filter, as_filter
from milepost.language.terms import question_terms
from milepost.store.base import DocumentSelection

if TYPE_CHECKING:
    from milepost.encoder import Encoder

DEFAULT_K = 5  # default number of passages if neither k nor a budget is given


@dataclass(frozen=True, slots=True)
class Budget:
    """Maximum total length of the passages, in characters (``c``) or the model's tokens (``t``)."""

    size: int
    unit: Literal["c", "t"] = "c"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a result, checked: number, total length and least probability of passages.

    ``k`` is None for as many as fit the budget. Passages below ``min_score`` are not replaced.
    """

    k: int | None = DEFAULT_K
    budget: Budget | None = None
    min_score: float = 0.0

    @staticmethod
    @typed
    def parse(
        k: int | None = None, budget: str | int | None = None, min_score: float = 0.0
    ) -> Limits:
        """Check the arguments; ``k`` is ``DEFAULT_K`` if nothing limits the result.

        >>> Limits.parse(budget="400t")
        Limits(k=None, budget=Budget(size=400, unit='t'), min_score=0.0)
        """
        k = None if k is None else index(k)  # NumPy's integers, too
        if k is not None and k < 1:
            raise InputError(f"k = {k} passages cannot be returned", "k=1 or more")
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
        vector: ``(d,)`` float32, unit length; ``==`` ignores it.
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
    vector: NDArray[np.float32] = field(compare=False)
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
    @typed
    def parse(
        text: str,
        encoder: Encoder,
        *,
        k: int | None = None,
        budget: str | int | None = None,
        documents: Iterable[str] | None = None,
        min_score: float = 0.0,
        rerank: bool = True,
        operators: bool = True,
        where: str | Filter | None = None,
    ) -> Query:
        """Check all arguments, which are those of ``Index.search``, and encode the question.

        Without ``operators``, quotation marks and minus signs are ordinary characters.

        Raises:
            BadQuestion: the question is empty, has neither letter nor digit, or only excluded
                words.
            WrongType: the question is not a string, or ``k`` not an integer.
            InputError: see ``Limits.parse``, or the filter is invalid.
        """
        made = Query._read(
            text, encoder, Limits.parse(k, budget, min_score), rerank, operators, as_filter(where)
        )
        among = None if documents is None else frozenset(documents)
        return replace(made, vector=encoder.encode_query(made.question), documents=among)

    @staticmethod
    @typed
    def parse_many(
        texts: Iterable[str],
        encoder: Encoder,
        *,
        k: int | None = None,
        budget: str | int | None = None,
        min_score: float = 0.0,
        rerank: bool = True,
    ) -> list[Query]:
        """Check questions and encode them together; see ``parse``."""
        limits = Limits.parse(k, budget, min_score)
        made = [Query._read(text, encoder, limits, rerank, True, None) for text in texts]
        vectors = encoder.encode_queries([query.question for query in made])
        return [replace(query, vector=vector) for query, vector in zip(made, vectors, strict=True)]

    @staticmethod
    def _read(
        text: str,
        encoder: Encoder,
        limits: Limits,
        rerank: bool,
        operators: bool,
        where: Filter | None,
    ) -> Query:
        """Check a question and read its operators; its vector is empty."""
        found = read_operators(text) if operators else Operators(text)
        question = found.question
        if found.excluded and not any(map(str.isalnum, question)):
            raise BadQuestion(
                f"the question {text.strip()!r} only says what passages must not hold",
                f'ask for something as well, or for the sign itself: "-{found.excluded[0]}"',
            )
        return Query(
            text,
            np.empty(0, np.float32),
            tuple(question_terms(question)),
            encoder.vocab_coverage(question),
            limits,
            rerank=rerank,
            phrases=found.phrases,
            excluded=found.excluded,
            where=where,
        )


_DIGITS = 12  # digits of a length at most: Python refuses to read numbers of thousands


def parse_length(length: str | int, name: str) -> Budget:
    """Parse a length: ``"1600c"`` or 1600 characters, ``"400t"`` tokens; ``name`` is for the error.

    >>> parse_length(1600, "budget")
    Budget(size=1600, unit='c')
    """
    if isinstance(length, int):
        length = min(length, 10**_DIGITS - 1)  # as much as there is
    match = re.fullmatch(rf"\s*(\d{{1,{_DIGITS}}})\s*([ct]?)\s*", str(length))
    if match is None or int(match[1]) == 0:
        raise InputError(f"{name} {length!r:.40} is not a length", "1600c or 400t")
    return Budget(int(match[1]), "t" if match[2] == "t" else "c")


_PHRASE = re.compile(
    r"(?P<minus>(?<!\S)-)?"
    r"(?:“(?P<english>[^“”]+)”|„(?P<german>[^„“”\"]+)[“”\"]"
    r"|«(?P<french>[^«»]+)»|»(?P<danish>[^«»]+)«"
    # A straight mark after a word or number (5" and 6") or before a space opens no phrase.
    r"|(?<!\w)\"(?=\S)(?P<straight>[^\"]+)(?<=\S)\"(?!\w))"
)
_MINUS = re.compile(r"(?<!\S)-(?P<word>[^\W\d_][^\s\"“”„«»]*)")
_TRAILING = ".,;:"
_BEHIND = ".,;:!?)]}"


@dataclass(frozen=True, slots=True)
class Operators:
    """A question, and the words that its passages must and must not contain.

    ``question`` is without quotation marks, minus signs and excluded words; ``phrases`` are
    distinct.
    """

    question: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


def read_operators(text: str) -> Operators:
    """Separate the operators from a question.

    A minus sign is an operator if white space or nothing precedes it and a word or a quotation
    mark follows. So "e-mail", " - ", "--json", "-5" and the option "-F" contain none; -"5" does.
    Punctuation that American English puts inside the quotation marks is not part of the phrase.

    >>> read_operators('how is "natural selection," tested -pigeons at -5 degrees')
    Operators(question='how is natural selection, tested at -5 degrees', \
phrases=('natural selection',), excluded=('pigeons',))
    """
    phrases: dict[str, None] = {}
    excluded: dict[str, None] = {}

    def take(match: re.Match[str]) -> str:
        inner = next(each for each in match.groups()[1:] if each is not None).strip()
        phrase = inner.rstrip(_TRAILING)
        if not any(map(str.isalnum, phrase)):
            return match[0]
        if match["minus"]:
            excluded[phrase] = None
            return " "
        phrases[phrase] = None
        return inner

    def leave_out(match: re.Match[str]) -> str:
        word = match["word"].rstrip(_BEHIND)
        if len(word) == 1 and word.isascii():
            return match[0]  # an option of a command; in other scripts a letter may be a word
        excluded[word] = None
        return match["word"][len(word) :]

    # Phrases first: a minus sign inside a phrase belongs to it.
    pieces: list[str] = []
    at = 0
    for match in _PHRASE.finditer(text):
        pieces += (_MINUS.sub(leave_out, text[at : match.start()]), take(match))
        at = match.end()
    pieces.append(_MINUS.sub(leave_out, text[at:]))
    if not (phrases or excluded):
        return Operators(text)
    return Operators(" ".join("".join(pieces).split()), tuple(phrases), tuple(excluded))
