"""Write ``docs/results-ablation.md`` from what the bench left.

    python tools/make_ablation.py [bench/results/ablation.jsonl.xz]

The file comes from ``bench/ablation.py``, and may be of a run that was stopped. The page is printed
as well; every judgement on it follows from intervals and seeds. Needs the extra ``eval``.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from milepost_eval.report.outcome import Cell, Figure, Outcome, as_markdown
from milepost_eval.report.tally import Tally

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "bench" / "results" / "ablation.jsonl.xz"
PAGE = "results-ablation.md"

BASE = "base"
MAIN = "alone"
OTHERS = ("front-2", "boundary")
WIDTHS = ("alone@384", "alone@192", "alone@128", "alone@64")
ABOVE, BELOW, WITHIN = "above", "below", "within"

HEAD = """\
# What each setting of stage III is worth

Made by `python tools/make_ablation.py` from `bench/results/ablation.jsonl.xz`; do not edit it here.
{made}.

    python bench/ablation.py --base GT_FOLDER

See here what each setting of stage III gains or costs. The recipe is stage III of
`bench/ablation.toml`, started from all-MiniLM-L6-v2 and
cut to {steps} steps at rate {rate:g}, on {trained:,} questions about {documents} documents; every
other row changes one setting of it. Rows of a seed start with the same generator, so they draw the
same examples unless their setting changes the drawing. Rows that are *read* differently have the
weights of the recipe.

{questions} development questions ({tasks}) about {asked} documents, the document given; found by
landmarks alone, without words, in windows of {size} tokens with {left} and {right} of halo. In per
cent, mean over tasks, mean of the seeds:

- *alone*, *front-2*: evidence found within {budget:,} characters if hits are returned alone, or
  with the two sentences in front of each;
- *boundary*: last sentences of evidence among the hits that fit the budget, alone.

## What this page cannot show

- {steps} steps are a minute or two; the recipe has {shipped:,}. The page shows only the order of
  rows after early training: settings against memorisation (dropouts, `base_share`) or against the
  harm of long training (`distil`, frozen layers) are not needed yet at {steps} steps.
- One change at a time: two that help need not help together, and no other value was tried.
- Differences have an interval that resamples documents, not seeds, corrected for all of a table;
  *seeds* says whether every seed of the row lies {above} or {below} every seed of the recipe, or
  {within} their spread. Only if both agree does a difference count; it is then in **bold**.

