"""``milepost index --dry-run``: what would become of each file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.cli.console.options import say
from milepost.cli.console.screen import shown_path, size_text, visible, visible_name
from milepost.cli.sources import STDIN, expand
from milepost.errors import NotAnIndex, StoreError
from milepost.exports.records import print_json
from milepost.store.address import IndexPlace, label

if TYPE_CHECKING:
    from milepost.cli.question import SearchOptions
    from milepost.server.documents.planning import Action, Planned
    from milepost.store import DocumentInfo

ERROR = 2

_ORDER: tuple[Action, ...] = ("add", "change", "unchanged", "remove", "fail", "skip")
_COUNTED: dict[Action, str] = {
    "add": "to add",
    "change": "to read again",
    "unchanged": "unchanged",
    "remove": "to remove",
    "fail": "cannot be read",
    "skip": "skipped",
}


def show_plan(options: SearchOptions, place: IndexPlace, *, rebuild: bool) -> int:
    """Print what `milepost index` would do with the paths; returns its exit code."""
    from milepost.index.places import local_path
    from milepost.server.documents.planning import Planned, plan

    paths = tuple(path for path in options.paths if path != "-")
    expand(replace(options, paths=paths))  # refuses an empty path
    stored = _stored(place, options.model, rebuild=rebuild)
    files = [local_path(path) for path in paths]
    planned = plan(stored, files, hidden=options.hidden, ocr=options.ocr, rebuild=rebuild)
    if "-" in options.paths:
        there = not rebuild and any(info.name == STDIN for info in stored)
        planned.append(Planned(STDIN, "change" if there else "add", "not read yet"))
    if options.as_json:
        files_record = [asdict(each) for each in _sorted(planned)]
        print_json({"db": label(place), "files": files_record})
    else:
        _print(planned, quiet=options.settings.quiet)
    kinds = {each.action for each in planned}
    return 0 if kinds - {"skip", "fail"} else ERROR


def _stored(place: IndexPlace, model: str | None, *, rebuild: bool) -> list[DocumentInfo]:
    """What is indexed; nothing where there is no index yet, or one that --rebuild would erase."""
    from milepost.encoder.engine import find_model
    from milepost.index import open as open_index

    find_model(model)
    if isinstance(place, Path) and not (place.is_file() or any(place.glob("*"))):
        return []
    try:
        with open_index(place, model=model, create=False, read_only=True) as index:
            return index.documents()
    except NotAnIndex:
        if isinstance(place, str):  # nothing has been made there yet
            return []
        raise
    except StoreError:
        if rebuild:  # of another model or schema, or damaged
            return []
        raise


def _sorted(planned: Sequence[Planned]) -> list[Planned]:
    """By what becomes of them; what is skipped by name, the others as they would be read."""

    def rank(each: Planned) -> tuple[int, str]:
        return _ORDER.index(each.action), each.path if each.action == "skip" else ""

    return sorted(planned, key=rank)


def _print(planned: Sequence[Planned], *, quiet: bool) -> None:
    for each in _sorted(planned):
        size = "" if each.size_bytes is None else size_text(each.size_bytes)
        name = visible_name(shown_path(each.path))
        line = f"{each.action:<9}  {size:>9}  {name}"
        reason = visible(" ".join(each.reason.split()))
        click.echo(f"{line}  ({reason})" if reason else line)
    if not quiet:
        say(f"{', '.join(_counts(planned)) or 'no file to read was found'}; nothing was changed")


def _counts(planned: Sequence[Planned]) -> Iterator[str]:
    counts = Counter(each.action for each in planned)
    for action in _ORDER:
        if not counts[action]:
            continue
        line = f"{counts[action]:,} {_COUNTED[action]}"
        if action in ("add", "change"):
            size = sum(each.size_bytes or 0 for each in planned if each.action == action)
            line += f" ({size_text(size)})"
        yield line
