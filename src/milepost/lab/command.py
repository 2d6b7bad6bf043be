"""``milepost lab``: experiments on pooling."""

from __future__ import annotations

import importlib

import click

from milepost.errors import MilepostError, nearest

STUDIES: dict[str, str] = {
    "compare": "Compare poolings on the same states.",
    "show": "Explain a pooling, with a picture of its weights.",
    "multilayer": "Train poolings over layers on planted topics.",
    "xpool": "Re-rank documents by a pooling that reads the question.",
    "ponet": "Compare token mixers: PoNet, attention, Fourier.",
    "bilinear": "Compare bilinear fusions with plain ones.",
    "p2at": "P2AT on images: published, corrected, rivals.",
    "supernet": "Where to halve: supernets against brute force.",
    "tokens": "Words from spelling, bytes, and byte encoders.",
    "stitch": "Encoders of many sizes out of two.",
    "cet": "How many hard negatives are unmarked answers.",
    "quality": "Measure how vectors separate labels, or drifted.",
    "power": "Servers under one power budget, searches and bulk work.",
}
"""Study → a line of help. Its command is ``milepost.lab.STUDY.command``, imported when it is asked
for: most need the lab extra."""


class Lab(click.Group):
    """The group, whose commands are imported one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the studies."""
        return list(STUDIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in STUDIES:
            return None
        module = importlib.import_module(f"milepost.lab.{cmd_name}.command")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; one that does not exist is answered with the nearest."""
        name = args[0]
        if name not in STUDIES and not name.startswith("-"):
            raise MilepostError(
                f"there is no experiment {name!r}",
                f"{nearest(name, tuple(STUDIES))}milepost lab --help",
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(STUDIES.items()))


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
