"""Fuse landmarks and words into one score, weighted by signals of the question.

Any fixed weights fail on some questions: words hurt if they occur all over the document and decide
factoid questions. So the weights of a question follow from the shape of its own score curves:

    score_i = Σ_scale  w_L · a_scale · landmarks_scale,i  +  w_W · b_scale · words_scale,i
    w_L = e^{g} / (e^{g} + 1),   w_W = 1 - w_L,   g = Σ_signal  gate[signal] · signal
    a, b = softmax over scales of  base[scale] + tilt[scale] · h
    h = tanh( Σ_signal  scale_shift[signal] · signal )

Landmarks enter as cosine divided by the temperature of their training (a log-odds), words as BM25
divided by the total rarity of the question's words (the share of the question that is found); the
mean of each curve is subtracted. Units with the same meaning in every document do better than
standard scores, which give a flat curve the same weight as a clear one (``docs/decisions``,
page 3).

The numbers come from ``milepost fit`` or are the defaults here: ``gate`` and ``scale_shift`` are
learned on training questions of documents that the encoder has not seen; ``calibration``,
``length_penalty``, ``growth_threshold`` and those of ``rerank`` on development questions.
``base_score_weight``, ``landmark_weight``, ``mark``, the tables ``landmark`` and ``words``, and
``WORDS_UNIT`` were set by hand on development questions. ``odds`` is for models without trees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from milepost._numpy import NDArray, np
from milepost.search.lexical import SCALES, averaged
from milepost.search.scope import Scope

LANDMARK_UNIT = 20.0  # one over the temperature of the training: turns a cosine into log-odds
WORDS_UNIT = 10.0  # scales the words' share to the size of the landmarks' log-odds

_OF_ANSWERABLE = 2  # numbers of ``Fusion.answerable``

SIGNALS = {
    "always": "1",
    "landmark peak": "deviations by which the best landmark stands out, less 4, over 2",
    "word peak": "the same of the words' score at one neighbour, less 4, over 4",
    "words at landmark": "words' standard score (±1) at the best landmark, over 4",
    "landmark at words": "landmarks' standard score at the words' best sentence, over 2",
    "terms": "ln of the number of distinct words asked for, less 2",
    "rarity": "mean rarity of the words that are in the text, less 4, over 2",
    "rarest": "the greatest rarity, less 6, over 2",
    "cover": "words' best score (±1) as a share of what all words once would give, less 0.5",
    "out of vocabulary": "how little the tokenizer knows of question and documents, 0-1",
}
"""Signals of a question that set its weights, each with its scaling."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """The numbers that apply with a reranker; see ``ranking.py``.

    Attributes:
        weight: weight of the reranker's score.
        min_cosine: cosine above which it counts.
        neighbour_share: share of the neighbours in it.
        calibration: as in ``Fusion``, with two more before the last two: for what reranking
            added, and for the share of the text that is out of vocabulary.
        answerable, length_penalty, growth_threshold: as in ``Fusion``, for these scores.
    """

    weight: float = 16.0
    min_cosine: float = 0.0
    neighbour_share: float = 0.0
    calibration: tuple[float, ...] = (-8.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    answerable: tuple[float, ...] = ()
    length_penalty: float = 0.0
    growth_threshold: float = 0.5


@dataclass(frozen=True, slots=True)
class Fusion:
    """The parameters of the search; the module says which are learned and which set by hand.

    Attributes:
        gate: per signal, towards landmarks (+) or words (-).
        scale_shift: per signal, towards long passages (+) or single sentences (-).
        landmark: base weight (log) and tilt of the landmark scales 0, ±1, ±3; set by hand.
        words: the same for the words' scales; set by hand.
        odds: offset and slope that map the fused score to the log-odds of being evidence.
        base_score_weight: weights of the fused score and of the best one in the paragraph, which
            are added to the learned ranking. They keep trees learned from few documents close to
            the fused order. Set by hand.
        landmark_weight: weight of the landmark score, times vocabulary coverage, that is added to a
            sentence's log-odds. Trees follow the tasks that they were learned from; this keeps the
            order close to the landmarks on questions of other kinds. Set by hand.
        mark: weights of the sentence's landmark score and of its score in the order of sentences
            within a passage, see ``ranking.py``. Set by hand.
        calibration: the numbers of a passage's probability, see ``ranking.py``.
        answerable: the two numbers of the probability that anything answers, see ``ranking.py``;
            none where the model does not say.
        length_penalty: with a budget, sentences are compared by their log-odds minus this times
            the logarithm of their characters.
        growth_threshold: without a budget, a neighbour joins a passage if its log-odds are at most
            this far below the hit's.
        rerank: the numbers that replace the last four with a reranker.
    """

    gate: Mapping[str, float] = field(
        default_factory=lambda: {"always": 0.5, "out of vocabulary": -2.0}
    )
    scale_shift: Mapping[str, float] = field(default_factory=dict)
    landmark: tuple[tuple[float, float], ...] = ((0.0, -1.0), (0.0, 0.0), (-2.0, 1.0))
    words: tuple[tuple[float, float], ...] = ((0.0, -1.0), (0.0, 0.0), (0.0, 1.0))
    odds: tuple[float, float] = (-5.0, 0.6)
    base_score_weight: tuple[float, float] = (0.6, 0.24)
    landmark_weight: float = 0.0
    mark: tuple[float, float] = (0.0, 1.0)
    calibration: tuple[float, ...] = (0.0, 1.0, 0.0, 0.0, 0.0)
    answerable: tuple[float, ...] = ()
    length_penalty: float = 0.0
    growth_threshold: float = 0.5
    rerank: Reranking = field(default_factory=Reranking)

    @property
    def reranked(self) -> Fusion:
        """Return the parameters that apply with a reranker."""
        again = self.rerank
        return replace(
            self,
            calibration=again.calibration,
            answerable=again.answerable,
            length_penalty=again.length_penalty,
            growth_threshold=again.growth_threshold,
        )

    @staticmethod
    def from_fields(fields: Mapping[str, Any]) -> Fusion:
        """Read a manifest's ``fusion``; missing fields keep their defaults.

        So do probabilities of another number of inputs, such as those of earlier versions: scores
        then only order passages, until ``milepost fit --keep-ranking``.
        """
        known = {name: fields[name] for name in Fusion.__dataclass_fields__ if name in fields}
        for name in ("landmark", "words"):
            if name in known:
                known[name] = tuple(tuple(pair) for pair in known[name])
        for name in ("odds", "base_score_weight", "mark"):
            if name in known:
                known[name] = tuple(known[name])
        known |= _probabilities(known, Fusion())
        if "rerank" in known:
            again = dict(known["rerank"])
            known["rerank"] = Reranking(**again | _probabilities(again, Reranking()))
        return Fusion(**known)


def _probabilities(fields: Mapping[str, Any], default: Fusion | Reranking) -> dict[str, Any]:
    """The numbers of the probabilities, if they have as many inputs as this version computes."""
    calibration, answerable = (
        tuple(fields.get(name, ())) for name in ("calibration", "answerable")
    )
    fits = len(calibration) == len(default.calibration)
    return {
        "calibration": calibration if fits else default.calibration,
        "answerable": answerable if fits and len(answerable) == _OF_ANSWERABLE else (),
    }


@dataclass(frozen=True, slots=True)
class Fused:
    """Scores with their parts.

    Attributes:
        score: ``(n,)`` float32, the sum of ``parts``; 0 is the mean sentence.
        parts: name → ``(n,)`` float32.
        signals: name → value.
        weights: name of a part → its weight; they sum to 1.
        share: weight of the landmarks, ``w_L`` in the module's formula.
        scale_shift: ``h`` in that formula.
        landmarks, words: the curves at each scale, see ``curves``.
    """

    score: NDArray[np.float32]
    parts: dict[str, NDArray[np.float32]]
    signals: dict[str, float]
    weights: dict[str, float]
    share: float
    scale_shift: float
    landmarks: list[NDArray[np.float32]]
    words: list[NDArray[np.float32]]

    @property
    def known(self) -> float:
        """Vocabulary coverage of question and documents, 0–1."""
        return 1.0 - self.signals["out of vocabulary"]


def standard(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale to mean 0 and deviation 1; zeros if all values are equal up to rounding."""
    spread = float(values.std(dtype=np.float64))
    if spread < 1e-6 * max(1.0, float(np.abs(values).max())):
        return np.zeros_like(values)
    result: NDArray[np.float32] = ((values - values.mean(dtype=np.float64)) / spread).astype(
        np.float32
    )
    return result


