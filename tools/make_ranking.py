"""Write ``docs/results-ranking.md`` and its pictures from what the benches left.

    python tools/make_ranking.py

Reads ``fit.json`` and ``fit-light.json`` (``milepost fit``), ``reliability.json`` and, where they
are, the files named in ``SOMETHING_ELSE`` (``bench/reliability.py``) under ``bench/results``. Needs
the extra ``eval``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from milepost.engine.manifest import read_manifest
from milepost_eval.report.outcome import Figure, Outcome, Panel, Series
from milepost_eval.report.outcome_plot import plot

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
DEFAULT = "landmark-minilm"
"""The model used if none is named."""
MODELS = (
    ROOT / "src" / "milepost" / "models",
    ROOT / "packages" / "multilingual" / "src" / "milepost_multilingual",
)
"""Where the folders of the models that ship are."""
NEW_WEIGHTS = "2026-11-23"
"""Measurements before this day have no fingerprint and are of earlier weights (decision 47)."""
SAMPLED = {"documents": 16, "questions": 8}
"""What ``bench/reliability.py`` asks of a task if nothing else is said."""
SIZES = ["12"]
"""The sizes of collections that it asks then."""

HEAD = """\
# The ranking: the gain of the learned ranking, and what a score means

Made by `python tools/make_ranking.py`; do not edit it here.

See here how much evidence the learned ranking and the reranker add, and how well the score of a
passage is calibrated, so that you can choose a value for `--min-score`.
"""

FITS = ("fit.json", "fit-light.json")

RERANKED = "questions with reranker"
"""Where a report has the questions that a reranker was asked, with and without it."""

CALIBRATION = """\
## What a score means

`Passage.score` is the probability that the passage contains evidence. Below is how often passages
of each probability did: {model}, {split} questions, {made}; {passages:,} passages, the five best
of every question, each asked of its document, of a collection that contains it and of a document
that does not answer it. The parameters of the calibration were fitted on development questions,
none on these.

    {command}
{earlier}
![predicted and observed probability](results/reliability.svg)

{errors}
To get "nothing found", choose a minimum score for your purpose (`milepost search
--min-score`, `min_score=` in Python).
"""

ERRORS = """\
Expected calibration error (the mean distance between the two, over passages): {error:.3f}; by
task {tasks}; by setting {settings}.{means}

If the document answers the question, the best passage has a median score of {answered:.0%}; if it
does not, {elsewhere:.0%}. The scores order a pair of the two correctly in {apart:.0%} of cases.
"""

EARLIER = """
**These are figures of earlier weights**{fingerprint}; those that ship, `{ships}`, have not been
measured so yet.
"""

ABSENT = """\
An **absent** question ({questions} about {documents} documents, from `data/questions`) is about its
document, which does not answer it: harder to tell than a question asked of another document.
"""

COLLECTIONS = """\
By the size of the collection that contains the answer ({mixed}the predicted and the observed
probability are means over passages):
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
    "reliability-multilingual.json": "The multilingual model",
    "reliability-sizes.json": "Collections of several sizes",
    "reliability-budget.json": "With a budget",
}
"""Other measurements of the calibration, each in its own file, if it exists."""


def page(fitted: dict[str, dict[str, Any]], said: dict[str, dict[str, Any]]) -> str:
    """The whole page."""
    parts = [HEAD, *("\n".join(gains(report)) for report in fitted.values())]
    first = said["reliability.json"]
    parts.append(
        CALIBRATION.format(
            **{key: first[key] for key in ("model", "split", "passages")},
            made=made_at(first),
            command=command("reliability.json", first),
            earlier=earlier(first),
            errors=errors(first),
        )
    )
    if "limits" in first:
        parts += [LIMITS, *tables_of(first)]
    pictured = pictures(said)
    for name, title in SOMETHING_ELSE.items():
        if name in said:
            parts += [f"### {title}\n", besides(name, said[name], name in pictured)]
            parts += tables_of(said[name])
    return "\n".join(parts)


def tables_of(said: dict[str, Any]) -> Iterator[str]:
    """What each minimum score costs and, where it was measured, the sizes of collections."""
    if "absent" in said:
        yield ABSENT.format(**said["absent"])
    yield "\n".join(limits(said))
    rows = said.get("collections", [])
    if [row["size"] for row in rows] not in ([], SIZES):
        mixed = any(row["size"] == "mixed" for row in rows)
        yield COLLECTIONS.format(mixed="`mixed`: documents of all tasks; " if mixed else "")
        yield "\n".join(collections(rows))


def earlier(said: dict[str, Any]) -> str:
    """A note where a measurement is not of the weights that ship; else nothing."""
    folders = (folder / said["model"] for folder in MODELS)
    ships = next((read_manifest(each).fingerprint for each in folders if each.is_dir()), None)
    measured = said.get("fingerprint")
    before = said["date"] < NEW_WEIGHTS if measured is None else measured != ships
    if ships is None or not before:
        return ""
    return EARLIER.format(fingerprint=f", `{measured}`" if measured else "", ships=ships)


def made_at(said: dict[str, Any]) -> str:
    """Day and, where it was kept, commit of a measurement."""
    return said["date"] + (f", commit `{said['commit']}`" if said.get("commit") else "")


def command(name: str, said: dict[str, Any]) -> str:
    """The command that makes such a file."""
    model = f" --model {said['model']}" if said["model"] != DEFAULT else ""
    budget = f" --budget {said['budget']}" if said.get("budget") else ""
    split = f" --split {said['split']}"
    sampled = "".join(
        f" --{what} {number}"
        for what, number in said.get("sampled", SAMPLED).items()
        if number != SAMPLED[what]
    )
    sizes = [row["size"] for row in said.get("collections", [])]
    collection = f" --collection {','.join(sizes)}" if sizes not in ([], SIZES) else ""
    absent = " --absent scratch/absent" if "absent" in said else ""
    options = f"{split}{model}{budget}{sampled}{collection}{absent}"
    return f"python bench/reliability.py{options} --out bench/results/{name}"


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


