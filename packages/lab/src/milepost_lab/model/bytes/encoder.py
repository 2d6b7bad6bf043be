"""A byte encoder and the small decoder that trains it: ByT5 as in MonoByte (arXiv 2209.11035).

The encoder gives states of bytes. Span corruption trains it to reconstruct, not to compare, so the
mean of its states is a weak vector until it is tuned on pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.model.bytes.stack import Stack, StackShape
from milepost_lab.model.bytes.tokenizer import PAD, VOCABULARY


@dataclass(frozen=True, slots=True)
class ByteShape:
    """Sizes of a byte model.

    Attributes:
        stack: sizes of both stacks.
        encoder: layers of the encoder.
        decoder: layers of the decoder.
        vocabulary: number of ids; 384 in the published models.
    """

    stack: StackShape
    encoder: int
    decoder: int
    vocabulary: int = VOCABULARY


BYT5_SMALL = ByteShape(StackShape(1472, 3584, 6, 64), encoder=12, decoder=4)
"""The published size: 299,637,760 parameters, for comparison only."""

TINY = ByteShape(StackShape(64, 128, 4, 16), encoder=2, decoder=1)
"""The size used in the studies: seconds on one core."""


class ByteModel(nn.Module):
    """Encoder and decoder over bytes; input and output embeddings are separate.

    Args:
        shape: its sizes.
    """

    def __init__(self, shape: ByteShape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.stack.width
        self.embedding = nn.Embedding(shape.vocabulary, width)
        self.encoder = Stack(shape.stack, shape.encoder)
        self.decoder = Stack(shape.stack, shape.decoder, causal=True, crossed=True)
        self.head = nn.Linear(width, shape.vocabulary, bias=False)
        nn.init.normal_(self.head.weight, 0.0, width**-0.5)

    @property
    def width(self) -> int:
        """Width of the states."""
        return self.shape.stack.width

    def states(self, ids: Tensor) -> Tensor:
        """Encode ids ``(b, n)`` int64, padded with ``PAD``, to ``(b, n, d)``."""
        found: Tensor = self.encoder(self.embedding(ids), ids != PAD)
        return found

    def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """Compute logits of every target, ``(b, m, vocabulary)``, from the targets before it.

        Args:
            inputs: ``(b, n)`` ids with gaps, padded with ``PAD``.
            targets: ``(b, m)`` ids, padded with ``PAD``.
        """
        # The decoder starts with PAD and reads the shifted targets; padding does not count.
        before = torch.cat([torch.full_like(targets[:, :1], PAD), targets[:, :-1]], 1)
        read = self.decoder(
            self.embedding(before), targets != PAD, self.states(inputs), inputs != PAD
        )
        logits: Tensor = self.head(read)
        return logits

    def loss(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """Mean cross-entropy per target in nats; padding is not scored."""
        logits = self(inputs, targets)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)


def padded_ids(rows: Sequence[Sequence[int]]) -> Tensor:
    """Pad rows of ids with ``PAD`` on the right: ``(b, longest)`` int64."""
    return nn.utils.rnn.pad_sequence(
        [torch.tensor(row, dtype=torch.int64) for row in rows], batch_first=True, padding_value=PAD
    )


def made(shape: ByteShape, seed: int) -> ByteModel:
    """Create a model with random weights from a seed; torch's generator is not changed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ByteModel(shape)
