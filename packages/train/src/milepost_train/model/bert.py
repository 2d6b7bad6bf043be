"""BERT (Devlin et al., arXiv 1810.04805) whose last layer can compute only the landmarks.

Parameters have the names of Hugging Face's ``BertModel`` (without pooler), so its checkpoints load
unchanged. There is no dropout: landmark training runs without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_train.model.attention import attend, bias_of, gather_rows, split_heads

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "relu": F.relu,
    "silu": F.silu,
}


class BertLayer(nn.Module):
    """One post-norm transformer layer; with ``marks`` it computes only those positions."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        width, inner = config["hidden_size"], config["intermediate_size"]
        eps = config.get("layer_norm_eps", 1e-12)
        self.heads = config["num_attention_heads"]
        activation = config.get("hidden_act", "gelu")
        if activation not in _ACTIVATIONS:
            known = ", ".join(_ACTIVATIONS)
            raise ValueError(f"hidden_act is {activation!r}; only {known} are supported")
        self.activation = _ACTIVATIONS[activation]

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

    def forward(self, states: Tensor, allowed: Tensor, marks: Tensor | None = None) -> Tensor:
        """Map ``(b, t, d)`` to ``(b, t, d)``, or to ``(b, m, d)`` at ``marks`` ``(b, m)``.

        ``allowed`` is boolean ``(b, 1, 1 or q, t)``: which tokens each query may attend to.
        """
        asking = states if marks is None else gather_rows(states, marks)
        projections: Any = self.attention["self"]
        mixed = attend(
            split_heads(projections["query"](asking), self.heads),
            split_heads(projections["key"](states), self.heads),
            split_heads(projections["value"](states), self.heads),
            bias_of(allowed, states.dtype),
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

    def embed(self, ids: Tensor) -> Tensor:
        """Compute the input of the first layer: ``(b, t)`` int64 token ids → ``(b, t, d)``."""
        raise NotImplementedError

    def normed(self, states: Tensor) -> Tensor:
        """States of the last layer as they are read."""
        return states

    def forward(
        self,
        ids: Tensor,
        valid: Tensor,
        marks: Tensor,
        own: Tensor | None,
        second: nn.ModuleList | None = None,
    ) -> Tensor:
        """Compute states at the marks, ``(b, m, d)``.

        Args:
            ids: ``(b, t)`` int64 token ids.
            valid: ``(b, t)`` bool, False for padding.
            marks: ``(b, m)`` int64 positions.
            own: ``(b, 1, m, t)`` bool, the tokens that each mark may attend to in the last layer,
                or None for all valid tokens.
            second: other last layers, which attend to all valid tokens; their states come behind
                those of the first, ``(b, 2m, d)``.
        """
        states = around = self.embed(ids)
        everything = valid[:, None, None, :]
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
        if config.get("position_embedding_type", "absolute") != "absolute":
            raise ValueError("only BERT with absolute position embeddings is supported")
        self.max_tokens, self.width = config["max_position_embeddings"], config["hidden_size"]
        width, kinds = self.width, config.get("type_vocab_size", 2)
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(config["vocab_size"], width),
                "position_embeddings": nn.Embedding(self.max_tokens, width),
                "token_type_embeddings": nn.Embedding(kinds, width),
                "LayerNorm": nn.LayerNorm(width, eps=config.get("layer_norm_eps", 1e-12)),
            }
        )
        layers = [BertLayer(config) for _ in range(config["num_hidden_layers"])]
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(layers)})

    @property
    def layers(self) -> Any:
        """The layers, in order."""
        return self.encoder["layer"]

    def embed(self, ids: Tensor) -> Tensor:
        """See ``Layered.embed``."""
        tables: Any = self.embeddings
        positions = torch.arange(ids.shape[1], device=ids.device)
        states: Tensor = tables["LayerNorm"](
            tables["word_embeddings"](ids)
            + tables["position_embeddings"](positions)
            + tables["token_type_embeddings"].weight[0]
        )
        return states
