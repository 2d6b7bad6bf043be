"""What share of the evidence came back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def evidence_found(
    returned: Iterable[tuple[int, int]], evidence: Sequence[tuple[int, int]], budget: int
) -> float:
    """Share of the evidence's characters among the first ``budget`` characters returned.

    Spans are taken in the order given and cut where the budget ends; a character returned twice
    is paid twice and counted once. Evidence spans do not overlap.

    ``|union of returned spans, cut at the budget, ∩ evidence| / |evidence|``

    >>> evidence_found([(0, 10), (20, 30)], [(5, 25)], budget=15)
    0.5
    """
    seen: set[int] = set()
    wanted = sum(end - start for start, end in evidence)
    left = budget
    for start, end in returned:
        stop = min(end, start + left)
        for low, high in evidence:
            seen.update(range(max(start, low), min(stop, high)))
        left -= stop - start
        if left <= 0:
            break
    return len(seen) / wanted if wanted else 0.0
