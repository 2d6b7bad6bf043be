"""Metrics of probabilities: whether they tell that nothing answers, and mean what they say.

None of them is a mean over questions, so each question gets the metric plus its own influence on
it: the mean of these figures is the metric, and to resample documents gives its interval as it
gives that of any other metric. For the AUROC these are the placements of DeLong, DeLong and
Clarke-Pearson (1988, *Comparing the areas under two or more correlated ROC curves*).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OF_PROBABILITIES = {
    "auroc": "share of pairs in which a question that something answers is said to be answerable "
    "with a higher probability than one that nothing answers",
    "refused@10": "share of the questions that nothing answers which are refused where one in ten "
    "of the others is",
    "ece-question": "expected calibration error of the probability that any passage answers",
    "ece-passage": "expected calibration error of the passages' probabilities",
}
"""Metrics of systems that give probabilities; two of them need both kinds of questions."""

ERRORS = ("ece-question", "ece-passage")
"""Metrics of which less is better."""

BINS = 10
"""Of equal width, over which a calibration error is the mean distance of said and true."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a system said of one question.

    Attributes:
        answerable: the probability that any passage answers; None if it does not say.
        passages: of each passage shown its probability, and whether it holds evidence.
        absent: whether nothing answers the question.
    """

    answerable: float | None
    passages: tuple[tuple[float, bool], ...]
    absent: bool


def of_probabilities(asked: Sequence[Said]) -> dict[str, NDArray[np.float64]]:
    """The metrics of ``OF_PROBABILITIES`` that the questions have: of each a figure a question."""
    import numpy as np

    found: dict[str, NDArray[np.float64]] = {}
    if any(each.answerable is not None for each in asked):
        # Where no passage is found, nothing is said, and nothing answers.
        said = np.array([each.answerable or 0.0 for each in asked])
        absent = np.array([each.absent for each in asked])
        if absent.any() and not absent.all():
            found["auroc"] = told_apart(said, absent)
            found["refused@10"] = refused(said, absent)
        held = np.array([any(holds for _, holds in each.passages) for each in asked])
        found["ece-question"] = calibration(said, held, np.arange(len(asked)), len(asked))
    passages = [(*pair, number) for number, each in enumerate(asked) for pair in each.passages]
    if passages:
        chance, holds, owner = map(np.array, zip(*passages, strict=True))
        found["ece-passage"] = calibration(chance, holds, owner, len(asked))
    return found


def told_apart(said: NDArray[np.float64], absent: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The AUROC; of equal probabilities half a pair counts.

    Args:
        said: ``(n,)``, the probability of each question.
        absent: ``(n,)``, whether nothing answers it; both kinds are there.

    Returns:
        ``(n,)``, whose mean is the AUROC.
    """
    import numpy as np

    def below(values: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
        both = [np.searchsorted(np.sort(others), values, side=side) for side in ("left", "right")]
        share: NDArray[np.float64] = np.mean(both, axis=0) / len(others)
        return share

    placed = np.where(absent, 1.0 - below(said, said[~absent]), below(said, said[absent]))
    return _spread(placed, placed[absent].mean(), absent)


def refused(
    said: NDArray[np.float64], absent: NDArray[np.bool_], share: float = 0.1
) -> NDArray[np.float64]:
    """Share of the questions that nothing answers below the quantile ``share`` of the others.

    At most this share of the others is below it. The influence of these is that of a quantile: the
    slope of the share refused, here from half to one and a half times the false refusals.

    Args:
        said: ``(n,)``, the probability of each question.
        absent: ``(n,)``, whether nothing answers it; both kinds are there.
        share: of false refusals.

    Returns:
        ``(n,)``, whose mean is the share.
    """
    import numpy as np

    others = np.sort(said[~absent])
    low, below, high = (
        np.where(said < others[int(part * share * len(others))], 1.0, 0.0) for part in (0.5, 1, 1.5)
    )
    between = high - low
    slope = between[absent].mean() / max(share, between[~absent].mean())
    rate, false = below[absent].mean(), below[~absent].mean()
    influence = np.where(absent, below - rate, slope * (false - below))
    return _spread(rate + influence, rate, absent)


def calibration(
    said: NDArray[np.float64], held: NDArray[np.bool_], owner: NDArray[np.int64], questions: int
) -> NDArray[np.float64]:
    """The expected calibration error (Naeini, Cooper and Hauskrecht 2015).

    Args:
        said: ``(p,)`` probabilities, 0–1.
        held: ``(p,)``, what was true of each.
        owner: ``(p,)``, the number of the question that each is of.
        questions: how many there are.

    Returns:
        ``(questions,)``, whose mean is the error.
    """
    import numpy as np

    gaps = said - held
    bins = bins_of(said)
    signed = np.sign(np.bincount(bins, gaps, BINS))[bins] * gaps
    error = signed.mean()
    of_question = np.bincount(owner, signed - error, questions)
    figures: NDArray[np.float64] = error + of_question * (questions / len(said))
    return figures


def bins_of(said: NDArray[np.float64]) -> NDArray[np.int64]:
    """``(p,)`` numbers of the bins of probabilities ``(p,)``, 0 to ``BINS - 1``."""
    import numpy as np

    bins: NDArray[np.int64] = np.minimum((said * BINS).astype(np.int64), BINS - 1)
    return bins


def _spread(
    values: NDArray[np.float64], mean: float, absent: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Figures of which each kind has this mean, as if both kinds were as many as all."""
    import numpy as np

    of_kind = np.where(absent, absent.sum(), (~absent).sum())
    figures: NDArray[np.float64] = mean + (values - mean) * (len(values) / of_kind)
    return figures
