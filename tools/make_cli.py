"""Write ``docs/cli.md``, the reference of the command line, from the commands themselves.

    python tools/make_cli.py

The commands' own parameters are walked, not the text that click prints, so the reference is the
same with every version of click.
"""

import textwrap
from collections.abc import Iterator
from pathlib import Path

import click

from milepost.cli.program import program

TARGET = Path(__file__).resolve().parent.parent / "docs" / "cli.md"

HEAD = "# Command line\n"


def reference() -> str:
    """Give the whole reference as Markdown."""
    blocks = [HEAD, *_command(program, "milepost")]
    for name in program.list_commands(None):
        command = program.get_command(None, name)
        blocks.extend(_section(command, f"milepost {name}", "##"))
    return "\n".join(blocks)


def _section(command: click.Command, path: str, heading: str) -> Iterator[str]:
    """Give one command under its heading, and below it the commands of a group."""
    yield f"{heading} {path}\n"
    yield from _command(command, path)
    for name, inner in _below(command):
        yield from _section(inner, f"{path} {name}", heading + "#")


def _below(command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """Give the commands of a group; those of the lab are imported one at a time."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield name, inner


def _command(command: click.Command, path: str) -> Iterator[str]:
    """Give description, usage, options and epilogue of one command."""
    for paragraph in _paragraphs(command.help or ""):
        yield " ".join(paragraph.split()) + "\n"
    yield f"    {_usage(command, path)}\n"
    options = [param for param in command.params if isinstance(param, click.Option)]
    if options:
        yield "| option | meaning |"
        yield "|---|---|"
        for option in options:
            yield f"| `{_names(option)}` | {_meaning(option)} |"
        yield ""
    if isinstance(command, click.Group):
        for name, inner in _below(command):
            link = f"{path} {name}".replace(" ", "-")
            yield f"- [{path} {name}](#{link}): {inner.short_help}"
        yield ""
    for paragraph in _paragraphs(command.epilog or ""):
        title, _, lines = paragraph.partition("\n")
        if not title.endswith(":"):  # prose, not a heading over examples
            yield " ".join(paragraph.split()) + "\n"
            continue
        yield f"{title}\n"
        yield textwrap.indent(textwrap.dedent(lines), "    ") + "\n"


def _paragraphs(text: str) -> list[str]:
    """Divide a help text; the marks that keep click from wrapping are left out."""
    clean = textwrap.dedent(text).replace("\b\n", "").strip()
    return clean.split("\n\n") if clean else []


def _usage(command: click.Command, path: str) -> str:
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    words = [path, "[OPTIONS]", *(_argument(argument) for argument in arguments)]
    return " ".join([*words, "COMMAND"] if isinstance(command, click.Group) else words)


def _argument(argument: click.Argument) -> str:
    return argument.metavar or str(argument.name).upper()


def _names(option: click.Option) -> str:
    names = ", ".join(sorted(option.opts, key=len))
    if option.is_flag:
        return "/".join([names, *option.secondary_opts])
    if option.metavar:
        value = option.metavar
    elif isinstance(option.type, click.Choice):
        value = "|".join(map(str, option.type.choices))
    else:
        value = (
            "N" if isinstance(option.type, click.types.IntParamType) else option.type.name.upper()
        )
    return f"{names} {value}".replace("|", "\\|")


def _meaning(option: click.Option) -> str:
    unset = not isinstance(option.default, str | int | float | Path | tuple) or option.default == ()
    hidden = unset or option.show_default is False or (option.is_flag and not option.secondary_opts)
    default = "" if hidden else f" [default: {option.default}]"
    return (option.help or "").replace("|", "\\|") + default


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
