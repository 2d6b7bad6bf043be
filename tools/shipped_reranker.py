"""Write the shipped reranker as a checkpoint, to train it further.

    python tools/shipped_reranker.py --out scratch/reranker

Its weights have 8 bits, with a scale a row, and are divided by the scales that NNCF moved into the
states before them (SmoothQuant); here they are numbers again. Verdicts on 200 claims correlate at
0.9999 with the shipped ones.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import torch
from numpy.typing import NDArray

from milepost_train.model.checkpoint import open_checkpoint

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ROOT / "src" / "milepost" / "models" / "landmark-minilm" / "reranker"
PREFIX = "__module.backbone"


def inputs(node: Any) -> list[Any]:
    """The nodes that a node reads."""
    return [each.get_source_output().get_node() for each in node.inputs()]


def value(node: Any) -> NDArray[np.float32]:
    """A constant, or a product of constants."""
    kind = node.get_type_name()
    if kind == "Constant":
        return np.asarray(node.data, np.float32)
    parts = [value(each) for each in inputs(node)]
    return parts[0] if kind == "Convert" else parts[0] * parts[1]


def weights(graph: Any) -> dict[str, NDArray[np.float32]]:
    """The parameters of the network by their names."""
    found = {}
    for node in graph.get_ordered_ops():
        scope, _, role = node.get_friendly_name().partition("/")
        name, kind, read = scope.removeprefix(f"{PREFIX}."), node.get_type_name(), inputs(node)
        if kind == "Gather" and "embeddings" in name:
            found[f"{name}.weight"] = value(read[0])
        elif kind == "MatMul" and name.startswith("encoder"):
            smooth = inputs(read[0])[0]  # in front of the quantised states
            found[f"{name}.weight"] = value(read[1]) * value(inputs(smooth)[1]).reshape(-1)
        elif role == "aten::layer_norm/Multiply_1":
            found[f"{name}.weight"] = value(read[1]).reshape(-1)
        elif role in ("aten::linear/Add", "aten::layer_norm/Add"):
            found[f"{name}.bias"] = value(read[1]).reshape(-1)
        elif node.get_friendly_name() == f"{PREFIX}/aten::add/Add_1":  # one row of it is used
            types = np.stack([value(read[1]).reshape(-1)] * 2)
            found["embeddings.token_type_embeddings.weight"] = types
    return found


def main() -> None:
    """Write the checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    found = weights(openvino.Core().read_model(SHIPPED / "openvino_int8.xml"))
    named = {f"backbone.{name}": each for name, each in found.items()}
    with np.load(SHIPPED / "verdicts.npz") as head:
        named |= {f"verdicts.{name}": head[name] for name in head}
    base = open_checkpoint(ROOT / "checkpoint")  # of the same architecture and tokenizer
    reading = replace(
        base.reading, own_sentence=False, context=0, context_layers=1, left=48, verdicts=True
    )
    base.model.read_as(reading)
    base.model.load_state_dict({name: torch.tensor(each) for name, each in named.items()})
    replace(base, reading=reading).save(out)


if __name__ == "__main__":
    main()
