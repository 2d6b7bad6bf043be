"""ModernBERT (Warner et al., arXiv 2412.13663) whose last layer can compute only the landmarks.

Parameters have the names of Hugging Face's ``ModernBertModel``. There is no dropout.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_train.model.attention import attend, bias_of, gather_rows, split_heads
from milepost_train.model.bert import Layered


def rotate(states: Tensor, positions: Tensor, theta: float) -> Tensor:
    """Apply rotary position embeddings (arXiv 2104.09864), rotating halves.

    Args:
        states: ``(b, h, t, e)`` queries or keys.
        positions: ``(t,)`` or ``(b, t)`` int64.
        theta: base of the frequencies.
    """
    half = states.shape[-1] // 2
    exponents = torch.arange(half, device=states.device, dtype=torch.float32) / half
    angles = positions[..., None].float() * theta**-exponents
    if angles.dim() == 3:
        angles = angles[:, None]
    cos, sin = angles.cos().to(states.dtype), angles.sin().to(states.dtype)
    first, second = states[..., :half], states[..., half:]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class ModernBertLayer(nn.Module):
    """One pre-norm layer with rotary positions and a gated inner layer."""

    def __init__(self, config: dict[str, Any], number: int) -> None:
        super().__init__()
        width, inner = config["hidden_size"], config["intermediate_size"]
        eps, bias = config.get("norm_eps", 1e-5), config.get("norm_bias", False)
        in_attention, in_mlp = config.get("attention_bias", False), config.get("mlp_bias", False)
        self.heads = config["num_attention_heads"]
        self.theta: float | None  # None: no positions
        self.theta, self.reach = _rope_and_reach(config, number)
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

    def forward(self, states: Tensor, allowed: Tensor, marks: Tensor | None = None) -> Tensor:
        """See ``BertLayer.forward``."""
        everywhere = torch.arange(states.shape[1], device=states.device)
        here = everywhere if marks is None else marks
        asking = states if marks is None else gather_rows(states, marks)
        width = states.shape[-1]
        normed = self.attn_norm(states)
        normed_asking = normed if marks is None else gather_rows(normed, marks)
        joint: Any = self.attn["Wqkv"]
        bias = joint.bias
        query = F.linear(
            normed_asking, joint.weight[:width], None if bias is None else bias[:width]
        )
        key, value = F.linear(
            normed, joint.weight[width:], None if bias is None else bias[width:]
        ).split(width, dim=-1)
        query = self._placed(split_heads(query, self.heads), here)
        key = self._placed(split_heads(key, self.heads), everywhere)
        value = split_heads(value, self.heads)
        reach = self.reach
        if reach is not None:
            near = (here[..., :, None] - everywhere).abs() <= reach
            allowed = allowed & (near[None, None] if marks is None else near[:, None])
        mixed = attend(query, key, value, bias_of(allowed, states.dtype))
        asking = asking + self.attn["Wo"](mixed)
        value_part, gate = self.mlp["Wi"](self.mlp_norm(asking)).chunk(2, dim=-1)
        result: Tensor = asking + self.mlp["Wo"](F.gelu(value_part) * gate)
        return result

    def _placed(self, states: Tensor, positions: Tensor) -> Tensor:
        return states if self.theta is None else rotate(states, positions, self.theta)


def _rope_and_reach(config: dict[str, Any], number: int) -> tuple[float, int | None]:
    """Return a layer's base of the rotary frequencies and half its sliding window (None: global).

    Both formats of ``config.json`` are supported: ``layer_types`` with ``rope_parameters``
    (transformers 5) and ``global_attn_every_n_layers`` with two thetas (4.48).
    """
    kinds = config.get("layer_types")
    every = config.get("global_attn_every_n_layers", 3)
    is_global = kinds[number] == "full_attention" if kinds else number % every == 0
    rope = config.get("rope_parameters") or {}
    if is_global:
        theta = rope.get("full_attention", {}).get("rope_theta")
        return float(theta or config.get("global_rope_theta", 160000.0)), None
    theta = rope.get("sliding_attention", {}).get("rope_theta")
    reach = config.get("local_attention", 128) // 2
    return float(theta or config.get("local_rope_theta") or 10000.0), reach


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

    @property
    def identity(self) -> list[Any]:
        """Settings of each layer that change vectors and that the weights do not determine."""
        return [(layer.heads, layer.theta, layer.reach) for layer in self.layers]

    def embed(self, ids: Tensor) -> Tensor:
        """See ``Layered.embed``."""
        table: Any = self.embeddings
        states: Tensor = table["norm"](table["tok_embeddings"](ids))
        return states

    def normed(self, states: Tensor) -> Tensor:
        """See ``Layered.normed``."""
        normed: Tensor = self.final_norm(states)
        return normed
