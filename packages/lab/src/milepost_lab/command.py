"""``milepost lab``: experiments on pooling."""

from __future__ import annotations

import click

from milepost.cli.console.group import LazyGroup

STUDIES: dict[str, str] = {
    "compare": "Compare poolings on the same states.",
    "show": "Explain a pooling, with a picture of its weights.",
    "lmk": "LMK, CLS and mean on documents of 256 to 16k tokens.",
    "landmark": "Windows, halos and landmarks: seven experiments.",
    "multilayer": "Train poolings over layers.",
    "xpool": "Rerank documents by a pooling that reads the question.",
    "ponet": "Compare token mixers: PoNet, attention, Fourier.",
    "bilinear": "Compare bilinear fusions with plain ones.",
    "p2at": "P2AT on images: published, corrected, rivals.",
    "ggem": "GGeM, GeM, mean and maximum on digits.",
    "supernet": "Where to halve: supernets against brute force.",
    "tokens": "Words from spelling, bytes, and byte encoders.",
    "stitch": "Stitch encoders of many sizes from two.",
    "cet": "How many hard negatives are unmarked answers.",
    "quality": "Measure how well vectors separate labels.",
    "power": "Simulate searches and bulk indexing under one power budget.",
}
"""Study → a line of help. Its command is ``milepost_lab.STUDY.study:command``, imported only when
it is asked for, since most studies import torch."""


@click.group(
    cls=LazyGroup,
    table={name: (f"milepost_lab.{name}.study:command", text) for name, text in STUDIES.items()},
    short_help="Compare and study poolings.",
    epilog="""\b
Examples:
  milepost lab show ggem
  milepost lab compare --pool mean,lmk,ggem
  milepost lab power --more 30""",
)
def lab() -> None:
    """Experiments on pooling many vectors into few; see docs/pooling.md."""
