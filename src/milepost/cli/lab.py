"""``milepost lab``: experiments on pooling."""

from __future__ import annotations

import importlib

import click

from milepost.errors import MilepostError, nearest

EXPERIMENTS: dict[str, tuple[str, str]] = {
    "compare": ("milepost.cli.lab_compare", "Compare poolings on the same states."),
    "show": ("milepost.cli.lab_show", "Explain a pooling, with a picture of its weights."),
    "layers": ("milepost.cli.lab_layers", "Train poolings over layers on planted topics."),
    "rerank": (
        "milepost.cli.lab_rerank",
        "Re-rank documents by a pooling that reads the question.",
    ),
    "mixers": ("milepost.cli.lab_mixers", "Compare ways in which tokens learn of each other."),
    "fusion": ("milepost.cli.lab_fusion", "What bilinear fusions are worth beside plain ones."),
    "shapes": ("milepost.cli.lab_shapes", "P2AT on images: published, mended, rivals."),
    "search": ("milepost.cli.lab_search", "Where and how to halve: supernets against brute force."),
    "tokens": ("milepost.cli.lab_tokens", "Words from spelling, bytes, and byte encoders."),
    "stitch": ("milepost.cli.lab_stitch", "Encoders of many sizes out of two."),
    "audit": ("milepost.cli.lab_audit", "How many hard negatives are unmarked answers."),
    "quality": ("milepost.cli.lab_quality", "Measure how vectors separate labels, or drifted."),
    "power": ("milepost.cli.lab_power", "Servers under one power budget, searches and bulk work."),
}
"""A command's name → the module where it has that name, and a line of help.

Modules are imported when their command is asked for: most need the train extra."""


class Lab(click.Group):
    """The group, whose commands are imported one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the experiments."""
        return list(EXPERIMENTS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in EXPERIMENTS:
            return None
        module, _ = EXPERIMENTS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; one that does not exist is answered with the nearest."""
        name = args[0]
        if name not in EXPERIMENTS and not name.startswith("-"):
            raise MilepostError(
                f"there is no experiment {name!r}",
                f"{nearest(name, tuple(EXPERIMENTS))}see: milepost lab --help",
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in EXPERIMENTS.items()])


@click.group(
    cls=Lab,
    short_help="Compare and study poolings.",
    epilog="""\b
Examples:
  milepost lab show ggem
  milepost lab compare --pool mean,lmk,ggem --tasks sentences
  milepost lab power --more 30""",
)
def lab() -> None:
    """Experiments on pooling many vectors into few; see docs/pooling.md."""
