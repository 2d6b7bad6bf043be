"""Estimate how likely each sentence holds the answer: the score that orders all results.

``fusion.py`` scores all sentences of the scope. The best of them get a learned score: the log-odds
of being evidence, from trees over features of each sentence (``features.py``) and from the fused
scores of the sentence and of the best one in its paragraph. A model folder without trees keeps the
fused order; two numbers bring its scores to the scale of log-odds, so its probabilities order
passages and mean little more.

If the model has a reranker (``reranking.py``), its score is added to a sentence's log-odds:

    known · weight · max(0, (1 - s) · cosine + s · mean - min_cosine)

where ``s`` is the ``neighbour_share``, ``mean`` is over the sentence and up to three neighbours on
each side that were in a window, and ``known`` is the vocabulary coverage of question and documents,
0–1.

To that score the sentence's own landmark score is added, times ``landmark_weight · known``, and
passages are made of the sentences in that order. Which sentence of a passage answers is another
question than which passage does: the fused scores carry the words of the neighbours, which found
the passage. So the sentences of a passage are ordered by

    logit = mark[0] · known · landmark + mark[1] · score

and ``e^{logit - best}`` is how likely each is to be evidence, compared with the best one.

The probability that a *passage* holds evidence follows from its sentences (Platt scaling with more
than one input):

    p = 1 / (1 + e^{-(c0 + c1 · best + c2 · ln(1 + rest) + c3 · added + c4 · (1 - known)
                      + c5 · share + c6 · ln(size / (1 - size)))})

where ``best`` is the highest log-odds of its sentences before reranking, ``rest`` the sum of the
other sentences' probabilities before reranking, and ``added`` the most that reranking added to any
of them; ``c3`` and ``c4`` apply only with a reranker. The reranker finds the right place in a
document; the score before it tells better whether a document answers at all, so that keeps a weight
of its own (docs/decisions, page 18). ``share`` is the passage's part of ``Σ e^score`` over the best
sentences, which says whether other places are as good, and ``size`` its part of the characters that
were searched: how likely it would hold evidence if nothing were known (page 65).

That *anything* shown answers needs two things: the best passage is about the question, and, where
the reranker gives verdicts, one of its windows answers it. The log-odds of the less likely decide,
by a soft minimum (``less_likely``):

    1 / (1 + e^{-(a0 + a1 · less likely)})

``milepost fit`` fits these numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milepost._numpy import NDArray, np
from milepost.search.features import FEATURES, features, highest
from milepost.search.fusion import Fused, Fusion, Reranking, fuse
from milepost.search.lexical import windowed
from milepost.search.query import Query
from milepost.search.reranking import Reranker, Reread, Texts, rerank
from milepost.search.rivals import answered_behind, rivals
from milepost.search.scope import Scope
from milepost.search.subject import lacks_name
from milepost.search.trees import FILE, Trees, read_trees
from milepost.store.base import Snapshot

LEARNED_TOP = 600
"""Number of sentences, best by fused score, that get a learned score. Set by hand; ``milepost fit``
chooses its candidates by it, so the trees were learned for it."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The learned search settings of a model: numbers of its manifest, and trees if it has any."""

    fusion: Fusion
    trees: Trees | None = None

    @property
    def calibrated(self) -> bool:
        """Whether scores are probabilities; without ``milepost fit`` they are only in order."""
        return self.fusion.calibration != Fusion().calibration  # trees need more questions

    @staticmethod
    def read(fields: Mapping[str, Any], folder: Path | None) -> Ranking:
        """Read them from a manifest's ``fusion`` and the trees of the model folder."""
        trees = None if folder is None else read_trees(folder / FILE, tuple(FEATURES))
        return Ranking(Fusion.from_fields(fields), trees)


@dataclass(frozen=True, slots=True)
class Learned:
    """The sentences with a learned score: ``(m,)``, ascending, and ``(m, len(FEATURES))``."""

    trees: Trees
    weights: tuple[float, float]
    rows: NDArray[np.int64]
    columns: NDArray[np.float32]

    def parts(self, number: int) -> dict[str, float] | None:
        """Split the score of a sentence into parts by column; None if it has no learned score."""
        place = int(self.rows.searchsorted(number))
        if place == len(self.rows) or int(self.rows[place]) != number:
            return None
        row = self.columns[place]
        moved = self.trees.parts(row)
        for name, weight in zip(_BASE_SCORES, self.weights, strict=True):
            moved[name] += weight * float(row[_COLUMN[name]])
        return moved


