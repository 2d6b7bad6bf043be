"""Token states of concatenated texts, and the parts that an operator reads.

    tokens      (N, d)      states of the last layer: [CLS], then each sentence and its landmark
    segments    (S,)        tokens of each sentence, its landmark included; [CLS] is the first's
    layers      (S, L, d)   states of each landmark in every layer, the embeddings first
    lengths     (T,)        tokens of each text
    per_text    (T,)        segments of each text

The needs of an operator decide what it reads: ``layers`` are the landmarks in every layer;
``landmarks`` are those of the last layer, for operators with a query, whose papers pool some dozen
frames or sentences and which run once for each query and text; all others read ``tokens``. Where
poolings are made for an index, all read ``index``: landmarks at unit length, each a segment.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost.errors import InputError
from milepost.windows.document_vector import unit
from milepost_lab.model.pooling import padded
from milepost_lab.pooling import Operator
from milepost_lab.pooling.ragged import means, starts

Reads = Literal["tokens", "landmarks", "layers", "index"]


def reads_of(operator: Operator) -> Reads:
    """The states that an operator reads."""
    if "layers" in operator.needs:
        return "layers"
    return "landmarks" if "queries" in operator.needs else "tokens"


@dataclass(frozen=True, slots=True)
class Ragged:
    """Some texts as ``Pool`` reads them.

    Attributes:
        states: ``(tokens, d)`` or ``(tokens, layers, d)`` float32.
        lengths: ``(texts,)`` int64.
        segments: ``(segments,)`` int64, or None where each state is one.
    """

    states: NDArray[np.float32]
    lengths: NDArray[np.int64]
    segments: NDArray[np.int64] | None

    def padded(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """States, lengths and segments as a ``PoolModule`` reads them."""
        parts = np.split(self.states, np.cumsum(self.lengths)[:-1])
        states, lengths = padded([torch.from_numpy(part) for part in parts])
        if self.segments is None:
            return states, lengths, None
        # Numbered through all texts: in a text nothing but sameness counts.
        numbers = np.repeat(np.arange(len(self.segments)), self.segments)
        rows = [torch.from_numpy(part) for part in np.split(numbers, np.cumsum(self.lengths)[:-1])]
        segments, _ = padded([row - row[0] for row in rows])
        return states, lengths, segments


@dataclass(frozen=True)
class States:
    """States of texts, see above; float16, usually on disk."""

    tokens: NDArray[np.float16]
    layers: NDArray[np.float16]
    lengths: NDArray[np.int64]
    segments: NDArray[np.int64]
    per_text: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def _begins(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return starts(self.lengths), starts(self.per_text)

    def sizes(self, reads: Reads) -> NDArray[np.int64]:
        """States of each text that are read, ``(texts,)``."""
        return self.lengths if reads == "tokens" else self.per_text

    def some(self, numbers: Sequence[int], reads: Reads) -> Ragged:
        """Some texts, in the order asked for."""
        if not len(numbers):
            raise InputError("no text was asked for", "name one at least")
        tokens, segments = self._begins
        if reads == "tokens":
            own = [slice(tokens[n], tokens[n] + self.lengths[n]) for n in numbers]
            cut = [slice(segments[n], segments[n] + self.per_text[n]) for n in numbers]
            states = np.concatenate([self.tokens[each] for each in own])
            return Ragged(
                states.astype(np.float32),
                self.lengths[list(numbers)],
                np.concatenate([self.segments[each] for each in cut]),
            )
        own = [slice(segments[n], segments[n] + self.per_text[n]) for n in numbers]
        found = np.concatenate([self.layers[each] for each in own]).astype(np.float32)
        lengths = self.per_text[list(numbers)]
        if reads == "index":
            return Ragged(unit(found[:, -1]), lengths, np.ones(len(found), np.int64))
        return Ragged(found if reads == "layers" else found[:, -1], lengths, None)

    def centre(self, reads: Reads) -> NDArray[np.float64]:
        """Mean of all states that are read, ``(d,)``."""
        if reads == "tokens":
            return np.asarray(self.tokens.mean(0, dtype=np.float64))
        states = self.layers[:, -1].astype(np.float32)
        return np.asarray((unit(states) if reads == "index" else states).mean(0, dtype=np.float64))

    def asked(self, numbers: Sequence[int]) -> Tensor:
        """Means of some texts, see ``means``."""
        return torch.from_numpy(self._means[list(numbers)])

    @cached_property
    def _means(self) -> NDArray[np.float32]:
        return self.means()

    def part(self, numbers: Sequence[int]) -> States:
        """Some texts as states of their own, in memory."""
        tokens, segments = (
            np.concatenate([np.arange(begins[n], begins[n] + counts[n]) for n in numbers])
            for begins, counts in zip(self._begins, (self.lengths, self.per_text), strict=True)
        )
        chosen = list(numbers)
        return States(
            self.tokens[tokens],
            self.layers[segments],
            self.lengths[chosen],
            self.segments[segments],
            self.per_text[chosen],
        )

    def means(self) -> NDArray[np.float32]:
        """Mean of each text's token states, ``(texts, d)``: what stands for a query."""
        return means(np.asarray(self.tokens), self.lengths).astype(np.float32)

    def write(self, folder: Path) -> None:
        """Write a folder that ``read`` reads; there is a whole one or none."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".states-"))
        try:
            for name in ("tokens", "layers", "lengths", "segments", "per_text"):
                np.save(draft / f"{name}.npy", getattr(self, name))
            if not folder.is_dir():  # another process may have been faster
                draft.rename(folder)
        except OSError as error:
            raise InputError(
                f"{folder} cannot be written: {error.strerror or error}",
                "free some space, or give another --cache FOLDER",
            ) from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    @classmethod
    def read(cls, folder: Path) -> States:
        """What ``write`` wrote, mapped and not loaded.

        Raises:
            InputError: it is damaged.
        """
        try:
            tokens, layers = (
                np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("tokens", "layers")
            )
            lengths, segments, per_text = (
                np.load(folder / f"{name}.npy") for name in ("lengths", "segments", "per_text")
            )
        except (OSError, ValueError, EOFError) as error:
            raise InputError(f"{folder} is damaged: {error}", "remove the folder") from error
        return cls(tokens, layers, lengths, segments, per_text)


def kept(
    cache: Path | None,
    identity: str,
    texts: Sequence[Sequence[Sequence[int]]],
    make: Callable[[], States],
) -> States:
    """States from the cache, else made and cached.

    Args:
        cache: the folder; None keeps nothing.
        identity: all that states hang on but for the texts.
        texts: token ids of each sentence of each.
        make: gives the states.

    Raises:
        InputError: the folder cannot be written or is damaged.
    """
    if cache is None:
        return make()
    digest = hashlib.sha256(f"{identity} {texts!r}".encode()).hexdigest()
    folder = cache / digest[:32]
    if not folder.is_dir():
        make().write(folder)
    return States.read(folder)
