"""Milepost's own weights, used as any embedding model is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from milepost.types import Span
from milepost_eval.embedders.base import SpanSums

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.encoder import Encoder

# Texts whose tokens are held at once.
_BLOCK = 4096


class LandmarkEmbedder:
    """A chunk read alone is the mean of its landmarks, as a whole document is.

    An isolated sentence is one landmark, so its vector is that landmark without context.

    Args:
        encoder: the model.
        name: what systems call it.
    """

    def __init__(self, encoder: Encoder, name: str = "landmark") -> None:
        self.name = name
        # The graph's precision is no part of the model's own fingerprint.
        graph = encoder.engine.partition(", ")[2].partition(",")[0]
        self.fingerprint = f"{encoder.fingerprint} {graph.removeprefix('openvino_')}"
        self._encoder = encoder

    def context(self) -> str:
        """See ``ContextEmbedder.context``; the model's own fingerprint tells its windows."""
        return self.fingerprint

    def texts(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        """See ``Embedder.texts``."""
        import numpy as np

        vectors = np.zeros((len(texts), self._encoder.dimensions), np.float32)
        tokens = 0
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        for at in range(0, len(order), _BLOCK):
            block = order[at : at + _BLOCK]
            read = self._encoder.encode_texts([texts[number] for number in block])
            for number, marks in zip(block, read, strict=True):
                vectors[number] = marks.document
                tokens += marks.tokens_read
        return vectors, tokens

    def questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder.questions``."""
        import numpy as np

        rows = [self._encoder.encode_query(text) for text in texts]
        return np.array(rows, np.float32).reshape(-1, self._encoder.dimensions)

    def within(
        self, text: str, spans: Sequence[Span]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], int]:
        """See ``ContextEmbedder.within``.

        A token's state has length 1, as the graph gives it. In the last layer it attends to its
        own sentence only; context reaches it through the layers before.
        """
        sums = SpanSums(spans, self._encoder.dimensions)
        for starts, states in self._encoder.token_states(text):
            sums.add(starts, states)
        return sums.means()
