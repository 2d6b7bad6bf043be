"""Milepost as a chunker of chonkie.

    from milepost.integrations.chonkie import MilepostChunker
    chunker = MilepostChunker(chunk_size=200)
    chunks = chunker("The contract was drafted in May. It was signed by Ada Lovelace.")

Needs ``chonkie``: ``pip install '.[chonkie]'`` in a clone. In a pipeline of chonkie the chunker is
``chunk_with("milepost", chunk_size=200)``, once this file is imported.
"""

from __future__ import annotations

import os
from typing import Any

from chonkie.chunker import BaseChunker
from chonkie.pipeline import chunker
from chonkie.types import Chunk

from milepost.encoder import Encoder, load
from milepost.index.chunking import Pooling, chunks, cut_up
from milepost.search.query import Budget, parse_length
from milepost.types import Document


@chunker("milepost")
class MilepostChunker(BaseChunker):
    """Chunks of whole sentences, with exact offsets and vectors read in context.

    The chunks tile the text. A sentence is cut only if it is longer than ``chunk_size`` by itself.

    Args:
        chunk_size: maximum length of a chunk: a number of tokens of the model, as everywhere in
            chonkie, or ``"1600c"`` characters.
        model: an encoder, a shipped model's name or a model folder; None for the default.
        pooling: how landmarks become ``Chunk.embedding``, see ``milepost.chunks``; None for no
            vectors, which is far faster: the network does not run.

    Raises:
        InputError: ``chunk_size`` is not a length.
        ModelError: the model is missing or damaged.
    """

    def __init__(
        self,
        chunk_size: int | str = 400,
        model: Encoder | str | os.PathLike[str] | None = None,
        pooling: str | Pooling | None = "lmk",
    ) -> None:
        self._size = _size(chunk_size)
        self._encoder = model if isinstance(model, Encoder) else load(model)
        self._pooling = pooling
        counter: Any = self._encoder.count_tokens  # accepted, though not in the signature
        super().__init__(counter)

    def chunk(self, text: str) -> list[Chunk]:
        """Cut one text; the offsets count its code points."""
        if self._pooling is None:
            spans = cut_up(Document("text", text), self._size, self._encoder.tokenizer).spans()
            return [self._chunk(text[start:end], start, None) for start, end in spans]
        found = chunks(
            Document("text", text),
            size=f"{self._size.size}{self._size.unit}",
            model=self._encoder,
            pooling=self._pooling,
        )
        return [self._chunk(each.text, each.start, each.vector.tolist()) for each in found]

    def _chunk(self, text: str, start: int, vector: list[float] | None) -> Chunk:
        return Chunk(
            text=text,
            start_index=start,
            end_index=start + len(text),
            token_count=self._encoder.count_tokens(text),
            embedding=vector,
        )

    def __repr__(self) -> str:
        size = f"{self._size.size}{self._size.unit}"
        return f"MilepostChunker({size}, {self._encoder.manifest.name}, {self._pooling})"


def _size(chunk_size: int | str) -> Budget:
    """A number counts tokens here, not characters as elsewhere in Milepost."""
    tokens = str(chunk_size).strip().isdecimal()
    return parse_length(f"{chunk_size}t" if tokens else chunk_size, "chunk_size")
