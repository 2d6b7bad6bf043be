"""ModernBERT (Warner et al., arXiv 2412.13663) whose last layer can compute only the landmarks.

Parameters have the names of Hugging Face's ``ModernBertModel``. There is no dropout.
"""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from milepost_train.model.attention import attend_rotary, gather_rows, rope_and_reach
from milepost_train.model.bert import Layered


class ModernBertLayer(nn.Module):
    """One pre-norm layer with rotary positions and a gated inner layer."""

    def __init__(self, config: dict[str, Any], number: int) -> None:
        super().__init__()
        width, inner = config["hidden_size"], config["intermediate_size"]
        eps, bias = config.get("norm_eps", 1e-5), config.get("norm_bias", False)
        in_attention, in_mlp = config.get("attention_bias", False), config.get("mlp_bias", False)
        self.heads = config["num_attention_heads"]
        self.theta: float | None  # None: no positions
        self.theta, self.reach = rope_and_reach(config, number)
        self.attn_norm: nn.Module = (
            nn.Identity() if number == 0 else nn.LayerNorm(width, eps=eps, bias=bias)
        )
        self.attn = nn.ModuleDict(
            {
                "Wqkv": nn.Linear(width, 3 * width, bias=in_attention),
                "Wo": nn.Linear(width, width, bias=in_attention),
            }
        )
        self.mlp_norm = nn.LayerNorm(width, eps=eps, bias=bias)
        self.mlp = nn.ModuleDict(
            {
                "Wi": nn.Linear(width, 2 * inner, bias=in_mlp),
                "Wo": nn.Linear(inner, width, bias=in_mlp),
            }
        )

    def forward(
        self, states: Tensor, allowed: Tensor | None, marks: Tensor | None = None
    ) -> Tensor:
        """See ``BertLayer.forward``."""
        asking = states if marks is None else gather_rows(states, marks)
        width = states.shape[-1]
        normed = self.attn_norm(states)
        normed_asking = normed if marks is None else gather_rows(normed, marks)
        joint: Any = self.attn["Wqkv"]
        of_query, of_rest = (
            (joint.weight[part], None if joint.bias is None else joint.bias[part])
            for part in (slice(width), slice(width, None))
        )
        query = F.linear(normed_asking, *of_query)
        key, value = F.linear(normed, *of_rest).split(width, dim=-1)
        mixed = attend_rotary(query, key, value, self.heads, allowed, marks, self.theta, self.reach)
        asking = asking + self.attn["Wo"](mixed)
        value_part, gate = self.mlp["Wi"](self.mlp_norm(asking)).chunk(2, dim=-1)
        result: Tensor = asking + self.mlp["Wo"](F.gelu(value_part) * gate)
        return result


class ModernBert(Layered):
    """Embeddings, layers and final norm of ModernBERT, by a Hugging Face ``config.json``."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        activation = config.get("hidden_activation", "gelu")
        if activation != "gelu":
            raise ValueError(f"hidden_activation is {activation!r}; only gelu is supported")
        width = config["hidden_size"]
        eps, bias = config.get("norm_eps", 1e-5), config.get("norm_bias", False)
        self.embeddings = nn.ModuleDict(
            {
                "tok_embeddings": nn.Embedding(config["vocab_size"], width),
                "norm": nn.LayerNorm(width, eps=eps, bias=bias),
            }
        )
        self.layers = nn.ModuleList(
            ModernBertLayer(config, number) for number in range(config["num_hidden_layers"])
        )
        self.final_norm = nn.LayerNorm(width, eps=eps, bias=bias)
        self.max_tokens, self.width = config["max_position_embeddings"], width

    def embed(self, ids: Tensor) -> Tensor:
        """See ``Layered.embed``."""
        table: Any = self.embeddings
        states: Tensor = table["norm"](table["tok_embeddings"](ids))
        return states

    def normed(self, states: Tensor) -> Tensor:
        """See ``Layered.normed``."""
        normed: Tensor = self.final_norm(states)
        return normed
