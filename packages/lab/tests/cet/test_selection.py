"""The audit's product model: planted selection is recovered, and weights are its posteriors."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost_lab.cet.product import sigmoid  # noqa: E402
from milepost_lab.cet.selection import RANKS, fitted  # noqa: E402

SENTENCES = 25


@dataclass
class Planted:
    """What ``fitted`` reads of a case; relevance follows ``text``, ranks are independent of it."""

    kept: int
    hidden: frozenset[int]
    ranks: np.ndarray
    text: np.ndarray
    listed: list[int] = field(init=False)

    def __post_init__(self):
        self.listed = [n for n in range(SENTENCES) if n != self.kept]

    @cached_property
    def shown(self):
        return np.log(self.ranks)[:, None]

    def features(self, numbers):
        return self.text[numbers], self.shown[numbers]


def planted(count, slope, seed=0):
    """Cases in which an answer of rank ``r`` is marked with a chance like ``r ** slope``."""
    random = np.random.default_rng(seed)
    cases = []
    while len(cases) < count:
        text = random.normal(size=(SENTENCES, 1))
        answers = np.flatnonzero(random.random(SENTENCES) < sigmoid(4 * text[:, 0] - 6))
        if len(answers) < 2:
            continue
        ranks = random.permutation(SENTENCES) + 1
        chances = ranks[answers] ** float(slope)
        kept = int(random.choice(answers, p=chances / chances.sum()))
        cases.append(Planted(kept, frozenset(answers.tolist()) - {kept}, ranks, text))
    return cases


def test_selection_by_rank_is_recovered():
    """The fitted chances of answers are near the shares that were marked, falling with rank."""
    _, selected = fitted(planted(300, slope=-1.0))
    assert [(each.first, each.last) for each in selected] == list(RANKS)
    marked = [each.marked for each in selected]
    assert marked == sorted(marked, reverse=True)
    assert marked[0] > 2 * marked[-1]
    for each in selected:
        assert each.fitted == pytest.approx(each.marked, abs=0.15)


def test_where_marks_are_drawn_alike_nothing_is_found_in_the_ranks():
    """As many at every rank; the model with features comes to what the one without says."""
    cases = planted(300, slope=0.0)
    told, selected = fitted(cases)
    for each in selected:
        assert each.fitted == pytest.approx(each.marked, abs=0.08)
    alike, flat = fitted(cases, alike=True)
    assert np.ptp([each.fitted for each in flat]) < 1e-9
    assert sum(each.answers for each in flat) == sum(1 + len(case.hidden) for case in cases)
    apart = [abs(told[n][m] - alike[n][m]) for n in range(300) for m in cases[n].listed]
    assert np.mean(apart) < 0.02


def test_every_listed_sentence_has_a_weight():
    """And the marked one, which is none of them; all are chances."""
    cases = planted(30, slope=-1.0)
    told, _ = fitted(cases)
    for case, weights in zip(cases, told, strict=True):
        assert set(weights) == {case.kept, *case.listed}
        assert all(0 <= weight <= 1 for weight in weights.values())
