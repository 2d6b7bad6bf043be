"""``milepost export``: from a checkpoint to a model folder."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.cli.console.options import Settings, common, json_option, say
from milepost_eval.cli.terminal import code_option

if TYPE_CHECKING:
    from milepost_train.model.release import Format, Released

_SHOWN = (
    *("name", "fingerprint", "dimensions", "bos_token", "landmark", "granularity"),
    *("query_prefix", "pooling", "causal", "window", "left", "right"),
)
"""Fields of the manifest in ``--json``."""


@click.command(
    short_help="Turn a trained checkpoint into a model folder, and check it.",
    epilog="""\b
Examples:
  milepost export runs/first/checkpoint --out models/first
  milepost export runs/first/checkpoint --out models/first \\
      --precision f32,int8 --calibration notes.md --calibration paper.pdf
  milepost export all-MiniLM-L6-v2 --out models/grid --granularity 32
  milepost export runs/first/checkpoint --out onnx/first --format onnx
  milepost export runs/first/checkpoint --out models/first --push our-team/first
  milepost search "who paid?" papers/ --model models/first""",
)
@click.argument("checkpoint", metavar="FOLDER")
@click.option(
    "--out",
    metavar="FOLDER",
    required=True,
    type=click.Path(path_type=Path),
    help="Model folder to write; it must not exist.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["openvino", "onnx"]),
    default="openvino",
    help="openvino: a model folder; onnx: a float32 graph for other programs.",
)
@click.option(
    "--precision",
    metavar="LIST",
    default="f32",
    help="Graphs to write, separated by commas: f32 (or fp32), bf16, int8, int4.",
)
@click.option("--name", help="Name of the model. [default: that of its folder]")
@click.option(
    "--calibration",
    metavar="FILE",
    multiple=True,
    help="Real text for int8 and for the comparison with torch; may be repeated.",
)
@click.option(
    "--landmark",
    metavar="TOKEN",
    help="Token that closed sentences in training. [default: as FOLDER says]",
)
@click.option(
    "--granularity",
    metavar="N",
    type=click.IntRange(min=1),
    help="Tokens from landmark to landmark. [default: as FOLDER says, else a landmark closes each "
    "sentence]",
)
@click.option(
    "--bidirectional/--causal",
    default=None,
    help="How a decoder was trained to attend. [default: as FOLDER says]",
)
@click.option("--window", type=click.IntRange(min=3), help="Maximum tokens of a window.")
@click.option(
    "--left", type=click.IntRange(min=0), help="Tokens of context before a window's own sentences."
)
@click.option("--right", type=click.IntRange(min=0), help="Tokens of context after them.")
@click.option(
    "--pooling",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Pool documents with this trained pooling (.npz) instead of the mean of landmarks.",
)
@code_option
@click.option(
    "--dimensions",
    metavar="N",
    type=click.IntRange(min=1),
    help="Cut vectors to their first N numbers; best if trained for it (Matryoshka).",
)
@click.option(
    "--packed",
    is_flag=True,
    help="Store token vectors in 4 bits, useful for large vocabularies; BERT models only.",
)
@click.option(
    "--push",
    metavar="OWNER/NAME",
    help="Also upload the model folder to the Hugging Face Hub; the model is created if missing.",
)
@click.option("--private", is_flag=True, help="Make the model of --push private.")
@json_option
@common
@click.pass_obj
def export(
    settings: Settings,
    checkpoint: str,
    out: Path,
    form: Format,
    precision: str,
    name: str | None,
    calibration: tuple[str, ...],
    landmark: str | None,
    granularity: int | None,
    bidirectional: bool | None,
    window: int | None,
    left: int | None,
    right: int | None,
    pooling: Path | None,
    code: tuple[Path, ...],
    dimensions: int | None,
    packed: bool,
    push: str | None,
    private: bool,
    as_json: bool,
) -> int:
    """Write the checkpoint in FOLDER (of milepost train, or of Hugging Face) as a model folder.

    Every graph is compared with the checkpoint on real sentences. If one differs too much, that is
    an error and nothing is written. A LoRA adapter is merged into its base.
    """
    from milepost._optional import require
    from milepost.cli.packages import function

    if private and push is None:
        raise click.UsageError("--private needs --push", click.get_current_context())
    require("torch", extra="export")
    from milepost.documents import read
    from milepost_train.model.release import check_name, release, upload

    if push is not None:
        check_name(push)
    if code:
        run_code = function("run-pooling-code", asked="export --code")
        for file in code:
            run_code(file)
    if not settings.quiet:
        say(f"exporting {checkpoint}")
    released = release(
        checkpoint,
        out,
        format=form,
        precisions=[part.strip() for part in precision.split(",") if part.strip()],
        name=name,
        calibration=[read(file).text for file in calibration],
        window=window,
        left=left,
        right=right,
        granularity=granularity,
        pooling=pooling,
        dimensions=dimensions,
        packed=packed,
        landmark=landmark,
        bidirectional=bidirectional,
    )
    if as_json:
        _print_json(released, form)
    else:
        _print_table(released, form)
    if not settings.quiet:
        for note in released.notes:
            say(note)
    if form == "openvino" and not released.reranker and not settings.quiet:
        fit = shlex.join(["milepost", "fit", str(out), "--tasks", "questions.jsonl"])
        say(
            "the search ranks by default weights, and its percentages only order passages; with "
            f"200 questions about 20 documents, learn both: {fit}"
        )
    if form == "openvino" and "int8" not in precision and not settings.quiet:
        say("int8 reads several times faster on most CPUs: --precision f32,int8 --calibration FILE")
    if push is not None:
        address = upload(released.folder, push, private=private)
        if not settings.quiet:
            say(f"uploaded to {address}")
    return 0


def _print_json(released: Released, form: Format) -> None:
    from dataclasses import asdict

    from milepost.exports.records import print_json

    said: dict[str, object] = {"path": str(released.folder), "format": form}
    said |= {name: getattr(released.manifest, name) for name in _SHOWN}
    said |= {"notes": released.notes, "parity": [asdict(graph) for graph in released.parity]}
    print_json(said)


def _print_table(released: Released, form: Format) -> None:
    manifest = released.manifest
    click.echo(f"{released.folder}  ({manifest.name}, fingerprint {manifest.fingerprint})")
    click.echo(
        f"  {manifest.dimensions} dimensions, windows of {manifest.window} tokens "
        f"({manifest.left} before, {manifest.right} after)"
        f"{', causal' if manifest.causal else ''}; BOS token "
        f"{manifest.bos_token or 'none'}, landmark {manifest.landmark}"
        f"{f' every {manifest.every} tokens' if manifest.every else ''}"
    )
    if manifest.query_prefix:
        click.echo(f"  query prefix: {manifest.query_prefix!r}")
    click.echo("  cosine with torch   minimum    required   mean       required   sentences")
    for parity in released.parity:
        graph = parity.precision if form == "openvino" else f"{parity.precision}, {form}"
        click.echo(
            f"  {graph:<18}  {parity.least:.6f}   {parity.least_wanted:<8}   {parity.mean:.6f}   "
            f"{parity.mean_wanted:<8}   {parity.sentences:>9,}"
        )
