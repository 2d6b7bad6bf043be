"""Texts whose states are computed in each step, with their graph: the network is trained as well.

``LiveStates`` stands in for ``States`` while a network is trained; what is ranked afterwards is
read by the trained network as by a frozen one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from milepost_lab.compare.reading import Text, TokenReader
from milepost_lab.compare.states import Reads
from milepost_lab.model.pooling import padded


@dataclass(frozen=True, slots=True)
class LiveRagged:
    """Some texts, as ``Ragged`` has them.

    Attributes:
        states: of each text ``(n, d)`` or ``(n, layers, d)``.
        segments: of each text the segment of each state, ``(n,)`` int64.
    """

    states: Sequence[Tensor]
    segments: Sequence[Tensor]

    def padded(self) -> tuple[Tensor, Tensor, Tensor]:
        """States, lengths and segments as a ``PoolModule`` reads them."""
        states, lengths = padded(self.states)
        segments, _ = padded(self.segments)
        return states, lengths, segments


class LiveStates:
    """Texts and the network that reads them.

    Args:
        reader: its network is the one that is trained.
        texts: token ids of each sentence.
    """

    def __init__(self, reader: TokenReader, texts: Sequence[Text]) -> None:
        self._reader = reader
        self._texts = [reader.pieces(text) for text in texts]

    def __len__(self) -> int:
        return len(self._texts)

    def some(self, numbers: Sequence[int], reads: Reads) -> LiveRagged:
        """Some texts, in the order asked for."""
        texts = [self._texts[number] for number in numbers]
        found: list[list[tuple[int, Tensor, Tensor]]] = [[] for _ in texts]
        for number, window, tokens, marks in self._reader.parts(texts):
            found[number].append((window.own_first, tokens, marks))
        states, segments = [], []
        for text, windows in zip(texts, found, strict=True):
            # Windows come by length; their sentences follow each other in the text.
            ordered = sorted(windows, key=lambda window: window[0])
            tokens = torch.cat([each for _, each, _ in ordered])
            marks = torch.cat([each for _, _, each in ordered])
            if reads == "tokens":
                costs = torch.tensor([len(sentence) + 1 for sentence in text])
                costs[0] += len(tokens) - int(costs.sum())  # the opening token
                states.append(tokens)
                segments.append(torch.repeat_interleave(torch.arange(len(text)), costs))
                continue
            last = marks[:, -1]
            kinds = {"layers": marks, "index": normalize(last, dim=-1)}
            states.append(kinds.get(reads, last))
            segments.append(torch.arange(len(text)))
        return LiveRagged(states, segments)

    def asked(self, numbers: Sequence[int]) -> Tensor:
        """Mean of each text's token states, ``(texts, d)``: what stands for a query."""
        some = self.some(numbers, "tokens")
        return torch.stack([states.mean(0) for states in some.states])
