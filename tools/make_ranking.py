"""Write ``docs/results-ranking.md`` and its picture from the figures under ``bench/results``.

    python tools/make_ranking.py

Reads ``ranking.json``, ``ranking-light.json`` and ``reranker.json`` (reports of the scripts that
``milepost fit`` has replaced, with the names of that time), ``reliability.json`` and, where they
are, ``reliability-light.json`` and ``reliability-budget.json`` (``bench/reliability.py``) under
``bench/results``. Needs the extra ``eval``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from milepost.evaluate.report.outcome import Figure, Outcome, Panel, Series
from milepost.evaluate.report.outcome_plot import plot

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
DEFAULT = "landmark-minilm"
"""The model that is asked where none is named."""

HEAD = """\
# The ranking: what learned ranking and reranking give, and what a score means

Made by `python tools/make_ranking.py`; do not edit it here.
"""

PROBABILITY = """\
## What a score means

`Passage.score` is the probability that the passage holds evidence. Below is how often passages of
each probability did: {model}, {split} questions, {made}; {passages:,} passages, the five best of
every question, each asked of its document, of a collection that holds it and of a document that
does not answer it. The calibration (three numbers, and two more for what a reranker adds) was
fitted on development questions, none of these.

    {command}

![probability said and share that holds evidence](results/reliability.svg)

{errors}
Where to stop reading is therefore a matter of a limit of one's own (`milepost search --min-score`,
`min_score=` in Python).
"""

ERRORS = """\
Expected calibration error (the mean distance between the two, over passages): {error:.3f}; by
task {tasks}; by setting {settings}.{means}

Where the document answers the question, its best passage says {answered:.0%} in the median; where
it does not, {elsewhere:.0%}. A pair of the two is ordered correctly by score in {apart:.0%} of
cases.
"""

LIMITS = """\
Of the questions asked of a document that does not answer them, a **false alarm** is one for which
any passage is shown (beside it, the mean number of passages). Whether that document happens to
answer all the same, as one privacy policy may another's questions, was not checked. Of those asked
of a document, or of a collection, that does answer, a **miss** is one for which no passage shown
holds evidence. At 0% everything is shown.
"""

ROWS = {
    "fused": "fused score",
    "and the paragraph's best": "and the paragraph's best",
    "trees alone": "trees alone",
    "trees and both": "trees and both",
    "trees and both, length counted": "trees and both, length penalty",
    "before": "without reranking",
    "read again": "with reranking",
}
"""Rows of the files, by today's names."""

SOMETHING_ELSE = {
    "reliability-light.json": "The light model",
    "reliability-budget.json": "With a budget",
}
"""Other measurements of the calibration, each in its own file, where there is one."""


def page(
    fitted: dict[str, dict[str, Any]],
    again: dict[str, Any],
    said: dict[str, dict[str, Any]],
) -> str:
    """The whole page."""
    parts = [HEAD]
    for name, report in fitted.items():
        parts.append("\n".join(gains(name, report)))
    parts.append("\n".join(reranked(again)))
    first = said["reliability.json"]
    parts.append(
        PROBABILITY.format(
            **{key: first[key] for key in ("model", "split", "passages")},
            made=made_at(first),
            command=command("reliability.json", first),
            errors=errors(first),
        )
    )
    if "limits" in first:
        parts += [LIMITS, "\n".join(limits(first))]
    for name, title in SOMETHING_ELSE.items():
        if name in said:
            parts += [f"### {title}\n", besides(name, said[name]), "\n".join(limits(said[name]))]
    return "\n".join(parts)


def made_at(said: dict[str, Any]) -> str:
    """Day and, where it was kept, commit of a measurement."""
    return said["date"] + (f", commit `{said['commit']}`" if said.get("commit") else "")


def command(name: str, said: dict[str, Any]) -> str:
    """What measures such a file anew."""
    model = f" --model {said['model']}" if said["model"] != DEFAULT else ""
    budget = f" --budget {said['budget']}" if said.get("budget") else ""
    split = f" --split {said['split']}"
    return f"python bench/reliability.py{split}{model}{budget} --out bench/results/{name}"


def errors(said: dict[str, Any]) -> str:
    """How far said and true are from each other, and how well two kinds of documents."""
    means = "; ".join(
        f"{name} {each['said']:.1%} and {each['true']:.1%}"
        for name, each in said.get("means", {}).items()
    )
    return ERRORS.format(
        error=said["error"],
        tasks=", ".join(f"{task} {value:.3f}" for task, value in said["tasks"].items()),
        settings=", ".join(f"{name} {value:.3f}" for name, value in said["settings"].items()),
        means=means and f" Mean of what was said and of what was true: {means}.",
        answered=said["median best chance"]["answered"],
        elsewhere=said["median best chance"]["elsewhere"],
        apart=said["told apart"],
    )


def besides(name: str, said: dict[str, Any]) -> str:
    """One more measurement in a paragraph."""
    asked = f"with a budget of {said['budget']}" if said.get("budget") else "the five best"
    return (
        f"{said['model']}, {said['split']} questions, {made_at(said)}; {said['passages']:,} "
        f"passages, {asked}: `{command(name, said)}`.\n\n{errors(said)}"
    )


