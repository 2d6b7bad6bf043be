"""Torch modules of all operators, by name."""

from __future__ import annotations

from typing import Any

from milepost_lab.model.pooling.adaptive import MODULES as ADAPTIVE
from milepost_lab.model.pooling.bilinear import MODULES as BILINEAR
from milepost_lab.model.pooling.ggem import MODULES as GGEM
from milepost_lab.model.pooling.hierarchy import MODULES as HIERARCHY
from milepost_lab.model.pooling.late import MODULES as LATE
from milepost_lab.model.pooling.latent_attention import MODULES as LATENT_ATTENTION
from milepost_lab.model.pooling.layer_weights import MODULES as LAYER_WEIGHTS
from milepost_lab.model.pooling.module import PoolModule
from milepost_lab.model.pooling.multilayer import MODULES as MULTILAYER
from milepost_lab.model.pooling.outside import OutsideModule
from milepost_lab.model.pooling.p2at import MODULES as P2AT
from milepost_lab.model.pooling.plain import MODULES as PLAIN
from milepost_lab.model.pooling.ponet import MODULES as PONET
from milepost_lab.model.pooling.saturated import MODULES as SATURATED
from milepost_lab.model.pooling.set_attention import MODULES as SET_ATTENTION
from milepost_lab.model.pooling.sketch import MODULES as SKETCH
from milepost_lab.model.pooling.top_k import MODULES as TOP_K
from milepost_lab.model.pooling.wordpool import MODULES as WORDPOOL
from milepost_lab.model.pooling.xpool import MODULES as XPOOL
from milepost_lab.pooling.table import operator

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
        name: see ``milepost_lab.pooling.names``.
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
