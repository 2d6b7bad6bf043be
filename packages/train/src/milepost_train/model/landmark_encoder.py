"""The landmark encoder: token ids of windows → unit vectors at their landmarks.

After Luo et al. (Landmark Embedding, arXiv 2402.11573): a landmark token closes every sentence
and its last state is the sentence's vector. Milepost differs in two settings of the manifest: the
encoder is bidirectional, and in the last layer a landmark attends only to its own sentence (the
layers below have added the context). The last layer is computed only at landmarks.
"""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from milepost.errors import InputError, ModelError
from milepost_train.model import stitched
from milepost_train.model.bert import Bert, BertLayer
from milepost_train.model.huggingface import HuggingFace
from milepost_train.model.light import MODEL_TYPE, Light
from milepost_train.model.modernbert import ModernBert, ModernBertLayer

BACKBONES: dict[str, type[Bert] | type[ModernBert] | type[Light] | type[stitched.Stitched]] = {
    "bert": Bert,
    "modernbert": ModernBert,
    MODEL_TYPE: Light,
    stitched.MODEL_TYPE: stitched.Stitched,
}
"""Milepost's backbones; every other one is ``huggingface.HuggingFace``."""

Backbone = Bert | ModernBert | Light | stitched.Stitched | HuggingFace


class LandmarkEncoder(nn.Module):
    """A backbone read at its landmarks.

    Args:
        config: fields of a Hugging Face ``config.json``; ``model_type`` names the backbone.
        own_sentence: whether a landmark attends to its own sentence only in the last layer
            (False: to the whole window, as in the papers).
        backbone: a ``transformers`` backbone instead of Milepost's; it attends to the whole window.

    Raises:
        ValueError: ``model_type`` is unknown, or the backbone does not support ``own_sentence``.
    """

    def __init__(
        self,
        config: dict[str, Any],
        *,
        own_sentence: bool = True,
        backbone: HuggingFace | None = None,
    ) -> None:
        super().__init__()
        kind = config.get("model_type", "")
        if backbone is None and kind not in BACKBONES:
            raise ValueError(f"no backbone for model_type {kind!r}; known: {sorted(BACKBONES)}")
        if backbone is not None and own_sentence:
            raise ValueError(f"{kind} of transformers has no last layer of its own sentence")
        self.config = config
        self.own_sentence = own_sentence and kind != MODEL_TYPE  # a light model has no attention
        self.backbone: Backbone = backbone or BACKBONES[kind](config)
        self._kept: int | None = None

    @property
    def dimensions(self) -> int:
        """Dimensions of a vector: the backbone's width, unless the encoder is ``shortened``."""
        return self._kept or int(self.backbone.width)

    def shortened(self, dimensions: int) -> LandmarkEncoder:
        """Return an encoder with the same weights whose vectors are truncated and renormalised.

        Training at several widths prepares vectors for this (``losses.over_prefixes``, Kusupati et
        al., Matryoshka Representation Learning, arXiv 2205.13147).

        Args:
            dimensions: number of leading dimensions to keep.

        Raises:
            InputError: ``dimensions`` is below 1 or above the current number.
        """
        most = self.dimensions
        if not 1 <= dimensions <= most:
            raise InputError(
                f"vectors of {most} numbers cannot be cut to {dimensions}", f"keep 1 to {most}"
            )
        made = copy.copy(self)
        if dimensions < most:
            made._kept = dimensions
        return made

    @property
    def causal(self) -> bool:
        """Whether a landmark sees only preceding tokens."""
        return isinstance(self.backbone, HuggingFace) and self.backbone.causal

    def forward(self, ids: Tensor, sentences: Tensor, marks: Tensor) -> Tensor:
        """Compute unit vectors at the landmarks, ``(b, m, d)``.

        Args:
            ids: ``(b, t)`` int: ``[CLS] s1 [LMK] s2 [LMK] …``, padded with any id on the right.
            sentences: ``(b, t)`` int: number of the sentence each token belongs to, its landmark
                included; 0 for ``[CLS]``; -1 for padding.
            marks: ``(b, m)`` int: positions of the landmarks; unused entries are 0, and their
                vectors are meaningless.
        """
        marks = marks.long()
        if isinstance(self.backbone, Light):
            return self._unit(self.backbone(ids.long(), sentences, marks))
        own = None
        if self.own_sentence:
            asking = torch.gather(sentences, 1, marks)
            own = (asking[:, :, None] == sentences[:, None, :])[:, None]
        return self._unit(self.backbone(ids.long(), sentences >= 0, marks, own))

    def recompute_activations(self) -> None:
        """Store no activations inside layers; the backward pass runs each layer again.

        Gradient checkpointing (arXiv 1604.06174): a third more computation, and the activation
        memory of one layer. Weights and gradients are the same.

        Raises:
            ModelError: the network does not support gradient checkpointing.
        """
        layers = [
            layer
            for layer in self.backbone.modules()
            if isinstance(layer, BertLayer | ModernBertLayer)
        ]
        network = self.backbone.network if isinstance(self.backbone, HuggingFace) else None
        if not layers and not getattr(network, "supports_gradient_checkpointing", False):
            raise ModelError(
                f"layers of {self.config['model_type']} cannot run again in the backward pass",
                "leave gradient_checkpointing out",
            )
        if network is not None:
            later = getattr(network, "activation_checkpointing_enable", None)  # transformers 5
            (later or network.gradient_checkpointing_enable)({"use_reentrant": False})
            return
        for layer in layers:
            layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)  # type: ignore[method-assign]

    def _unit(self, states: Tensor) -> Tensor:
        """Truncate states to the kept dimensions and scale them to unit length."""
        kept = states if self._kept is None else states[..., : self._kept]
        return F.normalize(kept.float(), dim=-1)