def curves(scope: Scope) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
    """Compute landmark and word scores per scale: ``(n,)`` each, mean 0, in the module's units."""
    landmarks = [
        _centred(averaged(scope.similarity, scope.document_offsets, scale), LANDMARK_UNIT)
        for scale in SCALES
    ]
    possible = sum(scope.idf.values())
    unit = WORDS_UNIT / possible if possible > 0.0 else 0.0
    return landmarks, [_centred(row, unit) for row in scope.lexical]


def _centred(values: NDArray[np.float32], unit: float) -> NDArray[np.float32]:
    result: NDArray[np.float32] = (values - values.mean(dtype="f8")).astype("f4") * unit
    return result


def measure(scope: Scope, vocab_coverage: float) -> dict[str, float]:
    """Measure the signals of a question; see ``SIGNALS``."""
    landmarks, words = standard(scope.similarity), standard(scope.lexical[1])
    best, matched = int(np.argmax(landmarks)), int(np.argmax(words))
    known = [weight for weight in scope.idf.values() if weight > 0.0]
    possible = sum(known) or 1.0
    return {
        "always": 1.0,
        "landmark peak": (float(landmarks[best]) - 4.0) / 2.0,
        "word peak": (float(words[matched]) - 4.0) / 4.0,
        "words at landmark": float(words[best]) / 4.0,
        "landmark at words": float(landmarks[matched]) / 2.0,
        "terms": math.log(max(1, len(scope.idf))) - 2.0,
        "rarity": (possible / len(known) - 4.0) / 2.0 if known else 0.0,
        "rarest": (max(known) - 6.0) / 2.0 if known else 0.0,
        "cover": float(scope.lexical[1][matched]) / possible - 0.5,
        "out of vocabulary": 1.0 - min(vocab_coverage, float(scope.vocab_coverage.mean())),
    }


