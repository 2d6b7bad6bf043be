"""Write ``docs/results-stages.md`` and its plot from what the bench left.

    python tools/make_stages.py [bench/results/stages.jsonl.xz]

The file comes from ``bench/stages.py``. The page is printed as well; every judgement on it follows
from intervals and seeds. Needs the extra ``eval``.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from milepost_eval.report.outcome import (
    Cell,
    Figure,
    Outcome,
    Panel,
    Series,
    as_markdown,
)
from milepost_eval.report.outcome_plot import plot
from milepost_eval.report.tally import Tally

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "bench" / "results" / "stages.jsonl.xz"
PAGE = "results-stages.md"
PLOT = "results/stages.svg"

Order = tuple[str, ...]
Measured = tuple[Order, str]
"""An order of stages and a metric."""

Compared = tuple[Measured, Measured]

METRICS = ("alone", "front-2", "both-sides-2", "boundary")
COMPANY = (2, 4, 6)
NONE: Order = ()
THIRD: Order = ("III",)
ALL: Order = ("I", "II", "III")
LEVEL: Order = ("I", "II", "III-0")
WEIGHTS: dict[Order, str] = {
    ALL: "none",
    LEVEL: "α = 0",
    ("I", "II", "III-0.08"): "α = 0.08",
    ("I", "II", "III-ln2"): "α = ln 2",
}

HEAD = (ROOT / "tools" / "stages-head.md").read_text(encoding="utf-8")
"""The page down to its first table, with the names of figures in braces."""


def main() -> None:
    """Write the page and its plot."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("result", type=Path, nargs="?", default=RESULT)
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="folder to write into")
    options = parser.parse_args()
    lines = lzma.decompress(options.result.read_bytes()).decode().splitlines()
    facts, *runs = map(json.loads, lines)
    found = Found(facts, runs)
    tables = [by_order, gains, company, weights, by_task, by_seed]
    first, *rest = (as_markdown(table(found)).replace("### ", "## ", 1) for table in tables)
    picture = drawn(found)
    (options.docs / PLOT).parent.mkdir(parents=True, exist_ok=True)
    (options.docs / PLOT).write_text(plot(picture), encoding="utf-8")
    page = "\n".join([head(facts, found) + first, f"![{picture.question}]({PLOT})\n", *rest])
    (options.docs / PAGE).write_text(page.rstrip() + "\n", encoding="utf-8")
    print(page)


CARD = {
    f"{metric}_{control}": ((ALL, metric), (order, metric))
    for metric in ("alone", "front-2")
    for control, order in (("once", THIRD), ("thrice", THIRD * len(ALL)))
}
"""Effects that the card of the claim names."""


CLAIMED = 0.022
"""What three stages gain over the last one alone in the paper, of F1."""


def judged(gain: Figure) -> str:
    """The verdict by the rules of docs/pooling.md, and why.

    Never ``supported``: the network, the text and the metric are not those of the claim.
    """
    if gain.high < 0:
        return "`contradicted`: stages I and II harm"
    if gain.high < CLAIMED and gain.detectable <= CLAIMED / 2:
        return "`contradicted`: the interval excludes the paper's 2.2 points"
    if gain.low > 0:
        return "`not decided`: the sign is the paper's, the set-up is not"
    paper = f"the paper's {100 * CLAIMED:.1f} points"
    if gain.high < CLAIMED:
        return (
            f"`not decided`: the interval contains 0 and excludes {paper}, but the run could not "
            "find half of them"
        )
    return f"`not decided`: the interval contains 0 and {paper} alike"


def head(facts: Mapping[str, Any], found: Found) -> str:
    """What was done, and the card of the claim, in the numbers of the run."""
    settings, questions = facts["settings"], facts["questions"]
    tasks = [task for task, *_ in questions]
    apart = found.apart(CARD.values())
    effects = {name: one.figure for name, pair in CARD.items() if (one := apart.get(pair))}
    return HEAD.format(
        made=facts["made"],
        pairs=facts["pairs"],
        documents=facts["documents"],
        most=settings["documents"],
        questions=len(questions),
        tasks=", ".join(f"{tasks.count(task)} {task}" for task in dict.fromkeys(tasks)),
        asked=len({(task, document) for task, document, *_ in questions}),
        seeds=", ".join(map(str, settings["seeds"])),
        minutes=f"{found.minutes:.0f}",
        verdict=judged(effects["alone_once"]) if "alone_once" in effects else "`not tested`",
        **{name: effects.get(name, "not measured") for name in CARD},
        **{
            f"{name}_detectable": f"{100 * effects[name].detectable:.1f}"
            if name in effects
            else "none"
            for name in CARD
        },
        **{name: settings[name] for name in ("steps", "rate", "merged", "budget")},
    )


