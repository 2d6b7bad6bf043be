"""Remove the activation quantisers of an int8 graph: the same weights, in float arithmetic.

Weights stay in 8 bits on disk and, if the engine supports it, in memory.
"""

from __future__ import annotations

from typing import Any


def without_quantizers(graph: Any) -> None:
    """Remove the ``FakeQuantize`` nodes of a graph, so that all products are in float.

    Only activations have such nodes: saving the graph turned weights into 8-bit numbers and scales.
    """
    for node in graph.get_ordered_ops():
        if node.get_type_name() == "FakeQuantize":
            source = node.input_value(0)
            for target in node.output(0).get_target_inputs():
                target.replace_source_output(source)
