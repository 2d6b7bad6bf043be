"""Late chunking: the whole text is read once, chunks of any size are means of its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from milepost.documents import split
from milepost.errors import InputError
from milepost.types import Document, Span
from milepost_eval.embedders.base import Embedder, reads_context, unit
from milepost_eval.systems.dense import OpenVectors, asked_once
from milepost_eval.systems.units import Splitter, Units
from milepost_eval.vectors import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Vectors are kept in float16, which counts exactly up to this: a sentence's tokens are kept as
# two figures, thousands and rest.
_DIGIT = 2048


class Late:
    """Late chunking (Günther et al., arXiv 2409.04701) over units of any size.

    A text is read once for all sizes: kept are the mean and the number of each sentence's tokens,
    and a unit of whole sentences is their weighted mean,
    ``v_u = Σ n_s m_s / Σ n_s``, brought to length 1. For units that cut sentences the text is
    encoded anew.

    Args:
        name: the system's name.
        embedder: the model; it must give token states.
        splitter: the units.
        vectors: where means are kept, a document at a time.

    Raises:
        InputError: the model has no token states.
    """

    def __init__(self, name: str, embedder: Embedder, splitter: Splitter, vectors: Vectors) -> None:
        if not reads_context(embedder):
            raise InputError(
                f"{name}: {embedder.name} has no token states to average",
                "a model of sentence-transformers or Milepost",
            )
        self.name = name
        self.fingerprint = embedder.fingerprint
        self._embedder, self._splitter, self._vectors = embedder, splitter, vectors

    def open(self, documents: Sequence[Document]) -> OpenVectors:
        """See ``System.open``."""
        units = Units.of(documents, self._splitter)
        made: list[NDArray[np.float32]] = []
        tokens = 0
        for number, document in enumerate(units.documents):
            spans = units.spans[units.document_offsets[number] : units.document_offsets[number + 1]]
            if len(spans):
                vectors, count = self._document(document.text, spans)
                made.append(vectors)
                tokens += count
        asker = asked_once(self._embedder.questions, self.fingerprint, self._vectors)
        return OpenVectors(units, made, tokens, asker)

    def _document(self, text: str, spans: NDArray[np.int64]) -> tuple[NDArray[np.float32], int]:
        """Unit vectors of one document's units, and its tokens."""
        import numpy as np

        sentences = [(start, end) for start, end in split(text) if text[start:end].strip()]
        first, last = whole_sentences(text, sentences, spans)
        if first is None or last is None:
            means, _, tokens = self._within(text, [(a, b) for a, b in spans.tolist()])
            return unit(means), tokens
        means, counts, tokens = self._within(text, sentences)
        sums = np.zeros((len(sentences) + 1, means.shape[1]), np.float64)
        np.cumsum(means * counts[:, None], axis=0, dtype=np.float64, out=sums[1:])
        return unit((sums[last] - sums[first]).astype(np.float32)), tokens

    def _within(
        self, text: str, spans: Sequence[Span]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], int]:
        """``ContextEmbedder.within``, kept."""
        import numpy as np

        def make() -> tuple[NDArray[np.float32], int]:
            means, counts, tokens = self._embedder.within(text, spans)
            return np.column_stack([means, *np.divmod(counts, np.float32(_DIGIT))]), tokens

        places = " ".join(f"{start}:{end}" for start, end in spans)
        rows, tokens = self._vectors.get(f"{self._embedder.context()} late", [text, places], make)
        return rows[:, :-2], rows[:, -2] * np.float32(_DIGIT) + rows[:, -1], tokens


def whole_sentences(
    text: str, sentences: Sequence[Span], spans: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | tuple[None, None]:
    """Which sentences each unit is made of: the first, and one past the last.

    White space at the edges of units and sentences says nothing. ``None`` where a unit starts or
    ends inside a sentence.
    """
    import numpy as np

    words = [text[start:end] for start, end in sentences]
    starts = {
        start + len(word) - len(word.lstrip()): number
        for number, ((start, _), word) in enumerate(zip(sentences, words, strict=True))
    }
    ends = {
        end - len(word) + len(word.rstrip()): number + 1
        for number, ((_, end), word) in enumerate(zip(sentences, words, strict=True))
    }
    first = [starts.get(start, -1) for start in spans[:, 0].tolist()]
    last = [ends.get(end, -1) for end in spans[:, 1].tolist()]
    if -1 in first or -1 in last:
        return None, None
    return np.array(first, np.int64), np.array(last, np.int64)
