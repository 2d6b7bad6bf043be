"""The landmark reranker: a model that reads windows of documents with the question in front.

Landmarks are computed before any question is known. At search time, the few windows that seem to
answer the question are encoded together with it:

    [CLS] question [LMK] s1 [LMK] s2 [LMK] …

The question is preceded by the ``query_prefix`` of the reranker, as in its training, not by that of
the model. Every token attends to the whole window in all layers but the last, so a sentence's
landmark depends on the question. The reranker's score of a sentence is the cosine of its landmark
with the question's landmark in the same window, from which follows, too, whether the window answers
(``engine.verdict_head``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from weakref import WeakKeyDictionary, ref

from milepost.encoder import Encoder
from milepost.encoder.engine.folder import (
    JUDGE,
    RERANKER,
    TOKENIZER,
    ModelFolder,
    find_model,
    packaged,
)
from milepost.encoder.engine.manifest import MANIFEST, prefixed, read_manifest
from milepost.encoder.engine.verdict_head import VerdictHead
from milepost.errors import ModelError
from milepost.verdicts import WindowReading


class LandmarkReranker:
    """Scores sentences for a question; see ``search.reranking.Reranker``.

    Args:
        encoder: a landmark model trained for such windows (``milepost train``, kind ``rerank``).
        is_judge: whether it is the larger one of the package ``JUDGE``.
    """

    def __init__(self, encoder: Encoder, *, is_judge: bool = False) -> None:
        self._encoder = encoder
        self.is_judge = is_judge
        self._head = VerdictHead.read(encoder.folder)

    @staticmethod
    def of(model: Encoder) -> LandmarkReranker | None:
        """Load the reranker in a model's folder, once per model; None if there is none.

        It uses the model's tokenizer if it has none of its own.
        """
        return preload(model).loaded()

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the reranker's model."""
        return self._encoder.fingerprint

    def for_query(self, question: str) -> BoundLandmarkReranker | None:
        """Bind the reranker to one question; None if that is longer than the longest sentence.

        No part of such a question could stand for the whole.
        """
        manifest = self._encoder.manifest
        words = prefixed(question, manifest.query_prefix)
        ids, _, _ = self._encoder.tokenizer.count([words])[0]
        # Leave room for a sentence of fair length beside the question.
        longest = min(manifest.longest, manifest.window // 2)
        if len(ids) > longest:
            return None
        return BoundLandmarkReranker(self._encoder, ids, self._head)

    def judge(
        self, claim: str, sentences: Sequence[str], most_about: int = 0
    ) -> tuple[WindowReading, int] | None:
        """Read sentences with a claim, which is one, in front: those around one that fit.

        Returns:
            The reading and the number of the first sentence read; None if the model gives no
            verdicts, or the claim is too long.
        """
        bound = self.for_query(claim)
        if bound is None or self._head is None:
            return None
        tokens = bound.tokens(sentences)
        part = _fitting([len(ids) + 1 for ids in tokens], most_about, bound.room)
        return bound.read([tokens[part.start : part.stop]])[0], part.start


class BoundLandmarkReranker:
    """Encodes windows with one question, as token ids, in front; a ``head`` judges them.

    Beside the question ``room`` tokens are left in a window, including one landmark per sentence.
    """

    def __init__(
        self, encoder: Encoder, question: Sequence[int], head: VerdictHead | None = None
    ) -> None:
        self._encoder, self._question, self._head = encoder, question, head
        self.room = encoder.manifest.window - 2 - len(question)

    def tokens(self, sentences: Sequence[str]) -> list[Sequence[int]]:
        """Tokenize sentences, each cut to what fits in a window."""
        longest = min(self._encoder.manifest.longest, self.room - 1)
        return [ids[:longest] for ids, _, _ in self._encoder.tokenizer.count(sentences)]

    def read(self, windows: Sequence[Sequence[Sequence[int]]]) -> list[WindowReading]:
        """Score the sentences, as token ids, of each window, and judge it as a whole."""
        found = self._encoder.encode_windows([[self._question, *window] for window in windows])
        head = self._head
        return [
            WindowReading(vectors[1:] @ vectors[0], None if head is None else head(vectors[:1])[0])
            for vectors in found
        ]


def _fitting(sizes: Sequence[int], middle: int, room: int) -> range:
    """The sentences around one that fit in ``room`` tokens, as many before it as behind."""
    first, last = middle, middle + 1
    room -= sizes[middle]
    while True:
        before = first > 0 and sizes[first - 1] <= room
        behind = last < len(sizes) and sizes[last] <= room
        if not (before or behind):
            return range(first, last)
        if behind and (not before or last - middle <= middle - first + 1):
            room -= sizes[last]
            last += 1
        else:
            first -= 1
            room -= sizes[first]


class LoadingReranker:
    """Loads a reranker in a thread; ``for_query`` and ``judge`` wait until it is loaded."""

    def __init__(self, load: Callable[[], LandmarkReranker | None]) -> None:
        pool = ThreadPoolExecutor(1, thread_name_prefix="milepost-reranker")
        self.loading = pool.submit(load)
        pool.shutdown(wait=False)

    def loaded(self) -> LandmarkReranker | None:
        """Wait for the reranker; None if the model has none."""
        return self.loading.result()

    def for_query(self, question: str) -> BoundLandmarkReranker | None:
        """See ``LandmarkReranker.for_query``."""
        reranker = self.loaded()
        return reranker.for_query(question) if reranker else None

    def judge(
        self, claim: str, sentences: Sequence[str], most_about: int = 0
    ) -> tuple[WindowReading, int] | None:
        """See ``LandmarkReranker.judge``."""
        reranker = self.loaded()
        return reranker.judge(claim, sentences, most_about) if reranker else None


_PATIENCE_S = 10.0  # for rerankers that are being loaded
_known: WeakKeyDictionary[Encoder, LoadingReranker] = WeakKeyDictionary()
_judges: dict[tuple[int | None, bool], LoadingReranker] = {}


def preload(model: Encoder) -> LoadingReranker:
    """Start to load a model's reranker, while the caller reads documents or an index."""
    if model not in _known:  # two threads at once load it twice and keep one
        _known[model] = LoadingReranker(partial(_load, ref(model)))
    return _known[model]


def preload_judge(model: Encoder) -> LoadingReranker | None:
    """Start to load what judges whether passages answer; None if nothing can, or needs to."""
    return _judge(model) if "answerable" in model.manifest.fusion else None


def _judge(model: Encoder) -> LoadingReranker | None:
    """The package ``JUDGE``, with a model's threads.

    None if it is not installed, or the model is of no folder, as those of tests.
    """
    if model.opener is None or packaged(JUDGE) is None:
        return None
    given = getattr(model.opener, "keywords", {})
    threads, cached = given.get("threads"), given.get("cache", True)
    if (threads, cached) not in _judges:
        _judges[threads, cached] = LoadingReranker(partial(_load_judge, threads, cached))
    return _judges[threads, cached]


def judge_of(model: Encoder) -> LandmarkReranker | None:
    """What judges claims: the package ``JUDGE`` if it is installed, else the model's reranker."""
    return (_judge(model) or preload(model)).loaded()


def settle() -> None:
    """Wait for what is being loaded: meanwhile OpenVINO gives the whole process the C locale."""
    known = [*_known.values(), *_judges.values()]
    wait([each.loading for each in known], timeout=_PATIENCE_S)


if hasattr(os, "register_at_fork"):  # a child would wait for a thread that it does not have
    os.register_at_fork(before=settle)


def _load(model: ref[Encoder]) -> LandmarkReranker | None:
    encoder = model()
    path = encoder.folder / RERANKER if encoder else None
    if encoder is None or path is None or not (path / MANIFEST).is_file():
        return None
    from milepost.encoder.engine.openvino import open_engine

    folder, opener = ModelFolder(path, read_manifest(path)), encoder.opener or open_engine
    if folder.manifest.every:
        raise ModelError(
            f"{path} has a landmark every {folder.manifest.every} tokens, a reranker after each "
            "sentence",
            "export it without --granularity, or remove that folder",
        )
    tokenizer = None if (path / TOKENIZER).is_file() else encoder.tokenizer
    return _ready(Encoder(folder, opener(folder), tokenizer))


def _load_judge(threads: int | None, cached: bool) -> LandmarkReranker:
    from milepost.encoder.engine.openvino import open_engine

    folder = find_model(JUDGE)
    engine = open_engine(folder, threads=threads, cache=cached)
    return _ready(Encoder(folder, engine), is_judge=True)


def _ready(encoder: Encoder, *, is_judge: bool = False) -> LandmarkReranker:
    encoder.encode_windows([[[0]]])  # the first run packs the weights: beside the search so far
    return LandmarkReranker(encoder, is_judge=is_judge)
