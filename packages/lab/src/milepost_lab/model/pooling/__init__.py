"""The operators of ``milepost_lab.pooling`` as torch modules: they train, and export with a model.

Input: padded states and their lengths. Output: one vector for each text, equal to that of the NumPy
reference with the same weights (a test compares every pair). ``module`` makes one by name.
"""

from __future__ import annotations

from milepost_lab.model.pooling.module import PoolModule, padded
from milepost_lab.model.pooling.table import module

__all__ = ["PoolModule", "module", "padded"]
