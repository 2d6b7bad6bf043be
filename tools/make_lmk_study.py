"""Write ``docs/results-lmk.md`` and its pictures from a finished study of landmark pooling.

    python tools/make_lmk_study.py lmk/small
    python tools/make_lmk_study.py lmk.json.xz --docs docs

Takes the folder that ``milepost lab lmk --out`` filled, or the file of its ``--result``. The page
is printed too. Needs the extras ``train`` and ``eval``.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from milepost_eval.report.outcome import Figure, Outcome, Panel, Series
from milepost_eval.report.outcome_plot import plot
from milepost_lab.lmk.report import report
from milepost_lab.lmk.study import RESULT
from milepost_lab.lmk.verdict import (
    CLAIMED,
    DRAWS,
    NAMES,
    SHORT,
    Effect,
    Figures,
    Floats,
    both,
    effect,
    verdict,
)

ROOT = Path(__file__).resolve().parent.parent
PAGE = "results-lmk.md"
PLOTS = "results/lmk-{}.svg"
QUARTERS = ("first quarter", "second", "third", "last")

HEAD = """\
# Landmark pooling, tested

Made by `python tools/make_lmk_study.py` from the figures of `milepost lab lmk`; do not edit it
here. {made}.

See here whether LMK (arXiv 2601.21525) finds more than mean and CLS, and at which lengths. The
rules were [fixed before the run](lmk-study.md), but for one change after the first network, which
that page names. Encoder: {encoder},
trained with each pooling on {seen:,} of {pairs:,} pairs, {training} of {batch};
seeds {seeds}.{controls}
nDCG@10 in per cent; intervals are 95 % over documents and seeds, both drawn anew.

## The claim, tested

- **Claim.** The mean of landmarks (LMK) is level with CLS and mean on short texts and ahead of both
  on long ones, beyond the length of training too (arXiv 2601.21525, abstract and figure 1; its
  tables were not available to us).
- **What was run.** `milepost lab lmk{option} --out bench/lmk`: {questions} questions about
  {documents} natural documents, {training} of {batch} pairs a network, {runs}.
- **Effect.** Points of nDCG@10: {effects}{trained}.
- **Minimum detectable effect.** {detectable} points; in the order of the effects {each}.
- **Verdict.** `{verdict}`: {answers}.{plain}

"""


def main() -> None:
    """Write the page and its pictures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("study", type=Path, help="folder of a finished study, or its --result")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="folder to write into")
    parser.add_argument("--draws", type=int, default=DRAWS, help="of each bootstrap")
    options = parser.parse_args()
    source = options.study / RESULT if options.study.is_dir() else options.study
    if not source.is_file():
        parser.error(f"{source} does not exist; finish the study: milepost lab lmk --out FOLDER")
    result = json.loads(lzma.decompress(source.read_bytes()))
    page = head(result, options.draws) + report(result, options.draws)
    for name, outcome in pictures(result, options.draws).items():
        path = PLOTS.format(name)
        (options.docs / path).parent.mkdir(parents=True, exist_ok=True)
        (options.docs / path).write_text(plot(outcome), encoding="utf-8")
        page += f"\n![{outcome.question}]({path})\n"
    (options.docs / PAGE).write_text(page, encoding="utf-8")
    print(page)


def head(result: Mapping[str, Any], draws: int) -> str:
    """What was done, in the numbers of the run."""
    settings, base = result["settings"], result["base"]
    until_flat = any("flat" in run for run in result["runs"])
    most = settings["patience"]["most"] if until_flat else settings["recipe"]["steps"]
    encoders = {
        "rotary": "{layers} layers of {width} channels, pre-trained here by {steps:,} steps of "
        "masked language modelling",
        "minilm": "layers {layers} of all-MiniLM-L6-v2, made for the mean, with absolute positions",
    }
    judged = verdict(result, draws)
    claimed = {name: said for name, said in judged.answers.items() if not name.startswith("H4")}
    shown = (*judged.effects[:2], judged.level[SHORT])
    over_mean = shown[0]
    plain = " and ".join(change(one) for one in judged.plain)
    trained_controls = "every" in result["rates"]
    seeds = settings["seeds"]
    documents = [name for name, _ in result["natural"] or result["needles"]]
    return HEAD.format(
        questions=len(documents),
        documents=len(set(documents)),
        runs="one seed" if len(seeds) == 1 else f"{len(seeds)} seeds of LMK, mean and CLS",
        trained=", one seed" if len(seeds) == 1 else "",
        effects=f"{'; '.join(map(change, shown))} (90 %)",
        each=", ".join(f"{one.detectable:.1f}" for one in shown),
        plain=f" H2 is about the change, as one pooling starts ahead; as they are, {plain}."
        if plain
        else "",
        detectable=f"{1.43 * (round(over_mean.high, 1) - round(over_mean.low, 1)) / 2:.1f}",
        verdict=both(list(claimed.values())),
        answers="; ".join(f"{name} ({said})" for name, said in claimed.items()),
        made=result["made"],
        option="" if trained_controls else " --no-controls",
        controls="" if trained_controls else " The three controls have not been trained.",
        encoder=encoders[base["name"]].format(**base),
        pairs=result["pairs"],
        seen=min(result["pairs"], most * settings["recipe"]["batch"]),
        training=f"at most {most:,} steps, until the validation loss is flat,"
        if until_flat
        else f"{most:,} steps",
        batch=settings["recipe"]["batch"],
        seeds=", ".join(map(str, seeds)),
    )


