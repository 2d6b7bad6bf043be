"""The verdict on the claim, by rules that were fixed before any run.

The claim (arXiv 2601.21525): landmark pooling is level with CLS and mean on short texts and better
on long ones. Differences are in nDCG@10 on natural documents, and for H4 on documents with inserted
passages:

    H1  |LMK − best of mean and CLS| ≤ 2 points at 256 and at 512 tokens (equivalence)
    H2  LMK − mean ≥ 3 and LMK − CLS ≥ 3 points at 8,192 tokens
    H3  LMK's lead over each grows with every doubling of the length
    H4  LMK's lead over each is larger where the evidence stands late than where it stands early

Intervals and p-values come from a bootstrap that resamples documents and seeds; p is Holm-corrected
over the six tests of H2 to H4. The gate: untrained, all poolings lie within 3 points on short
texts. Otherwise the encoder prefers one of them, H2 is judged by the change from 512 tokens on (the
difference in differences), and the page says so.

The floor: where the best of the three finds less than 10 %, differences are small because all
figures are, so a hypothesis about that length is not decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from milepost_eval.statistics import holm

if TYPE_CHECKING:
    from milepost_lab.lmk.arms import Pooling

EQUIVALENT = 2.0
BETTER = 3.0
GATE = 3.0
FLOOR = 10.0
SHORT = 256
"""Tokens of a short text."""
DRAWS = 10_000
POWER = 2.8
"""Standard errors of an effect that a two-sided test at 5 % finds with 80 % power."""

CLAIMED: tuple[Pooling, ...] = ("lmk", "mean", "cls")
"""The poolings that the claim compares."""
NAMES = {
    "lmk": "LMK",
    "mean": "mean",
    "cls": "CLS",
    "every": "every 32nd token",
    "multi-cls": "CLS before each piece",
    "last": "last token",
    "bm25": "BM25, words alone",
}

Floats = NDArray[np.float64]
Answer = Literal["supported", "contradicted", "not decided"]


@dataclass(frozen=True, slots=True)
class Effect:
    """A difference in points.

    Attributes:
        name: what is compared, and where.
        mean: the mean difference.
        low: lower end of the interval, at the level given to ``effect``.
        high: upper end.
        p: two-sided, from the bootstrap.
        adjusted: p after Holm's correction; p itself where there was none.
        detectable: the smallest effect that is found with 80 % power.
    """

    name: str
    mean: float
    low: float
    high: float
    p: float
    adjusted: float
    detectable: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Answers to the hypotheses, and the effects behind them.

    Attributes:
        gate: the range of the untrained poolings on short texts, in points.
        best: length → nDCG@10 of the best of the three, in per cent.
        longest: the longest length up to 8,192 tokens, which H2 and H4 are about.
        placed: the same as ``best`` on documents with inserted passages, at ``longest``; the floor
            of H4 is checked against it.
        level: for short texts and the shortest length, LMK less the better of mean and CLS, with
            90 % intervals.
        plain: LMK less mean and less CLS at ``longest``, if the gate makes H2 about the change; p
            is not corrected and decides no hypothesis.
        effects: effects of the six tests, in order.
        answers: hypothesis → answer.
    """

    gate: float
    best: dict[int, float]
    longest: int
    placed: float
    level: dict[int, Effect]
    plain: list[Effect]
    effects: list[Effect]
    answers: dict[str, Answer]


