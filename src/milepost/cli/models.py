"""``milepost models``: list the models that are installed with Milepost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milepost._optional import REINSTALL
from milepost.cli.console.options import common, json_option
from milepost.cli.console.screen import size_text
from milepost.errors import ModelError
from milepost.exports.records import print_json

if TYPE_CHECKING:
    from milepost.encoder.engine import ModelFolder


@click.command(
    epilog="""\b
Examples:
  milepost models
  milepost models --json""",
)
@json_option
@common
def models(as_json: bool) -> int:
    """List the installed models: name, vector dimensions, fingerprint, size and training data."""
    from milepost.encoder.engine import shipped_models
    from milepost.encoder.engine.folder import DEFAULT, JUDGE, mismatched_models

    shipped = shipped_models()
    if not shipped:
        raise ModelError("no model is installed", REINSTALL)
    if as_json:
        unusable = [
            {"name": name, "problem": error.problem, "hint": error.hint}
            for name, error in mismatched_models().items()
        ]
        record = {"default": DEFAULT, "models": [_record(model) for model in shipped]}
        print_json(record | {"unusable": unusable})
        return 0
    known = {DEFAULT: "  (default)", JUDGE: "  (judges claims and answers)"}
    for model in shipped:
        manifest = model.manifest
        click.echo(f"{manifest.name}{known.get(manifest.name, '')}")
        click.echo(
            f"  {manifest.dimensions} dimensions, {', '.join(model.precisions)}, "
            f"{size_text(tree_bytes(model.path))}, fingerprint {manifest.fingerprint}"
            f"{f', a landmark every {manifest.every} tokens' if manifest.every else ''}"
        )
        for key, value in manifest.trained.items():
            click.echo(f"  {key}: {value}")
    for name, error in mismatched_models().items():
        click.echo(f"{name}  (unusable)")
        click.echo(f"  {error.problem}; try: {error.hint}")
    return 0


def tree_bytes(folder: Path) -> int:
    """Total size of the files under a folder, 0 if it does not exist."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(path) / name).stat().st_size
            except OSError:  # another process may have removed it
                continue
    return total


def _record(model: ModelFolder) -> dict[str, Any]:
    manifest = model.manifest
    return {
        "name": manifest.name,
        "dimensions": manifest.dimensions,
        "fingerprint": manifest.fingerprint,
        "granularity": manifest.granularity,
        "precisions": model.precisions,
        "size_bytes": tree_bytes(model.path),
        "path": str(model.path),
        "trained": manifest.trained,
    }