def fuse(scope: Scope, vocab_coverage: float, settings: Fusion) -> Fused:
    """Score the one or more sentences of a scope; ``vocab_coverage``, 0–1, is the question's."""
    landmarks, words = curves(scope)
    signals = measure(scope, vocab_coverage)
    gate = sum(settings.gate.get(name, 0.0) * value for name, value in signals.items())
    shift = math.tanh(
        sum(settings.scale_shift.get(name, 0.0) * value for name, value in signals.items())
    )
    share = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, gate))))
    if not any(weight > 0.0 for weight in scope.idf.values()):
        share = 1.0  # no word of the question is in the text, so only landmarks count
    weights: dict[str, float] = {}
    parts: dict[str, NDArray[np.float32]] = {}
    for kind, total, scales, table in (
        ("landmark", share, landmarks, settings.landmark),
        ("words", 1.0 - share, words, settings.words),
    ):
        logits = [base + tilt * shift for base, tilt in table]
        mass = [math.exp(logit - max(logits)) for logit in logits]
        for scale, curve, weight in zip(SCALES, scales, mass, strict=True):
            name = f"{kind} ±{scale}" if scale else kind
            weights[name] = total * weight / sum(mass)
            parts[name] = curve * weights[name]
    score = sum(parts.values())
    return Fused(
        score=np.asarray(score, np.float32),
        parts=parts,
        signals=signals,
        weights=weights,
        share=share,
        scale_shift=shift,
        landmarks=landmarks,
        words=words,
    )
