"""The network of one stitched descendant: narrow BERT blocks, a linear map, wide BERT blocks.

Embeddings and positions are those of the front; both parts use the same mask; the last block
computes only landmarks.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from milepost_train.model.bert import BertLayer, embed, embeddings, through

MODEL_TYPE = "milepost_stitched"
"""``model_type`` in ``config.json``."""


class Stitched(nn.Module):
    """A front, a stitch and an end.

    Args:
        config: ``front`` and ``end``, fields of BERT configurations whose ``num_hidden_layers`` is
            the number of blocks to run (0 or more for the end); ``vocab_size``. The vectors have
            the ``hidden_size`` of the end.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        front, end = config["front"], config["end"]
        self.embeddings = embeddings({**front, "vocab_size": config["vocab_size"]})
        self.front = nn.ModuleList(BertLayer(front) for _ in range(front["num_hidden_layers"]))
        self.stitch = nn.Linear(front["hidden_size"], end["hidden_size"])
        self.end = nn.ModuleList(BertLayer(end) for _ in range(end["num_hidden_layers"]))
        self.max_tokens: int = front["max_position_embeddings"]
        self.width: int = end["hidden_size"]

    def forward(self, ids: Tensor, valid: Tensor, marks: Tensor, own: Tensor | None) -> Tensor:
        """Compute states at the marks, ``(b, m, d)``; see ``Bert.forward``."""
        states = embed(self.embeddings, ids)
        if not len(self.end):
            left: Tensor = self.stitch(through(self.front, states, valid, marks, own))
            return left
        everything = valid[:, None, None, :]
        for layer in self.front:
            states = layer(states, everything)
        return through(self.end, self.stitch(states), valid, marks, own)
