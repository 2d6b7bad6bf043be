"""States of texts under a frozen pre-trained encoder, as the designs read them, cached on disk.

    means    (texts, layers, d)   mean over the tokens of each layer
    ends     (texts, layers, d)   state of the end token in each layer
    tokens   (sum of lengths, d)  states of the last layer

Each is computed for both kinds of attention: to both sides, as the encoder was trained, and causal,
with the same weights and a mask that hides later tokens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost._optional import require
from milepost.errors import InputError
from milepost_eval.embedders.fingerprints import fingerprint
from milepost_lab.data.long_documents import Words
from milepost_lab.model.pooling import padded
from milepost_lab.pooling.ragged import starts
from milepost_train.model.huggingface import HuggingFace, quiet

_BATCH = 4096  # tokens read at once
_VERSION = 1
_NEEDED = "--model FOLDER of a BERT model"

_PARTS = ("means", "ends", "tokens", "lengths")


@dataclass(frozen=True)
class LayerStates:
    """The float16 arrays of the module docstring, and int64 ``lengths``."""

    means: NDArray[np.float16]
    ends: NDArray[np.float16]
    tokens: NDArray[np.float16]
    lengths: NDArray[np.int64]

    @cached_property
    def _begins(self) -> NDArray[np.int64]:
        return starts(self.lengths)

    def read(self, what: str, numbers: Sequence[int], *, every: bool) -> tuple[Tensor, Tensor]:
        """States of some texts, ``(texts, tokens, layers, d)`` float32, and lengths.

        A mean or an end state counts as a text of one token.

        Args:
            what: ``means``, ``ends`` or ``tokens``.
            numbers: numbers of the texts.
            every: all layers instead of the last; ``tokens`` has only the last.
        """
        chosen = list(numbers)
        if what == "tokens":
            own = [self.tokens[self._begins[n] : self._begins[n] + self.lengths[n]] for n in chosen]
            states, lengths = padded([torch.from_numpy(each.astype(np.float32)) for each in own])
            return states[:, :, None], lengths
        found = (self.means if what == "means" else self.ends)[chosen].astype(np.float32)
        states = torch.from_numpy(found)[:, None]
        return states if every else states[:, :, -1:], torch.ones(len(chosen), dtype=torch.int64)


class LayerReader:
    """A BERT-like encoder that is read at every layer.

    Args:
        folder: folder of the encoder, in the format of ``transformers``.
        cache: folder that stores the states; None stores nothing.
        progress: called with the current work, texts done and texts in all.

    Attributes:
        words: its tokenizer.
        identity: fingerprint of its folder, and the version of the cache.

    Raises:
        InputError: the folder has no tokenizer of a BERT model.
    """

    def __init__(
        self,
        folder: Path,
        cache: Path | None,
        progress: Callable[[str, int, int], None] = lambda *_: None,
    ) -> None:
        self._folder, self._cache, self._progress = folder, cache, progress
        if not (folder / "tokenizer.json").is_file():
            raise InputError(f"{folder} has no tokenizer.json", _NEEDED)
        try:
            self.words = Words(folder / "tokenizer.json")
        except KeyError as error:
            raise InputError(f"the tokenizer of {folder} has no {error.args[0]}", _NEEDED) from None
        self.identity = f"{fingerprint(folder)} {_VERSION}"
        self._networks: dict[bool, HuggingFace] = {}

    def states(self, texts: Sequence[Sequence[int]], *, bidirectional: bool) -> LayerStates:
        """States of texts, each framed by the encoder's opening and closing tokens."""
        if self._cache is None:
            found: LayerStates = self._read(texts, bidirectional)
            return found
        told = f"{self.identity} {bidirectional} {texts!r}"
        name = hashlib.sha256(told.encode()).hexdigest()[:24]
        files = [self._cache / f"{name}-{part}.npy" for part in _PARTS]
        if not all(file.is_file() for file in files):
            made = self._read(texts, bidirectional)
            self._cache.mkdir(parents=True, exist_ok=True)
            for part, file in zip(_PARTS, files, strict=True):
                draft = file.with_suffix(".part.npy")
                np.save(draft, getattr(made, part))
                draft.replace(file)
        return LayerStates(*(np.load(file, mmap_mode="r") for file in files))

    @torch.no_grad()
    def _read(self, texts: Sequence[Sequence[int]], bidirectional: bool) -> LayerStates:
        network = self._network(bidirectional)
        opening, closing = self.words.opening, self.words.closing
        assert opening is not None  # the texts of BERT begin with [CLS]
        ids = [[opening, *text, closing] for text in texts]
        lengths = np.array([len(text) for text in ids], np.int64)
        layers = int(network.network.config.num_hidden_layers)
        means = np.zeros((len(ids), layers, network.width), np.float16)
        ends = np.zeros_like(means)
        tokens = np.zeros((int(lengths.sum()), network.width), np.float16)
        at, done = starts(lengths), 0
        doing = "both sides" if bidirectional else "causal"
        for numbers in _batches(lengths):
            batch, sizes = padded([torch.tensor(ids[n]) for n in numbers])
            valid = torch.arange(batch.shape[1])[None] < sizes[:, None]
            states = network.layers(batch, valid)
            for row, number in enumerate(numbers):
                own = states[row, : int(lengths[number])]
                means[number], ends[number] = own.mean(0).numpy(), own[-1].numpy()
                tokens[at[number] : at[number] + len(own)] = own[:, -1].numpy()
            done += len(numbers)
            self._progress(f"reading, {doing}", done, len(ids))
        return LayerStates(means, ends, tokens, lengths)

    def _network(self, bidirectional: bool) -> HuggingFace:
        if bidirectional not in self._networks:
            transformers = require("transformers", extra="lab")
            # BERT configured as a decoder hides later tokens.
            more: dict[str, Any] = {} if bidirectional else {"is_decoder": True}
            with quiet():
                made = transformers.AutoModel.from_pretrained(
                    self._folder, attn_implementation="eager", **more
                )
            self._networks[bidirectional] = HuggingFace(made).eval().requires_grad_(False)
        return self._networks[bidirectional]


def _batches(lengths: NDArray[np.int64]) -> list[list[int]]:
    """Group the numbers of texts of similar length, at most ``_BATCH`` tokens or one text each."""
    found: list[list[int]] = [[]]
    for number in np.argsort(-lengths, kind="stable").tolist():
        longest = int(lengths[found[-1][0]]) if found[-1] else 0
        if found[-1] and longest * (len(found[-1]) + 1) > _BATCH:
            found.append([])
        found[-1].append(number)
    return found
