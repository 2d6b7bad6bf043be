"""Add an embedding for a landmark that the vocabulary did not have."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from milepost_train.model.huggingface import HuggingFace
from milepost_train.model.landmark_encoder import LandmarkEncoder
from milepost_train.model.light import MODEL_TYPE

_TABLES = {
    "bert": "word_embeddings",
    "modernbert": "tok_embeddings",
    MODEL_TYPE: "word_embeddings",
}


def cover(model: LandmarkEncoder, number: int, *, near: int | None) -> None:
    """Extend the embedding table so that it has a row for id ``number``, if it has none.

    New rows are copies of row ``near`` (the separator, whose role the landmark takes over), or the
    mean of all rows. They are deterministic, so that an adapter finds the base it was trained on.

    Args:
        model: changed in place.
        number: id of the landmark.
        near: id of the token whose row is copied; None for the mean.
    """
    old = _table(model)
    rows = old.weight.shape[0]
    if number < rows:
        return
    with torch.no_grad():
        begin: Tensor = old.weight.mean(0) if near is None else old.weight[near]
        weight = torch.cat((old.weight, begin.expand(number + 1 - rows, -1)))
    new = nn.Embedding(*weight.shape, padding_idx=old.padding_idx, _weight=weight)
    backbone: Any = model.backbone
    if isinstance(backbone, HuggingFace):
        backbone.network.set_input_embeddings(new)
        backbone.network.config.vocab_size = number + 1
        model.config = backbone.config
    else:
        backbone.embeddings[_TABLES[model.config["model_type"]]] = new
        model.config = {**model.config, "vocab_size": number + 1}


def _table(model: LandmarkEncoder) -> Any:
    backbone: Any = model.backbone
    if isinstance(backbone, HuggingFace):
        return backbone.network.get_input_embeddings()
    return backbone.embeddings[_TABLES[model.config["model_type"]]]
