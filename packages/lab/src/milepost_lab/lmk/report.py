"""The result of the study as Markdown: verdict, figures and training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from milepost_lab.lmk.advice import advice
from milepost_lab.lmk.verdict import (
    CLAIMED,
    DRAWS,
    FLOOR,
    GATE,
    NAMES,
    SHORT,
    Effect,
    Figures,
    Verdict,
    effect,
    verdict,
)


def report(result: Mapping[str, Any], draws: int = DRAWS) -> str:
    """Write the whole page except its introduction.

    Args:
        result: what ``Study.result`` returns.
        draws: number of bootstrap draws.
    """
    figures, judged = Figures(result), verdict(result, draws)
    sections = [
        *_verdict(judged, advice(result, draws)),
        *_lengths(figures, result, draws),
        *_controls(figures, draws),
        *_depths(figures),
        *_probes(figures),
        *_attribution(result),
        *_training(figures, result),
    ]
    return "\n".join(sections) + "\n"


def _verdict(judged: Verdict, advised: str) -> Iterator[str]:
    yield "## Verdict\n"
    yield f"**What to choose.** {advised}\n"
    yield from _table(["hypothesis", "answer"], judged.answers.items())
    fair = "no pooling starts ahead"
    if judged.gate > GATE:
        fair = (
            "one starts ahead, so H2 is about the change from the smallest length; the last rows "
            "of the table are the differences as they are, which decide nothing"
        )
    yield f"\nUntrained, the poolings lie within {judged.gate:.1f} points on short texts: {fair}.\n"
    if low := [f"{n:,}" for n, best in judged.best.items() if best < FLOOR]:
        few = f"the best of the three finds less than {FLOOR:.0f} %"
        yield f"At {', '.join(low)} tokens {few}, so that nothing is decided there.\n"
    if judged.placed < FLOOR:
        least = f"the best finds {judged.placed:.1f} % at {judged.longest:,} tokens"
        yield f"In documents with passages put in, {least}: H4 is not decided.\n"
    yield from _table(
        ["effect, points of nDCG@10", "mean", "interval", "p, corrected", "detectable"],
        [
            *(_effect_row(one, "90 %", corrected=False) for one in judged.level.values()),
            *(_effect_row(one, "95 %") for one in judged.effects),
            *(_effect_row(one, "95 %", corrected=False) for one in judged.plain),
        ],
    )
    yield "\n`detectable`: the smallest effect seen with 80 % power; 2.8 standard errors.\n"


def _effect_row(one: Effect, level: str, *, corrected: bool = True) -> list[str]:
    p = f"{one.adjusted:.4f}" if corrected else "–"
    interval = f"{one.low:+.1f} to {one.high:+.1f} ({level})"
    return [one.name, f"{one.mean:+.1f}", interval, p, f"{one.detectable:.1f}"]


def _lengths(figures: Figures, result: Mapping[str, Any], draws: int) -> Iterator[str]:
    for material, clusters, title in (
        ("needles", figures.clusters, "Documents with four passages put in"),
        ("natural", figures.natural, "Natural documents"),
    ):
        if not clusters:
            continue
        yield f"## {title}\n"
        yield f"{len(clusters)} questions, {len(set(clusters))} documents. nDCG@10 in per cent.\n"
        rows = []
        for pooling in figures.poolings:
            cells = [NAMES[pooling]]
            for length in figures.lengths:
                values = figures.of(pooling, material, length)
                one = effect("", values, clusters, draws=draws)
                cells.append(f"{one.mean:.1f} ({one.low:.1f} to {one.high:.1f})")
            seeds = sum(run["pooling"] == pooling for run in result["runs"])
            rows.append([*cells, str(seeds or "–")])
        yield from _table(["pooling", *(f"{n:,}" for n in figures.lengths), "seeds"], rows)
        yield ""


def _controls(figures: Figures, draws: int) -> Iterator[str]:
    """LMK less each control: with the first seed, as controls have no other."""
    controls = [name for name in figures.poolings if name not in (*CLAIMED, "bm25")]
    if not controls:
        return
    material = figures.judged
    yield "## LMK less its controls\n"
    documents = {"natural": "Natural documents", "needles": "Documents with passages put in"}
    yield (
        f"{documents[material]}, the first seed alone: points of nDCG@10 with 95 % intervals over\n"
        "documents, not corrected. No hypothesis is about them.\n"
    )
    rows = []
    for control in controls:
        cells = [NAMES[control]]
        for length in figures.lengths:
            lead = figures.lead(control, length, material, seeds=1)
            one = effect("", lead, figures.documents(material, lead.shape[1]), draws=draws)
            cells.append(f"{one.mean:+.1f} ({one.low:+.1f} to {one.high:+.1f})")
        rows.append(cells)
    yield from _table(["LMK less", *(f"{n:,}" for n in figures.lengths)], rows)
    yield ""


def _depths(figures: Figures) -> Iterator[str]:
    longest = figures.lengths[-1]
    yield f"## By the place of the evidence, {longest:,} tokens\n"
    rows = []
    for pooling in figures.poolings:
        values = figures.of(pooling, "needles", longest)
        means = [values[:, figures.quarters == quarter].mean() for quarter in range(4)]
        rows.append([NAMES[pooling], *(f"{mean:.1f}" for mean in means)])
    yield from _table(["pooling", "first quarter", "second", "third", "last"], rows)
    yield ""


def _probes(figures: Figures) -> Iterator[str]:
    probes = [key for key in figures.read if key[2] != "own"]
    if not probes:
        return
    yield "## The same networks read in other ways\n"
    yield "Documents with passages put in, the first seed.\n"
    found: dict[tuple[str, str], dict[int, float]] = {}
    for pooling, material, reading, length in probes:
        mean = float(figures.of(pooling, material, length, reading).mean())
        found.setdefault((pooling, reading), {})[length] = mean
    rows = [
        [NAMES[pooling], reading, *(_cell(means.get(length)) for length in figures.lengths)]
        for (pooling, reading), means in found.items()
    ]
    if "bm25" in figures.poolings:
        means = [figures.of("bm25", "needles", length).mean() for length in figures.lengths]
        rows.append([NAMES["bm25"], "–", *(f"{mean:.1f}" for mean in means)])
    yield from _table(["pooling", "reading", *(f"{n:,}" for n in figures.lengths)], rows)
    yield ""


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _attribution(result: Mapping[str, Any]) -> Iterator[str]:
    shown = [run for run in result["runs"] if run.get("attribution")]
    if not shown:
        return
    yield "## What moves the vector\n"
    yield "Share of each tenth of a document in per cent, mean over documents; 10 is even.\n"
    rows = [
        [NAMES[run["pooling"]], *(f"{100 * fmean(tenth):.0f}" for tenth in tenths)]
        for run in shown
        for tenths in [zip(*run["attribution"], strict=True)]
    ]
    yield from _table(["pooling", *(str(n) for n in range(1, len(rows[0])))], rows)
    yield ""


def _training(figures: Figures, result: Mapping[str, Any]) -> Iterator[str]:
    yield "## Training\n"
    yield "nDCG@10 on short texts, before and after.\n"
    runs: dict[str, list[Mapping[str, Any]]] = {}
    for run in result["runs"]:
        runs.setdefault(run["pooling"], []).append(run)
    until_flat = any("flat" in run for run in result["runs"])
    rows = []
    for pooling in figures.poolings:
        trained = f"{figures.of(pooling, 'short', SHORT).mean():.1f}"
        if pooling not in runs:
            rows.append([NAMES[pooling], "–", trained, *["–"] * (2 + until_flat)])
            continue
        some = runs[pooling]
        rows.append(
            [
                NAMES[pooling],
                f"{result['gate'][pooling]:.1f}",
                trained,
                f"{result['rates'][pooling]:g}",
                f"{fmean(run['loss'] for run in some):.2f}",
                *([_flat(some)] if until_flat else []),
            ]
        )
    head = ["pooling", "untrained", "trained", "rate chosen", "loss at the end"]
    yield from _table([*head, "validation loss flat"] if until_flat else head, rows)


def _flat(runs: Sequence[Mapping[str, Any]]) -> str:
    """Say how many trainings became flat, and after how many steps each was best."""
    ends = [run["flat"] for run in runs]
    steps = ", ".join(f"{end['best']:,}" for end in ends)
    return f"{sum(end['flat'] for end in ends)} of {len(ends)}, best after {steps} steps"


def _table(head: Sequence[str], rows: Any) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
