"""BERT that reads texts of any length in one pass, for comparing document poolings.

Two changes to a trained BERT, neither of which adds weights:

- Positions wrap around. ``[CLS]`` keeps position 0; later tokens take 1 … 511, then 1 again.
- Attention is local in all layers but the last (in ModernBERT, arXiv 2412.13663, in all but every
  third). A local layer reads overlapping windows of ``2 * block`` states and keeps the middle half
  of each, so every token sees at least ``block / 2`` tokens on either side, and the cost is linear
  in the length. Up to ``block`` tokens it is full attention.

The last layer attends to the whole text and is computed at the pooled positions only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn

from milepost_train.model.bert import Bert, BertLayer

BLOCK = 288
"""A text of 256 tokens and its landmarks fit in one block."""


class LongBert(nn.Module):
    """A BERT's embeddings and layers with the two changes above.

    Args:
        bert: has learned absolute positions; its parameters are shared, not copied.
        block: number of states kept of each window; even.
    """

    def __init__(self, bert: Bert, block: int = BLOCK) -> None:
        if block < 2 or block % 2:
            raise ValueError(f"a block has an even number of states, not {block}")
        super().__init__()
        self.bert = bert
        self.block = block

    def forward(self, ids: Tensor, valid: Tensor, marks: Tensor) -> Tensor:
        """States of the last layer at the marks, ``(b, m, d)``.

        Args:
            ids: ``(b, t)`` int64 token ids, ``[CLS]`` in front; any ``t``.
            valid: ``(b, t)`` bool, False for padding on the right.
            marks: ``(b, m)`` int64 positions.
        """
        table: Any = self.bert.embeddings
        states = table["LayerNorm"](
            table["word_embeddings"](ids)
            + table["position_embeddings"](self._positions(ids))
            + table["token_type_embeddings"].weight[0]
        )
        *local, last = self.bert.encoder["layer"]
        for layer in local:
            states = self._locally(layer, states, valid)
        result: Tensor = last(states, valid[:, None, None, :], marks)
        return result

    def _positions(self, ids: Tensor) -> Tensor:
        round_trip = self.bert.max_tokens - 1
        places = torch.arange(ids.shape[1] - 1, device=ids.device).expand(len(ids), -1)
        return F.pad(places % round_trip + 1, (1, 0))

    def _locally(self, layer: BertLayer, states: Tensor, valid: Tensor) -> Tensor:
        batch, length, width = states.shape
        if length <= self.block:
            whole: Tensor = layer(states, valid[:, None, None, :])
            return whole
        half = self.block // 2
        behind = -length % self.block + half
        size = 2 * self.block
        windows = F.pad(states, (0, 0, half, behind)).unfold(1, size, self.block).mT
        seen = F.pad(valid, (half, behind)).unfold(1, size, self.block).reshape(-1, 1, 1, size)
        middle = torch.arange(half, half + self.block, device=states.device)
        kept = layer(windows.reshape(-1, size, width), seen, middle.expand(len(seen), -1))
        return kept.view(batch, -1, width)[:, :length]


def load_long_bert(folder: Path, keep: Sequence[int]) -> LongBert:
    """Load chosen layers of a BERT folder.

    Args:
        folder: holds ``config.json`` and ``model.safetensors`` of a Hugging Face ``BertModel``.
        keep: numbers of the layers, ascending; a smaller student starts well from every second
            layer of its teacher (DistilBERT, arXiv 1910.01108).
    """
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    place = {str(old): new for new, old in enumerate(keep)}
    weights = {}
    for name, value in load_file(folder / "model.safetensors").items():
        layer = re.match(r"encoder\.layer\.(\d+)\.", name)
        if layer is None:
            weights[name] = value.float()
        elif layer[1] in place:
            weights[f"encoder.layer.{place[layer[1]]}.{name[layer.end() :]}"] = value.float()
    bert = Bert({**config, "num_hidden_layers": len(keep)})
    wanted = bert.state_dict()  # without the pooler and the table of position ids
    bert.load_state_dict({name: weights[name] for name in wanted})
    return LongBert(bert)
