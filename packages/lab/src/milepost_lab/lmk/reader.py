"""A network and a pooling: texts in, one unit vector each out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from milepost_lab.lmk.arms import Pooling, pooled_row
from milepost_train.model.lmk import Row, pad, pool

Text = Sequence[int]
"""Token ids without special tokens."""

_TRAINED = 4096
"""Maximum tokens of a part of a training batch; grouping texts by length saves padding."""


class Network(Protocol):
    """Reads texts of any length."""

    def __call__(self, ids: Tensor, valid: Tensor, marks: Tensor) -> Tensor:
        """States of the last layer at the marks, ``(b, m, d)``.

        Args:
            ids: ``(b, t)`` int64 token ids.
            valid: ``(b, t)`` bool, False for padding on the right.
            marks: ``(b, m)`` int64 positions.
        """


class Reader:
    """Reads texts with one network and one pooling.

    Args:
        network: a ``Network``.
        pooling: selects the states that make a vector.
        opening: id of ``[CLS]``.
        closing: id of ``[SEP]``, the landmark.
        device: where the network is.
        dtype: dtype of matrix products; sums and vectors are float32.
    """

    def __init__(
        self,
        network: nn.Module,
        pooling: Pooling,
        *,
        opening: int,
        closing: int,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        self.network, self.pooling = network, pooling
        self._opening, self._closing = opening, closing
        self._device, self._dtype = device, dtype

    def train_vectors(self, texts: Sequence[Text], granularities: Sequence[int]) -> Tensor:
        """Encode texts for training, each at its own granularity: ``(n, d)`` with a graph."""
        rows = [self._row(*each) for each in zip(texts, granularities, strict=True)]
        found: dict[int, Tensor] = {}
        for numbers in _batches([len(row.ids) for row in rows], _TRAINED):
            states, used = self._states([rows[n] for n in numbers])
            found.update(zip(numbers, pool(states, used, used), strict=True))
        return torch.stack([found[n] for n in range(len(rows))])

    def vectors(self, texts: Sequence[Text], granularity: int, *, tokens: int = 16_384) -> Tensor:
        """Encode texts, each in one pass however long: ``(n, d)`` on the CPU.

        Args:
            texts: texts of any length.
            granularity: tokens per piece, for the poolings that use pieces.
            tokens: maximum tokens of a batch, which groups texts of similar length.
        """
        rows = [self._row(text, granularity) for text in texts]
        found: dict[int, Tensor] = {}
        with torch.inference_mode():
            for numbers in _batches([len(row.ids) for row in rows], tokens):
                states, used = self._states([rows[n] for n in numbers])
                found.update(zip(numbers, pool(states, used, used).cpu(), strict=True))
        return torch.stack([found[n] for n in range(len(rows))])

    def windowed(self, text: Text, size: int, granularity: int) -> Tensor:
        """Encode a text in windows of ``size`` tokens without halo: ``(d,)`` on the CPU.

        The states of all windows are averaged like those of one text.
        """
        rows = [self._row(text[at : at + size], granularity) for at in range(0, len(text), size)]
        total = torch.zeros(())
        with torch.inference_mode():
            for at in range(0, len(rows), 32):
                states, used = self._states(rows[at : at + 32])
                total = total + (states.float() * used[:, :, None]).sum((0, 1)).cpu()
        return normalize(total, dim=0)

    def _row(self, text: Text, granularity: int) -> Row:
        return pooled_row(
            text,
            self.pooling,
            opening=self._opening,
            closing=self._closing,
            granularity=granularity,
        )

    def _states(self, rows: Sequence[Row]) -> tuple[Tensor, Tensor]:
        """States to average ``(b, m, d)``, and a mask of the real ones, ``(b, m)`` bool."""
        padded = pad(rows, 0)
        most = max(len(row.landmarks) for row in rows)
        marks = torch.zeros(len(rows), most, dtype=torch.int64)
        used = torch.zeros(len(rows), most, dtype=torch.bool)
        for number, row in enumerate(rows):
            marks[number, : len(row.landmarks)] = torch.tensor(row.landmarks)
            used[number, : len(row.landmarks)] = True
        given = (torch.from_numpy(padded.ids), torch.from_numpy(padded.mask), marks, used)
        ids, valid, marks, used = (each.to(self._device) for each in given)
        lower = self._dtype != torch.float32
        with torch.autocast(self._device.type, dtype=torch.bfloat16, enabled=lower):
            return self.network(ids, valid, marks), used


def _batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield text numbers, shortest first, in batches of at most ``tokens`` tokens or one text."""
    some: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if some and (len(some) + 1) * lengths[number] > tokens:
            yield some
            some = []
        some.append(number)
    if some:
        yield some
