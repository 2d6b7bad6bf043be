"""Bytes → words → landmarks: an encoder without a vocabulary (arXiv 2310.11628, WordPool).

The operator ``wordpool`` turns the bytes of each word into one vector. An encoder reads the words
of a window, with a landmark after every sentence, and the states of the landmarks are the vectors
of the sentences. Typing errors and unknown names get a vector from their spelling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from milepost.text import split
from milepost_lab.model.bytes.encoder import padded_ids
from milepost_lab.model.bytes.stack import Stack, StackShape
from milepost_lab.model.bytes.tokenizer import PAD, VOCABULARY, encode
from milepost_lab.model.bytes.words import CAP, Word, split_words
from milepost_lab.model.pooling import PoolModule
from milepost_lab.model.pooling.table import MODULES
from milepost_lab.model.pooling.wordpool import WordPool
from milepost_lab.pooling.table import operator


class PublishedMask(WordPool):
    """``wordpool`` with the mask of the authors' code, to measure its effect.

    It blocks only attention from padding to padding, so tokens attend to padding; it treats the
    first padding position as a token; and lengths grow by p with every call on the same tensor.

    Attributes:
        calls: number of calls with these lengths, this one included. No arm increases it:
            ``words-published`` uses the lengths of the first call.
    """

    calls = 1

    def allowed(self, mask: Tensor) -> Tensor:
        """Build the attention mask, ``(texts, p + n, p + n)`` bool."""
        count = int(self.settings["prefixes"])
        length = mask.sum(1, keepdim=True) + count * self.calls
        beyond = torch.arange(count + mask.shape[1], device=mask.device)[None] > length
        return ~(beyond[:, :, None] & beyond[:, None, :])


class WordEncoder(nn.Module):
    """Vectors of words, each computed from its own bytes alone.

    Args:
        width: width d of the vectors.
        prefixes: vectors per word.
        heads: attention heads of the small encoder, a divisor of the width.
        layers: layers of the small encoder.
        cap: maximum bytes of a word.
        pooling: ``wordpool``, or another operator without needs and of output width d (``mean``),
            which gives one vector per word.
        published_mask: mask padding as the authors' code does; only for measurements.
        seed: seed of the pooling's initial weights.
    """

    def __init__(
        self,
        width: int,
        *,
        prefixes: int = 1,
        heads: int = 1,
        layers: int = 1,
        cap: int = CAP,
        pooling: str = "wordpool",
        published_mask: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.positions = nn.Parameter(torch.zeros(cap, width))
        row = operator(pooling)
        given = {"prefixes": prefixes, "heads": heads, "layers": layers}
        settings = row.settings(given if pooling == "wordpool" else {})
        kind = PublishedMask if published_mask else MODULES[pooling]
        self.pool: PoolModule = kind(row, settings, width, seed=seed)

    def embed(self, words: Tensor) -> Tensor:
        """Embed bytes of words and their positions, ``(w, c)`` → ``(w, c, d)``."""
        embedded: Tensor = self.embedding(words) + self.positions[: words.shape[1]]
        return embedded

    def forward(self, words: Tensor) -> Tensor:
        """Encode words ``(w, c)``, padded with ``PAD`` on the right, to ``(w, p, d)``."""
        states, mask = self.embed(words), words != PAD
        if isinstance(self.pool, WordPool):
            return self.pool.prefixes(states, mask)
        pooled: Tensor = self.pool(states, mask.sum(1).clamp(min=1))
        return pooled[:, None]


@dataclass(slots=True)
class Page:
    """Sentences of one text that are read together.

    Attributes:
        words: the words of each sentence, without white space, with offsets in the text.
        spans: offsets of each sentence in the text, in code points.
    """

    words: list[list[Word]] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)


def pages(text: str, most: int, cap: int = CAP) -> list[Page]:
    """Divide a text into sentences, words, and pages of at most ``most`` words and landmarks.

    A sentence longer than a page is a page of its own.

    Args:
        text: any string.
        most: maximum words of a page; a landmark counts as a word.
        cap: maximum bytes of a word.
    """
    found: list[Page] = []
    held, base = most, 0
    for start, end in split(text):
        pieces = split_words(text[start:end], cap)
        words = [
            Word(w.text, start + w.start, start + w.end, base + w.first, base + w.last)
            for w in pieces
            if w.kind != "space"
        ]
        base += pieces[-1].last  # sentences tile the text
        if held + len(words) + 1 > most:
            found.append(Page())
            held = 0
        held += len(words) + 1
        found[-1].words.append(words)
        found[-1].spans.append((start, end))
    return found


class WordReader(nn.Module):
    """Computes sentence vectors from bytes: word encoder, landmarks, encoder over words.

    Args:
        shape: sizes of the encoder over words.
        layers: layers of the encoder over words.
        cap: maximum bytes of a word.
        window: maximum words of a page.
    """

    def __init__(
        self,
        shape: StackShape,
        *,
        layers: int = 2,
        cap: int = CAP,
        window: int = 256,
    ) -> None:
        super().__init__()
        self.cap, self.window = cap, window
        self.words = WordEncoder(shape.width, heads=shape.heads, cap=cap)
        self.landmark = nn.Parameter(torch.randn(1, shape.width))
        self.stack = Stack(shape, layers)

    def forward(self, reading: Sequence[Page]) -> Tensor:
        """Encode the sentences of all pages, in order, ``(sentences, d)``; not of unit length.

        A repeated word is encoded once, since its vector depends only on its bytes.
        """
        numbers: dict[str, int] = {}
        rows: list[list[int]] = []
        for page in reading:
            row: list[int] = []
            for sentence in page.words:
                # 0 is the landmark, -1 will be padding.
                row += [1 + numbers.setdefault(word.text, len(numbers)) for word in sentence]
                row.append(0)
            rows.append(row)
        table = self.landmark
        if numbers:
            ids = padded_ids([encode(word, end=False) for word in numbers])
            table = torch.cat([table, self.words(ids)[:, 0]])
        layout = nn.utils.rnn.pad_sequence(
            [torch.tensor(row) for row in rows], batch_first=True, padding_value=-1
        )
        states = self.stack(table[layout.clamp(min=0)], layout >= 0)
        landmarks: Tensor = states[layout == 0]
        return landmarks

    def read(self, text: str) -> tuple[Tensor, list[tuple[int, int]]]:
        """Encode a text of any length: vectors ``(sentences, d)`` and offsets of the sentences."""
        reading = pages(text, self.window, self.cap)
        spans = [span for page in reading for span in page.spans]
        if not reading:
            return self.landmark.new_zeros(0, self.landmark.shape[1]), spans
        return torch.cat([self([page]) for page in reading]), spans