def change(one: Effect) -> str:
    """An effect and its interval."""
    return f"{one.name}: {one.mean:+.1f}, {one.low:+.1f} to {one.high:+.1f}"


def pictures(result: Mapping[str, Any], draws: int) -> dict[str, Outcome]:
    """Score by length, evidence at each depth, and what moves the vector if that was measured."""
    figures = Figures(result)
    made = {"length": lengths(figures, result, draws), "depth": depths(figures, draws)}
    if any(run.get("attribution") for run in result["runs"]):
        made["attribution"] = attribution(result, draws)
    return made


def lengths(figures: Figures, result: Mapping[str, Any], draws: int) -> Outcome:
    """Each pooling at each length, documents with passages put in beside natural ones."""
    natural = [document for document, _ in result["natural"]]
    panels = [
        Panel(
            title,
            "tokens of a document",
            "nDCG@10, %",
            tuple(f"{length:,}" for length in figures.lengths),
            tuple(
                Series(
                    NAMES[pooling],
                    tuple(
                        mean(figures.of(pooling, material, length), clusters, draws)
                        for length in figures.lengths
                    ),
                )
                for pooling in figures.poolings
            ),
        )
        for material, clusters, title in (
            ("needles", figures.clusters, "Four passages put in"),
            ("natural", natural, "Natural documents"),
        )
        if clusters
    ]
    return outcome("lmk-length", "What does each pooling find as documents grow?", *panels)


def depths(figures: Figures, draws: int) -> Outcome:
    """Evidence in each quarter of the longest documents."""
    longest = figures.lengths[-1]
    series = []
    for pooling in (*CLAIMED, *(["bm25"] if "bm25" in figures.poolings else [])):
        values = figures.of(pooling, "needles", longest)
        places = [np.flatnonzero(figures.quarters == quarter) for quarter in range(4)]
        found = [
            mean(values[:, at], [figures.clusters[number] for number in at], draws) for at in places
        ]
        series.append(Series(NAMES[pooling], tuple(found)))
    title = f"Documents of {longest:,} tokens"
    panel = Panel(title, "where the evidence stands", "nDCG@10, %", QUARTERS, tuple(series))
    return outcome("lmk-depth", "What is found of evidence at each depth?", panel)


def attribution(result: Mapping[str, Any], draws: int) -> Outcome:
    """How much each tenth of a document moves its vector."""
    series = []
    for run in result["runs"]:
        if run.get("attribution"):
            tenths = 100 * np.array(run["attribution"]).T
            texts = [str(number) for number in range(tenths.shape[1])]
            found = tuple(mean(each[None], texts, draws) for each in tenths)
            series.append(Series(NAMES[run["pooling"]], found))
    ticks = tuple(str(number) for number in range(1, len(series[0].figures) + 1))
    panel = Panel("Attribution", "tenth of the document", "share, %", ticks, tuple(series))
    return outcome("lmk-attribution", "What moves the vector?", panel)


def mean(values: Floats, clusters: list[str], draws: int) -> Figure:
    """A mean over seeds and questions with its interval; ``(seeds, questions)`` in per cent."""
    one = effect("", values, clusters, draws=draws)
    return Figure(one.mean / 100, one.low / 100, one.high / 100)


def outcome(name: str, question: str, *panels: Panel) -> Outcome:
    """Panels without a table: the page has its own."""
    return Outcome((), (), "", panels, name, question)


if __name__ == "__main__":
    main()
