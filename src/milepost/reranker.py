"""The landmark reranker: a model that reads windows of documents with the question in front.

A landmark is made before anybody asks. Once a question is known, the few windows that seem to
answer it are encoded jointly with it:

    [CLS] question [LMK] s1 [LMK] s2 [LMK] …

The question has the reranker's own ``query_prefix`` in front, as in its training, not the model's.
In all layers but the last every token sees the whole window, so the landmark of a sentence says
what it holds *for this question*: its cosine with the question's own landmark of the same window
is the reranker's score.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

from milepost.encoder import Encoder
from milepost.engine.folder import RERANKER, TOKENIZER, ModelFolder
from milepost.engine.manifest import MANIFEST, prefixed, read_manifest
from milepost.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class LandmarkReranker:
    """Scores sentences for a question; see ``search.reranking.Reranker``.

    Args:
        encoder: a landmark model trained for such windows (``milepost train``, kind ``rerank``).
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    @staticmethod
    def of(model: Encoder) -> LandmarkReranker | None:
        """The reranker in a model's folder, or None where it has none; loaded once a model.

        It reads the model's tokens where it has no tokenizer of its own.

        Raises:
            ModelError: the folder has one that is damaged.
        """
        return preload(model).loaded()

    @property
    def fingerprint(self) -> str:
        """Of the model that reads."""
        return self._encoder.fingerprint

    def for_query(self, question: str) -> BoundLandmarkReranker | None:
        """The reranker for one question; None where it is longer than a sentence may be.

        Such a question is a text of which no part may stand for all.
        """
        manifest = self._encoder.manifest
        words = prefixed(question, manifest.query_prefix)
        ids, _, _ = self._encoder.tokenizer.count([words])[0]
        # Beside the question a window holds a sentence of fair length, or nothing is gained.
        longest = min(manifest.longest, manifest.window // 2)
        return BoundLandmarkReranker(self._encoder, ids) if len(ids) <= longest else None


class BoundLandmarkReranker:
    """Encodes windows with one question in front of them.

    Args:
        encoder: see ``LandmarkReranker``.
        question: its token ids.

    Attributes:
        room: tokens that a window may have beside the question, a landmark for each sentence.
    """

    def __init__(self, encoder: Encoder, question: Sequence[int]) -> None:
        self._encoder, self._question = encoder, question
        self.room = encoder.manifest.window - 2 - len(question)

    def tokens(self, sentences: Sequence[str]) -> list[Sequence[int]]:
        """Token ids of each sentence, cut where one leaves no room in a window."""
        longest = min(self._encoder.manifest.longest, self.room - 1)
        return [ids[:longest] for ids, _, _ in self._encoder.tokenizer.count(sentences)]

    def cosines(self, windows: Sequence[Sequence[Sequence[int]]]) -> list[NDArray[np.float32]]:
        """What each sentence holds for the question, ``(sentences,)`` in −1 … 1 for each window.

        Args:
            windows: token ids of sentences that stand one behind the other.
        """
        found = self._encoder.encode_windows([[self._question, *window] for window in windows])
        return [vectors[1:] @ vectors[0] for vectors in found]


class LoadingReranker:
    """A reranker that is loaded in a thread and waited for when it is asked for a question."""

    def __init__(self, model: Encoder) -> None:
        pool = ThreadPoolExecutor(1, thread_name_prefix="milepost-reranker")
        self._loading = pool.submit(_load, ref(model))
        pool.shutdown(wait=False)

    def loaded(self) -> LandmarkReranker | None:
        """The reranker; None where the model has none.

        Raises:
            ModelError: the folder has one that is damaged.
        """
        return self._loading.result()

    def for_query(self, question: str) -> BoundLandmarkReranker | None:
        """See ``LandmarkReranker.for_query``."""
        reranker = self.loaded()
        return reranker.for_query(question) if reranker else None


_known: WeakKeyDictionary[Encoder, LoadingReranker] = WeakKeyDictionary()


def preload(model: Encoder) -> LoadingReranker:
    """Begin to load a model's reranker, while the caller reads documents or an index."""
    if model not in _known:  # two threads that are here at once load it twice, and keep one
        _known[model] = LoadingReranker(model)
    return _known[model]


def _load(model: ref[Encoder]) -> LandmarkReranker | None:
    encoder = model()
    path = encoder.folder / RERANKER if encoder else None
    if encoder is None or path is None or not (path / MANIFEST).is_file():
        return None
    from milepost.engine.openvino import open_engine

    folder, opener = ModelFolder(path, read_manifest(path)), encoder.opener or open_engine
    if folder.manifest.every:
        raise ModelError(
            f"{path} has a landmark every {folder.manifest.every} tokens, a reranker after each "
            "sentence",
            "export it without --granularity, or remove that folder",
        )
    tokenizer = None if (path / TOKENIZER).is_file() else encoder.tokenizer
    return LandmarkReranker(Encoder(folder, opener(folder), tokenizer))
