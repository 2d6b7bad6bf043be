"""Torch modules of all operators, by name."""

from __future__ import annotations

from typing import Any

from milepost.model.pooling.adaptive import MODULES as ADAPTIVE
from milepost.model.pooling.bilinear import MODULES as BILINEAR
from milepost.model.pooling.ggem import MODULES as GGEM
from milepost.model.pooling.hierarchy import MODULES as HIERARCHY
from milepost.model.pooling.late import MODULES as LATE
from milepost.model.pooling.latent_attention import MODULES as LATENT_ATTENTION
from milepost.model.pooling.layer_weights import MODULES as LAYER_WEIGHTS
from milepost.model.pooling.module import PoolModule
from milepost.model.pooling.multilayer import MODULES as MULTILAYER
from milepost.model.pooling.outside import OutsideModule
from milepost.model.pooling.p2at import MODULES as P2AT
from milepost.model.pooling.plain import MODULES as PLAIN
from milepost.model.pooling.ponet import MODULES as PONET
from milepost.model.pooling.saturated import MODULES as SATURATED
from milepost.model.pooling.set_attention import MODULES as SET_ATTENTION
from milepost.model.pooling.sketch import MODULES as SKETCH
from milepost.model.pooling.top_k import MODULES as TOP_K
from milepost.model.pooling.wordpool import MODULES as WORDPOOL
from milepost.model.pooling.xpool import MODULES as XPOOL
from milepost.pooling.table import operator

MODULES: dict[str, type[PoolModule]] = {
    **PLAIN,
    **P2AT,
    **HIERARCHY,
    **GGEM,
    **BILINEAR,
    **SKETCH,
    **WORDPOOL,
    **LAYER_WEIGHTS,
    **MULTILAYER,
    **XPOOL,
    **PONET,
    **TOP_K,
    **SET_ATTENTION,
    **LATENT_ATTENTION,
    **ADAPTIVE,
    **SATURATED,
    **LATE,
}


def module(
    name: str,
    /,
    width: int,
    *,
    query_width: int = 0,
    layers: int = 1,
    seed: int = 0,
    **settings: Any,
) -> PoolModule:
    """Create a torch pooling.

    Args:
        name: see ``milepost.pooling.names``.
        width: d of the states.
        query_width: d of the queries, for operators that read them.
        layers: number of layers of the states, for operators that need layers.
        seed: seed of the initial weights.
        settings: see the operator's parameters.

    Raises:
        InputError: the operator or a parameter is unknown, or a value is out of bounds.
    """
    row = operator(name)
    made = OutsideModule if row.make is not None else MODULES[name]
    return made(row, row.settings(settings), width, query_width, layers, seed)
