"""Language models over words, bytes and subwords (arXiv 2310.11628), of equal parameters.

    1. words: a reversible split; ids of bytes, p prefix ids before each word
    2. e = E[x] + P_in
    3. a small encoder over each word alone; the first p outputs are the word: attention pooling
    4. a causal model over words, with P_word; then LayerNorm: h
    5. a causal decoder over [h_i; bytes of word i + 1] says its bytes
    6. cross-entropy over the bytes of a word and one end mark; padding is neither read nor scored

The published mask lets real bytes attend to padding and scores padding; see the tests.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PAD, END, VOCABULARY = 0, 1, 259
LONGEST = 16
"""Bytes of a word; longer runs are cut."""


def split_words(text: str) -> list[str]:
    """Equation 1: runs of spaces, runs of letters, numbers and marks, single others; reversible.

    >>> split_words(" Hello,  wörld 3.14!")
    [' ', 'Hello', ',', '  ', 'wörld', ' ', '3', '.', '14', '!']
    """
    found: list[str] = []
    for part in re.split(r"( +)", text):
        run = ""
        for character in part:
            if unicodedata.category(character)[0] in "LNM" or character == " ":
                run += character
            else:
                found += [run, character] if run else [character]
                run = ""
        if run:
            found.append(run)
    return [word for word in found if word]


def word_bytes(word: str) -> list[list[int]]:
    """Ids of a word's bytes, in pieces of at most 16."""
    ids = [byte + 3 for byte in word.encode()]
    return [ids[at : at + LONGEST] for at in range(0, len(ids), LONGEST)]


def stack(width: int, layers: int, heads: int) -> nn.TransformerEncoder:
    """Layers with LayerNorm in front."""
    layer = nn.TransformerEncoderLayer(
        width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
    )
    return nn.TransformerEncoder(layer, layers, nn.LayerNorm(width), enable_nested_tensor=False)


def causal(length: int) -> Tensor:
    """Mask of ``nn.TransformerEncoder``, true where a place must not be read."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


class WordModel(nn.Module):
    """Equations 2 to 5.

    Args:
        width: d.
        layers: of the main model; encoder and decoder have one each.
        prefixes: p; 1 is the paper's figure, 4 its code.
        words: most words of a row.
    """

    def __init__(
        self, width: int = 64, layers: int = 2, heads: int = 4, prefixes: int = 1, words: int = 128
    ) -> None:
        super().__init__()
        self.prefixes = prefixes
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.prefix = nn.Parameter(0.02 * torch.randn(prefixes, width))
        self.inner = nn.Parameter(torch.zeros(prefixes + LONGEST + 1, width))
        self.places = nn.Parameter(torch.zeros(words * prefixes, width))
        self.encoder, self.decoder = stack(width, 1, heads), stack(width, 1, heads)
        self.main = stack(width, layers, heads)
        self.out = nn.Linear(width, VOCABULARY)

    def pooled(self, ids: Tensor) -> Tensor:
        """Equation 3: words ``(b, t, c)`` → ``(b, t, p, d)``; padding is not read."""
        batch, words, _ = ids.shape
        flat = ids.flatten(0, 1)
        states = torch.cat([self.prefix.expand(len(flat), -1, -1), self.embedding(flat)], 1)
        hidden = F.pad(flat == PAD, (self.prefixes, 0))
        states = self.encoder(states + self.inner[: states.shape[1]], src_key_padding_mask=hidden)
        return states[:, : self.prefixes].unflatten(0, (batch, words))

    def forward(self, ids: Tensor) -> Tensor:
        """Logits ``(b, t - 1, c + 1, V)`` of the bytes and the end mark of words 1 … t - 1."""
        h = self.pooled(ids).flatten(1, 2)
        h = self.main(h + self.places[: h.shape[1]], mask=causal(h.shape[1]))
        h = h.unflatten(1, (-1, self.prefixes))[:, :-1].flatten(0, 1)
        following = self.embedding(ids[:, 1:]).flatten(0, 1)
        canvas = torch.cat([h, following], 1)
        states = self.decoder(canvas + self.inner[: canvas.shape[1]], mask=causal(canvas.shape[1]))
        logits: Tensor = self.out(states[:, self.prefixes - 1 :])
        return logits.unflatten(0, (len(ids), -1))

    def loss(self, ids: Tensor) -> Tensor:
        """Equation 6: nats a byte or end mark, of words that are there."""
        found = self(ids)
        return F.cross_entropy(
            found.flatten(0, 2), targets(ids[:, 1:]).flatten(), ignore_index=-100
        )


def targets(ids: Tensor) -> Tensor:
    """Bytes of each word and one end mark, -100 beyond: ``(…, c)`` → ``(…, c + 1)``."""
    lengths = (ids != PAD).sum(-1, keepdim=True)
    wanted = F.pad(ids, (0, 1)).masked_fill(F.pad(ids, (0, 1)) == PAD, -100)
    wanted = wanted.scatter(-1, lengths, END)
    return wanted.masked_fill(lengths == 0, -100)


class UnitModel(nn.Module):
    """A causal model over bytes or subwords, ``depth`` layers and a table of positions."""

    def __init__(
        self, vocabulary: int, width: int = 64, layers: int = 4, longest: int = 512
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.places = nn.Parameter(torch.zeros(longest, width))
        self.main, self.out = stack(width, layers, 4), nn.Linear(width, vocabulary)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits ``(b, n, V)`` of the next unit."""
        states = self.embedding(ids) + self.places[: ids.shape[1]]
        logits: Tensor = self.out(self.main(states, mask=causal(ids.shape[1])))
        return logits

    def loss(self, ids: Tensor) -> Tensor:
        """Nats a unit."""
        return F.cross_entropy(self(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


def word_rows(pieces: Sequence[Sequence[int]]) -> Tensor:
    """Words as ``(t, 16)`` int64, padded."""
    rows = torch.zeros(len(pieces), LONGEST, dtype=torch.long)
    for row, piece in zip(rows, pieces, strict=True):
        row[: len(piece)] = torch.tensor(piece)
    return rows


@torch.no_grad()
def next_word(model: WordModel, ids: Tensor) -> list[int]:
    """Greedy bytes of the word behind words ``(t, 16)``, until the end mark."""
    canvas = torch.cat([ids, torch.zeros(1, LONGEST, dtype=torch.long)])
    found: list[int] = []
    for place in range(LONGEST + 1):
        best = int(model(canvas[None])[0, -1, place].argmax())
        if best in (END, PAD) or place == LONGEST:
            break
        found.append(best)
        canvas[-1, place] = best
    return found
