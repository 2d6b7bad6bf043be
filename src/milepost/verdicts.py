"""What a check of a quotation or claim returns, and what a model says of a window of sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from milepost._numpy import NDArray, np
from milepost.types import Passage

VERDICTS = ("supported", "contradicted", "unknown", "answered")
"""What a model may say of a window: one of the first three of a claim, the last of a question."""

ANSWERED = VERDICTS.index("answered")

Verdict = Literal[
    "verbatim",
    "near",
    "stitched",
    "found elsewhere",
    "supported",
    "contradicted",
    "related",
    "not found",
]
"""Whether a text is in the documents; see ``CheckResult``."""


DifferenceKind = Literal[
    "number", "unit", "date", "negation", "quantity", "name", "opposite", "order"
]
"""How a checked text and a document say something else, not the same in other words."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between a checked text and a document; ``kind`` only where they contradict.

    ``given`` is ``CheckResult.text[given_start:given_end]``, and ``text`` is
    ``document_text[start:end]``. One of them may be empty.
    """

    given: str
    text: str
    given_start: int
    given_end: int
    start: int
    end: int
    kind: DifferenceKind | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A place in a document that contains a checked text, or the sentence that judges a claim.

    ``text == document_text[start:end]`` always holds; ``page``, ``heading`` and ``place`` (see
    ``Passage``) describe its first character.

    Attributes:
        similarity: 0–1, the share of the checked words that the place contains; 1 for all.
        ignored: the kinds of differences that were ignored: ``white space``, ``hyphenation``,
            ``case``, ``typography`` (quotation marks, dashes, ligatures, variants of a letter,
            signs of TeX), ``cell borders`` (a row of a table, cell by cell); empty if every
            character is equal.
        differences: the differing words, in order; empty for a verbatim place.
    """

    document: str
    source: str | None
    start: int
    end: int
    text: str
    page: int | None
    heading: str | None
    similarity: float
    ignored: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    place: str | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of ``Index.check``: whether a text is in the documents, and where.

    Attributes:
        text: the text that was looked for, without surrounding white space and quotation marks.
        verdict: ``verbatim``: word for word; ``near``: some words differ; ``stitched``: all of it
            is there, in pieces of several places; ``found elsewhere``: not in the documents named,
            but in others; ``supported``, ``contradicted``: a sentence says so, or says something
            else in an exact point; ``related``: passages are about it and may support or
            contradict it; ``not found``: none of these.
        places: the places in document order, or the near ones, most similar first; of a claim the
            sentence that decides, with what differs.
        passages: the passages about a text that is not there, with a probability of at least
            ``min_score``, most probable first.
        best_score: the highest probability of any passage, even below ``min_score``; 0 if there was
            no search for passages.
        notes: messages for users.
        parts: of a text of several sentences, or a list, that is not there as a whole: the results
            of each. Then ``verdict`` is ``contradicted`` if one of theirs is, ``stitched`` if each
            is verbatim, ``supported`` if each is supported, verbatim, or near without a difference
            of a ``kind``, ``not found`` if none is found, else ``related``; and ``places`` are
            theirs, or those of the contradicted ones.
    """

    text: str
    verdict: Verdict
    places: tuple[Match, ...] = ()
    passages: tuple[Passage, ...] = ()
    best_score: float = 0.0
    notes: tuple[str, ...] = ()
    parts: tuple[CheckResult, ...] = ()


@dataclass(frozen=True, slots=True)
class WindowReading:
    """What a reranker says of a window of sentences, read with a question or claim in front.

    Attributes:
        cosines: ``(sentences,)`` float32, −1 to 1.
        verdicts: ``(4,)`` float32 log-odds of ``VERDICTS``; None if the reranker gives none.
    """

    cosines: NDArray[np.float32]
    verdicts: NDArray[np.float32] | None = None

    @property
    def of_claim(self) -> tuple[float, float, float]:
        """Probabilities that a claim is supported, contradicted and left open; they sum to 1."""
        assert self.verdicts is not None
        weights = np.exp(self.verdicts[:ANSWERED] - self.verdicts[:ANSWERED].max())
        supported, contradicted, unknown = (weights / weights.sum()).tolist()
        return supported, contradicted, unknown
