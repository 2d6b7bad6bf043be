"""Write ``docs/results-ranking.md`` and its picture from what the benches left.

    python tools/make_ranking.py

Reads ``ranking.json`` and ``ranking-light.json`` (``bench/fit_ranking.py`` of commit 54009c5),
``reranker.json`` (``bench/fit_reranker.py``), ``reliability.json`` and, where they are,
``reliability-light.json`` and ``reliability-budget.json`` (``bench/reliability.py``) under
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
"""The model used if none is named."""

HEAD = """\
# The ranking: the gain of the learned ranking, and what a score means

Made by `python tools/make_ranking.py`; do not edit it here.

See here how much evidence the learned ranking and the reranker add, and how well the score of a
passage is calibrated, so that you can choose a value for `--min-score`.
"""

ROWS = {
    "fused": "fused score",
    "and the paragraph's best": "fused score and the paragraph's best",
    "trees and both": "trees and both of these",
    "trees and both, length counted": "trees and both of these, with length penalty",
    "before": "without reranking",
    "read again": "with reranking",
}
"""Rows of the reports of the benches → how the page names them."""

CALIBRATION = """\
## What a score means

`Passage.score` is the probability that the passage contains evidence. Below is how often passages
of each probability did: {model}, {split} questions, {made}; {passages:,} passages, the five best
of every question, each asked of its document, of a collection that contains it and of a document
that does not answer it. The parameters of the calibration (three, and two more for what a reranker
adds) were fitted on development questions, none on these.

    {command}

![predicted and observed probability](results/reliability.svg)

{errors} To get "nothing found", choose a minimum score for your purpose (`milepost search
--min-score`, `min_score=` in Python).
"""

ERRORS = """\
Expected calibration error (the mean distance between the two, over passages): {error:.3f}; by
task {tasks}; by setting {settings}.{means}

If the document answers the question, the best passage has a median score of {answered:.0%}; if it
does not, {elsewhere:.0%}. The scores order a pair of the two correctly in {apart:.0%} of cases.
"""

LIMITS = """\
Of the questions asked of a document that does not answer them, a **false alarm** is one for which
any passage is shown (beside it, the number of passages per question). Such a document may happen
to answer all the same, as one privacy policy may answer another's questions; this was not checked.
Of those asked of a document, or of a collection, that does answer, a **miss** is one for which no
passage shown contains evidence. At 0% everything is shown.
"""

SOMETHING_ELSE = {
    "reliability-light.json": "The light model",
    "reliability-budget.json": "With a budget",
}
"""Other measurements of the calibration, each in its own file, if it exists."""


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
        CALIBRATION.format(
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
    """The command that makes such a file."""
    model = f" --model {said['model']}" if said["model"] != DEFAULT else ""
    budget = f" --budget {said['budget']}" if said.get("budget") else ""
    split = f" --split {said['split']}"
    return f"python bench/reliability.py{split}{model}{budget} --out bench/results/{name}"


def errors(said: dict[str, Any]) -> str:
    """The calibration error, and how well scores separate two kinds of documents."""
    means = "; ".join(
        f"{name} {each['said']:.1%} and {each['true']:.1%}"
        for name, each in said.get("means", {}).items()
    )
    return ERRORS.format(
        error=said["error"],
        tasks=", ".join(f"{task} {value:.3f}" for task, value in said["tasks"].items()),
        settings=", ".join(f"{name} {value:.3f}" for name, value in said["settings"].items()),
        means=means and f" Mean of the predicted and of the observed probability: {means}.",
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
    """The costs and savings of each minimum score, one row each."""
    yield "| minimum score | false alarms | passages | misses, document | misses, collection |"
    yield "|---|---|---|---|---|"
    for row in said["limits"]:
        yield (
            f"| {row['least']:.0%} | {row['false alarms']:.1%} | {row['passages']:.2f} | "
            f"{row['misses']['document']:.1%} | {row['misses']['collection']:.1%} |"
        )
    yield ""


def gains(name: str, report: dict[str, Any]) -> Iterator[str]:
    """One model's table: evidence found with and without the learned ranking."""
    yield f"## {name}: evidence found on development questions"
    yield ""
    crossed = report.get("twins", 0)
    more = (
        f" and, at half the weight, {crossed:,} times of two models that were each trained on one "
        "half of the other documents and asked about the second (`bench/twins.py` of then)"
    )
    yield (
        f"{report['date']}. {report['trees']} trees, trained on training questions about documents "
        f"that the encoder has not seen, asked {report['train']:,} times in three settings"
        f"{more if crossed else ''} ({report['sentences']:,} sentences); `fused score` is the "
        "search without the learned ranking. "
        "`length_penalty` and `growth_threshold` were chosen on the development questions shown. "
        "Within 1,600 characters, per "
        "cent; the last column is the mean over tasks and budgets."
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
        f"{report['date']}, commit 54009c5 (`milepost fit` today): `python bench/fit_reranker.py "
        f"--model FOLDER --documents 30 --questions 8`: development questions in "
        f"{report['dev']:,} cases, the best windows of each reranked. Chosen on the questions "
        "shown: weight "
        f"{weight:g}, `min_cosine` {least:g}, `neighbour_share` {near:g}, and "
        "`length_penalty`, `growth_threshold` and the calibration. For its gain on test questions "
        "compare `landmark` with `landmark-first` in [the results](results.md)."
    )
    yield ""
    yield from tables(report)
    yield from overlaps(report)
    yield (
        "The collections contain 12 questions of `policies`; the loss there is one or two of them. "
        "The starting weights matter: a network that continued from the encoder's weights, which "
        "have memorised the training questions, took the last column from "
        "78.2 to 78.7 and from 73.0 to 73.1."
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
            yield f"| {ROWS.get(row, row)} | {cells} |"
        yield ""


def overlaps(report: dict[str, Any]) -> Iterator[str]:
    """How well the first passage covers the evidence, by how far it grows."""
    found = {drop: f"{100 * value:.1f}" for drop, value in report["overlap"].items()}
    grown = ", ".join(f"{drop} {value}" for drop, value in found.items())
    yield f"F1 of the first passage with the evidence, by `growth_threshold` (%): {grown}."
    yield ""


def picture(said: dict[str, Any]) -> str:
    """Predicted beside observed, one tick a bin."""

    def series(name: str) -> Series:
        shares = (each["said" if name == "predicted" else "true"] for each in said["bins"])
        return Series(name, tuple(Figure(share, share, share) for share in shares))

    ticks = tuple(f"{each['said']:.0%}" for each in said["bins"])
    panel = Panel(
        "", "score", "passages that contain evidence, %", ticks,
        (series("predicted"), series("observed")),
    )  # fmt: skip
    question = "Do passages contain evidence as often as their scores say?"
    return plot(Outcome((), (), "", (panel,), "reliability", question))


def measured() -> tuple[dict[str, dict[str, Any]], dict[str, Any], dict[str, dict[str, Any]]]:
    """What the benches left: each model's gains by its name, the reranker's, the calibration.

    The last is by file; of those in ``SOMETHING_ELSE``, the ones that exist.
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
