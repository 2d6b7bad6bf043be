"""The landmark encoder: token ids of windows → unit vectors at their landmarks.

After Luo et al. (Landmark Embedding, arXiv 2402.11573): a landmark token closes every sentence
and its last state is the sentence's vector. Two things are ours, both settings of the manifest:
the encoder sees both sides, and in the last layer a landmark attends to its own sentence alone
(the layers below have brought the context in; the last one gathers), which lets that layer be
computed at landmarks only.
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
from milepost.model.bert import Bert, BertLayer
from milepost.model.huggingface import HuggingFace
from milepost.model.light import MODEL_TYPE, Light
from milepost.model.modernbert import ModernBert, ModernBertLayer
from milepost.model.stitch import stitched

BACKBONES: dict[str, type[Bert] | type[ModernBert] | type[Light] | type[stitched.Stitched]] = {
    "bert": Bert,
    "modernbert": ModernBert,
    MODEL_TYPE: Light,
    stitched.MODEL_TYPE: stitched.Stitched,
}
"""The backbones of ours; every other one is ``huggingface.HuggingFace``."""

Backbone = Bert | ModernBert | Light | stitched.Stitched | HuggingFace


class LandmarkEncoder(nn.Module):
    """A backbone read at its landmarks.

    Args:
        config: fields of a Hugging Face ``config.json``; ``model_type`` names the backbone.
        own_sentence: whether a landmark attends to its own sentence only in the last layer
            (False: to the whole window, as in the papers).
        backbone: one of ``transformers`` in the place of ours; it attends to the whole window.

    Raises:
        ValueError: no backbone of that ``model_type``, or one that cannot do ``own_sentence``.
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
        self.own_sentence = own_sentence and kind != MODEL_TYPE  # which attends to nothing
        self.backbone: Backbone = backbone or BACKBONES[kind](config)
        self._kept: int | None = None

    @property
    def dimensions(self) -> int:
        """Numbers of a vector: as many as the backbone is wide, unless it was ``shortened``."""
        return self._kept or int(self.backbone.width)

    def shortened(self, dimensions: int) -> LandmarkEncoder:
        """The same weights, with vectors cut to their first numbers and of unit length again.

        What training at several widths makes them good for (``losses.over_prefixes``, Kusupati et
        al., Matryoshka Representation Learning, arXiv 2205.13147).

        Args:
            dimensions: numbers that are kept.

        Raises:
            InputError: none is kept, or more than there are.
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
        """Whether a landmark sees only what precedes it."""
        return isinstance(self.backbone, HuggingFace) and self.backbone.causal

    def forward(self, ids: Tensor, sentences: Tensor, marks: Tensor) -> Tensor:
        """Unit vectors at the landmarks, ``(b, m, d)``.

        Args:
            ids: ``(b, t)`` int: ``[CLS] s1 [LMK] s2 [LMK] …``, padded with any id on the right.
            sentences: ``(b, t)`` int: number of the sentence each token belongs to, its landmark
                included; 0 for ``[CLS]``; -1 for padding.
            marks: ``(b, m)`` int: positions of the landmarks; unused places hold 0 and give a
                vector that means nothing.
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
        """Keep no activations inside layers for the backward pass: each layer runs again there.

        Gradient checkpointing (arXiv 1604.06174): a third more computing, memory of one layer.
        Weights and gradients are the same.

        Raises:
            ModelError: the network has no layers that can run again.
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
        """States as vectors: what is kept of them, of unit length."""
        kept = states if self._kept is None else states[..., : self._kept]
        return F.normalize(kept.float(), dim=-1)
