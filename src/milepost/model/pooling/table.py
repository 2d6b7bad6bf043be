"""Every operator's torch module by name."""

from __future__ import annotations

from typing import Any

from milepost.model.pooling.module import PoolModule
from milepost.model.pooling.plain import MODULES as PLAIN
from milepost.model.pooling.ponet import MODULES as PONET
from milepost.model.pooling.xpool import MODULES as XPOOL
from milepost.pooling.table import operator

MODULES: dict[str, type[PoolModule]] = {
    **PLAIN,
    **XPOOL,
    **PONET,
}


def module(
    name: str, /, width: int, *, query_width: int = 0, seed: int = 0, **settings: Any
) -> PoolModule:
    """A torch pooling.

    Args:
        name: see ``milepost.pooling.names``.
        width: d of the states.
        query_width: d of the queries, for operators that read them.
        seed: of the weights begun with.
        settings: see the operator's parameters.

    Raises:
        InputError: an unknown operator or parameter, or a value out of its bounds.
    """
    row = operator(name)
    return MODULES[name](row, row.settings(settings), width, query_width, seed)
