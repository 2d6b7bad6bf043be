"""Many vectors in, few out: the reference definitions, in NumPy.

Comes in: states of texts that lie one behind the other, and their lengths. Goes out: one vector a
text. Knows neither text nor network. ``table.py`` lists the operators of the pooling lab
(``names``, ``get``, ``load``), one file a family; ``operator.py`` says what an operator is,
``ragged.py`` how sums over ragged texts are made.
"""

from __future__ import annotations

from milepost.pooling.operator import Operator, Parameter, Pool
from milepost.pooling.ragged import from_padded
from milepost.pooling.table import get, load, names

__all__ = ["Operator", "Parameter", "Pool", "from_padded", "get", "load", "names"]
