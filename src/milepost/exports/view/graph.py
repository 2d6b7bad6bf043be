"""The constants of a model's graph; its layers keep the names that they had in the network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.encoder.engine.openvino import read_graph
from milepost.errors import ModelError


class Graph:
    """A graph: OpenVINO's ``model``, read from ``path``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.model = read_graph(path)
        self._layers = {layer.get_friendly_name(): layer for layer in self.model.get_ops()}

    def __contains__(self, name: str) -> bool:
        return name in self._layers

    def layer(self, name: str) -> Any:
        """A layer by its name."""
        if name not in self._layers:
            raise self.missing(name)
        return self._layers[name]

    def constant(self, name: str, number: int) -> Any:
        """The constant that is an input of a layer, from 0, a conversion passed over, or None."""
        source = self.layer(name).input_value(number).get_node()
        while source.get_type_name() == "Convert":
            source = source.input_value(0).get_node()
        return source if source.get_type_name() == "Constant" else None

    def matrices(self) -> list[Any]:
        """The matrices of the network, the table of tokens left out."""
        names = re.compile(r"self\.backbone\.(lift|project|blocks\.\d+\.(enter|leave))\.weight")
        return [layer for name, layer in self._layers.items() if names.fullmatch(name)]

    def values(self, constant: Any) -> NDArray[Any]:
        """Numbers of a constant: int8, or float32 that bfloat16 is widened to."""
        if constant is None:
            raise self.missing("a constant")
        eight_bits = constant.get_element_type().get_type_name() == "i8"
        kind = np.int8 if eight_bits else np.float32
        values: NDArray[Any] = constant.get_data(dtype=kind, copy=True)
        return values

    def put(self, constant: Any, values: NDArray[Any]) -> None:
        """Replace the numbers of a constant; its shape and type stay."""
        from openvino import opset13
        from openvino.utils import replace_node

        kind = constant.get_element_type()
        new = opset13.constant(values.reshape(constant.shape), dtype=kind)
        new.set_friendly_name(constant.get_friendly_name())
        replace_node(constant, new)

    def missing(self, what: str) -> ModelError:
        """Make the error for a graph that does not hold something."""
        return ModelError(
            f"{self.path} is not the graph of a light model: no {what}",
            "landmark-light, or a model that python -m milepost_train.light has made",
        )


def widened(halves: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Bfloat16 as float32, exactly."""
    return (halves.astype(np.uint32) << 16).view(np.float32)


def narrowed(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The nearest bfloat16 of each number, ties away from zero."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + np.uint32(0x8000)) >> 16).astype(np.uint16)