class Figures:
    """nDCG@10 of every question, by pooling, material and length; one row per seed, in points.

    BM25 counts as a pooling of one seed.
    """

    def __init__(self, result: Mapping[str, Any]) -> None:
        self.lengths: list[int] = list(result["settings"]["amounts"]["lengths"])
        self._rows: dict[tuple[str, str, str, int], list[list[float]]] = {}
        for run in result["runs"]:
            for one in run["found"]:
                key = run["pooling"], one["material"], one["reading"], one["length"]
                self._rows.setdefault(key, []).append(one["ndcg"])
        for one in result.get("words", ()):
            key = "bm25", one["material"], one["reading"], one["length"]
            self._rows.setdefault(key, []).append(one["ndcg"])
        self.clusters = [name for name, _ in result["needles"]]
        self.natural = [name for name, _ in result["natural"]]
        self.quarters = np.array([quarter for _, quarter in result["needles"]])

    def of(self, pooling: str, material: str, length: int, reading: str = "own") -> Floats:
        """nDCG@10 in points, ``(seeds, questions)``."""
        return 100 * np.array(self._rows[pooling, material, reading, length])

    def best(self, material: str, length: int) -> float:
        """Mean nDCG@10 of the best of the three poolings of the claim, in per cent."""
        return max(float(self.of(one, material, length).mean()) for one in CLAIMED)

    @property
    def judged(self) -> str:
        """The material that H1 to H3 are about: natural documents if there are any."""
        return "natural" if self.natural else "needles"

    def lead(self, over: str, length: int, material: str, seeds: int | None = None) -> Floats:
        """LMK less another pooling, seed by seed, for the first ``seeds`` of them or all."""
        return self.of("lmk", material, length)[:seeds] - self.of(over, material, length)[:seeds]

    def documents(self, material: str, count: int) -> list[str]:
        """The document of each question; questions about one document are not independent."""
        known = {"needles": self.clusters, "natural": self.natural}
        return known.get(material) or [str(number) for number in range(count)]

    @property
    def poolings(self) -> list[str]:
        """Each pooling once; BM25 last."""
        return list(dict.fromkeys(pooling for pooling, *_ in self._rows))

    @property
    def read(self) -> list[tuple[str, str, str, int]]:
        """Pooling, material, reading and length of all figures."""
        return list(self._rows)


def verdict(result: Mapping[str, Any], draws: int = DRAWS) -> Verdict:
    """Judge the result of a study; see the module.

    Args:
        result: what ``Study.result`` returns, with the poolings ``lmk``, ``mean`` and ``cls``.
        draws: number of bootstrap draws.
    """
    figures = Figures(result)
    gate = max(result["gate"].values()) - min(result["gate"].values())
    shortest, longest = figures.lengths[0], figures.lengths[-1]
    longest = max(each for each in figures.lengths if each <= 8192) if longest > 8192 else longest
    fair = gate <= GATE
    judged = figures.judged
    late = np.where(figures.quarters == 3, 4.0, 0.0) - np.where(figures.quarters == 0, 4.0, 0.0)
    tests: dict[str, tuple[str, Floats]] = {}
    for other in ("mean", "cls"):
        name, lead = f"LMK − {NAMES[other]} at {longest:,}", figures.lead(other, longest, judged)
        if not fair:
            name += f" less the same at {shortest:,}"
            lead = lead - figures.lead(other, shortest, judged)
        tests[name] = judged, lead
    for other in ("mean", "cls"):
        tests[f"LMK − {NAMES[other]}, a doubling adds"] = judged, _slope(figures, other)
    for other in ("mean", "cls"):
        tests[f"LMK − {NAMES[other]} at {longest:,}, last less first quarter"] = (
            "needles",
            figures.lead(other, longest, "needles") * late,
        )
    found = {}
    for name, (material, values) in tests.items():
        owners = figures.documents(material, values.shape[1])
        found[name] = effect(name, values, owners, draws=draws)
    adjusted = holm({name: one.p for name, one in found.items()})
    effects = [_with(one, adjusted[name]) for name, one in found.items()]
    level = {SHORT: _level(figures, "short", SHORT, draws)}
    level[shortest] = _level(figures, judged, shortest, draws)
    over = () if fair else ("mean", "cls")
    plain = [less(figures, "lmk", other, judged, longest, draws) for other in over]
    places = {SHORT: "short", **dict.fromkeys(figures.lengths, judged)}
    best = {length: figures.best(material, length) for length, material in places.items()}
    placed = figures.best("needles", longest)
    answers: dict[str, Answer] = {
        "H1: level on short texts": both([equivalent(one) for one in level.values()]),
        f"H2: better at {longest:,} tokens": both([_at_least(one) for one in effects[:2]]),
        "H3: the lead grows with the length": both([_above(one) for one in effects[2:4]]),
        "H4: the lead is larger for late evidence": both([_above(one) for one in effects[4:]]),
    }
    for hypothesis in answers:
        seen = best[longest]
        if hypothesis.startswith("H1"):
            seen = min(best[SHORT], best[shortest])
        elif hypothesis.startswith("H4"):
            seen = placed
        if seen < FLOOR:
            answers[hypothesis] = "not decided"
    return Verdict(round(gate, 2), best, longest, placed, level, plain, effects, answers)