@dataclass(frozen=True)
class Apart:
    """A difference of means over seeds, and whether no seed says the opposite."""

    figure: Figure
    agreed: bool

    @property
    def sure(self) -> bool:
        """Whether it may be believed."""
        return self.figure.sure and self.agreed

    @property
    def cell(self) -> str:
        """For a table."""
        return f"**{self.figure}**" if self.sure else str(self.figure)

    @property
    def verdict(self) -> str:
        """The list it belongs to."""
        if not self.sure:
            return "made no sure difference"
        return "helped" if self.figure.mean > 0 else "harmed"

    def __str__(self) -> str:
        """In words."""
        aside = ", but the seeds disagree" if self.figure.sure and not self.agreed else ""
        return f"{self.figure} points{aside}"


def sorted_out(apart: Mapping[Compared, Apart], name: Callable[[Order], str]) -> str:
    """What helped, what harmed, and what is not sure, as lists."""
    said: dict[str, list[str]] = {"helped": [], "harmed": [], "made no sure difference": []}
    for ((a, metric), (b, _)), one in apart.items():
        said[one.verdict].append(f"- {name(a)} over {name(b)}, {metric}: {one}")
    return "\n\n".join(
        f"What {verdict}:\n\n" + "\n".join(lines or ["- nothing"])
        for verdict, lines in said.items()
    )


