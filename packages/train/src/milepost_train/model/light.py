"""The light backbone: token vectors without attention, and a small network across sentences.

A sentence starts as the sum of its tokens' vectors, whose lengths are their weights (static
vectors, as in model2vec and SIF, Arora et al. 2017), so a token costs one look-up. Context is then
added among the sentences of the window, of which there are some thirty times fewer than tokens:
gated convolutions over sentences, with the mean of the window (the gated linear unit of Dauphin et
al., arXiv 1612.08083, with a depthwise convolution in its value).
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_train.model.attention import gather_rows

MODEL_TYPE = "milepost_light"
"""``model_type`` in ``config.json``."""

# The engine compiles kernels for every input shape, so the number of sentences is rounded up.
_STEP = 16


class LightBlock(nn.Module):
    """Mixes each sentence with ``reach`` neighbours on each side and with the window's mean."""

    def __init__(self, width: int, inner: int, reach: int) -> None:
        super().__init__()
        self.reach = reach
        self.norm = nn.LayerNorm(width)
        self.enter = nn.Linear(width, 2 * inner)
        self.near = nn.Parameter(torch.zeros(2 * reach + 1, inner))
        self.far = nn.Parameter(torch.zeros(inner))
        self.leave = nn.Linear(inner, width)
        with torch.no_grad():
            self.near[reach] = 1.0  # initially a sentence sees only itself
            self.leave.weight.mul_(0.3)

    def forward(self, states: Tensor, present: Tensor) -> Tensor:
        """Map ``(b, n, d)`` to the same shape; ``present`` ``(b, n, 1)`` is 1 at sentences."""
        value, gate = self.enter(self.norm(states)).chunk(2, dim=-1)
        value = value * present
        mean = value.sum(1, keepdim=True) / present.sum(1, keepdim=True).clamp(min=1.0)
        count = value.shape[1]
        padded = F.pad(value, (0, 0, self.reach, self.reach))
        mixed = mean * self.far
        for step in range(2 * self.reach + 1):
            mixed = mixed + padded[:, step : step + count] * self.near[step]
        result: Tensor = states + self.leave(mixed * F.silu(gate))
        return result


class Light(nn.Module):
    """Token vectors, sums over sentences, blocks across sentences.

    Of ``config``: ``table_width`` is the width of token vectors, ``hidden_size`` that of sentence
    states and of the result; ``intermediate_size`` and ``num_hidden_layers`` are of the blocks,
    which see ``reach`` neighbours on each side; ``max_position_embeddings`` is the longest window.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        narrow, width = config["table_width"], config["hidden_size"]
        table = nn.Embedding(config["vocab_size"], narrow)
        self.embeddings = nn.ModuleDict({"word_embeddings": table})
        self.norm = nn.LayerNorm(narrow)
        self.lift = nn.Linear(narrow, width)
        self.blocks = nn.ModuleList(
            LightBlock(width, config["intermediate_size"], config["reach"])
            for _ in range(config["num_hidden_layers"])
        )
        self.last = nn.LayerNorm(width)
        self.project = nn.Linear(width, width)
        self.max_tokens: int = config["max_position_embeddings"]
        self.width: int = width

    def forward(self, ids: Tensor, sentences: Tensor, marks: Tensor) -> Tensor:
        """Compute states of the marked sentences, ``(b, m, d)``, as ``LandmarkEncoder`` does."""
        result: Tensor = self.project(self.gather(ids, sentences, marks))
        return result

    def gather(self, ids: Tensor, sentences: Tensor, marks: Tensor) -> Tensor:
        """Compute the states that ``forward`` projects, ``(b, m, d)``."""
        most = sentences.max()
        numbers = torch.arange((most // _STEP + 1) * _STEP, device=ids.device) + 1
        own = (numbers[None, :, None] == sentences[:, None, :]).to(self.project.weight.dtype)
        present = (numbers <= sentences.amax(1, keepdim=True)).to(own.dtype).unsqueeze(-1)
        states = self.lift(self.norm(own @ self._tokens(ids)))
        for block in self.blocks:
            states = block(states, present)
        wanted = (torch.gather(sentences.long(), 1, marks) - 1).clamp(min=0)
        result: Tensor = self.last(gather_rows(states, wanted))
        return result

    def _tokens(self, ids: Tensor) -> Tensor:
        found: Tensor = self.embeddings["word_embeddings"](ids)
        return found


class RoundedLight(Light):
    """A light backbone whose table has 8 bits and one scale per token, as it is exported."""

    codes: Tensor
    scales: Tensor

    def __init__(self, light: Light, config: dict[str, Any]) -> None:
        super().__init__({**config, "vocab_size": 1})
        del self.embeddings
        weights = light.state_dict()
        codes, scales = rounded(weights.pop("embeddings.word_embeddings.weight"))
        self.load_state_dict(weights)
        self.register_buffer("codes", codes)
        self.register_buffer("scales", scales)

    def _tokens(self, ids: Tensor) -> Tensor:
        scales = F.embedding(ids, self.scales.unsqueeze(-1))
        return F.embedding(ids, self.codes).to(scales.dtype) * scales


def rounded(table: Tensor) -> tuple[Tensor, Tensor]:
    """Round rows to int8 with one scale per row: ``(v, e)`` int8, ``(v,)`` float32."""
    scales = table.abs().amax(1).clamp(min=1e-8) / 127
    return (table / scales[:, None]).round().to(torch.int8), scales