def besides(name: str, said: dict[str, Any], pictured: bool) -> str:
    """One more measurement in a paragraph, and its picture."""
    asked = f"with a budget of {said['budget']}" if said.get("budget") else "the five best"
    return (
        f"{said['model']}, {said['split']} questions, {made_at(said)}; {said['passages']:,} "
        f"passages, {asked}: `{command(name, said)}`.\n{earlier(said)}\n"
        + (f"![predicted and observed probability](results/{svg(name)})\n\n" if pictured else "")
        + errors(said)
    )


def limits(said: dict[str, Any]) -> Iterator[str]:
    """The costs and savings of each minimum score, one row each."""
    absent = "absent" in said
    yield (
        "| minimum score | false alarms | passages | misses, document | misses, collection |"
        + " false alarms, absent |" * absent
    )
    yield "|---" * (5 + absent) + "|"
    for row in said["limits"]:
        yield (
            f"| {row['least']:.0%} | {row['false alarms']:.1%} | {row['passages']:.2f} | "
            f"{row['misses']['document']:.1%} | {row['misses']['collection']:.1%} |"
            + (f" {row['absent']:.1%} |" if absent else "")
        )
    yield ""


def collections(rows: list[dict[str, Any]]) -> Iterator[str]:
    """What each size of a collection gives, one row each."""
    leasts = list(rows[0]["misses"])
    misses = " | ".join(f"misses at {float(each):.0%}" for each in leasts)
    yield (
        "| documents wanted | searched, mean | questions | calibration error | predicted | observed"
        f" | {misses} |"
    )
    yield "|---" * (6 + len(leasts)) + "|"
    for row in rows:
        cells = " | ".join(f"{row['misses'][each]:.1%}" for each in leasts)
        yield (
            f"| {row['size']} | {row['searched']:.1f} | {row['questions']:,} | {row['error']:.3f} "
            f"| {row['said']:.1%} | {row['true']:.1%} | {cells} |"
        )
    yield ""


def gains(report: dict[str, Any]) -> Iterator[str]:
    """One model's tables: evidence found with and without the learned ranking and reranker."""
    cases, probability = report["cases"], report["probability"]
    yield f"## {report['model']}: evidence found on development questions"
    yield ""
    yield (
        f"{report['date']}, `milepost fit` ([models](models.md#ranking-and-probabilities)). "
        f"{report['trees']} trees, trained on training questions about documents that the encoder "
        f"has not seen, in {cases['learned from']:,} cases; `fused order` is the search without "
        "the learned ranking. Calibration, `length_penalty`, `growth_threshold` and the "
        f"reranker's weight were chosen on the development questions shown, {cases['chosen on']:,} "
        "cases. Within 1,600 characters, per cent; the last column is the mean over tasks and "
        f"budgets. Calibration error of its probabilities there: {_errors(probability)}."
    )
    yield ""
    found = dict(report["evidence"])
    again = found.pop(RERANKED, {})
    yield from tables(found, report["budgets"])
    if again:
        yield (
            f"### Its reranker\n\nThe {cases['reranked']:,} cases in which the reranker was asked. "
            "For its gain on test questions compare `landmark` with `landmark-first` in "
            "[the results](results.md).\n"
        )
        yield from tables(again, report["budgets"])


def _errors(probability: dict[str, Any]) -> str:
    """The calibration error of each ranking."""
    return ", ".join(
        f"{row} {each['fitted']['calibration error']:.3f}" for row, each in probability.items()
    )


def tables(found: dict[str, Any], budgets: list[int]) -> Iterator[str]:
    """Evidence found within 1,600 characters by row, one table a setting."""
    budget = budgets.index(1600)
    for setting, title in (
        ("document", "the document given"),
        ("collection", "a collection searched"),
    ):
        first = next(iter(found.values()))[setting]
        yield f"| {title} | {' | '.join(first)} | {', '.join(f'{each:,}' for each in budgets)} |"
        yield "|---" * (len(first) + 2) + "|"
        for row, of_settings in found.items():
            figures = of_settings[setting]
            at = [values[budget] for values in figures.values()]
            cells = " | ".join(f"{value:.1f}" for value in (*at, fmean(figures["mean"])))
            yield f"| {row} | {cells} |"
        yield ""


def svg(name: str) -> str:
    """The picture of a file of measurements."""
    return f"{Path(name).stem}.svg"


def pictures(said: dict[str, dict[str, Any]]) -> list[str]:
    """The files that get a picture: the first of each model, without a budget."""
    first: dict[str, str] = {}
    for name, of in said.items():
        if not of.get("budget"):
            first.setdefault(of["model"], name)
    return list(first.values())


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


def measured() -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """What was measured: each model's gains and the calibration, both by file.

    Of the files in ``SOMETHING_ELSE``, the ones that exist.
    """

    def read(name: str) -> dict[str, Any]:
        held: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
        return held

    besides = [name for name in SOMETHING_ELSE if (RESULTS / name).is_file()]
    said = {name: read(name) for name in ("reliability.json", *besides)}
    return {name: read(name) for name in FITS}, said


def main() -> None:
    """Read the figures, write page and pictures."""
    fitted, said = measured()
    text = page(fitted, said)
    (ROOT / "docs" / "results-ranking.md").write_text(text, encoding="utf-8")
    for name in pictures(said):
        (ROOT / "docs" / "results" / svg(name)).write_text(picture(said[name]), encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