"""


class Found:
    """The figures of the rows, each with those of the recipe of the same seeds.

    Attributes:
        told: what each row changes, in the order of the bench.
        minutes: that everything took.
        tally: every question's figures, mean of the seeds: keys ``(row, "")``, and
            ``(row, BASE)`` for the recipe in the seeds of that row.
    """

    def __init__(self, facts: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> None:
        self._questions = [(task, document) for task, document, *_ in facts["questions"]]
        self.tasks = list(dict.fromkeys(task for task, _ in self._questions))
        self.minutes = sum(sum(run["seconds"]) for run in runs) / 60
        self.told: dict[str, str] = {}
        self._runs: dict[str, dict[int, Mapping[str, Sequence[float | None]]]] = {}
        for run in runs:
            self.told[run["row"]] = run["told"]
            self._runs.setdefault(run["row"], {})[run["seed"]] = run["figures"]
        self.tally = Tally()
        for row in self.told:
            for key, of in (((row, ""), row), ((row, BASE), BASE)):
                self._note(key, [self._runs[of][seed] for seed in self.seeds(row)])

    def _note(self, key: tuple[str, str], seeds: Sequence[Mapping[str, Any]]) -> None:
        for metric in seeds[0]:
            values = zip(*(figures[metric] for figures in seeds), strict=True)
            for (task, document), each in zip(self._questions, values, strict=True):
                if None not in each:
                    self.tally.add(key, task, document, {metric: fmean(each)})

    def seeds(self, row: str) -> list[int]:
        """Those that the row and the recipe both have."""
        return sorted(self._runs[row].keys() & self._runs[BASE].keys())

    def of_seeds(
        self, row: str, metric: str, *, like: str | None = None, task: str | None = None
    ) -> list[float]:
        """The mean over tasks, or of one, in each seed of the row (or of ``like``'s seeds)."""
        found = []
        for seed in self.seeds(like or row):
            by_task: dict[str, list[float]] = {}
            values = self._runs[row][seed][metric]
            for (name, _), value in zip(self._questions, values, strict=True):
                if value is not None and task in (None, name):
                    by_task.setdefault(name, []).append(value)
            found.append(fmean(map(fmean, by_task.values())))
        return found

    def beyond(self, row: str, metric: str) -> str:
        """Whether all seeds of the row lie above or below the recipe's; one seed says nothing."""
        own, base = self.of_seeds(row, metric), self.of_seeds(BASE, metric, like=row)
        if len(own) < 2:
            return "–"
        if min(own) > max(base):
            return ABOVE
        return BELOW if max(own) < min(base) else WITHIN

    def gains(self, metrics: Sequence[str]) -> dict[tuple[str, str], Figure]:
        """Each row less the recipe, by row and metric, corrected for each other."""
        keys = [(row, metric) for row in self.told if row != BASE for metric in metrics]
        pairs = {
            f"{row} {metric}": (((row, ""), metric), ((row, BASE), metric)) for row, metric in keys
        }
        found = zip(keys, self.tally.gains(pairs).values(), strict=True)
        return {key: figure for key, figure in found if figure is not None}

    def verdict(self, row: str, metric: str, gain: Figure) -> str:
        """``above``, ``below`` or ``within``: where both the interval and the seeds say so."""
        side = ABOVE if gain.mean > 0 else BELOW
        return side if gain.sure and self.beyond(row, metric) == side else WITHIN


def against(found: Found) -> Outcome:
    """Every row less the recipe, best first."""
    gains = found.gains((MAIN, *OTHERS))
    changes = sorted(
        (row for row in found.told if row != BASE), key=lambda row: -gains[row, MAIN].mean
    )
    rows: list[tuple[Cell, ...]] = []
    for row in (BASE, *changes):
        low, *_, high = 2 * sorted(100 * seed for seed in found.of_seeds(row, MAIN))
        cells: list[Cell] = [
            found.told[row],
            len(found.seeds(row)),
            f"{fmean(found.of_seeds(row, MAIN)):.1%}".rstrip("%"),
            f"{low:.1f}–{high:.1f}",
        ]
        for metric in (MAIN, *OTHERS):
            gain = gains.get((row, metric))
            if gain is None:
                cells += [None, None]
            else:
                sure = found.verdict(row, metric, gain) != WITHIN
                cells += [f"**{gain}**" if sure else str(gain), found.beyond(row, metric)]
        rows.append(tuple(cells))
    columns = ["setting", "of seeds", MAIN, "lowest–highest"]
    for metric in (MAIN, *OTHERS):
        columns += [f"{metric}, less the recipe", "seeds"]
    return Outcome(
        tuple(columns),
        tuple(rows),
        sorted_out(found, gains),
        (),
        "Against the recipe",
        "One setting changed; sorted by the evidence that hits find alone, best first.",
    )


def sorted_out(found: Found, gains: Mapping[tuple[str, str], Figure]) -> str:
    """What is better, worse, or neither for sure, as lists."""
    heads = {
        ABOVE: "Better than the recipe here, hits alone:",
        BELOW: "Worse:",
        WITHIN: "No sure difference:",
    }
    said: dict[str, list[str]] = {verdict: [] for verdict in heads}
    for (row, metric), gain in gains.items():
        if metric == MAIN:
            said[found.verdict(row, metric, gain)].append(f"- {found.told[row]}: {gain} points")
    return "\n\n".join(
        f"{heads[verdict]}\n\n" + "\n".join(lines or ["- nothing"])
        for verdict, lines in said.items()
    )


def by_width(found: Found) -> Outcome:
    """Vectors cut to their first numbers."""
    rows = [
        (found.told[row], *(found.tally.mean((row, ""), metric) for metric in WIDTHS))
        for row in (BASE, "dimensions")
        if row in found.told
    ]
    widths = tuple(name.partition("@")[2] for name in WIDTHS)
    return Outcome(
        ("setting", *widths),
        tuple(rows),
        "Hits alone; questions and sentences both truncated and normalised to unit length.",
        (),
        "By width",
        "How much remains if only the first numbers of a vector are kept?",
    )


def by_task(found: Found) -> Outcome:
    """Each task by itself."""
    rows = [
        (
            told,
            *(f"{100 * fmean(found.of_seeds(row, MAIN, task=task)):.1f}" for task in found.tasks),
        )
        for row, told in found.told.items()
    ]
    return Outcome(
        ("setting", *found.tasks),
        tuple(rows),
        "With few documents a task, this shows where a gain comes from, not how large it is.",
        (),
        "Each task",
        "Evidence found by hits alone, mean of the seeds.",
    )


def by_seed(found: Found) -> Outcome:
    """Each seed by itself, to show the variation of training."""
    rows = [
        (
            told,
            *(
                " / ".join(f"{100 * seed:.1f}" for seed in found.of_seeds(row, metric))
                for metric in (MAIN, *OTHERS)
            ),
        )
        for row, told in found.told.items()
    ]
    note = f"Training and measuring took {found.minutes:.0f} minutes in total, beside other work."
    return Outcome(
        ("setting", MAIN, *OTHERS), tuple(rows), note, (), "Each seed", "Seeds 1, 2 … in order."
    )


def page(facts: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> str:
    """The whole page; ``facts`` and ``runs`` are the lines of the bench's file."""
    found = Found(facts, runs)
    settings, windows = facts["settings"], facts["windows"]
    tasks = [task for task, *_ in facts["questions"]]
    head = HEAD.format(
        made=facts["made"],
        trained=facts["trained on"],
        documents=facts["documents"],
        shipped=facts["steps of the recipe"],
        questions=len(tasks),
        tasks=", ".join(f"{tasks.count(task)} {task}" for task in dict.fromkeys(tasks)),
        asked=len({(task, document) for task, document, *_ in facts["questions"]}),
        above=ABOVE,
        below=BELOW,
        within=WITHIN,
        **{name: settings[name] for name in ("steps", "rate", "budget")},
        **{name: windows[name] for name in ("size", "left", "right")},
    )
    tables = [as_markdown(each(found)) for each in (against, by_width, by_task, by_seed)]
    told = "\n".join(table.replace("### ", "## ", 1) for table in tables)
    return (head + told).rstrip() + "\n"


def read(result: Path) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    """The facts of a bench's file, and its rows."""
    facts, *runs = map(json.loads, lzma.decompress(result.read_bytes()).decode().splitlines())
    return facts, runs


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("result", type=Path, nargs="?", default=RESULT)
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="folder to write into")
    options = parser.parse_args()
    text = page(*read(options.result))
    (options.docs / PAGE).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
