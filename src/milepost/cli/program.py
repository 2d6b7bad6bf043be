"""The ``milepost`` program: its commands, and how errors become one line and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import Any

import click

from milepost import __version__
from milepost.cli import packages
from milepost.cli.console.group import LazyGroup
from milepost.cli.console.options import Interrupted, Settings, say
from milepost.errors import MilepostError, MissingPackage, in_words

ERROR, INTERRUPTED = 2, 130


class Program(LazyGroup):
    """The group of commands; prints every error as one line and sets the exit code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command and end the process with its exit code."""
        settings = Settings()
        kwargs |= {"standalone_mode": False, "obj": settings, "prog_name": "milepost"}
        for name in ("stdin", "stdout", "stderr"):
            if getattr(sys, name) is None:  # closed: the next file opened would take its number
                # Nothing can be written to stdout then either: results that are lost are an error.
                nothing = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
                setattr(sys, name, os.fdopen(nothing, "r" if name == "stdin" else "w"))
        for stream in (sys.stdout, sys.stderr):
            # A file name may not be valid text, and a terminal may lack characters.
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
            code = super().main(*args, **kwargs)
        except Exception as error:  # users never see a traceback without --debug
            code = _fail(_named(error), settings)
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C and a closed pipe are handled here instead of by click."""
        try:
            code = super().invoke(ctx)
            _flush()
        except KeyboardInterrupt:
            raise Interrupted from None
        except BrokenPipeError:
            _abandon()
            return 0  # the reader of stdout has closed the pipe
        return code

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        """Names of the commands, those of other installed packages last."""
        brought = packages.command_points()
        known = [name for name in packages.COMMANDS if name in brought]
        return [*self.table, *known, *sorted(brought.keys() - set(known) - set(self.table))]

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        """Import one command, of Milepost or of another package; None for an unknown name."""
        if cmd_name in self.table:
            return super().get_command(ctx, cmd_name)
        command: click.Command | None = packages.command(cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what they are for, without importing those that are known."""
        brought = packages.command_points()
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))
        with formatter.section("Measure and train"):
            formatter.write_dl(
                [
                    (name, text if name in brought else f"{text} [{package} is not installed]")
                    for name, (package, text) in packages.COMMANDS.items()
                ]
            )
        others = sorted(brought.keys() - packages.COMMANDS.keys() - set(self.table))
        if others:
            with formatter.section("Other packages"):
                formatter.write_dl([(name, brought[name].value) for name in others])


def _flush(last: str = "") -> None:
    """Flush stdout here, so that an error of stdout is not raised only when Python exits."""
    try:
        sys.stdout.write(last)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _abandon()
        said = "closed" if error.errno == errno.EBADF else error.strerror
        raise OSError(error.errno, said, "standard output") from error


def _named(error: Exception) -> Exception:
    """Name stdout in an error that it caused: the system does not, and does not forget it."""
    if isinstance(error, OSError) and error.filename is None:
        try:
            _flush("\n")
        except OSError as again:
            return again
    return error


def _abandon() -> None:
    """Discard what is still buffered for stdout: Python flushes once more when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error: Exception, settings: Settings) -> int:
    if settings.debug:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, click.Abort | Interrupted) or was_interrupted(error):
        saved = str(error) if isinstance(error, Interrupted) else ""
        say(f"interrupted; {saved}" if saved else "interrupted")
        return INTERRUPTED
    if isinstance(error, MissingPackage):
        click.echo(f"milepost {error}", err=True)
    elif isinstance(error, MilepostError):
        say(str(error))
    elif isinstance(error, click.ClickException):
        problem = error.format_message().strip().rstrip(".")
        context = getattr(error, "ctx", None)
        hint = f"; try: {context.command_path} --help" if context is not None else ""
        if isinstance(error, click.NoSuchOption) and len(error.option_name) == 2:
            hint += ", or -- in front of a text that begins with -"
        say(problem[:1].lower() + problem[1:] + hint)
    elif isinstance(error, OSError):
        named = f"{error.filename}: " if error.filename else ""
        say(f"{named}{error.strerror or error}; try: check the path, its permissions and the disk")
    elif isinstance(error, MemoryError):
        say(f"{in_words(error)}; try: free some memory")
    else:
        say(
            f"bug in Milepost, unexpected {in_words(error)}; "
            "try: the same command with --debug, and report the output"
        )
    return ERROR


def was_interrupted(error: BaseException) -> bool:
    """Whether Ctrl-C caused an error: a C extension that it stops while loading hides it."""
    below: BaseException | None = error
    while below is not None and not isinstance(below, KeyboardInterrupt):
        below = below.__cause__ or below.__context__
    return below is not None


GROUPS = {
    "Search": {
        "search": "Find the passages that answer a question.",
        "check": "Say whether a sentence, quotation or claim is in documents.",
        "annotate": "Highlight the answers to questions in a copy of a PDF.",
        "ask": "Answer a question from documents with a language model; check citations.",
        "table": "Ask many questions of many documents; write a table.",
        "view": "Write documents as one HTML file with a search of its own.",
    },
    "Index and serve": {
        "index": "Read files and folders into an index.",
        "remove": "Remove documents from an index.",
        "serve": "Serve a page and an API over HTTP.",
        "mcp": "Give agents tools to search documents (MCP).",
        "copy": "Copy an index to a folder or a server.",
        "encode": "Print the landmarks of a text: one vector per sentence.",
    },
    "This installation": {
        "models": "List the installed models.",
        "info": "Show version, model, cache and the contents of an index.",
        "cache": "List what is in the cache, or remove it.",
        "doctor": "Check the installation and time the model.",
        "completion": "Print a completion script for your shell.",
    },
}
"""Sections of the help → commands, each in the module of its name → their lines in the help.

Those of other packages are in ``packages``."""

COMMANDS = {
    name: (f"milepost.cli.{name}:{name}", text)
    for commands in GROUPS.values()
    for name, text in commands.items()
}
"""Command → where it is, and its line in the help."""


@click.group(
    cls=Program,
    table=COMMANDS,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
    epilog="""\b
Examples:
  milepost search "how do bees build their cells" book.txt notes/
  milepost check report.pdf "the fee was raised to five"
  milepost index reports/ --db ~/reports.milepost
  milepost search "who signed the contract?" --db ~/reports.milepost -k 3
  pdftotext paper.pdf - | milepost search "which samples were used" -

\b
Exit codes:
  0 found   1 nothing found   2 error   130 interrupted
  of check: 0 verbatim   3 nearly   4 supported   5 contradicted   6 related
            7 stitched   8 found elsewhere   1 not found

\b
Environment:
  MILEPOST_DB      the index to use if neither PATH nor --db is given
  MILEPOST_CACHE   the folder for compiled models and the indexes of `search PATH`
  MILEPOST_CACHE_LIMIT   the size that these indexes are kept within; 10GB if it is not set
  MILEPOST_PRECISION   auto, int8 or float, if --precision is not given
  NO_COLOR, FORCE_COLOR   turn colours off, or on even in pipes""",
)
@click.version_option(__version__, "-V", "--version", message="milepost %(version)s")
def program() -> None:
    """Find, in documents of any length, the exact sentences that answer a question."""


def main() -> None:
    """Run ``milepost`` on the arguments of the process."""
    try:
        program.main()
    except SystemExit as end:
        if sys.argv[1:2] != ["search"] or not isinstance(end.code, int | None):
            raise
        # All is closed and printed. Python would take the network apart first, some 70 ms.
        with suppress(OSError):
            sys.stderr.flush()
        os._exit(end.code or 0)
