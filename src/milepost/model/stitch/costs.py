"""What an encoder costs, as formulas: parameters that are run, and floating-point operations.

One multiplication with its addition is two operations; norms, activations and softmax are left
out, as usual. Tables of embeddings are parameters and no operations.
"""

from __future__ import annotations

from typing import Any


def block_parameters(width: int, inner: int | None = None) -> int:
    """Of one transformer block: ``4 d^2 + 2 d i + 9 d + i``, which is ``12 d^2 + 13 d`` for 4 d.

    >>> [block_parameters(width) for width in (192, 384, 768)]
    [444864, 1774464, 7087872]
    """
    wide = 4 * width if inner is None else inner
    return 4 * width**2 + 2 * width * wide + 9 * width + wide


def linear_parameters(start: int, end: int) -> int:
    """Of a stitch between two widths, with its bias.

    >>> linear_parameters(192, 768)
    148224
    """
    return start * end + end


def table_parameters(config: dict[str, Any]) -> int:
    """Of the embeddings of a BERT: words, positions, types and the norm."""
    rows = config["vocab_size"] + config["max_position_embeddings"]
    rows += config.get("type_vocab_size", 2) + 2
    return int(rows * config["hidden_size"])


def block_operations(width: int, inner: int, tokens: int, asking: int | None = None) -> int:
    """Of one block over ``tokens``, of which ``asking`` get a state (None: all).

    Keys and values of every token; queries, output and the inner layers of those that ask; scores
    and mixture of each with every token.
    """
    rows = tokens if asking is None else asking
    projections = 2 * (2 * tokens + 2 * rows) * width**2
    return projections + 4 * rows * tokens * width + 4 * rows * width * inner


def linear_operations(start: int, end: int, rows: int) -> int:
    """Of a stitch over so many states."""
    return 2 * rows * start * end
