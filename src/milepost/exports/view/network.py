"""The light model as plain arrays, and what it says of a question: the reference for the page.

A question is one sentence in a window of its own, so most of the network falls away: the mean of
the window is the sentence itself, and of the convolutions only the middle tap meets a sentence.

    x  = Σ tokens  codes[token] · scale[token]        (the landmark's token among them)
    h  = lift(norm(x))
    h += leave(value · (far + middle) · silu(gate)),  value, gate = enter(norm(h))   for each block
    y  = project(norm(h)),  the question's vector = y / |y|
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.errors import ModelError
from milepost.exports.view.graph import Graph

_ROOT = "__module.backbone"


@dataclass(frozen=True, slots=True)
class Network:
    """The numbers of a light model, float32 unless another type is named.

    Attributes:
        codes: ``(tokens, e)`` int8.
        scales: ``(tokens,)``: what each row of codes is to be multiplied by.
        matrices: ``lift``, ``project``, and for block ``b`` ``enter b`` and ``leave b``.
        vectors: biases of the matrices by the same names; ``norm`` and ``norm b``, ``last``: gain
            and offset, one behind the other; ``mix b``: ``far`` and the middle tap, added.
        blocks: how many there are.
        epsilon: of the normalisations.
    """

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    matrices: dict[str, NDArray[np.float32]]
    vectors: dict[str, NDArray[np.float32]]
    blocks: int
    epsilon: float

    def encode(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """The vector of one sentence alone, ``(d,)`` float32, unit length."""
        rows = np.asarray(ids, np.int64)
        state = (self.codes[rows] * self.scales[rows, None].astype(np.float64)).sum(axis=0)
        state = self._linear("lift", self._norm("norm", state))
        for block in range(self.blocks):
            both = self._linear(f"enter {block}", self._norm(f"norm {block}", state))
            value, gate = np.split(both, 2)
            mixed = value * self.vectors[f"mix {block}"] * gate / (1.0 + np.exp(-gate))
            state = state + self._linear(f"leave {block}", mixed)
        found = self._linear("project", self._norm("last", state))
        unit: NDArray[np.float32] = (found / max(float(np.linalg.norm(found)), 1e-12)).astype("f4")
        return unit

    def _linear(self, name: str, state: NDArray[np.float64]) -> NDArray[np.float64]:
        product: NDArray[np.float64] = self.matrices[name].astype("f8") @ state + self.vectors[name]
        return product

    def _norm(self, name: str, state: NDArray[np.float64]) -> NDArray[np.float64]:
        gain, offset = np.split(self.vectors[name].astype(np.float64), 2)
        centred = state - state.mean()
        normed: NDArray[np.float64] = centred / np.sqrt((centred**2).mean() + self.epsilon)
        return normed * gain + offset


def read_network(graph: Graph) -> Network:
    """The numbers of a light model's graph."""
    matrices: dict[str, NDArray[np.float32]] = {}
    vectors: dict[str, NDArray[np.float32]] = {}

    def linear(name: str, place: str) -> None:
        matrices[name] = graph.values(graph.constant(f"{place}/aten::linear/MatMul", 1))
        vectors[name] = graph.values(graph.constant(f"{place}/aten::linear/Add", 1)).reshape(-1)

    def norm(name: str, place: str) -> None:
        layers = (f"{place}/aten::layer_norm/Multiply_1", f"{place}/aten::layer_norm/Add")
        parts = [graph.values(graph.constant(layer, 1)).reshape(-1) for layer in layers]
        vectors[name] = np.concatenate(parts)

    norm("norm", f"{_ROOT}.norm")
    linear("lift", f"{_ROOT}.lift")
    blocks = 0
    while f"{_ROOT}.blocks.{blocks}.enter/aten::linear/MatMul" in graph:
        place = f"{_ROOT}.blocks.{blocks}"
        norm(f"norm {blocks}", f"{place}.norm")
        linear(f"enter {blocks}", f"{place}.enter")
        linear(f"leave {blocks}", f"{place}.leave")
        far, *taps = _mixing(graph, place)
        vectors[f"mix {blocks}"] = far + taps[len(taps) // 2]
        blocks += 1
    norm("last", f"{_ROOT}.last")
    linear("project", f"{_ROOT}.project")
    epsilon = float(graph.layer(f"{_ROOT}.norm/aten::layer_norm/MVN").get_attributes()["eps"])
    codes, scales = map(graph.values, table_of(graph))
    return Network(codes, scales.reshape(-1), matrices, vectors, blocks, epsilon)


def table_of(graph: Graph) -> tuple[Any, Any]:
    """The constants of the token vectors and of their scales."""
    scales = graph.constant(f"{_ROOT}/aten::embedding/Gather_1", 0)
    return graph.layer("self.backbone.codes"), scales


def _mixing(graph: Graph, place: str) -> list[NDArray[np.float32]]:
    found = []
    number = 1
    while f"{place}/aten::mul/Multiply_{number}" in graph:
        constant = graph.constant(f"{place}/aten::mul/Multiply_{number}", 1)
        if constant is None:  # the gate, behind the last tap
            break
        found.append(graph.values(constant).reshape(-1))
        number += 1
    if len(found) < 2 or len(found) % 2:
        raise ModelError(f"{graph.path} has {len(found)} weights in {place}", "landmark-light")
    return found


def graph_of(folder: Path) -> Graph:
    """The graph of a light model's folder."""
    path = folder / "openvino_bf16.xml"
    if not path.is_file():
        raise ModelError(f"{folder} is not a light model: it has no {path.name}", "landmark-light")
    return Graph(path)
