"""Span corruption: gaps in a row of ids, and their content (T5, arXiv 1910.10683).

    text     a b c d e f g h i j        gaps at d e f and i j
    input    a b c <0> g h <1> end
    target   <0> d e f <1> i j end

``noise = round(share · N)`` ids fall into ``round(noise / mean)`` gaps. The published configuration
for gaps of 20 has 229 targets for 1,024 inputs, which is right for gaps of 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from milepost.errors import InputError
from milepost_lab.model.bytes.tokenizer import END, sentinel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHARE = 0.15
"""Share of ids in gaps."""


def gaps_of(length: int, mean: float, share: float = SHARE) -> tuple[int, int]:
    """Compute the number of ids in gaps and the number of gaps, each at least 1.

    Args:
        length: ids, at least 2.
        mean: mean length of a gap.
        share: share of ids in gaps.
    """
    noise = min(max(round(share * length), 1), length - 1)
    spans = max(round(noise / mean), 1)
    return noise, min(spans, noise, length - noise)


def corrupted_lengths(length: int, mean: float, share: float = SHARE) -> tuple[int, int]:
    """Compute the lengths of input and target for ``length`` ids, with marks and end."""
    noise, spans = gaps_of(length, mean, share)
    return length - noise + spans + 1, noise + spans + 1


def random_gaps(
    length: int, mean: float, rng: np.random.Generator, share: float = SHARE
) -> NDArray[np.bool_]:
    """Draw which ids fall into gaps, ``(length,)`` bool; never the first id.

    Noise and the rest are each cut at random into as many parts as there are gaps, and alternate.
    """
    import numpy as np

    noise, spans = gaps_of(length, mean, share)
    kept, lost = (_cut(total, spans, rng) for total in (length - noise, noise))
    parts = np.stack([kept, lost], 1).reshape(-1)
    return np.repeat(np.arange(2 * spans) % 2 == 1, parts)


def corrupt(ids: Sequence[int], gaps: Sequence[bool]) -> tuple[list[int], list[int]]:
    """Make input and target from a row of ids.

    Args:
        ids: ids without ``END``.
        gaps: one flag for each id; true for removed ids.

    Raises:
        InputError: more gaps than marks, or not one flag for each id.
    """
    if len(ids) != len(gaps):
        raise InputError(f"{len(gaps)} flags for {len(ids)} ids: one each")
    inputs: list[int] = []
    targets: list[int] = []
    number, before = -1, False
    for one, lost in zip(ids, gaps, strict=True):
        if lost and not before:
            number += 1
            inputs.append(sentinel(number))
            targets.append(sentinel(number))
        (targets if lost else inputs).append(one)
        before = lost
    return [*inputs, END], [*targets, END]


def _cut(total: int, parts: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Split ``total`` at random into ``parts`` integers of at least 1, uniformly."""
    import numpy as np

    ends = np.sort(rng.choice(np.arange(1, total), parts - 1, replace=False))
    return np.diff(np.concatenate([[0], ends, [total]])).astype(np.int64)
