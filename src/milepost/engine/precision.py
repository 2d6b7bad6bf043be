"""Which graph of a model folder runs, and in which arithmetic.

An int8 graph multiplies 8-bit numbers. A CPU without instructions for that gains nothing by it,
and pairs of products overflow in 16 bits; there the quantisers of activations are taken out and
the same weights are multiplied in float32 (``float_graph.py``).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, get_args

from milepost.engine.cpu import has_int8_dot_product
from milepost.engine.folder import ModelFolder, Precision
from milepost.errors import InputError, ModelError

Arithmetic = Literal["auto", "int8", "float"]
"""What may be asked for; ``auto`` is int8 where the CPU has instructions for it, else float."""

ARITHMETICS: tuple[Arithmetic, ...] = get_args(Arithmetic)
VARIABLE = "MILEPOST_PRECISION"
"""The environment variable that is asked where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What runs.

    Attributes:
        graph: of the folder.
        in_float: the graph's quantisers are taken out, and it is multiplied in float32.
        why: the reason, for users.
    """

    graph: Precision
    in_float: bool
    why: str

    @property
    def name(self) -> str:
        """``int8``, ``int8 in float``, ``f32`` or ``bf16``."""
        return f"{self.graph} in float" if self.in_float else self.graph


def checked(precision: str | None) -> Arithmetic | None:
    """A word that is allowed, or None.

    Raises:
        InputError: another word.
    """
    if precision is None:
        return None
    return _known(precision, f"unknown precision {precision!r}")


def choose(folder: ModelFolder, precision: str | None = None) -> Choice:
    """Which graph of a folder runs on this CPU, in which arithmetic.

    Args:
        folder: holds the graphs.
        precision: ``auto``, ``int8`` or ``float``; None for what ``MILEPOST_PRECISION`` says, and
            ``auto`` without it. Unlike an argument, the variable asks for int8 only of those
            models that have it.

    Raises:
        InputError: another word is given.
        ModelError: the folder has no graph, or none in int8 that was asked for.
    """
    wanted, why = checked(precision), "asked for"
    graphs = folder.precisions
    if wanted is None:
        said = os.environ.get(VARIABLE) or "auto"
        wanted, why = _known(said, f"unknown precision {said!r} in {VARIABLE}"), f"by {VARIABLE}"
        if wanted == "int8" and "int8" not in graphs:
            wanted = "auto"
    if not graphs:
        folder.graph()  # raises
    if wanted == "int8":
        if "int8" not in graphs:
            raise ModelError(f"{folder.path} has no int8 graph", "precision auto or float")
        return Choice("int8", in_float=False, why=why)
    if "int8" not in graphs:
        return Choice(graphs[0], in_float=False, why="the model has no int8 graph")
    if wanted == "auto":
        fast = has_int8_dot_product()
        if fast is None:
            return Choice("int8", in_float=False, why="the system does not list CPU features")
        if fast:
            return Choice("int8", in_float=False, why="the CPU has an int8 dot product")
        why = "the CPU has no int8 dot product (VNNI, AMX or NEON's)"
    if "f32" in graphs:
        return Choice("f32", in_float=False, why=why)
    return Choice("int8", in_float=True, why=why)


def _known(word: str, problem: str) -> Arithmetic:
    for known in ARITHMETICS:
        if word == known:
            return known
    raise InputError(problem, "auto, int8 or float")
