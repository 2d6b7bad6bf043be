"""The report of the study: endpoints that were fixed beforehand, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost_eval.statistics import Difference, corrected, difference, interval, over_seeds
from milepost_lab.lmk.material import LENGTHS, LONGEST
from milepost_lab.runner import Lines, Report, Row

GATE, LEVEL, AHEAD, CHECKED = 0.05, 0.02, 0.03, 0.03
RIVALS = ("mean", "cls")
Found = Mapping[str, Sequence[Mapping[str, Any]]]
"""Arm → its parts, one a seed."""
Means = Mapping[str, Mapping[int, NDArray[np.float64]]]
"""Arm → length → figure of each question, the mean over seeds."""


def report(found: Found, questions: Mapping[str, Any], check: Mapping[str, Any]) -> Report:
    """All rows and notes of what was measured; parts that are missing are left out."""
    found = {name: [part for part in parts if part] for name, parts in found.items()}
    documents: list[str] = questions["documents"]
    means: dict[str, dict[int, NDArray[np.float64]]] = {}
    rows: list[Row] = []
    for name, parts in found.items():
        for size in (*LENGTHS, LONGEST):
            some = [part[str(size)] for part in parts if str(size) in part]
            if some:
                mean = means.setdefault(name, {})[size] = np.mean(some, 0)
                long = np.array(questions["depths"][str(size)]) >= 0
                value = interval(mean, [*compress(documents, long)])
                rows.append(_row(name, size, value, seeds=len(some)))
    notes = []
    if check:
        apart = difference(check["converted"], check["parent"])
        rows.append(_row("converted - parent, held-out pairs", None, apart))
        fine = apart.mean >= -CHECKED
        notes.append(
            f"Conversion: the encoder is {100 * apart.mean:+.1f} points from its parent on short "
            f"texts; {'that is' if fine else 'that is not'} within 3."
        )
    if means.keys() >= {"lmk", *RIVALS}:
        passed, gate = _gate(means)
        level, said = _level(means, documents)
        tests = corrected(_tests(means, documents, np.array(questions["depths"][str(LENGTHS[-1])])))
        rows += level
        for name, one in tests.items():
            rows.append(
                _row(name, None, one, detectable=one.detectable, **{"p, Holm": one.adjusted})
            )
        rows += _by_seed(found)
        rows += _placed(means, documents)
        notes += [gate, said, *_verdicts(tests)] if passed else [gate]
    return Report(rows, notes, lines=Lines("tokens", "nDCG@10", "arm", log=True))


def _row(name: str, size: int | None, value: Any, **more: Any) -> Row:
    columns = {"arm": name, "tokens": size, "nDCG@10": value}
    return {**columns, "seeds": None, "p, Holm": None, "detectable": None, **more}


def _gate(means: Means) -> tuple[bool, str]:
    """Whether attention is worth anything here: the arms against the bag of words."""
    if "bag" not in means:
        return False, "Without the bag of words nothing is decided."
    size = LENGTHS[0]
    bag = float(means["bag"][size].mean())
    below = [arm for arm in ("lmk", *RIVALS) if means[arm][size].mean() < bag + GATE]
    if not below:
        return True, f"Every arm beats the bag of words ({bag:.3f}) by {GATE} at {size} tokens."
    return False, (
        f"{', '.join(below)}: not {GATE} above the bag of words ({bag:.3f}) at {size} tokens, so "
        "this set-up decides nothing about poolings."
    )


def _level(means: Means, documents: list[str]) -> tuple[list[Row], str]:
    """H1: at 256 and 512 tokens LMK is level with the better of the mean and [CLS]."""
    rows, within = [], []
    for size in LENGTHS[:2]:
        best = max(RIVALS, key=lambda arm: float(means[arm][size].mean()))
        one = difference(means["lmk"][size], means[best][size], documents)
        # Bounds of 90 % from those of 95 %, which the table shows.
        half = (one.high - one.low) / 2 * 1.645 / 1.96
        within.append(one.mean - half > -LEVEL and one.mean + half < LEVEL)
        rows.append(_row(f"H1: lmk - {best}", size, one, detectable=one.detectable))
    said = "supported" if all(within) else "not supported"
    return rows, f"H1 (90 % interval within 2 points at 256 and 512): {said}."


def _tests(
    means: Means, documents: list[str], depths: NDArray[np.float64]
) -> dict[str, Difference]:
    """H2, the lead at the longest length; H3, its slope; H4, its growth with depth."""
    doublings = np.log2(LENGTHS) - np.log2(LENGTHS).mean()
    weights = doublings / (doublings**2).sum()
    leads = {
        rival: np.stack([means["lmk"][size] - means[rival][size] for size in LENGTHS])
        for rival in RIVALS
    }
    tests: dict[str, Difference] = {}
    for rival, lead in leads.items():
        tests[f"H2: lmk - {rival} at {LENGTHS[-1]:,}"] = difference(lead[-1], 0.0, documents)
        tests[f"H3: lmk - {rival}, a doubling"] = difference(weights @ lead, 0.0, documents)
    for rival, lead in leads.items():
        tests[f"H4: lmk - {rival}, last quarter - first"] = by_depth(lead[-1], depths, documents)
    return tests


def by_depth(
    lead: NDArray[np.float64], depths: NDArray[np.float64], documents: list[str]
) -> Difference:
    """Mean of leads with evidence in the last quarter less that of the first."""
    first, last = depths < 0.25, depths >= 0.75
    if not first.any() or not last.any():
        return Difference(0.0, 0.0, 0.0, 1.0, 1.0, 0, 0, float("nan"))
    outer = first | last
    # A figure a question whose mean is the difference; about the common mean, so that a lead
    # that is the same everywhere adds no spread.
    values = lead - lead[outer].mean()
    count = outer.sum()
    signed = values * (last * count / last.sum() - first * count / first.sum())
    return difference(signed[outer], 0.0, [*compress(documents, outer)])


def _verdicts(tests: Mapping[str, Difference]) -> list[str]:
    notes = []
    for name, one in tests.items():
        wanted = AHEAD if name.startswith("H2") else 0.0
        said = "not decided"
        if one.adjusted < 0.05 and one.mean >= wanted and one.mean > 0:
            said = "supported"
        elif one.high < wanted:
            said = "contradicted"
        notes.append(f"{name}: {said} ({100 * one.mean:+.1f} points, p {one.adjusted:.3f} of six).")
    return notes


def _by_seed(found: Found) -> list[Row]:
    """The leads at the longest length, with an interval over seeds."""
    rows = []
    size = LENGTHS[-1]
    for rival in RIVALS:
        both = [
            (float(np.mean(own[str(size)])), float(np.mean(other[str(size)])))
            for own, other in zip(found["lmk"], found[rival], strict=False)
        ]
        if len(both) > 1:
            one = over_seeds(*zip(*both, strict=True))
            name = f"lmk - {rival}, over seeds"
            rows.append(_row(name, size, one, seeds=len(both), detectable=one.detectable))
    return rows


def _placed(means: Means, documents: list[str]) -> list[Row]:
    """The lead at the longest length after training with evidence at random places."""
    size = LENGTHS[-1]
    names = {arm: f"{arm}, random places" for arm in ("lmk", *RIVALS)}
    if not means.keys() >= {*names.values()}:
        return []
    own = means[names["lmk"]][size]
    apart = {arm: difference(own, means[names[arm]][size], documents) for arm in RIVALS}
    return [_row(f"random places: lmk - {arm}", size, one) for arm, one in apart.items()]
