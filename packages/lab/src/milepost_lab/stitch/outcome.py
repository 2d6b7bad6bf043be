"""The results of the stitch study, and their means over seeds."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from milepost_eval.statistics import Difference, corrected
from milepost_lab.differences import over_trainings
from milepost_lab.model.stitch.starts import STARTS

MAIN = "least_squares"
"""The initialization of the stitches in the arm ``pool``."""

CONTROL = "control"
"""The arm of untrained baselines."""

SN_NET = "sn-net"
"""The arm of auxiliaries that were trained separately, see ``study``."""

ARMS = "pool", SN_NET, "alone", "early exit", CONTROL
"""The arms in the table of sizes."""


ENDS = "narrow", "wide"
"""The descendants without a stitch."""

STITCHED = "stitched"
KINDS = ENDS[0], STITCHED, ENDS[1]

PAPER = "transpose"
"""The paper's initialization."""


@dataclass(frozen=True, slots=True)
class Descendant:
    """One encoder of one seed.

    Attributes:
        arm: ``pool``, ``sn-net``, ``early exit`` or ``alone``; ``start:KIND`` before the paths are
            trained and ``random``, ``transpose`` … after; ``control`` for untrained baselines.
        name: name of its path; for a control ``PATH@random``, ``bytes@nonsense`` or
            ``bytes@hierarchical``.
        seed: seed of the run.
        parameters: number of parameters in use, including its token table.
        operations: floating-point operations on one window: by formula, or counted for a byte
            baseline.
        milliseconds: median time of one window on this machine.
        agreement: mean cosine of its landmarks with the ancestor's, in the space that they share;
            None if they share no space.
        recall: share of the ancestor's ten nearest that are among its own.
    """

    arm: str
    name: str
    seed: int
    parameters: int
    operations: int
    milliseconds: float
    agreement: float | None
    recall: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """All results of a run.

    Attributes:
        descendants: every encoder of every arm and seed.
        matrix: names of the pool's descendants, and the recall of each pair, mean over seeds: the
            row encodes the documents, the column the questions.
        costs: floating-point operations of the ancestor's reading, and of training each arm, mean
            over seeds.
        updates: steps that trained each part of the pool, mean over seeds.
        sentences: number of held-out sentences.
    """

    descendants: tuple[Descendant, ...]
    matrix: tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]
    costs: dict[str, float]
    updates: dict[str, float]
    sentences: int


def mean_over_seeds(outcome: Outcome, arms: Sequence[str]) -> Iterator[tuple[Descendant, float]]:
    """Yield the descendants of some arms as means over seeds, with the deviation of the recall.

    It is that of a sample, 0 for one seed.

    Args:
        outcome: result of ``run``.
        arms: arms, in the order to yield.
    """
    for arm in arms:
        rows: dict[str, list[Descendant]] = {}
        for each in outcome.descendants:
            if each.arm == arm:
                rows.setdefault(each.name, []).append(each)
        for held in rows.values():
            recalls = [each.recall for each in held]
            agreements = _agreements(held)
            mean = replace(
                held[0],
                milliseconds=statistics.fmean(each.milliseconds for each in held),
                agreement=statistics.fmean(agreements) if agreements else None,
                recall=statistics.fmean(recalls),
            )
            yield mean, statistics.stdev(recalls) if len(recalls) > 1 else 0.0


@dataclass(frozen=True, slots=True)
class StartOutcome:
    """Results of an initialization of the stitches: means over the stitched paths and seeds.

    Attributes:
        start: one of ``STARTS``, or ``sn-net``.
        before, after: agreement and recall, before the paths are trained and after.
    """

    start: str
    before: tuple[float, float]
    after: tuple[float, float]


def gains(outcome: Outcome) -> dict[str, Difference]:
    """Compute recall minus that of SN-Net's encoders, which have the same sizes and steps.

    The intervals cover other trainings, on the same held-out sentences.

    Returns:
        For ``pool`` the narrow encoder, the mean of the stitched ones, and the wide encoder; for
        the paper's initialization, which starts from the same blocks, only the stitched ones.
        Holm-corrected; empty after a single seed.
    """
    found = {
        f"{kind}, {arm}": over_trainings(ours, _recalls(outcome, SN_NET, kind))
        for arm, kind in (*(("pool", kind) for kind in KINDS), (PAPER, STITCHED))
        if len(ours := _recalls(outcome, arm, kind)) > 1
    }
    return corrected(found)


def _recalls(outcome: Outcome, arm: str, kind: str) -> list[float]:
    """Mean recall of each seed."""
    seeds: dict[int, list[float]] = {}
    for each in outcome.descendants:
        if each.arm == arm and kind == (each.name if each.name in ENDS else STITCHED):
            seeds.setdefault(each.seed, []).append(each.recall)
    return [statistics.fmean(seeds[seed]) for seed in sorted(seeds)]


def _agreements(rows: Sequence[Descendant]) -> list[float]:
    """Agreements of the descendants that share the ancestor's space."""
    return [each.agreement for each in rows if each.agreement is not None]


def starts_of(outcome: Outcome) -> Iterator[StartOutcome]:
    """Yield the results of each initialization of the pool, and of SN-Net, on stitched paths."""

    def means(arm: str) -> tuple[float, float]:
        rows = [each for each in outcome.descendants if each.arm == arm and each.name not in ENDS]
        return (
            statistics.fmean(_agreements(rows)),
            statistics.fmean(each.recall for each in rows),
        )

    for start in (*STARTS, SN_NET):
        after = "pool" if start == MAIN else start
        yield StartOutcome(start, means(f"start:{start}"), means(after))
