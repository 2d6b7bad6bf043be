"""LoRA (arXiv 2106.09685) with peft: train large decoders through a few small matrices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost.errors import ModelError, first_line
from milepost_train.model.huggingface import HuggingFace, quiet
from milepost_train.model.landmark_encoder import LandmarkEncoder


def with_lora(
    model: LandmarkEncoder,
    rank: int = 16,
    alpha: float = 32.0,
    dropout: float = 0.1,
    targets: Sequence[str] | None = None,
    *,
    tokens: Sequence[int] = (),
) -> LandmarkEncoder:
    """Freeze the network and add trainable matrices to its linear layers; changed in place.

    ``rank``, ``alpha``, ``dropout`` and ``targets`` (None for all linear layers) are those of peft.
    The embeddings of ``tokens``, such as a new landmark, are trained as well.
    """
    peft = require("peft", extra="train")
    backbone = _of_transformers(model)
    if is_adapted(model):
        raise ModelError("the model has LoRA already", "merge it first with merge_lora")
    config = peft.LoraConfig(
        r=rank,
        lora_alpha=alpha,
        lora_dropout=dropout,
        target_modules="all-linear" if targets is None else list(targets),
        trainable_token_indices=list(tokens) or None,
    )
    try:
        with quiet():
            backbone.network = peft.get_peft_model(backbone.network, config)
    except ValueError as error:
        raise ModelError(f"LoRA cannot be put there: {error}", "name other targets") from error
    return model


def merge_lora(model: LandmarkEncoder) -> LandmarkEncoder:
    """Merge the LoRA matrices into the weights, in place; vectors stay the same.

    A model without LoRA is returned unchanged.
    """
    if is_adapted(model):
        backbone: Any = model.backbone
        backbone.network = backbone.network.merge_and_unload()
        backbone.network.requires_grad_(True)
    return model


def attach(model: LandmarkEncoder, folder: Path, *, trainable: bool) -> None:
    """Load a saved adapter onto its base."""
    peft = require("peft", extra="train")
    backbone = _of_transformers(model)
    try:
        with quiet():
            backbone.network = peft.PeftModel.from_pretrained(
                backbone.network, str(folder), is_trainable=trainable
            )
    except Exception as error:  # peft, safetensors and torch raise their own
        first = first_line(error)
        raise ModelError(
            f"{folder} is not an adapter of its base: {first}", "train it again on that base"
        ) from error


def is_adapted(model: LandmarkEncoder) -> bool:
    """Whether the network has LoRA."""
    network: Any = getattr(model.backbone, "network", None)
    return hasattr(network, "peft_config")


def _of_transformers(model: LandmarkEncoder) -> HuggingFace:
    if not isinstance(model.backbone, HuggingFace):
        raise ModelError(
            "LoRA works only with networks of transformers",
            "open the checkpoint with transformers=True",
        )
    return model.backbone
