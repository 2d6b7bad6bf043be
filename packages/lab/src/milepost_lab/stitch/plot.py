"""Plot the recall of every descendant against its cost."""

from __future__ import annotations

from pathlib import Path

from milepost._optional import require
from milepost.errors import InputError
from milepost_lab.stitch.outcome import SN_NET, Outcome, mean_over_seeds

_ARMS = {"pool": "o", SN_NET: "D", "alone": "s", "early exit": "^", "control": "x"}


def check(path: Path) -> None:
    """Check that the plot can be drawn, before anything is measured.

    Raises:
        InputError: the name does not end in .svg or .png, or its folder does not exist.
        MissingExtra: matplotlib is not installed.
    """
    if path.suffix not in (".svg", ".png"):
        raise InputError(f"{path} is not a .svg or .png file", "a name that ends in .svg or .png")
    if not path.parent.is_dir():
        raise InputError(f"{path.parent} is not a folder", f"mkdir {path.parent}")
    require("matplotlib", extra="lab")


def draw(outcome: Outcome, path: Path) -> None:
    """Draw two panels: recall against operations, and against time on this machine.

    Args:
        outcome: result of ``study.run``.
        path: ends in .svg or .png; overwritten.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, label in zip(panels, ("MFLOP a window", "ms a window"), strict=True):
        for arm, marker in _ARMS.items():
            rows = [row for row, _ in mean_over_seeds(outcome, (arm,))]
            across = [
                row.operations / 1e6 if label.startswith("MFLOP") else row.milliseconds
                for row in rows
            ]
            panel.scatter(across, [row.recall for row in rows], marker=marker, label=arm)
            if arm == "pool":
                for x, row in zip(across, rows, strict=True):
                    panel.annotate(row.name, (x, row.recall), fontsize=7, xytext=(3, 3),
                                   textcoords="offset points")  # fmt: skip
        panel.set_xlabel(label)
    panels[0].set_ylabel("recall@10 of the ancestor's")
    panels[0].legend()
    figure.savefig(path)
