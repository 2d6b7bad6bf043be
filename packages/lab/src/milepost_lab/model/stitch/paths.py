"""The blocks of a descendant: paths through two auxiliaries of equal depth.

A path ``(j, k)`` runs the narrow blocks 0 to j, a stitch, and the wide blocks k to the end. The
pairs are those in a window of ``kernel`` blocks that slides over both depths. All pairs of a window
share its stitch; a pair in two windows uses the stitch of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from milepost.errors import InputError


@dataclass(frozen=True, slots=True, order=True)
class Path:
    """The blocks of one descendant.

    Attributes:
        narrow: number of blocks of the narrow auxiliary, from its first.
        first, last: blocks of the wide auxiliary, ``last`` exclusive; none if they are equal.
        stitch: number of the shared stitch; -1 without a stitch, or for the narrow auxiliary
            alone, which has its own map into the space of the wide one.
    """

    narrow: int
    first: int
    last: int
    stitch: int = -1

    @property
    def blocks(self) -> int:
        """Number of blocks; stitched paths of depth D have D to D + 2 with a kernel of 2."""
        return self.narrow + self.last - self.first

    @property
    def name(self) -> str:
        """``narrow``, ``wide``, ``j-k`` for a stitched path, ``wide:2`` for an early exit."""
        if not self.narrow:
            return "wide" if self.stitch == -1 else f"wide:{self.last}"
        return "narrow" if self.first == self.last else f"{self.narrow - 1}-{self.first}"

    @property
    def parts(self) -> tuple[str, ...]:
        """Its parts: ``narrow embeddings``, ``narrow 0``, ``stitch 0``, ``wide 1``."""
        return (
            "narrow embeddings" if self.narrow else "wide embeddings",
            *(f"narrow {n}" for n in range(self.narrow)),
            *([f"stitch {self.stitch}"] if self.narrow else []),
            *(f"wide {n}" for n in range(self.first, self.last)),
        )


EXIT = -2
"""``stitch`` of a path that ends early: no stitch, and only the first blocks of the wide one."""


def pairs(depth: int, kernel: int = 2, stride: int = 1) -> list[tuple[int, int, int]]:
    """List ``(j, k, stitch)`` of all stitched paths, ascending.

    Kernel 2 and stride 1, as published, give ``3 D - 2`` pairs with ``|j - k| <= 1`` and ``D - 1``
    stitches, of which the first serves four pairs and the others three.

    Args:
        depth: blocks of each auxiliary.
        kernel: blocks of a window.
        stride: step of the window.

    Raises:
        InputError: a number is below 1, or the window is deeper than the auxiliaries.

    >>> [(j, k) for j, k, stitch in pairs(3) if stitch == 1]
    [(1, 2), (2, 1), (2, 2)]
    """
    if min(depth, kernel, stride) < 1 or kernel > depth:
        raise InputError(
            f"a window of {kernel} blocks in steps of {stride} over {depth}",
            "numbers from 1, and a window of at most the encoders' depth",
        )
    found: dict[tuple[int, int], int] = {}
    for number, start in enumerate(range(0, depth - kernel + 1, stride)):
        inside = range(start, start + kernel)
        for pair in ((j, k) for j in inside for k in inside):
            found.setdefault(pair, number)
    return [(j, k, stitch) for (j, k), stitch in sorted(found.items())]


def paths(depth: int, kernel: int = 2, stride: int = 1) -> list[Path]:
    """List all ``3 D`` descendants: the narrow auxiliary, the stitched paths, the wide one."""
    stitched = [Path(j + 1, k, depth, stitch) for j, k, stitch in pairs(depth, kernel, stride)]
    return [Path(depth, depth, depth), *stitched, Path(0, 0, depth)]


def early_exits(depth: int) -> list[Path]:
    """Cut the wide auxiliary after each of its blocks, the shortest first, the whole one last."""
    return [Path(0, 0, last, EXIT) for last in range(1, depth)] + [Path(0, 0, depth)]


def visits(chosen: Sequence[Path], chances: Sequence[float] | None = None) -> dict[str, float]:
    """Compute how often each part is trained: the sum of the probabilities of its paths.

    Args:
        chosen: the paths.
        chances: probability of each path; None counts paths.
    """
    found: dict[str, float] = {}
    for path, chance in zip(chosen, chances or [1.0] * len(chosen), strict=True):
        for part in path.parts:
            found[part] = found.get(part, 0.0) + chance
    return found


def balanced(chosen: Sequence[Path], uniform: float = 0.5, rounds: int = 500) -> list[float]:
    """Compute probabilities of the paths that train all parts about equally often.

    Uniform sampling trains the facing ends of the two auxiliaries least: 3 of 18 at depth 6. The
    balanced probabilities maximise ``sum over parts of log(visits)`` (by EM, as the weights of a
    mixture); a share stays uniform so that every path is trained.

    Args:
        chosen: the paths.
        uniform: share of uniform probabilities.
        rounds: iterations of EM.

    Raises:
        InputError: there is no path, or the share is outside 0 to 1.
    """
    if not chosen or not 0 <= uniform <= 1:
        raise InputError(
            f"{len(chosen)} paths with a uniform share of {uniform:g}", "some paths, 0 to 1"
        )
    even = 1.0 / len(chosen)
    fair = [even] * len(chosen)
    for _ in range(rounds):
        often = visits(chosen, fair)
        fair = [
            chance * sum(1.0 / often[part] for part in path.parts) / len(often)
            for path, chance in zip(chosen, fair, strict=True)
        ]
    return [uniform * even + (1.0 - uniform) * chance for chance in fair]
