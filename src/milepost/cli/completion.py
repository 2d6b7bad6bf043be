"""``milepost completion``: print a shell's completion script."""

from __future__ import annotations

import click

from milepost.cli.console.options import common


@click.command(
    epilog="""\b
Examples:
  milepost completion bash > ~/.local/share/bash-completion/completions/milepost
  milepost completion zsh > ~/.zfunc/_milepost
  milepost completion fish > ~/.config/fish/completions/milepost.fish""",
)
@click.argument("shell", metavar="bash|zsh|fish", type=click.Choice(["bash", "zsh", "fish"]))
@common
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Print a script that completes commands and options; the examples show where to save it."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "click completes in all three"
    click.echo(kind(context.find_root().command, {}, "milepost", "_MILEPOST_COMPLETE").source())
    return 0
