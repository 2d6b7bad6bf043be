"""A table of token vectors in 4 bits, for vocabularies that weigh more than the network.

The format is Q4_0 of llama.cpp: 32 numbers share a scale of 16 bits, so a number takes 4.5 bits. A
row is widened when it is looked up, in memory as on disk.
"""

from __future__ import annotations

import copy

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost.errors import ModelError
from milepost.model.bert import Bert
from milepost.model.landmark_encoder import LandmarkEncoder

BLOCK = 32
"""Numbers that share a scale."""


class PackedTable(nn.Module):
    """Takes the place of an ``nn.Embedding``.

    Args:
        codes: ``(v, d / 2)`` uint8: in each block of 16 bytes the lower halves are its first 16
            numbers plus 8, the upper halves its last 16.
        scales: ``(v, d / 32)`` float16.
    """

    codes: Tensor
    scales: Tensor

    def __init__(self, codes: Tensor, scales: Tensor) -> None:
        super().__init__()
        self.register_buffer("codes", codes)
        self.register_buffer("scales", scales)

    def forward(self, ids: Tensor) -> Tensor:
        """``(b, t)`` int64 token ids → ``(b, t, d)`` float32."""
        bytes_ = F.embedding(ids, self.codes).float().unflatten(-1, (-1, BLOCK // 2))
        # Arithmetic instead of shifts, which not every engine has for bytes.
        upper = (bytes_ / 16).floor()
        wide = torch.cat((bytes_ - 16 * upper, upper), -1) - 8
        scales = F.embedding(ids, self.scales).float().unsqueeze(-1)
        result: Tensor = (wide * scales).flatten(-2)
        return result


def packed(table: Tensor) -> PackedTable:
    """Round a table; one that was widened from this format comes out as it was.

    Args:
        table: ``(v, d)``, ``d`` a multiple of 32.
    """
    blocks = table.detach().float().unflatten(-1, (-1, BLOCK))
    # The number farthest from zero becomes -8, whatever its sign: the one code without a mirror.
    farthest = blocks.gather(-1, blocks.abs().argmax(-1, keepdim=True))
    scales = (farthest / -8).half()
    given = scales.float()
    inverse = torch.where(given == 0, torch.zeros_like(given), 1 / given)
    codes = ((blocks * inverse).round() + 8).clamp(0, 15).to(torch.uint8)
    lower, upper = codes.chunk(2, -1)
    return PackedTable((lower + 16 * upper).flatten(-2), scales.squeeze(-1))


def with_packed_table(model: LandmarkEncoder) -> LandmarkEncoder:
    """A copy whose token vectors are in 4 bits, as it is exported.

    Raises:
        ModelError: the backbone is not a BERT of ours, or 32 does not divide its width.
    """
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
