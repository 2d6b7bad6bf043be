"""``milepost info``: print what is installed, where files are stored, what is indexed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from milepost import __version__
from milepost.cli.console.options import (
    chosen_db,
    common,
    db_option,
    json_option,
    model_option,
)
from milepost.cli.console.screen import shown_path, size_text, visible, visible_name
from milepost.cli.models import tree_bytes
from milepost.cli.sources import stored
from milepost.exports.records import print_json
from milepost.store.address import IndexPlace, label
from milepost.wording import counted

_FIRST = 50  # documents in the text output; --json gives all


@click.command(
    epilog="""\b
Examples:
  milepost info
  milepost info --db papers.milepost --json""",
)
@db_option("Index to show. [default: MILEPOST_DB, else ./.milepost]")
@json_option
@model_option
@common
def info(db: IndexPlace | None, as_json: bool, model: str | None) -> int:
    """Show the version, the model, the cache and the documents of an index."""
    from milepost.encoder.engine import find_model
    from milepost.encoder.engine.folder import cache_folder
    from milepost.encoder.engine.precision import choose

    chosen = find_model(model)
    cache = cache_folder()
    place = chosen_db(db)
    infos = None
    if place is not None:
        with stored(place, model) as (state, chosen):
            infos = state.documents()
    manifest = chosen.manifest
    record: dict[str, Any] = {
        "milepost": __version__,
        "model": {
            "name": manifest.name,
            "fingerprint": manifest.fingerprint,
            "dimensions": manifest.dimensions,
            "granularity": manifest.granularity,
            "path": str(chosen.path),
        },
        "engine": f"OpenVINO {choose(chosen).name if chosen.precisions else '(no graph)'}",
        "cache": {"path": str(cache), "size_bytes": tree_bytes(cache)},
        "index": None,
    }
    if place is not None and infos is not None:
        record["index"] = {
            "db": label(place),
            "size_bytes": tree_bytes(place) if isinstance(place, Path) else None,
            "sentences": sum(each.sentences for each in infos),
            "documents": [
                {
                    "name": each.name,
                    "source": each.source,
                    "sentences": each.sentences,
                    "characters": each.characters,
                    "properties": dict(each.properties),
                    "notes": each.notes,
                }
                for each in infos
            ],
        }
    if as_json:
        print_json(record)
    else:
        for line in _lines(record):
            click.echo(line)
    return 0


def _lines(record: dict[str, Any]) -> Iterator[str]:
    from milepost.encoder.engine.manifest import SENTENCES

    model, cache, index = record["model"], record["cache"], record["index"]
    yield f"milepost  {record['milepost']}"
    every = model["granularity"]
    grid = "" if every == SENTENCES else f", a landmark every {every} tokens"
    about = f"{model['dimensions']} dimensions, {model['fingerprint']}{grid}"
    yield f"model     {model['name']} ({about})"
    yield f"engine    {record['engine']}"
    yield f"cache     {cache['path']}, {size_text(cache['size_bytes'])}; see: milepost cache"
    if index is None:
        yield "index     none here; try: milepost index PATH"
        return
    documents = index["documents"]
    size = "" if index["size_bytes"] is None else f", {size_text(index['size_bytes'])}"
    yield (
        f"index     {visible_name(shown_path(index['db']))}: "
        f"{counted(len(documents), 'document')}, "
        f"{counted(index['sentences'], 'sentence')}{size}"
    )
    for each in documents[:_FIRST]:
        yield f"{each['sentences']:>10,}  {visible_name(shown_path(each['name']))}"
        for note in each["notes"]:
            yield f"            {visible(note)}"
    if len(documents) > _FIRST:
        yield f"            and {len(documents) - _FIRST:,} more; --json gives all"
