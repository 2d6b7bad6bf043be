"""The constants of a model's graph, read from the file without an engine.

An OpenVINO graph is an XML file of layers and edges beside a file of numbers; layers keep the names
that they had in the network.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.errors import ModelError

_HINT = "landmark-light, or a model that python -m milepost_train.light has made"


class Graph:
    """A graph, its ``.xml``, and all ``numbers`` of the ``.bin`` beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            root = ElementTree.parse(path).getroot()
            self.numbers = path.with_suffix(".bin").read_bytes()
        except (OSError, ElementTree.ParseError) as error:
            raise ModelError(f"{path} cannot be read: {error}", _HINT) from error
        self._layers = {layer.get("id", ""): layer for layer in root.iter("layer")}
        self._names = {layer.get("name", ""): key for key, layer in self._layers.items()}
        self._inputs: dict[str, list[str]] = {}  # of a layer, in the order of its ports
        for edge in sorted(root.iter("edge"), key=lambda each: int(each.get("to-port", "0"))):
            self._inputs.setdefault(edge.get("to-layer", ""), []).append(edge.get("from-layer", ""))

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def attribute(self, name: str, attribute: str) -> str:
        """An attribute of a layer."""
        data = self._layer(name).find("data")
        value = None if data is None else data.get(attribute)
        if value is None:
            raise self.missing(f"{name}: {attribute}")
        return value

    def constant(self, name: str, number: int) -> str | None:
        """Name of the constant that is an input of a layer, from 0, a conversion passed over."""
        key = self._layer(name).get("id", "")
        inputs = self._inputs.get(key, [])[number:]
        while inputs:
            layer = self._layers[inputs[0]]
            if layer.get("type") == "Const":
                return layer.get("name")
            if layer.get("type") != "Convert":
                return None
            inputs = self._inputs.get(inputs[0], [])
        return None

    def matrices(self) -> list[str]:
        """Names of the matrices of the network, the table of tokens left out."""
        return [
            name
            for name in self._names
            if re.fullmatch(
                r"self\.backbone\.(lift|project|blocks\.\d+\.(enter|leave))\.weight", name
            )
        ]

    def place(self, name: str) -> tuple[int, int]:
        """Where the numbers of a constant begin and end in ``numbers``."""
        start = int(self.attribute(name, "offset"))
        return start, start + int(self.attribute(name, "size"))

    def values(self, name: str | None) -> NDArray[Any]:
        """A constant: int8, or float32 that bfloat16 is widened to."""
        if name is None:
            raise self.missing("a constant")
        start, end = self.place(name)
        shape = [int(size) for size in self.attribute(name, "shape").split(",") if size.strip()]
        kind, held = self.attribute(name, "element_type"), self.numbers[start:end]
        try:
            if kind == "i8":
                return np.frombuffer(held, np.int8).reshape(shape)
            if kind == "f32":
                return np.frombuffer(held, "<f4").reshape(shape).astype(np.float32)
            if kind == "bf16":
                return widened(np.frombuffer(held, "<u2")).reshape(shape)
        except ValueError as error:
            raise ModelError(f"{self.path} is damaged: {error}", "reinstall the model") from error
        raise self.missing(f"{name} as int8, float32 or bfloat16")

    def _layer(self, name: str) -> ElementTree.Element:
        if name not in self._names:
            raise self.missing(name)
        return self._layers[self._names[name]]

    def missing(self, what: str) -> ModelError:
        """Make the error for a graph that does not hold something."""
        return ModelError(f"{self.path} is not the graph of a light model: no {what}", _HINT)


def widened(halves: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Bfloat16 as float32, exactly."""
    return (halves.astype(np.uint32) << 16).view(np.float32)


def narrowed(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The nearest bfloat16 of each number, ties away from zero."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + np.uint32(0x8000)) >> 16).astype(np.uint16)
