"""``milepost mcp``: tools for agents, and the configuration of their clients."""

from __future__ import annotations

import difflib
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milepost.console.group import CommandGroup
from milepost.console.options import (
    Settings,
    chosen_db,
    common,
    db_option,
    model_option,
    ocr_option,
    precision_option,
    say,
)
from milepost.errors import InputError, UnreadableFile
from milepost.types import READ_DEFAULTS, ReadOptions

if TYPE_CHECKING:
    from milepost.index import Index
    from milepost.library import Library
    from milepost.store.address import IndexPlace
    from milepost.types import Document, Ocr

CLIENTS = ("claude-code", "claude-desktop", "codex", "cursor", "gemini", "vscode", "windsurf")


class McpGroup(CommandGroup):
    """``milepost mcp PATH`` is ``milepost mcp run PATH``: all but subcommands belongs to it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put ``run`` in front of anything but a subcommand and the help."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=McpGroup,
    short_help="Give agents tools to search documents (MCP).",
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
@ocr_option
@model_option
@precision_option
@common
@click.pass_obj
def run(
    settings: Settings,
    paths: tuple[str, ...],
    db: IndexPlace | None,
    ocr: Ocr | None,
    model: str | None,
) -> None:
    """Serve the tools search, read, check and documents on stdin and stdout.

    Agents see the files and folders in PATH, or the documents of an index, and nothing else. Links
    that leave a folder are not followed. A client starts this command itself; see `install`.
    """
    from milepost._optional import require

    _check_ocr(ocr, paths)
    require("mcp", extra="mcp")
    from milepost.govern import Governor
    from milepost.library import Indexer, Isolated
    from milepost.library.reading import read_inside, reading_seconds
    from milepost.mcp.server import create_server
    from milepost.mcp.stdio import run as serve
    from milepost.mcp.tools import Tools
    from milepost.places import local_path

    sources = [local_path(path) for path in paths]
    for source in sources:
        if not source.exists():
            raise UnreadableFile(f"{source} does not exist", "check the path")
    governor = Governor()
    isolated = Isolated()
    index, library = _library(settings, paths, sources, db, model, ocr)

    def read(path: Path, options: ReadOptions) -> Document:
        return isolated.call_within(
            reading_seconds(options), read_inside, path, options, tuple(sources)
        )

    with index:
        index.model  # noqa: B018 - loaded now, so that the first question need not wait
        indexer = Indexer(index, read, governor.bulk(), end=isolated.close, ocr=ocr)
        if sources:
            indexer.add(sources, prune=True)
        indexer.start()
        try:
            serve(create_server(Tools(library, indexer, governor.search)))
        finally:
            indexer.stop()


def _check_ocr(ocr: Ocr | None, paths: tuple[str, ...]) -> None:
    """Refuse ``--ocr`` without files to read, or without the extra, before a client waits."""
    if ocr and not paths:
        raise click.UsageError("--ocr is for PATHs; for an index give it to `milepost index`")
    if ocr not in (None, "never"):
        from milepost.text.recognition import check_installed

        check_installed()


def _library(
    settings: Settings,
    paths: tuple[str, ...],
    sources: list[Path],
    db: IndexPlace | None,
    model: str | None,
    ocr: Ocr | None,
) -> tuple[Index, Library]:
    from milepost.cli.sources import cached_index, model_folder
    from milepost.console.options import required_db
    from milepost.index import open as open_index
    from milepost.library import Library
    from milepost.store.address import local_folder

    if paths and db is None:
        options = READ_DEFAULTS.changed(ocr=ocr)
        chosen = model_folder(settings, model, paths, options)
        index, folder = cached_index(paths, chosen, settings, options)
    else:
        place = required_db(db)
        index = open_index(
            place,
            model=model,
            create=False,
            read_only=not paths,
            precision=settings.precision,
        )
        folder = local_folder(place)
    return index, Library(index, folder / "uploads", sources)


@mcp.command("install", short_help="Add the tools to the configuration of a client.")
@click.argument("client", type=click.Choice(CLIENTS))
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
    from milepost.mcp.clients import CLIENTS as KNOWN
    from milepost.mcp.clients import with_server
    from milepost.places import local_path
    from milepost.writing import write_text

    chosen = KNOWN[client]
    _check_ocr(ocr, paths)
    program, args = _command(paths, db, ocr)
    if not paths and not db and chosen_db(None) is None:
        raise InputError("no PATH and no --db: agents would see nothing", "a folder of documents")
    missing = [path for path in map(local_path, paths) if not path.exists()]
    if missing:
        raise UnreadableFile(f"{missing[0]} does not exist", "check the path")
    file = chosen.file().expanduser().absolute()
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
    paths: tuple[str, ...], db: IndexPlace | None, ocr: Ocr | None = None
) -> tuple[str, list[str]]:
    """How a client starts the tools, from whatever folder it runs in."""
    from milepost.intake import absolute
    from milepost.places import local_path
    from milepost.store.address import has_password

    chosen: list[Any] = [str(local_path(path)) for path in paths]
    place = db if paths else (db or chosen_db(None))
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
