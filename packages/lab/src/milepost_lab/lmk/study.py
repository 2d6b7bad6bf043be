"""``milepost lab lmk``: LMK, [CLS] and the mean on natural documents of 256 to 16k tokens.

The arms start from one encoder that is converted to rotary positions (``convert.py``) and are
trained on the same pairs in the same order. In the test each question has its own cut of a long
document, which holds its evidence at a random depth, and searches that and the cuts of all other
documents. Endpoints were fixed beforehand; see ``docs/lmk-study.md``.

Parts are computed in the order of their weight. ``MILEPOST_LAB_SECONDS`` limits the time: no part
is begun that would outlast it, and 0 only reports what is there.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
from functools import partial
from typing import Any

import click

from milepost.cli.console.options import count_option
from milepost.errors import InputError
from milepost_lab.lmk.model import Arm
from milepost_lab.lmk.parts import Figures, Parts
from milepost_lab.lmk.report import report
from milepost_lab.runner import Report, Run, study

ARMS: tuple[Arm, ...] = ("lmk", "mean", "cls")
CONTROLS: dict[Arm, Arm] = {"bag": "bag", "multi-cls": "lmk", "every-32": "mean"}
"""Control → the arm whose rate it takes."""
SECONDS = "MILEPOST_LAB_SECONDS"


@study(
    "lmk",
    "LMK, CLS and mean on documents of 256 to 16k tokens.",
    "milepost lab lmk --data data --conversion 2000 --steps 400 --seeds 3 --out results/lmk",
    seeds=3,
)
@click.option(
    "--data",
    multiple=True,
    required=True,
    metavar="FOLDER",
    help="Holds pairs/, corpus/ and tasks; repeatable.",
)
@click.option("--parent", default="minilm", metavar="FOLDER", help="A BERT, or minilm.")
@click.option("--device", default="auto", help="Of torch: cpu, cuda, auto.")
@count_option("--conversion", 2000, "Steps of conversion, 64 rows of 512 tokens each.")
@count_option("--steps", 400, "Steps of training.")
@count_option("--batch", 256, "Pairs of a step.")
@count_option("--pairs", 50_000, "Most training pairs.")
@count_option("--asked", 600, "Most test questions.")
def command(run: Run, **options: Any) -> Report:
    """Convert an encoder, train every arm from it, and search long documents."""
    said = os.environ.get(SECONDS)
    try:
        seconds = float(said) if said else None
    except ValueError:
        raise InputError(f"{SECONDS} is {said!r}, no number", "seconds") from None
    parts = Parts(run, seconds, **options)
    part = parts.part
    rates: dict[str, float | None] = {}

    def choose_rate(arm: Arm) -> None:
        rates[arm] = part(f"rate-{arm}", partial(parts.rate, arm)).get("rate")

    def trained(arm: Arm, seed: int, placed: bool = False) -> Figures:
        name = f"placed-{arm}" if placed else f"{arm}-{seed}"
        rate = rates[CONTROLS.get(arm, arm)]
        return part(name, partial(parts.arm, arm, seed, rate, placed)) if rate else {}

    questions = part("questions", parts.questions, cheap=True)
    found: dict[str, list[Figures]] = {}
    check: Figures = {}
    if part("conversion", parts.convert):
        check = part("check", parts.check)
        for name in ("parent", "windows", "converted"):
            found[f"{name}, untrained"] = [part(f"baseline-{name}", partial(parts.baseline, name))]
        first, *others = run.seeds
        for arm in ARMS:
            choose_rate(arm)
        for arm in ARMS:
            found[arm] = [trained(arm, first)]
        choose_rate("bag")
        for control in CONTROLS:
            found[control] = [trained(control, first)]
        for seed in others:
            for arm in ARMS:
                found[arm].append(trained(arm, seed))
        for arm in ARMS:
            found[f"{arm}, random places"] = [trained(arm, first, placed=True)]
    if importlib.util.find_spec("bm25s") is not None or parts.is_there("bm25"):
        found["BM25"] = [part("bm25", parts.bm25, cheap=True)]
    else:
        parts.left_out.append("bm25 (bm25s is not installed)")
    made = report(found, questions, check)
    notes = [*made.notes]
    if rates:
        notes.append(f"Rates: {', '.join(f'{arm} {one}' for arm, one in rates.items())}.")
    if parts.left_out:
        notes.append(f"Not computed for want of time: {', '.join(parts.left_out)}.")
    return dataclasses.replace(made, notes=notes)
