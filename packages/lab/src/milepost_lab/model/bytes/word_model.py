"""Language models over bytes: word by word (arXiv 2310.11628), and byte by byte for comparison.

    word i-1's vectors → stack over words → h_i → the bytes of word i, one after the other

Training decodes the bytes of all words in parallel. A word is its bytes and an end mark; padding is
not scored. ``log P(text)`` is the sum over bytes and end marks, so bits per byte are comparable
with those of a byte model.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.model.bytes.stack import Stack, StackShape
from milepost_lab.model.bytes.tokenizer import END, PAD, VOCABULARY
from milepost_lab.model.bytes.word_encoder import WordEncoder
from milepost_lab.model.bytes.words import CAP


class WordModel(nn.Module):
    """Predicts the next unit (a word, or any other piece of at most ``cap`` bytes).

    Args:
        shape: sizes of the stack over units and of the decoder.
        layers: layers of the stack over units.
        prefixes: vectors per unit, p.
        cap: maximum bytes of a unit.
        pooling: see ``WordEncoder``.
        published_mask: see ``WordEncoder``.
    """

    def __init__(
        self,
        shape: StackShape,
        *,
        layers: int = 2,
        prefixes: int = 1,
        cap: int = CAP,
        pooling: str = "wordpool",
        published_mask: bool = False,
    ) -> None:
        super().__init__()
        self.prefixes = prefixes
        self.words = WordEncoder(
            shape.width,
            prefixes=prefixes,
            heads=shape.heads,
            cap=cap,
            pooling=pooling,
            published_mask=published_mask,
        )
        self.begin = nn.Parameter(torch.randn(prefixes, shape.width))
        self.stack = Stack(shape, layers, causal=True)
        self.decoder = Stack(shape, 1, causal=True)
        self.head = nn.Linear(shape.width, VOCABULARY, bias=False)
        nn.init.normal_(self.head.weight, 0.0, shape.width**-0.5)

    def forward(self, units: Tensor) -> Tensor:
        """Compute logits ``(b, t, c + 1, vocabulary)`` of each byte of each unit and of its end.

        Args:
            units: ``(b, t, c)`` ids, padded with ``PAD`` in both dimensions, t and c.
        """
        batch, count, canvas = units.shape
        flat = units.flatten(0, 1)
        # A word's vector depends only on its bytes, so each distinct word is encoded once.
        different, place = torch.unique(flat, dim=0, return_inverse=True)
        vectors = self.words(different)[place].reshape(batch, count * self.prefixes, -1)
        present = (units[:, :, 0] != PAD).repeat_interleave(self.prefixes, 1)
        # Unit i is decoded from the units before it: the row starts with a learned unit.
        begin = self.begin.expand(batch, -1, -1)
        shifted = torch.cat([begin, vectors[:, : -self.prefixes]], 1)
        context = self.stack(shifted, present).reshape(batch * count, self.prefixes, -1)
        whole = torch.cat([context, self.words.embed(flat)], 1)
        seen = torch.ones(whole.shape[:2], dtype=torch.bool, device=units.device)
        read = self.decoder(whole, seen)[:, self.prefixes - 1 :]
        logits: Tensor = self.head(read)
        return logits.view(batch, count, canvas + 1, -1)

    def targets(self, units: Tensor) -> Tensor:
        """Append the end mark: ``(b, t, c)`` → ``(b, t, c + 1)`` bytes, end, ``PAD``."""
        longer = F.pad(units, (0, 1), value=PAD)
        length = (units != PAD).sum(-1, keepdim=True)
        return longer.scatter(-1, length, torch.where(length > 0, END, PAD))


class ByteStream(nn.Module):
    """Predicts the next byte, or the next of any other ids whose padding is ``PAD``.

    Args:
        shape: sizes of the stack.
        layers: layers of the stack.
        vocabulary: number of ids.
    """

    def __init__(self, shape: StackShape, *, layers: int = 4, vocabulary: int = VOCABULARY) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, shape.width)
        self.stack = Stack(shape, layers, causal=True)
        self.head = nn.Linear(shape.width, vocabulary, bias=False)
        nn.init.normal_(self.head.weight, 0.0, shape.width**-0.5)

    def forward(self, units: Tensor) -> Tensor:
        """Compute logits ``(b, n, vocabulary)`` of ``(b, n)`` ids, each from the ids before it."""
        before = torch.cat([torch.full_like(units[:, :1], END), units[:, :-1]], 1)
        logits: Tensor = self.head(self.stack(self.embedding(before), units != PAD))
        return logits

    def targets(self, units: Tensor) -> Tensor:
        """Return the ids unchanged."""
        return units


def nats(logits: Tensor, targets: Tensor) -> Tensor:
    """Compute ``-log P`` of each target, in the targets' shape; 0 for padding (``PAD``)."""
    flat = F.cross_entropy(
        logits.flatten(0, -2), targets.flatten(), ignore_index=PAD, reduction="none"
    )
    return flat.view(targets.shape)


def loss(model: WordModel | ByteStream, units: Tensor) -> Tensor:
    """Mean loss of the scored targets in nats."""
    targets = model.targets(units)
    return nats(model(units), targets).sum() / (targets != PAD).sum().clamp(min=1)
