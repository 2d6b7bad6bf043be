"""The door of the command line: the commands, and how every error leaves."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from milepost import __version__
from milepost.cli.completion import completion
from milepost.cli.doctor import doctor
from milepost.cli.encode import encode
from milepost.cli.eval import evaluate
from milepost.cli.export import export
from milepost.cli.fit import fit
from milepost.cli.index import index
from milepost.cli.info import info
from milepost.cli.mine import mine
from milepost.cli.models import models
from milepost.cli.search import search
from milepost.cli.synthesize import synthesize
from milepost.cli.train import train
from milepost.console.options import Interrupted, Settings, say
from milepost.errors import MilepostError, nearest
from milepost.lab.command import lab

ERROR, INTERRUPTED = 2, 130


class Program(click.Group):
    """The group of commands: one line for every error, and the exit codes."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command and leave the process with its exit code."""
        settings = Settings()
        kwargs |= {"standalone_mode": False, "obj": settings, "prog_name": "milepost"}
        for stream in (sys.stdout, sys.stderr):
            # A file's name may be no valid text, and a screen may lack characters.
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
            code = super().main(*args, **kwargs)
        except Exception as error:  # nothing may leave as a traceback
            code = _fail(error, settings)
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what click would answer in its own way is turned into ours."""
        try:
            code = super().invoke(ctx)
            _flush()
        except KeyboardInterrupt:
            raise Interrupted from None
        except BrokenPipeError:
            _abandon()
            return 0  # whoever read stdout has seen enough
        return code

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands, the most used first."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; one that does not exist is answered with the nearest."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            near = nearest(name, self.list_commands(ctx))
            raise MilepostError(f"there is no command {name!r}", f"{near}see: milepost --help")
        return super().resolve_command(ctx, args)


def _flush() -> None:
    """Write what is left, so that an error of stdout is met here and not at the very end."""
    try:
        sys.stdout.flush()
    except OSError:
        _abandon()
        raise


def _abandon() -> None:
    """Let what is left for stdout go nowhere: Python flushes once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error: Exception, settings: Settings) -> int:
    """Say what went wrong in one line; returns the exit code."""
    if settings.debug:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, click.Abort | Interrupted) or _was_interrupted(error):
        kept = str(error) if isinstance(error, Interrupted) else ""
        say(f"interrupted; {kept}" if kept else "interrupted")
        return INTERRUPTED
    if isinstance(error, MilepostError):
        say(str(error))
    elif isinstance(error, click.ClickException):
        problem = error.format_message().strip().rstrip(".")
        context = getattr(error, "ctx", None)
        see = f"; see: {context.command_path} --help" if context is not None else ""
        say(problem[:1].lower() + problem[1:] + see)
    elif isinstance(error, OSError):
        named = f"{error.filename}: " if error.filename else ""
        say(f"{named}{error.strerror or error}; check the path, its permissions and the disk")
    else:
        say(
            f"unexpected {type(error).__name__}: {error}; "
            "this is a fault of Milepost: run again with --debug and report what it shows"
        )
    return ERROR


def _was_interrupted(error: BaseException) -> bool:
    """Whether Ctrl-C is behind an error: a C extension that it stops while loading hides it."""
    below: BaseException | None = error
    while below is not None and not isinstance(below, KeyboardInterrupt):
        below = below.__cause__ or below.__context__
    return below is not None


@click.group(
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  milepost search "how do bees build their cells" book.txt notes/
  milepost index reports/ --db ~/reports.milepost
  milepost search "who signed the contract?" --db ~/reports.milepost -k 3
  pdftotext paper.pdf - | milepost search "which samples were used" -

\b
Exit codes:
  0 found   1 nothing found   2 error   130 interrupted

\b
Environment:
  MILEPOST_DB      the index that is used where neither PATH nor --db is given
  MILEPOST_CACHE   where compiled models and the indexes of `search PATH` are kept
  NO_COLOR, FORCE_COLOR   no colours, or colours in pipes as well""",
)
@click.version_option(__version__, "-V", "--version", message="milepost %(version)s")
@click.pass_context
def program(context: click.Context) -> None:
    """Find, in documents of any length, the exact sentences that answer a question."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(ERROR)


USING = (search, index, encode, models, info, doctor, completion)
STUDYING = (evaluate, synthesize, mine, train, export, fit, lab)
for command in (*USING, *STUDYING):
    program.add_command(command)


def main() -> None:
    """Run ``milepost`` on the arguments of the process."""
    program.main()
