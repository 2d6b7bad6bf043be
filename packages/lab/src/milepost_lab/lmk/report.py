"""The report of the study: endpoints that were fixed beforehand, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost_lab.lmk.material import LENGTHS, LONGEST
from milepost_lab.runner import Lines, Report, Row
from milepost_lab.statistics import Difference, difference, holm, interval, over_seeds

GATE, LEVEL, AHEAD, CHECKED = 0.05, 0.02, 0.03, 0.03
RIVALS = ("mean", "cls")
Found = Mapping[str, Sequence[Mapping[str, Any]]]
"""Arm → its parts, one a seed."""


def report(found: Found, questions: Mapping[str, Any], check: Mapping[str, Any]) -> Report:
    """All rows and notes of what was measured; parts that are missing are left out."""
    found = {name: [part for part in parts if part] for name, parts in found.items()}
    found = {name: parts for name, parts in found.items() if parts}
    documents: list[str] = questions["documents"]
    rows: list[Row] = []
    for name, parts in found.items():
        for size in (*LENGTHS, LONGEST):
            some = [part[str(size)] for part in parts if str(size) in part]
            if some:
                clusters = _clusters(questions, size)
                one = interval(np.array(some).mean(0), clusters)
                rows.append(_row(name, size, one, len(some)))
    notes = []
    if check:
        apart = difference(check["converted"], check["parent"])
        rows.append(_row("converted - parent, held-out pairs", None, apart))
        fine = apart.mean >= -CHECKED
        notes.append(
            f"Conversion: the encoder is {100 * apart.mean:+.1f} points from its parent on short "
            f"texts; {'that is' if fine else 'that is not'} within 3."
        )
    if all(name in found for name in ("lmk", *RIVALS)):
        passed, gate = _gate(found)
        level, said = _level(found, documents)
        tests = holm(_tests(found, questions))
        rows += level
        rows += [_row(name, None, one, None, one.p, one.detectable) for name, one in tests.items()]
        rows += _by_seed(found)
        rows += _placed(found, documents)
        notes += [gate, said, *_verdicts(tests)] if passed else [gate]
    return Report(rows, notes, lines=Lines("tokens", "nDCG@10", "arm", log=True))


def _row(
    name: str,
    size: int | None,
    value: Any,
    seeds: int | None = None,
    p: float | None = None,
    detectable: float | None = None,
) -> Row:
    return {
        "arm": name,
        "tokens": size,
        "nDCG@10": value,
        "seeds": seeds,
        "p, Holm": p,
        "detectable": detectable,
    }


def _clusters(questions: Mapping[str, Any], size: int) -> list[str]:
    """Document of each question that has a cut of this length."""
    depths = questions["depths"][str(size)]
    return [name for name, at in zip(questions["documents"], depths, strict=True) if at >= 0]


def _mean(found: Found, arm: str, size: int) -> NDArray[np.float64]:
    """Figures of each question, the mean over seeds."""
    values: NDArray[np.float64] = np.array([part[str(size)] for part in found[arm]]).mean(0)
    return values


def _gate(found: Found) -> tuple[bool, str]:
    """Whether attention is worth anything here: the arms against the bag of words."""
    if "bag" not in found:
        return False, "Without the bag of words nothing is decided."
    size = LENGTHS[0]
    bag = float(_mean(found, "bag", size).mean())
    arms = ("lmk", *RIVALS)
    below = [arm for arm in arms if _mean(found, arm, size).mean() < bag + GATE]
    if not below:
        return True, f"Every arm beats the bag of words ({bag:.3f}) by {GATE} at {size} tokens."
    return False, (
        f"{', '.join(below)}: not {GATE} above the bag of words ({bag:.3f}) at {size} tokens, so "
        "this set-up decides nothing about poolings."
    )


def _level(found: Found, documents: list[str]) -> tuple[list[Row], str]:
    """H1: at 256 and 512 tokens LMK is level with the better of the mean and [CLS]."""
    rows, within = [], []
    for size in LENGTHS[:2]:
        best = max(RIVALS, key=lambda arm: float(_mean(found, arm, size).mean()))
        one = difference(_mean(found, "lmk", size), _mean(found, best, size), documents)
        # Bounds of 90 % from those of 95 %, which the table shows.
        half = (one.high - one.low) / 2 * 1.645 / 1.96
        within.append(one.mean - half > -LEVEL and one.mean + half < LEVEL)
        rows.append(_row(f"H1: lmk - {best}", size, one, detectable=one.detectable))
    said = "supported" if all(within) else "not supported"
    return rows, f"H1 (90 % interval within 2 points at 256 and 512): {said}."


def _tests(found: Found, questions: Mapping[str, Any]) -> dict[str, Difference]:
    """H2, the lead at the longest length; H3, its slope; H4, its growth with depth."""
    documents, longest = questions["documents"], LENGTHS[-1]
    zero = np.zeros(len(documents))
    doublings = np.log2(LENGTHS) - np.log2(LENGTHS).mean()
    weights = doublings / (doublings**2).sum()
    tests: dict[str, Difference] = {}
    for rival in RIVALS:
        leads = np.stack(
            [_mean(found, "lmk", size) - _mean(found, rival, size) for size in LENGTHS]
        )
        tests[f"H2: lmk - {rival} at {longest:,}"] = difference(leads[-1], zero, documents)
        tests[f"H3: lmk - {rival}, a doubling"] = difference(weights @ leads, zero, documents)
    for rival in RIVALS:
        lead = _mean(found, "lmk", longest) - _mean(found, rival, longest)
        tests[f"H4: lmk - {rival}, last quarter - first"] = by_depth(
            lead, np.array(questions["depths"][str(longest)]), documents
        )
    return tests


def by_depth(
    lead: NDArray[np.float64], depths: NDArray[np.float64], documents: Sequence[str]
) -> Difference:
    """Mean of leads with evidence in the last quarter less that of the first."""
    first, last = depths < 0.25, depths >= 0.75
    if not first.any() or not last.any():
        return Difference(0.0, 0.0, 0.0, 1.0, float("nan"))
    outer = first | last
    # A figure a question whose mean is the difference; about the common mean, so that a lead
    # that is the same everywhere adds no spread.
    values = lead - lead[outer].mean()
    count = int(outer.sum())
    signed = values * (last * count / last.sum() - first * count / first.sum())
    names = [name for name, one in zip(documents, outer, strict=True) if one]
    return difference(signed[outer], np.zeros(count), names)


def _verdicts(tests: Mapping[str, Difference]) -> list[str]:
    notes = []
    for name, one in tests.items():
        wanted = AHEAD if name.startswith("H2") else 0.0
        said = "not decided"
        if one.p < 0.05 and one.mean >= wanted and one.mean > 0:
            said = "supported"
        elif one.high < wanted:
            said = "contradicted"
        notes.append(f"{name}: {said} ({100 * one.mean:+.1f} points, p {one.p:.3f} of six).")
    return notes


def _by_seed(found: Found) -> list[Row]:
    """The leads at the longest length, with an interval over seeds."""
    rows = []
    for rival in RIVALS:
        both = list(zip(found["lmk"], found[rival], strict=False))
        if len(both) > 1:
            size = str(LENGTHS[-1])
            own, other = (
                [float(np.mean(part[size])) for part in some] for some in zip(*both, strict=True)
            )
            one = over_seeds(own, other)
            name = f"lmk - {rival}, over seeds"
            rows.append(_row(name, LENGTHS[-1], one, len(both), detectable=one.detectable))
    return rows


def _placed(found: Found, documents: list[str]) -> list[Row]:
    """The lead at the longest length after training with evidence at random places."""
    names = {arm: f"{arm}, random places" for arm in ("lmk", *RIVALS)}
    if any(name not in found for name in names.values()):
        return []
    size = LENGTHS[-1]
    own = _mean(found, names["lmk"], size)
    return [
        _row(
            f"random places: lmk - {arm}",
            size,
            difference(own, _mean(found, names[arm], size), documents),
        )
        for arm in RIVALS
    ]
