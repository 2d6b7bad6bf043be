"""Many vectors in, few out: torch modules, one file a family, by name in ``registry``.

On NumPy arrays they are run by ``arrays``.

pooling.names()                                   # the table
pooling.module("ggem", 384, groups=8)             # to train: forward(states, mask)
pooling.get("ggem", groups=8)(states, lengths)    # NumPy arrays of concatenated texts
pooling.register("gated", Gated)                  # one of your own
"""

from __future__ import annotations

from milepost_lab.pooling.arrays import Pool, get, load, of_landmarks
from milepost_lab.pooling.base import Pooling
from milepost_lab.pooling.registry import Operator, module, names, register

__all__ = [
    "Operator",
    "Pool",
    "Pooling",
    "get",
    "load",
    "module",
    "names",
    "of_landmarks",
    "register",
]
