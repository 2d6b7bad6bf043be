"""Write ``docs/results-document-pooling.md`` and its plot from the figures of a study.

    python tools/make_document_pooling.py [bench/results/document-pooling.json.xz]

``milepost lab lmk --result`` of commit 5d21ef5 wrote the file. The page is printed too. Needs the
extra ``eval``.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from math import log2
from pathlib import Path
from statistics import fmean
from typing import Any

from milepost.evaluate.report.outcome import Figure, Outcome, Panel, Series, as_markdown, in_words
from milepost.evaluate.report.outcome_plot import plot
from milepost.evaluate.report.tally import Tally

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "bench" / "results" / "document-pooling.json.xz"
PAGE = "results-document-pooling.md"
PLOT = "results/document-pooling.svg"

NAMES = {
    ("lmk", "whole", 32): "LMK",
    ("mean", "whole", 32): "mean",
    ("last", "whole", 32): "last",
    ("cls", "whole", 32): "CLS",
    ("lmk", "whole", "sentences"): "LMK, sentences",
    ("lmk", "windows", 32): "LMK, windows",
    ("mean", "windows", 32): "mean, windows",
}
OURS = "LMK"
DOUBLING = "doubling"
CARD_LENGTH = 8192
"""Where the card reads LMK's lead, in tokens; the last length of a run without it."""

HEAD = """\
# Document pooling: LMK, CLS, mean and last at 1k to 16k tokens

Made by `python tools/make_document_pooling.py` from
`bench/results/document-pooling.json.xz`; do not edit it here. {made}.

    milepost lab lmk --seeds {runs} --result document-pooling.json.xz

The command is that of commit `5d21ef5`; since then it runs [another study](lmk-study.md), from an
encoder that prefers no pooling and by rules fixed beforehand, which has no figures yet.

See here what one vector per document loses as documents get longer, by pooling. One network is
pooled in four ways with the same training: layers 2, 4 and 6 of all-MiniLM-L6-v2, attention local
in the first two and over the whole text in the last, positions that wrap around
(`src/milepost/lab/lmk/long_bert.py`); {steps} steps of {batch} pairs of query and passage of 256
tokens, InfoNCE in the batch at temperature {temperature}, rate {rate}, the same batches for all;
seeds {seeds}. LMK's granularity is drawn from {granularities} for each text, and is 32 in the
measurement. Queries are pooled like documents. All-MiniLM's own pooling is the mean, so mean
starts ahead: see the column of short texts, before and after training.

At 8,192 tokens LMK is 5.2 points behind CLS here, and 8.7 points ahead of it in
[results-pooling.md](results-pooling.md): there the network is the shipped landmark model with
frozen states, here it is a part of all-MiniLM that was trained with each pooling.

{questions} development questions ({kinds}) about {documents} documents of {least:,} to {longest:,}
tokens, {shorter} of them under {last:,}. Each document is cut around the same 1,024 tokens, which
contain the evidence of its questions (`src/milepost/lab/data/long_documents.py`): the questions
and documents are the same at every length, with more text around. nDCG@10 in per cent, mean of the
seeds. Intervals resample documents, not seeds; p is corrected within each table. Windows have
256 tokens without halo and are read one by one; their states are averaged as those of one text.

## The claim, tested

- **Claim.** The mean of landmarks (LMK) is level with CLS and mean on short texts and ahead of both
  on long ones, beyond the length of training too (arXiv 2601.21525, abstract and figure 1; its
  tables were not available to us).
- **What was run.** `milepost lab lmk --seeds {runs}` of commit `5d21ef5`: {questions} questions
  about {documents} documents, {steps} steps a pooling, {trained}, {minutes:.0f} minutes.
- **Effect.** LMK less CLS at {at:,} tokens: {cls} points; less mean:
  {mean}. Intervals are over documents; over trainings none: {trained}.
- **Minimum detectable effect.** {cls_detectable} points; against mean {mean_detectable}.
- **Verdict.** `not decided`: the poolings start unequal. At 256 tokens LMK, CLS and mean have
  {before} before any training and {after} after it, because the base was
  made for the mean. Positions wrap around, so CLS cannot lose its place as texts get longer.
  In [results-pooling.md](results-pooling.md) LMK leads CLS by 8.7 points (+1.5 to +16.2): that
  network was trained for landmarks and stays frozen, which is not the paper's set-up either, so
  both pages together decide nothing. The [study](lmk-study.md) that is to decide it has not run.

"""


