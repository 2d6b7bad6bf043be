"""Store token vectors in fewer bits, for vocabularies that are larger than the network.

A row is converted to float when it is looked up; NNCF's tables are converted when the graph is
loaded, which takes five times the memory. The table of a light model has 8 bits. With 4 bits the
format is Q4_0 of llama.cpp: 32 numbers share a 16-bit scale, so a number takes 4.5 bits, on
disk and in memory.
"""

from __future__ import annotations

import copy

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost.errors import ModelError
from milepost_train.model.bert import Bert
from milepost_train.model.landmark_encoder import LandmarkEncoder
from milepost_train.model.light import Light, RoundedLight

BLOCK = 32
"""How many numbers share a scale."""


class PackedTable(nn.Module):
    """A replacement of ``nn.Embedding`` with 4-bit weights.

    Args:
        codes: ``(v, d / 2)`` uint8: in each block of 16 bytes the lower 4 bits hold the first 16
            numbers plus 8, the upper 4 bits the last 16 plus 8.
        scales: ``(v, d / 32)`` float16.
    """

    codes: Tensor
    scales: Tensor

    def __init__(self, codes: Tensor, scales: Tensor) -> None:
        super().__init__()
        self.register_buffer("codes", codes)
        self.register_buffer("scales", scales)

    def forward(self, ids: Tensor) -> Tensor:
        """Look up ``(b, t)`` int64 token ids: ``(b, t, d)`` float32."""
        bytes_ = F.embedding(ids, self.codes).float().unflatten(-1, (-1, BLOCK // 2))
        # Arithmetic instead of shifts, which some engines lack for bytes.
        upper = (bytes_ / 16).floor()
        wide = torch.cat((bytes_ - 16 * upper, upper), -1) - 8
        scales = F.embedding(ids, self.scales).float().unsqueeze(-1)
        result: Tensor = (wide * scales).flatten(-2)
        return result


def packed(table: Tensor) -> PackedTable:
    """Round a table, whose width 32 divides, to 4 bits; one of this format stays exact."""
    blocks = table.detach().float().unflatten(-1, (-1, BLOCK))
    # The number farthest from zero becomes -8, whatever its sign: the scale may be negative.
    farthest = blocks.gather(-1, blocks.abs().argmax(-1, keepdim=True))
    scales = (farthest / -8).half()
    given = scales.float()
    inverse = torch.where(given == 0, torch.zeros_like(given), 1 / given)
    codes = ((blocks * inverse).round() + 8).clamp(0, 15).to(torch.uint8)
    lower, upper = codes.chunk(2, -1)
    return PackedTable((lower + 16 * upper).flatten(-2), scales.squeeze(-1))


def with_packed_table(model: LandmarkEncoder) -> LandmarkEncoder:
    """Copy a model with token vectors in 4 bits, as they are exported."""
    if not isinstance(model.backbone, Bert) or model.backbone.width % BLOCK:
        raise ModelError(
            f"token vectors of {model.config.get('model_type')!r} cannot be packed into 4 bits",
            f"a BERT with a width that {BLOCK} divides",
        )
    small = copy.deepcopy(model)
    tables = small.backbone.embeddings
    tables["word_embeddings"] = packed(tables["word_embeddings"].weight)
    small.eval()
    return small


def with_rounded_table(model: LandmarkEncoder) -> LandmarkEncoder:
    """Copy a model with the table rounded as in the export, to compare both."""
    if not isinstance(model.backbone, Light):
        raise ModelError(
            f"{model.config.get('model_type')!r} has no table of static vectors", "a light model"
        )
    small = copy.deepcopy(model)
    small.backbone = RoundedLight(model.backbone, model.config)
    small.eval()
    return small
