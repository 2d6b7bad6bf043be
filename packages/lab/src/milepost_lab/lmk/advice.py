"""Advice on the pooling to choose at each length, as a sentence made from the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from milepost_eval.statistics import holm
from milepost_lab.lmk.verdict import (
    CLAIMED,
    DRAWS,
    FLOOR,
    GATE,
    NAMES,
    SHORT,
    Effect,
    Figures,
    equivalent,
    less,
)


def advice(result: Mapping[str, Any], draws: int = DRAWS) -> str:
    """Say in one sentence which of LMK, mean and CLS to choose at which length.

    At each length the best pooling is compared with the others. Another one is behind if the 95 %
    interval of the difference lies above 0 and p, Holm-corrected over all lengths, is below 0.05.
    Two are level if the 90 % interval lies within ±2 points. Everything else is undecided.

    Args:
        result: see ``verdict``.
        draws: number of bootstrap draws.
    """
    figures = Figures(result)
    places = {SHORT: "short", **dict.fromkeys(figures.lengths, figures.judged)}
    first: dict[int, str] = {
        length: max(CLAIMED, key=lambda one: figures.of(one, material, length).mean())
        for length, material in places.items()
    }
    leads: dict[tuple[int, str], Effect] = {
        (length, other): less(figures, first[length], other, material, length, draws)
        for length, material in places.items()
        for other in CLAIMED
        if other != first[length]
    }
    if "bm25" in figures.poolings:
        leads |= {
            (length, "bm25"): less(figures, "bm25", first[length], material, length, draws)
            for length, material in places.items()
        }
    adjusted = holm({repr(key): one.p for key, one in leads.items()})
    sure = {key for key, one in leads.items() if one.low > 0 and adjusted[repr(key)] < 0.05}
    clauses: dict[str, list[int]] = {}
    for length, material in places.items():
        best = first[length]
        rest = [other for other in CLAIMED if other != best and (length, other) not in sure]
        level = figures.best(material, length) >= FLOOR and all(
            equivalent(less(figures, best, other, material, length, draws, level=0.9))
            == "supported"
            for other in rest
        )
        clauses.setdefault(_choice(best, rest, level=level), []).append(length)
    said = []
    for clause, lengths in clauses.items():
        more = ""
        if clause.startswith("take"):
            at = lengths[-1]
            one = min((leads[at, o] for o in CLAIMED if o != first[at]), key=lambda e: e.mean)
            more = f" ({one.name}: {one.mean:+.1f} points, {one.low:+.1f} to {one.high:+.1f})"
        said.append(f"at {_listed([f'{n:,}' for n in lengths])} tokens {clause}{more}")
    ahead = [length for length, other in leads if other == "bm25" and (length, other) in sure]
    if ahead:
        words = "words alone (BM25) find more than all three"
        said.append(f"at {_listed([f'{n:,}' for n in ahead])} tokens {words}")
    untrained: dict[str, float] = {one: result["gate"][one] for one in CLAIMED}
    apart = max(untrained.values()) - min(untrained.values())
    preferred = max(untrained, key=lambda one: untrained[one])
    beside = ", ".join(f"{NAMES[one]} {untrained[one]:.1f}" for one in CLAIMED if one != preferred)
    whose = (
        f"for an encoder that prefers {NAMES[preferred]} before any training "
        f"({untrained[preferred]:.1f} on short texts, {beside}), "
    )
    sentence = ("" if apart <= GATE else whose) + "; ".join(said)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _choice(best: str, rest: Sequence[str], *, level: bool) -> str:
    """Phrase the advice where the poolings in ``rest`` are not surely behind the best one."""
    names = [NAMES[one] for one in CLAIMED if one == best or one in rest]
    behind = [NAMES[one] for one in CLAIMED if one != best and one not in rest]
    if not rest:
        return f"take {NAMES[best]}"
    if level:
        found = f"{_listed(names, 'or')} will do, as they are level"
    elif behind:
        found = f"choose {_listed(names, 'or')}, between which nothing is decided"
    else:
        return f"nothing is decided between {_listed(names)}: keep what your model was trained with"
    return f"{found}, but not {behind[0]}, which is behind" if behind else found


def _listed(names: Sequence[str], joint: str = "and") -> str:
    """Join words with commas, and with ``joint`` before the last."""
    *others, last = names
    return f"{', '.join(others)} {joint} {last}" if others else last
