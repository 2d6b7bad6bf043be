"""One vector a document, for tasks that ask for documents and not for places."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, cast, get_args

from milepost.errors import InputError
from milepost.types import Document, Span
from milepost_eval.embedders.base import Embedder, reads_context
from milepost_eval.embedders.landmark import LandmarkEmbedder
from milepost_eval.embedders.sentence_transformer import SentenceTransformerEmbedder
from milepost_eval.systems.dense import Asker, OpenVectors, asked_once
from milepost_eval.systems.late import Late
from milepost_eval.systems.units import Units
from milepost_eval.vectors import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Pooling = Literal["own", "cls", "mean", "late", "lmk"]

# Documents encoded at once, and kept in one piece.
_TOGETHER = 32


class Whole:
    """One vector a document.

    ``own``: what the model gives for the text, which most models cut at 256 or 512 tokens.
    ``cls``: the first token's state, of what the model reads. ``mean``: the mean of the token
    states of what the model reads. ``late``: the mean of all token states, read in windows,
    nothing cut. ``lmk``: the mean of all landmarks, nothing cut (arXiv 2601.21525).

    Questions are pooled as documents are with ``cls`` and ``mean``, and else as the model was
    made.

    Args:
        name: the system's name.
        embedder: the model.
        pooling: see above.
        vectors: where vectors are kept.

    Raises:
        InputError: the pooling is unknown, or the model does not offer it.
    """

    def __init__(self, name: str, embedder: Embedder, pooling: str, vectors: Vectors) -> None:
        known = get_args(Pooling)
        if pooling not in known:
            raise InputError(f"{name}: unknown pooling {pooling!r}", f"one of {', '.join(known)}")
        if pooling == "mean" and isinstance(embedder, LandmarkEmbedder):
            pooling = "late"  # a landmark model reads everything
        needed: dict[str, bool] = {
            "cls": isinstance(embedder, SentenceTransformerEmbedder),
            "mean": isinstance(embedder, SentenceTransformerEmbedder),
            "late": reads_context(embedder),
            "lmk": isinstance(embedder, LandmarkEmbedder),
        }
        if not needed.get(pooling, True):
            raise InputError(f"{name}: {embedder.name} does not know {pooling} pooling", "use own")
        self.name = name
        self.fingerprint = f"{embedder.fingerprint} {pooling}"
        self._embedder, self._vectors = embedder, vectors
        self._pooling = cast(Pooling, pooling)

    def open(self, documents: Sequence[Document]) -> OpenVectors:
        """See ``System.open``."""
        if self._pooling == "late":
            return Late(self.name, self._embedder, _whole, self._vectors).open(documents)
        units = Units.of(documents, _whole)
        texts = [text for number in range(len(units.documents)) for text in units.texts(number)]
        made: list[NDArray[np.float32]] = []
        tokens = 0
        for at in range(0, len(texts), _TOGETHER):
            some = texts[at : at + _TOGETHER]
            vectors, count = self._vectors.get(
                f"{self.fingerprint} whole", some, partial(self._read, some)
            )
            made.append(vectors)
            tokens += count
        return OpenVectors(units, made, tokens, self._asker())

    def _read(
        self, texts: Sequence[str], *, questions: bool = False
    ) -> tuple[NDArray[np.float32], int]:
        model, pooling = self._embedder, self._pooling
        if isinstance(model, SentenceTransformerEmbedder) and (
            pooling == "cls" or pooling == "mean"  # so written, the type checker follows
        ):
            return model.pooled(texts, pooling, questions=questions)
        return (model.questions(texts), 0) if questions else model.texts(texts)

    def _asker(self) -> Asker:
        def ask(questions: Sequence[str]) -> NDArray[np.float32]:
            return self._read(questions, questions=True)[0]

        return asked_once(ask, self.fingerprint, self._vectors)


def _whole(text: str) -> list[Span]:
    return [(0, len(text))]
