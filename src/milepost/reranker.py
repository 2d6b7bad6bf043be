"""A model that reads places of documents with the question in front of them.

A landmark is made before anybody asks. Once a question is known, the few places that seem to
answer it can be read again, each in a window that begins with the question:

    [CLS] question [LMK] s1 [LMK] s2 [LMK] …

All tokens see each other, so the landmark of a sentence says what it holds *for this question*.
Its cosine with the question's own landmark of the same window is what the reranker tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from milepost.encoder import Encoder
from milepost.engine.folder import RERANKER, TOKENIZER, ModelFolder
from milepost.engine.manifest import MANIFEST, read_manifest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Reranker:
    """Reads again what a question is about.

    Args:
        encoder: a landmark model trained for such windows (``milepost train``, kind ``rerank``).
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    @staticmethod
    def of(model: Encoder) -> Reranker | None:
        """The reranker in a model's folder, or None where it has none.

        It reads the model's tokens where it has no tokenizer of its own.

        Raises:
            ModelError: the folder has one that is damaged.
        """
        path = model.folder / RERANKER
        if not (path / MANIFEST).is_file():
            return None
        from milepost.engine.openvino import open_engine

        folder = ModelFolder(path, read_manifest(path))
        tokenizer = None if (path / TOKENIZER).is_file() else model.tokenizer
        return Reranker(Encoder(folder, open_engine(folder), tokenizer))

    def about(self, question: str) -> Asked:
        """The reranker, told what is asked."""
        return Asked(self._encoder, question)


class Asked:
    """Reads places with one question in front of them.

    Args:
        encoder: see ``Reranker``.
        question: in words; what is beyond half a window is not read.

    Attributes:
        room: tokens that a place may have beside the question, a landmark for each sentence.
    """

    def __init__(self, encoder: Encoder, question: str) -> None:
        self._encoder = encoder
        window = encoder.manifest.window
        self._question = self.tokens([question.strip()], window // 2)[0]
        self.room = window - 2 - len(self._question)

    def tokens(self, sentences: Sequence[str], most: int | None = None) -> list[Sequence[int]]:
        """Token ids of each sentence, cut where one is longer than the model reads."""
        longest = most or self._encoder.manifest.longest
        return [ids[:longest] for ids, _, _ in self._encoder.tokenizer.count(sentences)]

    def cosines(self, places: Sequence[Sequence[Sequence[int]]]) -> list[NDArray[np.float32]]:
        """What each sentence holds for the question, ``(sentences,)`` in −1 … 1 for each place.

        Args:
            places: token ids of sentences that stand one behind the other.
        """
        found = self._encoder.encode_windows([[self._question, *place] for place in places])
        return [vectors[1:] @ vectors[0] for vectors in found]
