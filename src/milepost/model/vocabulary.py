"""A landmark that the vocabulary did not have gets its row in the table of embeddings."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from milepost.model.huggingface import HuggingFace
from milepost.model.landmark_encoder import LandmarkEncoder
from milepost.model.light import MODEL_TYPE
from milepost.model.stitch import stitched

_TABLES = {
    "bert": "word_embeddings",
    "modernbert": "tok_embeddings",
    MODEL_TYPE: "word_embeddings",
    stitched.MODEL_TYPE: "word_embeddings",
}


def cover(model: LandmarkEncoder, number: int, *, near: int | None) -> None:
    """Lengthen the table until it holds ``number``; nothing changes where it does.

    New rows are the one of ``near`` (the separator, whose work the landmark takes over), or the
    mean of all: the same at every call, so that an adapter finds the base it was trained on.

    Args:
        model: changed in place.
        number: id of the landmark.
        near: id of the token to begin from; None for the mean.
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
