"""Targets of distillation: what a mean-pooled sentence encoder says of each sentence alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor

from milepost.model.bert import Bert


class MeanTeacher:
    """A sentence-transformers model with mean pooling, read from its folder.

    Args:
        folder: ``config.json`` and ``model.safetensors`` of a BERT.
        opening: id of ``[CLS]``.
        closing: id of ``[SEP]``.
    """

    def __init__(self, folder: Path, opening: int, closing: int) -> None:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text())
        self.backbone = Bert(config).eval()
        weights = load_file(folder / "model.safetensors")
        own = self.backbone.state_dict()
        self.backbone.load_state_dict({k: v.float() for k, v in weights.items() if k in own})
        self.opening, self.closing = opening, closing

    @torch.no_grad()
    def vectors(
        self, sentences: Sequence[NDArray[np.int32]], tokens: int = 4096, longest: int = 64
    ) -> Tensor:
        """``(n, d)`` float16 unit vectors of sentences given as token ids.

        Args:
            sentences: token ids without special tokens.
            tokens: tokens of one batch, padding included.
            longest: tokens read of one sentence; the mean of the first 64 says what a target has
                to say, at half the time.
        """
        sentences = [sentence[:longest] for sentence in sentences]
        order = np.argsort([len(s) for s in sentences], kind="stable")
        result = torch.zeros(len(sentences), self.backbone.width, dtype=torch.float16)
        at = 0
        while at < len(order):
            # Ascending lengths: the longest of a batch is its last.
            count = 1
            while (
                at + count < len(order)
                and (count + 1) * (len(sentences[order[at + count]]) + 2) <= tokens
            ):
                count += 1
            chosen = order[at : at + count]
            result[torch.from_numpy(chosen)] = self._pooled([sentences[i] for i in chosen])
            at += count
        return result

    def _pooled(self, sentences: Sequence[NDArray[np.int32]]) -> Tensor:
        longest = max(len(s) for s in sentences) + 2
        ids = torch.zeros(len(sentences), longest, dtype=torch.long)
        valid = torch.zeros(len(sentences), longest, dtype=torch.bool)
        for row, tokens in enumerate(sentences):
            full = [self.opening, *tokens.tolist(), self.closing]
            ids[row, : len(full)] = torch.tensor(full)
            valid[row, : len(full)] = True
        everywhere = torch.arange(longest).expand(len(sentences), -1)
        with torch.autocast("cpu", torch.bfloat16):
            states = self.backbone(ids, valid, everywhere, None).float()
        weights = valid.unsqueeze(-1).float()
        mean = (states * weights).sum(1) / weights.sum(1)
        return F.normalize(mean, dim=-1).half()
