"""Many vectors in, few out: the reference definitions, in NumPy.

Input: concatenated states of texts, and the lengths of the texts. Output: one vector for each text.
The package depends on neither text nor network. ``table.py`` lists the operators of the pooling lab
(``names``, ``get``, ``load``), one file for each family; ``registry.py`` adds user-defined ones
(``register``), torch modules that it finds by name; ``operator.py`` defines an operator;
``ragged.py`` computes sums over ragged texts and removes padding (``from_padded``). Late
interaction, which keeps a vector for each token of a text or an encoding of all, is in
``maxsim.py``, ``token_pooling.py`` and ``fixed_encoding.py``.
"""

from __future__ import annotations

from milepost_lab.pooling.chunk_vectors import of_landmarks
from milepost_lab.pooling.operator import Operator, Parameter, Pool
from milepost_lab.pooling.ragged import from_padded
from milepost_lab.pooling.registry import register
from milepost_lab.pooling.table import get, load, names

__all__ = [
    "Operator",
    "Parameter",
    "Pool",
    "from_padded",
    "get",
    "load",
    "names",
    "of_landmarks",
    "register",
]