@dataclass(frozen=True, slots=True)
class Ranked:
    """The sentences of a scope with their scores.

    Attributes:
        score: ``(n,)`` float32: log-odds that a sentence is evidence. Sentences without a learned
            score lie below all others, unless their landmarks or reranking added to theirs.
        base_score: ``(n,)`` float32: the same before landmarks and reranking were added.
        logit: ``(n,)`` float32: the order of the sentences within a passage.
        added: ``(n,)`` float32: what reranking added; None without reranking.
        lowered: ``(n,)`` bool for each kind of sentences that lost log-odds, see ``_LOST``.
        asks: ``(n,)`` float32: what questions lost of their ``logit``, and what the sentences
            behind them, which answer them, got.
        answered: the highest log-odds that a window answers; None if no reranker says.
        fused: the scores that chose the sentences, with the question's signals and weights.
        numbers: the learned numbers that apply to these scores.
        learned: features of the sentences with a learned score; None without trees.
        mass: see ``log_mass``.
        lengths: ``(n,)`` int64: characters of each sentence.
    """

    score: NDArray[np.float32]
    base_score: NDArray[np.float32]
    logit: NDArray[np.float32]
    added: NDArray[np.float32] | None
    lowered: Mapping[str, NDArray[np.bool_]]
    asks: NDArray[np.float32]
    answered: float | None
    fused: Fused
    numbers: Fusion
    learned: Learned | None
    mass: float
    lengths: NDArray[np.int64]

    def parts(self, number: int) -> dict[str, float]:
        """Split the ``logit`` of a sentence into parts by kind."""
        columns = self.learned.parts(number) if self.learned else None
        lost = {kind: -_LOST[kind] for kind, which in self.lowered.items() if which[number]}
        parts = {}
        if columns is None:
            slope = self.numbers.odds[1]
            for name, values in self.fused.parts.items():
                parts[name] = slope * float(values[number])
            base = float(self.base_score[number]) - sum(lost.values())
            parts["always"] = base - sum(parts.values())
        else:
            parts["always"] = columns.pop("")
            for name, value in columns.items():
                parts[FEATURES[name]] = parts.get(FEATURES[name], 0.0) + value
        if self.added is not None:
            parts["reranker"] = float(self.added[number])
        landmark, score = self.numbers.mark
        parts = {kind: score * value for kind, value in parts.items()}
        own = self.fused.known * float(self.fused.landmarks[0][number])
        extra = (landmark + score * self.numbers.landmark_weight) * own
        if self.asks[number]:
            lost["asks"] = float(self.asks[number])
        return {**parts, **lost, "landmark": parts.get("landmark", 0.0) + extra}

    def probability(self, numbers: Sequence[int]) -> float:
        """Compute the probability, 0–1, that a passage of these sentences holds evidence."""
        scores = sorted((float(self.base_score[number]) for number in numbers), reverse=True)
        rest = sum(logistic(score) for score in scores[1:])
        base, best, more, *with_reranker, share, size = self.numbers.calibration
        odds = base + best * scores[0] + more * math.log1p(rest)
        odds += share * share_of_scores(self.score, numbers, self.mass) + size * size_odds(
            self.lengths, numbers
        )
        if self.added is not None:
            added = max(float(self.added[number]) for number in numbers)
            odds += with_reranker[0] * added
            odds += with_reranker[1] * self.fused.signals["out of vocabulary"]
        return logistic(odds)

    def answerable(self, best: float) -> float | None:
        """Compute the probability, 0–1, that any passage answers, from that of the best one.

        None for models fitted before they could say.
        """
        if not self.numbers.answerable:
            return None
        base, slope = self.numbers.answerable
        return logistic(base + slope * less_likely(log_odds(best), self.answered))


def rank(
    snapshot: Snapshot,
    scope: Scope,
    query: Query,
    ranking: Ranking,
    reranker: Reranker | None,
    among: NDArray[np.bool_] | None = None,
) -> Ranked:
    """Score the one or more sentences of a scope, with the reranker if the query says so.

    ``among``, ``(n,)``, are the sentences that may be in a passage; None for all. Only these get a
    learned score and are reranked.
    """
    fused = fuse(scope, query.vocab_coverage, ranking.fusion)
    learned = None
    if ranking.trees is None:
        offset, slope = ranking.fusion.odds
        base = (offset + slope * fused.score).astype(np.float32)
    else:
        rows = np.sort(highest(fused.score, LEARNED_TOP, among))
        columns = features(scope, fused, rows)
        learned = Learned(ranking.trees, ranking.fusion.base_score_weight, rows, columns)
        scores = learned_score(learned.trees, learned.weights, columns)
        # The others lie below these, in the order of the fused score.
        below = 1.0 + fused.score.max() - fused.score
        base = (scores.min() - 1e-3 * below).astype(np.float32)
        base[rows] = scores
    numbers, added, says = ranking.fusion, None, None
    bound = reranker.for_query(query.question) if reranker and query.rerank else None
    lowered: dict[str, NDArray[np.bool_]] = {}
    lost = np.zeros(len(base), np.float32)
    texts = Texts(snapshot, scope)
    if bound is not None:  # else no text is read
        lowered["name"] = lacks_name(scope, query.question)
        lost[lowered["name"]] = _LOST["name"]
        for kind, which in rivals(
            texts, query.terms, highest(base - lost, LEARNED_TOP, among)
        ).items():
            lowered[kind] = which
            lost[which] += _LOST[kind]
    base -= lost
    landmarks = fused.known * fused.landmarks[0]
    score = (base + numbers.landmark_weight * landmarks).astype(np.float32)
    if bound is not None:
        reread = rerank(texts, highest(base, LEARNED_TOP, among), bound)
        added = reranked(reread.cosines, scope.document_offsets, numbers.rerank, fused.known)
        says = answered(reread)
        score, numbers = score + added, numbers.reranked
    logit = numbers.mark[0] * landmarks + numbers.mark[1] * (score + lost) - lost
    asks = np.zeros(len(base), np.float32)
    if bound is not None and "question" not in query.terms:
        for question in answered_behind(texts, highest(logit, LEARNED_TOP, among)):
            asks[question] -= _ASKS
            asks[question + 1] += max(0.0, logit[question] - logit[question + 1])
    lengths = scope.spans[:, 1] - scope.spans[:, 0]
    mass = log_mass(score)
    logit += asks
    return Ranked(
        score, base, logit, added, lowered, asks, says, fused, numbers, learned, mass, lengths
    )