def main() -> None:
    """Write the page and its plot."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("result", type=Path, nargs="?", default=RESULT)
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="folder to write into")
    options = parser.parse_args()
    result = json.loads(lzma.decompress(options.result.read_bytes()))
    outcome = compared(result)
    (options.docs / PLOT).parent.mkdir(parents=True, exist_ok=True)
    (options.docs / PLOT).write_text(plot(outcome), encoding="utf-8")
    page = head(result) + as_markdown(outcome).replace("### ", "## ", 1)
    page += f"\n![{outcome.question}]({PLOT})\n\n" + as_markdown(gaps(result)).replace(
        "### ", "## "
    )
    page += "\n" + as_markdown(by_kind(result)).replace("### ", "## ")
    page += "\n" + as_markdown(by_seed(result)).replace("### ", "## ")
    (options.docs / PAGE).write_text(page.rstrip() + "\n", encoding="utf-8")
    print(page)


def head(result: Mapping[str, Any]) -> str:
    """What was done, in the numbers of the run."""
    settings, recipe = result["settings"], result["settings"]["recipe"]
    tokens = [tokens for *_, tokens in result["documents"]]
    kinds = [kind for _, kind, _ in result["questions"]]
    last = settings["lengths"][-1]
    at = CARD_LENGTH if CARD_LENGTH in settings["lengths"] else last
    tally = tally_of(result)
    lead = {name: tally.gain(((OURS,), str(at)), ((name,), str(at))) for name in ("CLS", "mean")}
    short = {
        when: ", ".join(_short(result, pooling, key) for pooling in ("lmk", "cls", "mean"))
        for when, key in (("before", "short before"), ("after", "short"))
    }
    return HEAD.format(
        runs=(runs := len(settings["seeds"])),
        trained="one seed" if runs == 1 else f"{runs} seeds, averaged",
        minutes=_minutes(result),
        at=at,
        **{name.lower(): figure for name, figure in lead.items()},
        **{
            f"{name.lower()}_detectable": f"{100 * figure.detectable:.1f}" if figure else "none"
            for name, figure in lead.items()
        },
        **short,
        made=result["made"],
        questions=len(kinds),
        kinds=", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds))),
        documents=len(tokens),
        least=min(tokens),
        longest=max(tokens),
        shorter=sum(count < last for count in tokens),
        last=last,
        seeds=", ".join(map(str, settings["seeds"])),
        granularities=", ".join(map(str, recipe["granularities"])),
        **{name: recipe[name] for name in ("steps", "batch", "temperature", "rate")},
    )


def _short(result: Mapping[str, Any], pooling: str, key: str) -> str:
    """A figure of the short texts in per cent, mean of the seeds."""
    return f"{100 * fmean(run[key] for run in result['runs'] if run['pooling'] == pooling):.1f}"


def _minutes(result: Mapping[str, Any]) -> float:
    return sum(sum(run["seconds"]) for run in result["runs"]) / 60


def slope(lengths: Sequence[int], figures: Sequence[float]) -> float:
    """What a doubling of the length adds: least squares over the binary logarithm.

    >>> slope([1024, 2048, 4096], [0.5, 0.4, 0.3])
    -0.1
    """
    xs = [log2(length) for length in lengths]
    middle = fmean(xs)
    above = sum((x - middle) * y for x, y in zip(xs, figures, strict=True))
    return round(above / sum((x - middle) ** 2 for x in xs), 12)


def tally_of(result: Mapping[str, Any]) -> Tally:
    """Each reading's figures of each question, mean over seeds: a length each, and the slope."""
    lengths = result["settings"]["lengths"]
    tally = Tally()
    for name, by_length in _means(result):
        for number, (_, kind, document) in enumerate(result["questions"]):
            row = [by_length[length][number] for length in lengths]
            figures = dict(zip(map(str, lengths), row, strict=True))
            for key in ((name,), (name, _asks(kind))):
                tally.add(key, "", document, {**figures, DOUBLING: slope(lengths, row)})
    return tally


def _asks(kind: str) -> str:
    return "title" if kind == "title" else "question"


def _means(result: Mapping[str, Any]) -> Iterator[tuple[str, dict[int, list[float]]]]:
    found: dict[str, dict[int, list[list[float]]]] = {name: {} for name in NAMES.values()}
    for run in result["runs"]:
        for one in run["figures"]:
            name = NAMES[run["pooling"], one["reading"], one["granularity"]]
            found[name].setdefault(one["length"], []).append(one["ndcg"])
    for name, by_length in found.items():
        yield (
            name,
            {n: [fmean(q) for q in zip(*each, strict=True)] for n, each in by_length.items()},
        )