def effect(
    name: str,
    values: Floats,
    clusters: Sequence[str],
    *,
    level: float = 0.95,
    draws: int = DRAWS,
) -> Effect:
    """The mean of differences, with a bootstrap over documents and seeds.

    A draw takes as many documents and as many seeds as there are, with replacement.

    Args:
        name: name of the effect.
        values: ``(seeds, questions)``.
        clusters: document of each question.
        level: level of the interval.
        draws: number of draws.
    """
    order = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters))}
    owner = np.array([order[cluster] for cluster in clusters])
    sums = np.stack([np.bincount(owner, row, len(order)) for row in values])
    counts = np.bincount(owner, minlength=len(order)).astype(float)
    rng = np.random.default_rng(0)
    found = np.empty(draws)
    for at in range(draws):
        seeds = rng.integers(len(sums), size=len(sums))
        chosen = rng.integers(len(order), size=len(order))
        found[at] = sums[seeds][:, chosen].sum() / len(sums) / counts[chosen].sum()
    tail = (1 - level) / 2
    low, high = np.quantile(found, [tail, 1 - tail])
    beyond = min((found <= 0).sum(), (found >= 0).sum()) + 1
    p = min(1.0, 2 * float(beyond) / (draws + 1))
    mean = float(values.mean())
    return Effect(name, mean, float(low), float(high), p, p, POWER * float(found.std(ddof=1)))


def _slope(figures: Figures, other: str) -> Floats:
    """The change of each question's lead per doubling of the length, by least squares."""
    xs = np.array([log2(length) for length in figures.lengths])
    shares = (xs - xs.mean()) / ((xs - xs.mean()) ** 2).sum()
    leads = [figures.lead(other, length, figures.judged) for length in figures.lengths]
    total: Floats = np.sum(
        [share * lead for share, lead in zip(shares, leads, strict=True)], axis=0
    )
    return total


def _level(figures: Figures, material: str, length: int, draws: int) -> Effect:
    """LMK less the better of mean and CLS, with the 90 % interval of an equivalence test."""
    best = max(("mean", "cls"), key=lambda other: figures.of(other, material, length).mean())
    return less(figures, "lmk", best, material, length, draws, level=0.9)


def less(
    figures: Figures,
    one: str,
    other: str,
    material: str,
    length: int,
    draws: int,
    *,
    level: float = 0.95,
) -> Effect:
    """One pooling less another at a length."""
    values = figures.of(one, material, length) - figures.of(other, material, length)
    return effect(
        f"{NAMES[one].partition(',')[0]} − {NAMES[other]} at {length:,}",
        values,
        figures.documents(material, values.shape[1]),
        level=level,
        draws=draws,
    )


def _with(one: Effect, adjusted: float) -> Effect:
    return Effect(one.name, one.mean, one.low, one.high, one.p, adjusted, one.detectable)


def equivalent(one: Effect) -> Answer:
    """Whether a 90 % interval lies within ±``EQUIVALENT`` points."""
    if one.low >= -EQUIVALENT and one.high <= EQUIVALENT:
        return "supported"
    return "contradicted" if one.low > EQUIVALENT or one.high < -EQUIVALENT else "not decided"


def _at_least(one: Effect) -> Answer:
    if one.mean >= BETTER and one.low > 0 and one.adjusted < 0.05:
        return "supported"
    return "contradicted" if one.high < BETTER else "not decided"


def _above(one: Effect) -> Answer:
    if one.low > 0 and one.adjusted < 0.05:
        return "supported"
    return "contradicted" if one.high < 0 and one.adjusted < 0.05 else "not decided"


def both(answers: Sequence[Answer]) -> Answer:
    """Combine answers: supported if all are, contradicted if one is."""
    if "contradicted" in answers:
        return "contradicted"
    return "supported" if set(answers) == {"supported"} else "not decided"
