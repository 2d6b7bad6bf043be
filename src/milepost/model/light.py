"""The light backbone: token vectors without attention, and a small network across sentences.

A sentence starts as the sum of its tokens' vectors, whose lengths say how much each counts (static
vectors, as in model2vec and SIF, Arora et al. 2017), so its tokens cost a look-up. What it means
beside its neighbours is then worked out among the sentences of the window, some thirty times fewer
than its tokens: gated convolutions over them, with the mean of the window (the gated linear unit of
Dauphin et al., arXiv 1612.08083, with a depthwise convolution in its value).
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost.model.attention import gather_rows

MODEL_TYPE = "milepost_light"
"""``model_type`` of its ``config.json``."""

# The engine makes kernels for every shape it meets, so the number of sentences is rounded up.
_STEP = 16


class LightBlock(nn.Module):
    """Sentences look at the ``reach`` before and behind them, and at the window's mean."""

    def __init__(self, width: int, inner: int, reach: int) -> None:
        super().__init__()
        self.reach = reach
        self.norm = nn.LayerNorm(width)
        self.enter = nn.Linear(width, 2 * inner)
        self.near = nn.Parameter(torch.zeros(2 * reach + 1, inner))
        self.far = nn.Parameter(torch.zeros(inner))
        self.leave = nn.Linear(inner, width)
        with torch.no_grad():
            self.near[reach] = 1.0  # at first a sentence sees itself alone
            self.leave.weight.mul_(0.3)

    def forward(self, states: Tensor, present: Tensor) -> Tensor:
        """``(b, n, d)`` → the same; ``present`` ``(b, n, 1)`` is 1 where there is a sentence."""
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

    Args:
        config: ``vocab_size``; ``table_width`` of the token vectors; ``hidden_size`` of the
            sentences' states, which is that of the result; ``intermediate_size`` and
            ``num_hidden_layers`` of the blocks; ``reach``, neighbours seen on each side by one;
            ``max_position_embeddings``, maximum tokens of a window.

    Attributes:
        embeddings: holds the token vectors, ``(vocab, table_width)``.
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
        """States of the marked sentences, ``(b, m, d)``.

        Args:
            ids: ``(b, t)`` int64 token ids.
            sentences: ``(b, t)``: number of each token's sentence, its landmark included; 0 for
                the BOS token, -1 for padding; both are ignored.
            marks: ``(b, m)`` int64 positions of landmarks.
        """
        result: Tensor = self.project(self.gather(ids, sentences, marks))
        return result

    def gather(self, ids: Tensor, sentences: Tensor, marks: Tensor) -> Tensor:
        """What ``forward`` projects: the states of the marked sentences, ``(b, m, d)``."""
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
        """Vectors of tokens, ``(b, t, e)``."""
        found: Tensor = self.embeddings["word_embeddings"](ids)
        return found


class RoundedLight(Light):
    """The same with the table in 8 bits, one scale a token, as it is exported.

    Args:
        light: what to round; it is left as it is.
        config: its config.
    """

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
    """Rows as int8 and what each is to be multiplied by: ``(v, e)`` int8, ``(v,)`` float32."""
    scales = table.abs().amax(1).clamp(min=1e-8) / 127
    return (table / scales[:, None]).round().to(torch.int8), scales
