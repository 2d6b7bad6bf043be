"""``milepost models``: list the models that are installed with Milepost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from milepost._optional import REINSTALL
from milepost.console.options import Settings, common, json_option
from milepost.errors import ModelError

if TYPE_CHECKING:
    from milepost.engine import ModelFolder


@click.command(
    epilog="""\b
Examples:
  milepost models
  milepost models --json""",
)
@json_option
@common
@click.pass_obj
def models(_: Settings, as_json: bool) -> int:
    """List the installed models: name, vector dimensions, fingerprint, size and training data."""
    from milepost.engine import shipped_models
    from milepost.engine.folder import DEFAULT, mismatched_models

    shipped = shipped_models()
    if not shipped:
        raise ModelError("no model is installed", REINSTALL)
    if as_json:
        from milepost.console.records import print_json

        unusable = [
            {"name": name, "problem": error.problem, "hint": error.hint}
            for name, error in mismatched_models().items()
        ]
        record = {"default": DEFAULT, "models": [_record(model) for model in shipped]}
        print_json(record | {"unusable": unusable})
        return 0
    for model in shipped:
        manifest = model.manifest
        usual = "  (default)" if manifest.name == DEFAULT else ""
        click.echo(f"{manifest.name}{usual}")
        click.echo(
            f"  {manifest.dimensions} dimensions, {', '.join(model.precisions)}, "
            f"{megabytes(folder_bytes(model))}, fingerprint {manifest.fingerprint}"
            f"{f', a landmark every {manifest.every} tokens' if manifest.every else ''}"
        )
        for key, value in manifest.trained.items():
            click.echo(f"  {key}: {value}")
    for name, error in mismatched_models().items():
        click.echo(f"{name}  (unusable)")
        click.echo(f"  {error.problem}; try: {error.hint}")
    return 0


def folder_bytes(model: ModelFolder) -> int:
    """Total size of the files in a model folder."""
    return sum(path.stat().st_size for path in model.path.rglob("*") if path.is_file())


def megabytes(size_bytes: int) -> str:
    """Format a size in megabytes.

    >>> megabytes(22_931_876)
    '22.9 MB'
    """
    return f"{size_bytes / 1e6:,.1f} MB"


def _record(model: ModelFolder) -> dict[str, Any]:
    manifest = model.manifest
    return {
        "name": manifest.name,
        "dimensions": manifest.dimensions,
        "fingerprint": manifest.fingerprint,
        "granularity": manifest.granularity,
        "precisions": model.precisions,
        "size_bytes": folder_bytes(model),
        "path": str(model.path),
        "trained": manifest.trained,
    }
