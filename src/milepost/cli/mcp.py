"""``milepost mcp``: tools for agents, and the configuration of their clients."""

from __future__ import annotations

import difflib
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from milepost._optional import require
from milepost._paths import expanded
from milepost.cli.console.group import CommandGroup
from milepost.cli.console.options import (
    chosen_db,
    common,
    db_option,
    model_options,
    ocr_option,
    required_db,
    say,
)
from milepost.cli.question import SearchOptions, takes_search_options
from milepost.cli.sources import check_recognition, local_sources, served_index, stored
from milepost.errors import InputError
from milepost.exports.writing import write_text
from milepost.server.mcp.clients import CLIENTS, with_server
from milepost.store.address import IndexPlace, has_password
from milepost.types import Document, Ocr, ReadOptions


class McpGroup(CommandGroup):
    """``milepost mcp PATH`` is ``milepost mcp run PATH``: all but subcommands belongs to it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put ``run`` in front of anything but a subcommand and the help."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=McpGroup,
    epilog="""\b
Examples:
  milepost mcp install claude-code ~/papers
  milepost mcp ~/papers report.pdf""",
)
def mcp() -> None:
    """Give agents tools to search documents, with the Model Context Protocol.

    `milepost mcp PATH...` is the same as `milepost mcp run PATH...`.
    """


@mcp.command("run", short_help="Serve the tools on stdin and stdout.")
@click.argument("paths", metavar="[PATH...]", nargs=-1)
@db_option("Folder of the index. [default: MILEPOST_DB, else ./.milepost]")
@model_options
@takes_search_options
def run(options: SearchOptions) -> None:
    """Serve the tools search, read, check and documents on stdin and stdout.

    Agents see the files and folders in PATH, or the documents of an index, and nothing else. Links
    that leave a folder are not followed. A client starts this command itself; see `install`.
    """
    _check_ocr(options.ocr, options.paths)
    sources = local_sources(options.paths)
    place = None if sources and options.db is None else required_db(options.db)
    require("mcp", extra="mcp")
    from milepost.documents.isolated import Isolated
    from milepost.documents.reader_process import read_inside, reading_seconds
    from milepost.index.cache import UPLOADS
    from milepost.index.known_files import KnownFiles
    from milepost.server.documents import Indexer, Library
    from milepost.server.govern import Governor
    from milepost.server.mcp.server import create_server, serve_stdio
    from milepost.server.mcp.tools import Tools
    from milepost.server.signals import ended_at_once

    governor = Governor()
    isolated = Isolated()
    is_made = bool(sources)
    index, folder = served_index(
        options, place, create=is_made, read_only=not is_made, takes_uploads=False
    )
    library = Library(index, folder / UPLOADS, sources)

    def read(path: Path, reading: ReadOptions) -> Document:
        return isolated.call_within(
            reading_seconds(reading), read_inside, path, reading, tuple(sources)
        )

    known = KnownFiles(folder, roots=sources)
    with ended_at_once(), index:
        index.model  # noqa: B018 - loaded now, so that the first question need not wait
        indexer = Indexer(
            index, read, governor.bulk(), end=isolated.close, ocr=options.ocr, known=known
        )
        if sources:
            indexer.add(sources, prune=True)
        indexer.start()
        try:
            serve_stdio(create_server(Tools(library, indexer, governor.search)))
        finally:
            indexer.stop()


def _check_ocr(ocr: Ocr | None, paths: tuple[str, ...]) -> None:
    """Refuse ``--ocr`` without files to read, or without the extra, before a client waits."""
    if ocr and not paths:
        raise click.UsageError("--ocr is for PATHs; for an index give it to `milepost index`")
    check_recognition(ocr)


@mcp.command("install", short_help="Add the tools to the configuration of a client.")
@click.argument("client", type=click.Choice(sorted(CLIENTS)))
@click.argument("paths", metavar="[PATH...]", nargs=-1)
@db_option("Folder of the index. [default: MILEPOST_DB, else ./.milepost]")
@ocr_option
@click.option("--name", default="milepost", help="Name of the server.")
@click.option("-y", "--yes", is_flag=True, help="Write without asking.")
@common
def install(
    client: str,
    paths: tuple[str, ...],
    db: IndexPlace | None,
    ocr: Ocr | None,
    name: str,
    yes: bool,
) -> int:
    """Add `milepost mcp run PATH...` to the configuration of CLIENT, after showing the change.

    Everything else in the configuration stays as it is.
    """
    chosen = CLIENTS[client]
    _check_ocr(ocr, paths)
    program, args = _command(paths, db, ocr)
    if not paths:
        if (place := chosen_db(db)) is None:
            problem = "no PATH and no --db: agents would see nothing"
            raise InputError(problem, "a folder of documents")
        if isinstance(place, Path):
            with stored(place):  # else the command that is written would fail
                pass
    local_sources(paths)
    file = expanded(chosen.file()).absolute()
    before = file.read_text(encoding="utf-8") if file.is_file() else ""
    after = with_server(chosen, before, name, program, args)
    if before == after:
        say(f"{file} already has this server")
        return 0
    for line in difflib.unified_diff(
        before.splitlines(), after.splitlines(), str(file), str(file), lineterm="", n=2
    ):
        click.echo(line)
    if not yes and not click.confirm(f"Write {file}?", default=True, err=True):
        return 1
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, after)
    say(f"{chosen.title} will start it the next time: {program} {' '.join(args)}")
    return 0


def _command(
    paths: tuple[str, ...], db: IndexPlace | None, ocr: Ocr | None
) -> tuple[str, list[str]]:
    """How a client starts the tools, from whatever folder it runs in."""
    from milepost.index.places import absolute, local_path

    chosen: list[Any] = [str(local_path(path)) for path in paths]
    place = db if paths else chosen_db(db)
    if place is not None:
        if has_password(place):
            raise InputError(
                "the address holds a password, which would be written into the configuration",
                "an address without it, and PGPASSWORD or ~/.pgpass",
            )
        chosen += ["--db", place if isinstance(place, str) else str(absolute(place))]
    if ocr:
        chosen += ["--ocr", ocr]
    program = shutil.which("milepost")
    if program:
        return program, ["mcp", "run", *chosen]
    return sys.executable, ["-m", "milepost", "mcp", "run", *chosen]
