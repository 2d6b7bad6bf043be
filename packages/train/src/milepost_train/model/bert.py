"""BERT (Devlin et al., arXiv 1810.04805) whose last layer can compute only the landmarks.

Parameters have the names of Hugging Face's ``BertModel`` (without pooler), so its checkpoints load
unchanged. There is no dropout: landmark training runs without it.

With ``"position_embedding_type": "rotary"`` in ``config.json`` there is no table of positions, so
that texts may be long: queries and keys are rotated, every second layer is local and the last is
global, unless ``layer_types`` says otherwise. ``transformers`` does not know this type.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_train.model.attention import attend_rotary, gather_rows, rope_and_reach

ROTARY = "rotary"
_ACTIVATIONS = ("gelu", "relu", "silu")


def layer_types(count: int) -> list[str]:
    """Which of ``count`` layers of a rotary BERT are local: every second, but not the last.

    >>> layer_types(3)
    ['sliding_attention', 'full_attention', 'full_attention']
    """
    return [
        "full_attention" if number % 2 or number == count - 1 else "sliding_attention"
        for number in range(count)
    ]


class BertLayer(nn.Module):
    """One post-norm transformer layer; with ``marks`` it computes only those positions."""

    def __init__(self, config: dict[str, Any], number: int) -> None:
        super().__init__()
        width, inner = config["hidden_size"], config["intermediate_size"]
        eps = config.get("layer_norm_eps", 1e-12)
        self.theta: float | None = None  # no rotation
        self.reach: int | None = None  # the whole text
        if config.get("position_embedding_type") == ROTARY:
            self.theta, self.reach = rope_and_reach(config, number)
        self.heads = config["num_attention_heads"]
        activation = config.get("hidden_act", "gelu")
        if activation not in _ACTIVATIONS:
            known = ", ".join(_ACTIVATIONS)
            raise ValueError(f"hidden_act is {activation!r}; only {known} are supported")
        self.activation = getattr(F, activation)

        def joined(size: int) -> nn.ModuleDict:
            return nn.ModuleDict(
                {"dense": nn.Linear(size, width), "LayerNorm": nn.LayerNorm(width, eps=eps)}
            )

        projections = {name: nn.Linear(width, width) for name in ("query", "key", "value")}
        self.attention = nn.ModuleDict(
            {"self": nn.ModuleDict(projections), "output": joined(width)}
        )
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, inner)})
        self.output = joined(inner)

    def forward(
        self, states: Tensor, allowed: Tensor | None, marks: Tensor | None = None
    ) -> Tensor:
        """Map ``(b, t, d)`` to ``(b, t, d)``, or to ``(b, m, d)`` at ``marks`` ``(b, m)``.

        ``allowed`` is boolean ``(b, 1, 1 or q, t)``: which tokens each query may attend to; None
        for all.
        """
        asking = states if marks is None else gather_rows(states, marks)
        projections: Any = self.attention["self"]
        mixed = attend_rotary(
            projections["query"](asking),
            projections["key"](states),
            projections["value"](states),
            self.heads,
            allowed,
            marks,
            self.theta,
            self.reach,
        )
        asking = self._add(self.attention["output"], mixed, asking)
        inner = self.activation(self.intermediate["dense"](asking))
        return self._add(self.output, inner, asking)

    @staticmethod
    def _add(block: Any, update: Tensor, states: Tensor) -> Tensor:
        result: Tensor = block["LayerNorm"](block["dense"](update) + states)
        return result


class Layered(nn.Module):
    """Embeddings and layers, of which the last can compute only the landmarks."""

    layers: Any
    max_tokens: int
    width: int

    @property
    def identity(self) -> list[Any]:
        """Settings of each layer that change vectors and that the weights do not determine."""
        return [(layer.heads, layer.theta, layer.reach) for layer in self.layers]

    def embed(self, ids: Tensor) -> Tensor:
        """Compute the input of the first layer: ``(b, t)`` int64 token ids → ``(b, t, d)``."""
        raise NotImplementedError

    def normed(self, states: Tensor) -> Tensor:
        """States of the last layer as they are read."""
        return states

    def forward(
        self,
        ids: Tensor,
        valid: Tensor | None,
        marks: Tensor | None,
        own: Tensor | None,
        second: nn.ModuleList | None = None,
    ) -> Tensor:
        """Compute states at the marks, ``(b, m, d)``.

        Args:
            ids: ``(b, t)`` int64 token ids.
            valid: ``(b, t)`` bool, False for padding; None where all texts have the same length,
                which lets torch choose its fastest attention.
            marks: ``(b, m)`` int64 positions; None for all, in order.
            own: ``(b, 1, m, t)`` bool, the tokens that each mark may attend to in the last layer,
                or None for all valid tokens.
            second: other last layers, which attend to all valid tokens; their states come behind
                those of the first, ``(b, 2m, d)``.
        """
        states = around = self.embed(ids)
        everything = None if valid is None else valid[:, None, None, :]
        *body, last = self.layers
        for number, layer in enumerate(body, 1):
            states = layer(states, everything)
            if second is not None and number == len(self.layers) - len(second):
                around = states
        result: Tensor = last(states, everything if own is None else own, marks)
        if second is not None:
            *more, last = second
            for layer in more:
                around = layer(around, everything)
            result = torch.cat((result, last(around, everything, marks)), 1)
        return self.normed(result)


class Bert(Layered):
    """Embeddings and layers of BERT, by the fields of a Hugging Face ``config.json``."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        positions = config.get("position_embedding_type", "absolute")
        if positions not in ("absolute", ROTARY):
            raise ValueError(f"position_embedding_type is {positions!r}, not absolute or {ROTARY}")
        self.max_tokens, self.width = config["max_position_embeddings"], config["hidden_size"]
        width, kinds = self.width, config.get("type_vocab_size", 2)
        self.rotary = positions == ROTARY
        self.embeddings = nn.ModuleDict(
            {"word_embeddings": nn.Embedding(config["vocab_size"], width)}
        )
        if not self.rotary:
            self.embeddings["position_embeddings"] = nn.Embedding(self.max_tokens, width)
        self.embeddings["token_type_embeddings"] = nn.Embedding(kinds, width)
        self.embeddings["LayerNorm"] = nn.LayerNorm(width, eps=config.get("layer_norm_eps", 1e-12))
        count = config["num_hidden_layers"]
        config = {"layer_types": layer_types(count), **config} if self.rotary else config
        layers = [BertLayer(config, number) for number in range(count)]
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(layers)})

    @property
    def layers(self) -> Any:
        """The layers, in order."""
        return self.encoder["layer"]

    def embed(self, ids: Tensor) -> Tensor:
        """See ``Layered.embed``."""
        tables: Any = self.embeddings
        states: Tensor = tables["word_embeddings"](ids)
        if not self.rotary:
            positions = torch.arange(ids.shape[1], device=ids.device)
            states = states + tables["position_embeddings"](positions)
        normed: Tensor = tables["LayerNorm"](states + tables["token_type_embeddings"].weight[0])
        return normed


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