def compared(result: Mapping[str, Any]) -> Outcome:
    """Each reading at each length."""
    tally, lengths = tally_of(result), [str(length) for length in result["settings"]["lengths"]]
    rows, series = [], []
    for (pooling, reading, every), name in NAMES.items():
        means = tuple(tally.mean((name,), length) for length in lengths)
        series.append(Series(name, means))
        short = [_short(result, pooling, key) for key in ("short before", "short")]
        trained = " → ".join(short) if reading == "whole" and every == 32 else None
        rows.append((name, trained, *means, tally.mean((name,), DOUBLING, "difference")))
    columns = ("pooling", "256 tokens", *(f"{int(n):,}" for n in lengths), "a doubling adds")
    question = "What does length cost with one vector per document?"
    halves = {"In one pass": series[:4], "Read in other ways": [series[0], *series[4:]]}
    panels = tuple(
        Panel(title, "tokens of a document", "nDCG@10, %", tuple(lengths), tuple(some))
        for title, some in halves.items()
    )
    cosines = [run["estimate"] for run in result["runs"] if "estimate" in run]
    note = (
        "256 tokens: pairs held out from training, before → after it. With mean, a text averages "
        f"at most {result['settings']['states']:,} evenly spaced states; for the longest cut of "
        "the longest document, the cosine with the average of all states is at least "
        f"{min(cosines):.5f}."
    )
    return Outcome(columns, tuple(rows), note, panels, "By length", question)


def gaps(result: Mapping[str, Any]) -> Outcome:
    """LMK less each other pooling, and whether that grows with length."""
    tally, lengths = tally_of(result), [str(length) for length in result["settings"]["lengths"]]
    others = [name for name in NAMES.values() if name != OURS]
    metrics = [*lengths, DOUBLING]
    found = tally.gains(
        {
            f"{name} {metric}": (((OURS,), metric), ((name,), metric))
            for name in others
            for metric in metrics
        }
    )
    rows = tuple((name, *(_marked(found[f"{name} {m}"]) for m in metrics)) for name in others)
    said = [f"- over {name}: {_grown(found[f'{name} {DOUBLING}'])}" for name in others]
    said += [
        f"- {name} at {int(length):,} tokens: LMK {in_words(figure)}"
        for name in others
        for length in lengths
        if (figure := found[f"{name} {length}"]) is not None and figure.mean < 0
    ]
    note = (
        "Bold: sure by interval and corrected p. Does LMK's lead grow with length?\n\n"
        + "\n".join(said)
        + "\n\nThe last lines are all rows in which LMK is behind, sure or not."
    )
    columns = ("LMK less", *(f"{int(n):,}" for n in lengths), "a doubling adds")
    return Outcome(columns, rows, note, (), "LMK's lead", "By how many points does LMK lead?")


def _marked(figure: Figure | None) -> str | None:
    return figure and (f"**{figure}**" if figure.sure else str(figure))


def _grown(figure: Figure | None) -> str:
    if figure is None:
        return "not measured"
    shown = f"{figure} points a doubling"
    if not figure.sure:
        return f"no, not surely: {shown}"
    return f"yes: {shown}" if figure.mean > 0 else f"no, it shrinks: {shown}"


def by_kind(result: Mapping[str, Any]) -> Outcome:
    """Titles, which more text helps, and questions, whose evidence it dilutes."""
    tally, lengths = tally_of(result), [str(length) for length in result["settings"]["lengths"]]
    asked = sorted({_asks(kind) for _, kind, _ in result["questions"]})
    lead = {
        f"{kind} {name}": (((OURS, kind), DOUBLING), ((name, kind), DOUBLING))
        for kind in asked
        for name in NAMES.values()
        if name != OURS
    }
    found = tally.gains(lead)
    rows = tuple(
        (
            kind,
            name,
            tally.count((name, kind), DOUBLING),
            *(tally.mean((name, kind), length) for length in lengths),
            _marked(found.get(f"{kind} {name}")),
        )
        for kind in asked
        for name in NAMES.values()
    )
    columns = ("asked by", "pooling", "number", *(f"{int(n):,}" for n in lengths), "LMK's lead")
    note = "LMK's lead: its growth with each doubling of the length."
    question = "More text helps to match a title, and dilutes the evidence of a question."
    return Outcome(columns, rows, note, (), "Titles and questions", question)


def by_seed(result: Mapping[str, Any]) -> Outcome:
    """The same readings seed by seed, to show the variation of training."""
    lengths, seeds = result["settings"]["lengths"], result["settings"]["seeds"]
    rows = []
    for (pooling, reading, granularity), name in NAMES.items():
        cells = []
        for length in lengths:
            figures = [
                100 * fmean(one["ndcg"])
                for run in result["runs"]
                for one in run["figures"]
                if (run["pooling"], one["reading"], one["granularity"], one["length"])
                == (pooling, reading, granularity, length)
            ]
            cells.append(" / ".join(f"{figure:.1f}" for figure in figures))
        rows.append((name, *cells))
    columns = ("pooling", *(f"{length:,}" for length in lengths))
    note = f"Training and measuring took {_minutes(result):.0f} minutes in total."
    title = "Each seed alone"
    asked = f"nDCG@10, seeds {', '.join(map(str, seeds))}."
    return Outcome(columns, tuple(rows), note, (), title, asked)


if __name__ == "__main__":
    main()
