"""Settings of LMK document pooling (arXiv 2601.21525), and the spacing of its landmarks."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, cast

from milepost_train.needs import Checks

if TYPE_CHECKING:
    from milepost.engine.manifest import Granularity


@dataclass(frozen=True, slots=True)
class Granularities:
    """What training draws from and what evaluation uses.

    Attributes:
        choices: drawn from with equal probability; ``"sentences"`` may be among them, more than
            once to weigh more.
        evaluation: the fixed one, for queries and texts alike.

    Raises:
        WrongSettings: there are no choices, or one is neither ``"sentences"`` nor 1 or more.
    """

    choices: tuple[Granularity, ...] = (32, 64, 128, 256)
    evaluation: Granularity = 32

    def __post_init__(self) -> None:
        usable = 'numbers of tokens, or "sentences"'
        with Checks() as check:
            check.need(bool(self.choices), "granularities is empty", usable, "granularities")
            named = [("granularities", each) for each in self.choices]
            for name, each in (*named, ("evaluation", self.evaluation)):
                good = each == "sentences" or (not isinstance(each, bool | str) and each >= 1)
                check.need(good, f"{name}: {each!r} is not a granularity", usable, name)

    def draw(self, random: Random, texts: int) -> list[Granularity]:
        """One for each of ``texts`` texts; a text keeps it for all its windows."""
        return random.choices(self.choices, k=texts)


@dataclass(frozen=True, slots=True)
class DocumentsStage:
    """Settings of the objective for documents.

    Attributes:
        documents: texts of a step, each with its query; all are candidates for all queries.
        tokens: that are read of a text, from its beginning.
        negatives: hard negatives of each query's pair, where it has some: more texts of the step;
            for their own query they count by their weights.
        passages: fraction of pairs' passages among the texts, the rest are documents with titles;
            used only where the material has both.
        window: tokens of a window, BOS token and landmarks included; a longer text is read in
            several windows of whole chunks, without halo, and all their landmarks count. A text of
            480 tokens fits into 512 whatever is drawn: one pass, as in the paper.
        granularities: tokens from landmark to landmark, or ``sentences``; drawn for each text and
            each query.
        evaluation: the granularity of the check, the same for all.
        chunk: windows, and queries, in memory at a time (gradient cache); 0: all.
        temperature: divides cosines.
        question_dropout: probability of dropping each token of a query; two stay.
        dimensions: widths at which vectors are trained (Matryoshka); empty: the full width.

    Raises:
        WrongSettings: one or more settings cannot be used.
    """

    documents: int = 16
    tokens: int = 480
    negatives: int = 0
    passages: float = 0.5
    window: int = 512
    granularities: tuple[int | str, ...] = (32, 64, 128, 256)
    evaluation: int | str = 32
    chunk: int = 0
    temperature: float = 0.05
    question_dropout: float = 0.0
    dimensions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        with Checks() as check:
            two = "2 or more, to have something to tell apart"
            check.need(self.documents >= 2, f"documents is {self.documents}", two, "documents")
            check.at_least(16, tokens=self.tokens, window=self.window)
            check.up_to_one(passages=self.passages)
            check.at_least(0, chunk=self.chunk, negatives=self.negatives)
            check.vectors(self.temperature, self.dimensions)
            check.fractions(question_dropout=self.question_dropout)
            check.include(self.drawn)
            sizes = [g for g in (*self.granularities, self.evaluation) if isinstance(g, int)]
            largest = min(max(sizes, default=0), self.tokens)
            check.need(
                largest + 2 <= self.window,
                f"{largest} tokens from landmark to landmark do not fit a window of {self.window}",
                f"window = {largest + 2} or more, or smaller granularities and evaluation",
                *("window", "granularities", "evaluation", "tokens"),
            )

    def drawn(self) -> Granularities:
        """What granularities are drawn from, and the one of the check."""
        choices = cast("tuple[Granularity, ...]", self.granularities)
        return Granularities(choices, cast("Granularity", self.evaluation))