def answered(reread: Reread) -> float | None:
    """The highest log-odds that a window answers; None if the reranker does not say."""
    said = reread.answered
    return None if said is None or np.isnan(said).all() else float(np.nanmax(said))


def less_likely(about: float, answered: float | None) -> float:
    """A soft minimum of two log-odds: ``-ln(e^-about + e^-(answered - 1))``.

    ``about``: the best passage holds what was asked; ``answered``: a window answers. The reranker
    says that too readily; the 1 is from development questions.
    """
    if answered is None:
        return about
    lower, higher = sorted((about, answered - _READILY))
    return lower - math.log1p(math.exp(lower - higher))


def log_mass(score: NDArray[np.float32]) -> float:
    """Compute ``ln Σ e^score`` of the ``LEARNED_TOP`` best of ``(n,)`` sentences, n at least 1."""
    top = score if len(score) <= LEARNED_TOP else np.partition(score, -LEARNED_TOP)[-LEARNED_TOP:]
    best = float(top.max())
    return best + math.log(np.exp(top.astype(np.float64) - best).sum())


def share_of_scores(
    score: NDArray[np.float32], numbers: Sequence[int] | slice, mass: float
) -> float:
    """Compute the share, 0–1, that the sentences of a passage have in ``e^mass``."""
    return min(1.0, float(np.exp(score[numbers].astype(np.float64) - mass).sum()))


def size_odds(lengths: NDArray[np.int64], numbers: Sequence[int] | slice) -> float:
    """Compute ``ln(s / (1 - s))`` of a passage's share ``s`` of the characters searched.

    Args:
        lengths: ``(n,)`` characters of all sentences searched.
        numbers: the sentences of the passage.
    """
    share = float(lengths[numbers].sum()) / max(1.0, float(lengths.sum()))
    share = min(max(share, _SMALLEST), _LARGEST)
    return math.log(share / (1.0 - share))


def learned_score(
    trees: Trees, weights: tuple[float, float], columns: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Compute the log-odds of sentences, ``(n,)`` float32, from ``(n, len(FEATURES))`` columns."""
    score = trees.predict(columns)
    for name, weight in zip(_BASE_SCORES, weights, strict=True):
        score += weight * columns[:, _COLUMN[name]]
    return score


def reranked(
    cosines: NDArray[np.float32],
    document_offsets: NDArray[np.int64],
    numbers: Reranking,
    known: float = 1.0,
) -> NDArray[np.float32]:
    """Compute what reranking adds to each sentence's log-odds: ``(n,)`` float32, 0 or more.

    ``cosines`` are ``(n,)``, NaN for sentences in no window; ``known`` is the vocabulary coverage
    of question and documents, 0–1.
    """
    read = ~np.isnan(cosines)
    own = np.where(read, cosines, 0.0).astype(np.float32)
    count = np.maximum(windowed(read.astype(np.float32), document_offsets, _NEAR), 1.0)
    mean = windowed(own, document_offsets, _NEAR) / count
    share = numbers.neighbour_share
    above = (1.0 - share) * own + share * mean - numbers.min_cosine
    added: NDArray[np.float32] = np.where(
        read, known * numbers.weight * np.maximum(above, 0.0), 0.0
    )
    return added.astype(np.float32)


_NEAR = 3
_ASKS = 4.0
"""Log-odds that a question loses where what it asks is answered behind it: it leads to the passage,
and is not what is marked there."""
_LOST = {"name": 4.0, "contents": 12.0, "other row": 4.0}
"""Log-odds that a sentence loses because its document lacks a name of the question
(``lacks_name``), or because it is a rival of the answer (``rivals``)."""
_SMALLEST, _LARGEST = 1e-4, 0.95  # beyond these nothing was learned
_READILY = 1.0  # see ``less_likely``
_COLUMN = {name: number for number, name in enumerate(FEATURES)}
_BASE_SCORES = ("fused", "paragraph best")


def log_odds(probability: float) -> float:
    """``ln(p / (1 - p))``, at most 20 from 0."""
    clipped = min(max(probability, 2e-9), 1.0 - 2e-9)
    return math.log(clipped / (1.0 - clipped))


def logistic(value: float) -> float:
    """Compute the probability, 0–1, of log-odds."""
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, value))))
