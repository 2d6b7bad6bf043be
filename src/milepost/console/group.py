"""A command that consists of subcommands."""

from __future__ import annotations

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
        """Find the subcommand.

        Raises:
            InputError: the name is unknown; the hint gives the nearest one.
        """
        name, names = args[0], self.list_commands(ctx)
        if name not in names and not name.startswith("-"):
            raise InputError(
                f"unknown command {name!r}", f"{nearest(name, names)}{ctx.command_path} --help"
            )
        return super().resolve_command(ctx, args)
