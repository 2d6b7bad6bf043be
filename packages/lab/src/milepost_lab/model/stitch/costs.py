"""The cost of an encoder by formula: parameters in use, and floating-point operations.

A multiplication with its addition counts as two operations; norms, activations and softmax are left
out, as usual. Embedding tables count as parameters without operations.
"""

from __future__ import annotations

from typing import Any


def block_parameters(width: int, inner: int | None = None) -> int:
    """Parameters of a block: ``4 d^2 + 2 d i + 9 d + i``, which is ``12 d^2 + 13 d`` for 4 d.

    >>> [block_parameters(width) for width in (192, 384, 768)]
    [444864, 1774464, 7087872]
    """
    wide = 4 * width if inner is None else inner
    return 4 * width**2 + 2 * width * wide + 9 * width + wide


def linear_parameters(start: int, end: int) -> int:
    """Parameters of a stitch between two widths, with its bias.

    >>> linear_parameters(192, 768)
    148224
    """
    return start * end + end


def table_parameters(config: dict[str, Any]) -> int:
    """Parameters of the embeddings of a BERT: words, positions, types and the norm."""
    rows = config["vocab_size"] + config["max_position_embeddings"]
    rows += config.get("type_vocab_size", 2) + 2
    return int(rows * config["hidden_size"])


def block_operations(width: int, inner: int, tokens: int, asking: int | None = None) -> int:
    """Operations of a block over ``tokens`` that computes states of ``asking`` tokens (None: all).

    Keys and values are computed for every token; queries, output and inner layers for ``asking``
    tokens; scores and mixtures for each of these with every token.
    """
    rows = tokens if asking is None else asking
    projections = 2 * (2 * tokens + 2 * rows) * width**2
    return projections + 4 * rows * tokens * width + 4 * rows * width * inner


def linear_operations(start: int, end: int, rows: int) -> int:
    """Operations of a stitch over a number of states."""
    return 2 * rows * start * end