class Found:
    """The figures of a run of the bench, which may have been stopped before its end.

    Attributes:
        orders: those measured, in their order.
        plain: those of them without position-aware weights.
        tasks: names, each once.
        seeds, steps: of the run, and of a stage.
        minutes: that everything took.
        tally: every question's figures, mean of the seeds.
    """

    def __init__(self, facts: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> None:
        self._questions = [(task, document) for task, document, *_ in facts["questions"]]
        self.tasks = list(dict.fromkeys(task for task, _ in self._questions))
        self.seeds, self.steps = facts["settings"]["seeds"], facts["settings"]["steps"]
        self.minutes = sum(sum(run["seconds"]) for run in runs) / 60
        self._runs: dict[Order, dict[int, Mapping[str, Sequence[float | None]]]] = {}
        for run in runs:
            figures = {_renamed(name): values for name, values in run["figures"].items()}
            self._runs.setdefault(tuple(run["order"]), {})[run["seed"]] = figures
        self.orders = sorted(self._runs, key=lambda order: (len(order), order))
        self.plain = [order for order in self.orders if order == ALL or order not in WEIGHTS]
        self.tally = Tally()
        for order, seeds in self._runs.items():
            for metric in next(iter(seeds.values())):
                rows = zip(*(figures[metric] for figures in seeds.values()), strict=True)
                for (task, document), row in zip(self._questions, rows, strict=True):
                    if None not in row:
                        self.tally.add(order, task, document, {metric: fmean(row)})

    def of_seeds(self, order: Order, metric: str, task: str | None = None) -> list[float]:
        """The mean over tasks (or of one) of each seed; one value where nothing was trained."""
        return [self._mean(figures[metric], task) for figures in self._runs[order].values()]

    def _mean(self, values: Sequence[float | None], only: str | None) -> float:
        by_task: dict[str, list[float]] = {}
        for (task, _), value in zip(self._questions, values, strict=True):
            if value is not None and only in (None, task):
                by_task.setdefault(task, []).append(value)
        return fmean(map(fmean, by_task.values()))

    def apart(self, pairs: Iterable[Compared]) -> dict[Compared, Apart]:
        """First less second of each pair, corrected for each other; of orders that are there."""
        known = [(a, b) for a, b in pairs if {a[0], b[0]} <= set(self.orders) and self._alike(a, b)]
        figures = self.tally.gains({str(n): pair for n, pair in enumerate(known)})
        found = {}
        for (first, second), figure in zip(known, figures.values(), strict=True):
            if figure is not None:
                a, b = self.of_seeds(*first), self.of_seeds(*second)
                seeds = [x - y for x, y in zip(a, b if len(b) > 1 else b * len(a), strict=True)]
                agreed = all(seed * figure.mean >= 0 for seed in seeds)
                found[first, second] = Apart(figure, agreed)
        return found

    def _alike(self, first: Measured, second: Measured) -> bool:
        """Whether both were measured with the same seeds, or the second needs none."""
        return not second[0] or self._runs[first[0]].keys() == self._runs[second[0]].keys()


def _renamed(metric: str) -> str:
    """A metric by its name on the page; the bench wrote ``both-sides`` as ``surround``."""
    return metric.replace("surround-", "both-sides-")


def named(order: Order) -> str:
    """An order as a label.

    >>> named(()), named(("I", "III")), named(("I", "II", "III-ln2"))
    ('none', 'I + III', 'I + II + III, α = ln 2')
    """
    name = " + ".join(stage.partition("-")[0] for stage in order) or "none"
    return name if order == ALL or order not in WEIGHTS else f"{name}, {WEIGHTS[order]}"


def by_order(found: Found) -> Outcome:
    """Every order of stages."""
    rows: list[tuple[Cell, ...]] = []
    for order in found.plain:
        cells: list[Cell] = [named(order), len(order) * found.steps]
        for metric in METRICS:
            low, *_, high = 2 * sorted(100 * seed for seed in found.of_seeds(order, metric))
            cells += [found.tally.mean(order, metric), f"{low:.1f}–{high:.1f}" if order else None]
        rows.append(tuple(cells))
    best = (
        f"{metric}: {named(max(found.plain, key=lambda o: fmean(found.of_seeds(o, metric))))}"
        for metric in METRICS
    )
    note = (
        f"Highest in its column, sure or not: {'; '.join(best)}. *Seeds*: the lowest and the "
        "highest seed."
    )
    columns = ["stages", "steps"]
    for metric in METRICS:
        columns += [metric, "seeds"]
    question = "What does each order of stages find?"
    return Outcome(tuple(columns), tuple(rows), note, (), "By stages", question)


def controls(found: Found) -> list[tuple[Order, Order]]:
    """What each order is compared with: nothing, stage III, and stage III for as many steps."""
    pairs: list[tuple[Order, Order]] = []
    for order in found.plain:
        if len(order) == 1:
            pairs.append((order, NONE))
        if order and order != THIRD:
            pairs.append((order, THIRD))
        if len(order) > 1 and set(order) != set(THIRD):
            pairs.append((order, THIRD * len(order)))
    return pairs


def gains(found: Found) -> Outcome:
    """Each order minus its controls."""
    pairs = controls(found)
    apart = found.apart(((a, metric), (b, metric)) for a, b in pairs for metric in METRICS)
    rows = tuple(
        (
            named(a),
            named(b),
            *(one.cell if (one := apart.get(((a, m), (b, m)))) else None for m in METRICS),
        )
        for a, b in pairs
    )
    shown = {key: one for key, one in apart.items() if key[0][1] in METRICS[:2]}
    note = sorted_out(shown, named)
    question = "By how many points is an order ahead of its control?"
    return Outcome(("stages", "less", *METRICS), rows, note, (), "What a stage adds", question)


def company(found: Found) -> Outcome:
    """The sentences in front of a hit against none, and against those on both sides."""
    others = [("front-2", "alone"), *((f"front-{k}", f"both-sides-{k}") for k in COMPANY)]
    apart = found.apart(((o, front), (o, other)) for o in found.orders for front, other in others)
    rows = tuple(
        (named(order), *(apart[(order, front), (order, other)].cell for front, other in others))
        for order in found.orders
    )
    sure = [one.figure.mean > 0 for one in apart.values() if one.sure]
    note = (
        f"Of these {len(apart)} differences {sum(sure)} are surely in favour of the sentences in "
        f"front, {len(sure) - sum(sure)} surely against them."
    )
    columns = ("stages", *(f"{front} less {other}" for front, other in others))
    question = "Are the sentences in front of a hit better than none, or than those on both sides?"
    return Outcome(columns, rows, note, (), "Front or both sides", question)


def weights(found: Found) -> Outcome:
    """The position-aware weights of stage III, after the same I and II."""
    metrics = (*METRICS, "last")
    orders = [order for order in WEIGHTS if order in found.orders]
    pairs = [(order, LEVEL) for order in orders if order not in (ALL, LEVEL)] + [(LEVEL, ALL)]
    apart = found.apart(((a, metric), (b, metric)) for a, b in pairs for metric in metrics)
    rows: list[tuple[Cell, ...]] = [
        (WEIGHTS[order], *(found.tally.mean(order, metric) for metric in metrics))
        for order in orders
    ]
    rows += [
        (
            f"{WEIGHTS[a]} less {WEIGHTS[b]}",
            *(one.cell if (one := apart.get(((a, m), (b, m)))) else None for m in metrics),
        )
        for a, b in pairs
    ]
    blind = found.tally.mean(ALL, "last by chance")
    note = (
        "I + II + III; in the last stage the sentence `i` before the end of the evidence has "
        "weight `exp(-α i)`, outside the logarithm (inside it no gradient changes). α = 0 is the "
        "paper's equation 4: sentences of an answer compete. *None*: each is compared with the "
        "negatives alone, as in the shipped model. *Last*: how often the last sentence of a run of "
        f"several has its best score; {found.tally.count(ALL, 'last')} questions have such a run, "
        f"and a random guess is right in {blind or 'none'} %."
        f"\n\n{sorted_out(apart, WEIGHTS.__getitem__)}"
    )
    question = "Do position-aware weights make the last sentence of an answer win?"
    name = "Position-aware weights"
    return Outcome(("weights", *metrics), tuple(rows), note, (), name, question)


def by_task(found: Found) -> Outcome:
    """Each task by itself."""
    rows = tuple(
        (
            named(order),
            *(f"{100 * fmean(found.of_seeds(order, 'alone', task)):.1f}" for task in found.tasks),
        )
        for order in found.orders
    )
    note = "With few documents a task, this shows where a gain comes from, not how large it is."
    question = "Evidence found by hits alone, mean of the seeds."
    return Outcome(("stages", *found.tasks), rows, note, (), "Each task", question)


def by_seed(found: Found) -> Outcome:
    """Each seed by itself, to show the variation of training."""
    rows = tuple(
        (
            named(order),
            *(
                " / ".join(f"{100 * seed:.1f}" for seed in found.of_seeds(order, metric))
                for metric in METRICS
            ),
        )
        for order in found.orders
    )
    note = f"Training and measuring took {found.minutes:.0f} minutes in total."
    question = f"Seeds {', '.join(map(str, found.seeds))}; without training nothing is random."
    return Outcome(("stages", *METRICS), rows, note, (), "Each seed", question)


def drawn(found: Found) -> Outcome:
    """Each order minus no stage, and the weights minus equal ones."""
    halves = (
        ("Stages", found.plain, NONE, "both-sides-2", named, "points over no stage"),
        ("Weights", list(WEIGHTS), LEVEL, "last", WEIGHTS.__getitem__, "points over α = 0"),
    )
    panels = []
    for title, orders, control, extra, name, up in halves:
        some = [order for order in orders if order in found.orders and order != control]
        metrics = ("alone", "front-2", "boundary", extra)
        apart = found.apart(((o, metric), (control, metric)) for o in some for metric in metrics)
        lines = {
            metric: tuple(apart.get(((o, metric), (control, metric))) for o in some)
            for metric in metrics
        }
        series = tuple(
            Series(metric, tuple(one.figure if one else None for one in line))
            for metric, line in lines.items()
        )
        panels.append(Panel(title, "", up, tuple(map(name, some)), series, ordered=False))
    return Outcome((), (), "", tuple(panels), "stages", "What the stages and the weights add")


if __name__ == "__main__":
    main()
