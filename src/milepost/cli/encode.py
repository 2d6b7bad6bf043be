"""``milepost encode``: print the landmarks of one text."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost._numpy import np
from milepost.cli.console.options import json_option, model_options, say, say_notes
from milepost.cli.console.progress import Bar
from milepost.cli.console.screen import visible, width
from milepost.cli.question import SearchOptions, takes_search_options
from milepost.cli.sources import read_stdin
from milepost.errors import InputError
from milepost.exports.records import print_json
from milepost.exports.writing import check_new, write_bytes
from milepost.wording import counted

if TYPE_CHECKING:
    from milepost.encoder import Encoder
    from milepost.types import Document, Landmarks

_FIRST = 20  # sentences in the table; --json and --npz give all


@click.command(
    epilog="""\b
Examples:
  milepost encode paper.pdf
  milepost encode notes.md --npz notes.npz
  echo "One. Two." | milepost encode - --json""",
)
@click.argument("path", metavar="PATH")
@json_option
@click.option(
    "--npz",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Write the arrays to this .npz file.",
)
@model_options
@takes_search_options
def encode(options: SearchOptions, path: str, npz: Path | None) -> int:
    """Encode PATH (- is stdin): one vector per sentence, with the sentence's offsets.

    Nothing is truncated: tokens_read equals tokens_given. Offsets refer to the text that was
    extracted from the file.
    """
    if npz is not None:
        if options.as_json:
            raise click.UsageError("use --json or --npz, not both")
        check_new(npz, "landmarks.npz", overwrite=True)
        if npz.exists() and npz.suffix.lower() != ".npz":
            raise InputError(f"{npz} exists, and is no .npz file", "another name")
    from milepost.documents import read
    from milepost.encoder import load
    from milepost.index.intake import Steps

    settings, reading = options.settings, options.reading
    document = read_stdin(reading) if path == "-" else read(path, ocr=reading.ocr)
    encoder = load(options.model, precision=settings.precision)
    with Bar(settings, as_json=options.as_json) as bar:
        landmarks = encoder.encode(document, progress=Steps(bar, document.name, 1, 1).sentence)
    if not settings.quiet:
        say_notes({document.name: document.notes})
    if npz is not None:
        _write_npz(npz, landmarks)
        if not settings.quiet:
            count = len(landmarks.spans)
            say(f"wrote {npz}: {counted(count, 'landmark')} of {encoder.dimensions} dimensions")
    elif options.as_json:
        _print_json(document, landmarks, encoder)
    else:
        _print_table(document, landmarks)
    return 0


def _write_npz(path: Path, landmarks: Landmarks) -> None:
    made = BytesIO()
    np.savez(
        made,
        vectors=landmarks.vectors,
        spans=landmarks.spans,
        document=landmarks.document,
        vocab_coverage=landmarks.vocab_coverage,
        tokens_given=np.int64(landmarks.tokens_given),
        tokens_read=np.int64(landmarks.tokens_read),
    )
    write_bytes(path, made.getvalue())


def _print_json(document: Document, landmarks: Landmarks, encoder: Encoder) -> None:
    print_json(
        {
            "name": document.name,
            "model": encoder.manifest.name,
            "fingerprint": encoder.fingerprint,
            "dimensions": encoder.dimensions,
            "characters": len(document.text),
            "tokens_given": landmarks.tokens_given,
            "tokens_read": landmarks.tokens_read,
            "spans": landmarks.spans.tolist(),
            "vectors": landmarks.vectors.tolist(),
            "document": landmarks.document.tolist(),
        }
    )


def _print_table(document: Document, landmarks: Landmarks) -> None:
    columns = width(sys.stdout)
    click.echo(
        f"{counted(len(landmarks.spans), 'landmark')} of {landmarks.vectors.shape[1]} dimensions; "
        f"tokens given {landmarks.tokens_given:,}, read {landmarks.tokens_read:,}"
    )
    for start, end in landmarks.spans[:_FIRST].tolist():
        sentence = visible(" ".join(document.text[start:end].split()))
        line = f"{start:>9}  {end:>9}  {sentence}"
        whole = columns is None or len(line) <= columns
        click.echo(line if whole else line[: (columns or 0) - 1] + "…")
    if len(landmarks.spans) > _FIRST:
        click.echo(f"… and {len(landmarks.spans) - _FIRST:,} more; --json or --npz gives all")
