"""A command that consists of subcommands."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from milepost.errors import InputError, nearest


class CommandGroup(click.Group):
    """Subcommands in the order of their definition.

    Without a subcommand the help goes to stderr and the exit code is 2, as for ``milepost`` alone.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the subcommands, not sorted."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options in front of the subcommand; print the help if there is nothing."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand, or name the one nearest to it."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            options = [each for option in self.get_params(ctx) for each in option.opts]
            near, option = nearest(name, self.list_commands(ctx)), "--help"
            if f"--{name}" in options:
                near, option = "", f"--{name}"
            raise InputError(f"unknown command {name!r}", f"{near}{ctx.command_path} {option}")
        return super().resolve_command(ctx, args)


class LazyGroup(CommandGroup):
    """Commands that are imported when they are asked for: a search loads no trainer.

    ``table`` has where a command is (``module:name``) and its line in the help of the group.
    """

    def __init__(self, *args: Any, table: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        """Names of the commands, in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        """Import one command; None for an unknown name."""
        if cmd_name not in self.table:
            return None
        place, text = self.table[cmd_name]
        module, _, name = place.partition(":")
        command: click.Command = getattr(import_module(module), name)
        command.short_help = text
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.table.items()])