def limits(said: dict[str, Any]) -> Iterator[str]:
    """What each minimum score costs and saves, one row a limit."""
    yield "| minimum score | false alarms | passages | misses, document | misses, collection |"
    yield "|---|---|---|---|---|"
    for row in said["limits"]:
        yield (
            f"| {row['least']:.0%} | {row['false alarms']:.1%} | {row['passages']:.2f} | "
            f"{row['misses']['document']:.1%} | {row['misses']['collection']:.1%} |"
        )
    yield ""


def gains(name: str, report: dict[str, Any]) -> Iterator[str]:
    """One model's table: evidence found with and without learned ranking."""
    yield f"## {name}: evidence found on development questions"
    yield ""
    yield (
        f"{report['date']}. {report['trees']} trees, learned on training questions of documents "
        f"that the encoder has not seen, asked {report['train']:,} times in three settings "
        f"({report['sentences']:,} sentences); the fused score is the search without learned "
        "ranking. Length penalty and growth threshold were chosen on the development questions "
        "shown. Within 1,600 characters, per cent; the last column is the mean over tasks and "
        "budgets."
    )
    yield ""
    yield from tables(report)
    yield from overlaps(report)


def reranked(report: dict[str, Any]) -> Iterator[str]:
    """The table of the reranker."""
    weight, least, near = (report["learned"][name] for name in ("weight", "least", "near"))
    yield f"## The reranker of {report['model']}"
    yield ""
    yield (
        f"{report['date']}: development questions in {report['dev']:,} cases, up to 30 documents "
        "of a task and 8 questions about each. Chosen on the questions shown: weight "
        f"{weight:g}, least cosine {least:g}, neighbours' share {near:g}, length penalty, growth "
        "threshold and calibration. What it gives on test questions: `landmark` beside "
        "`landmark-first` in [the results](results.md)."
    )
    yield ""
    yield from tables(report)
    yield from overlaps(report)
    yield (
        "The collections hold 12 questions of `policies`: its loss there is one or two of them. "
        "The initial weights matter most: a reranker that started from the encoder's weights, "
        "which know the training questions by heart, took the last column from 78.2 to 78.7 and "
        "from 73.0 to 73.1."
    )
    yield ""


def tables(report: dict[str, Any]) -> Iterator[str]:
    """Evidence found within 1,600 characters by row, one table a setting."""
    budget = report["budgets"].index(1600)
    for setting, title in (
        ("document", "the document given"),
        ("collection", "a collection searched"),
    ):
        first = next(iter(report["table"].values()))[setting]
        yield f"| {title} | {' | '.join(first)} | mean | 800, 1,600, 3,200 |"
        yield "|---" * (len(first) + 3) + "|"
        for row, of_settings in report["table"].items():
            figures = of_settings[setting]
            at = [values[budget] for values in figures.values()]
            every = fmean(fmean(values) for values in figures.values())
            cells = " | ".join(f"{value:.1f}" for value in (*at, fmean(at), every))
            yield f"| {ROWS[row]} | {cells} |"
        yield ""


def overlaps(report: dict[str, Any]) -> Iterator[str]:
    """How well the first passage covers the evidence, by how far it grows."""
    found = {drop: f"{100 * value:.1f}" for drop, value in report["overlap"].items()}
    grown = ", ".join(f"{drop} {value}" for drop, value in found.items())
    yield f"F1 of the first passage with the evidence, by growth threshold (%): {grown}."
    yield ""


def picture(said: dict[str, Any]) -> str:
    """Said beside found, one tick a bin."""

    def series(name: str) -> Series:
        shares = (each["said" if name == "said" else "true"] for each in said["bins"])
        return Series(name, tuple(Figure(share, share, share) for share in shares))

    ticks = tuple(f"{each['said']:.0%}" for each in said["bins"])
    panel = Panel(
        "", "probability said", "passages that hold evidence, %", ticks, (series("said"),
        series("found")),
    )  # fmt: skip
    question = "Do passages hold evidence as often as their scores say?"
    return plot(Outcome((), (), "", (panel,), "reliability", question))


def measured() -> tuple[dict[str, dict[str, Any]], dict[str, Any], dict[str, dict[str, Any]]]:
    """The figures: each model's gains by its name, the reranker's, and the calibration's.

    The last is by file; of those in ``SOMETHING_ELSE`` there are as many as somebody measured.
    """

    def read(name: str) -> dict[str, Any]:
        held: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
        return held

    fitted = [read("ranking.json"), read("ranking-light.json")]
    gained = {report["model"]: report for report in fitted}
    besides = [name for name in SOMETHING_ELSE if (RESULTS / name).is_file()]
    said = {name: read(name) for name in ("reliability.json", *besides)}
    return gained, read("reranker.json"), said


def main() -> None:
    """Read the figures, write page and picture."""
    fitted, again, said = measured()
    text = page(fitted, again, said)
    (ROOT / "docs" / "results-ranking.md").write_text(text, encoding="utf-8")
    (ROOT / "docs" / "results" / "reliability.svg").write_text(
        picture(said["reliability.json"]), encoding="utf-8"
    )
    print(text)


if __name__ == "__main__":
    main()
