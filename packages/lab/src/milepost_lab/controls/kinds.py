"""Names of the control rows. Nothing here imports torch: ``lab show`` reads names without it."""

from __future__ import annotations

from typing import Literal, get_args

from milepost.errors import InputError, nearest

Kind = Literal["random", "nonsense", "hierarchical"]

KINDS: tuple[Kind, ...] = get_args(Kind)
"""Every kind of control."""

Pretrained = Literal["nonsense", "hierarchical"]
"""Controls that are trained on a corpus without meaning."""


def rows_below(name: str) -> tuple[str, ...]:
    """Names of the control rows of a table's row.

    >>> rows_below("mean")
    ('mean@random', 'mean@nonsense', 'mean@hierarchical')
    """
    return tuple(f"{name}@{kind}" for kind in KINDS)


def parted(name: str) -> tuple[str, Kind | None]:
    """Split a row's name into the name without its control and the control, None without one.

    Raises:
        InputError: the control is unknown.

    >>> parted("mean@random")
    ('mean', 'random')
    """
    row, _, control = name.partition("@")
    kind = next((known for known in KINDS if known == control), None)
    if control and kind is None:
        raise InputError(
            f"{name}: unknown network {control!r}",
            f"{nearest(control, KINDS)}one of {', '.join(KINDS)}",
        )
    return row, kind
