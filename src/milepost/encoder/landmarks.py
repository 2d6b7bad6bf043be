"""Encode texts and questions as vectors with the model of a folder."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple
from functools import partial
from itertools import pairwise
from typing import Any, Self

from milepost._numpy import NDArray, np
from milepost._typed import typed
from milepost.encoder.engine.base import Engine
from milepost.encoder.engine.folder import POOLING_GRAPH, ModelFolder
from milepost.encoder.engine.inputs import inputs_of
from milepost.encoder.engine.manifest import prefixed
from milepost.encoder.engine.pooling import PoolingGraph
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.sentences import Read, read_sentences, vocab_coverage
from milepost.encoder.windows import Window, WindowSize, batches, plan
from milepost.encoder.windows.document_vector import document_vector
from milepost.encoder.windows.grid import segment_ends, segments, sentence_vectors
from milepost.errors import BadQuestion, WrongType
from milepost.types import Document, Landmarks, Span

_Seen = tuple[Window, int, "NDArray[np.float32]"]
"""A window, the number of tokens it owns, and its requested states."""

Opener = Callable[[ModelFolder], "Engine"]  # opens the engine of a model folder

Progress = Callable[[int, int], None]  # called with the number of sentences done and their total

# Tokens of one batch. Measured speed is flat from 1,000 to 4,000 tokens and drops beyond, where
# states no longer fit into the CPU caches.
_BATCH_TOKENS = 2048


class Encoder:
    """Reads texts in windows with context and returns one vector per sentence.

    Each landmark closes a unit, and windows hold whole units. Units are sentences, or segments of a
    fixed number of tokens if the manifest's ``granularity`` is a number (``windows/grid.py``). See
    ``load`` for the default engine; ``opener`` opens that of a nested model folder with the
    settings of this one. A tokenizer replaces the folder's.

    Attributes:
        manifest: the model's metadata (name, fingerprint, window sizes …).
        folder: path of the model folder.
        tokenizer: turns sentences into token ids.
    """

    def __init__(
        self,
        folder: ModelFolder,
        engine: Engine,
        tokenizer: Tokenizer | None = None,
        opener: Opener | None = None,
    ) -> None:
        self.manifest = folder.manifest
        self.folder = folder.path
        self.opener = opener
        self._engine = engine
        self.tokenizer = tokenizer or Tokenizer(
            folder.tokenizer, self.manifest.bos_token, self.manifest.landmark
        )
        self._pool: Callable[[NDArray[np.float32]], NDArray[np.float32]] = document_vector
        if self.manifest.pooling != "lmk":
            self._pool = PoolingGraph(folder.pooling(POOLING_GRAPH))
        self._shape = WindowSize(
            size=self.manifest.window,
            left=self.manifest.left,
            right=self.manifest.right,
            longest=(self.manifest.every or self.manifest.longest) + 1,
        )

    def __repr__(self) -> str:
        return (
            f"<Encoder {self.manifest.name}, {self.dimensions} dimensions, {self.engine}, "
            f"fingerprint {self.fingerprint}>"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # The engine stays in its process: another one opens the folder again.
        if not self.folder.is_dir():
            raise WrongType("an encoder made in memory cannot be pickled", "a model folder or name")
        from milepost.encoder.loading import load

        return partial(load, **getattr(self.opener, "keywords", {})), (self.folder,)

    @property
    def dimensions(self) -> int:
        """Width ``d`` of the vectors."""
        return self.manifest.dimensions

    @property
    def fingerprint(self) -> str:
        """The model's identity, which an index stores."""
        return self.manifest.fingerprint

    @property
    def engine(self) -> str:
        """One line that describes the engine to users."""
        return self._engine.description

    @typed
    def encode(
        self,
        text: str | Document,
        *,
        spans: Sequence[Span] | None = None,
        progress: Progress | None = None,
    ) -> Landmarks:
        """Read a text of any length; nothing is truncated.

        Args:
            text: a string, or a document, whose block boundaries are then respected.
            spans: spans to encode instead of sentences, ascending and disjoint; text outside the
                spans is not read. Over-long spans are cut as sentences are.
            progress: called after each batch with the number of sentences done and their total.

        Returns:
            One vector per sentence, the sentences' spans (which tile the text unless ``spans`` is
            given), and the document's vector, which is pooled from all landmarks.
        """
        read = self._read(text, spans)
        units = self._units(read.ids)
        vectors = np.zeros((len(units), self.dimensions), np.float32)
        if progress is not None:
            progress = _in_sentences(progress, len(read.ids), len(units))
        return self._landmarks(read, vectors, self._run(units, vectors, progress))

    @typed
    def encode_documents(self, texts: Iterable[str | Document]) -> Iterator[Landmarks]:
        """Encode many texts one at a time, so that memory use stays flat."""
        for text in texts:
            yield self.encode(text)

    @typed
    def encode_texts(self, texts: Sequence[str | Document]) -> list[Landmarks]:
        """Encode many short texts whose windows share batches, nearly twice as fast.

        No window holds two texts, so each text gets the vectors that ``encode`` gives it, up to
        rounding. It is fastest when texts of similar length are adjacent.
        """
        reads = [self._read(text) for text in texts]
        units = [self._units(read.ids) for read in reads]
        ids = [unit for each in units for unit in each]
        vectors = np.zeros((len(ids), self.dimensions), np.float32)
        tokens = np.zeros(len(ids), np.int64)
        for batch in self._batches(ids, [len(each) for each in units]):
            for window, count, states in batch:
                vectors[window.own_first : window.own_last] = states
                tokens[window.own_first] = count
        found: list[Landmarks] = []
        last = 0
        for read, each in zip(reads, units, strict=True):
            first, last = last, last + len(each)
            found.append(self._landmarks(read, vectors[first:last], int(tokens[first:last].sum())))
        return found

    @typed
    def token_states(self, text: str) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Yield the contextual state of every token, for callers that need more than landmarks.

        A token's state is the output of the network's last layer at its position, scaled to unit
        length, in the window that owns it. Landmarks are left out. A text may have any length:
        memory use stays flat.

        Yields:
            The tokens owned by a window: their start offsets in the text, ``(t,)``, and their
            states, ``(t, d)``. Windows come in no particular order; each token appears once.
        """
        starts: list[array[int]] = []
        ids = self._units(self._read(text, token_starts=starts).ids)
        if self.manifest.every and starts:
            starts = segments(starts, self.manifest.every, typecode="q")
        for batch in self._batches(ids, [len(ids)], everywhere=True):
            for window, _, states in batch:
                own = starts[window.own_first : window.own_last]
                yield np.concatenate([np.array(part, np.int64) for part in own]), states

    @typed
    def encode_query(self, question: str) -> NDArray[np.float32]:
        """Encode a question as a vector, ``(d,)`` float32, unit length.

        The model's ``query_prefix`` is put in front. A question longer than the longest sentence is
        encoded as a text, and its document vector is returned; nothing is cut off. Where landmarks
        close segments, the vector is the mean of the question's landmarks.

        Raises:
            BadQuestion: the question is empty or has neither letter nor digit.
        """
        ids = self._question_tokens([question])[0]
        if len(ids) > self.manifest.longest:
            return self.encode(prefixed(question, self.manifest.query_prefix)).document
        # A question is one sentence even if it holds full stops, as in training.
        units = self._units([ids])
        vectors = np.zeros((len(units), self.dimensions), np.float32)
        self._run(units, vectors, None)
        return _mean(vectors)

    @typed
    def encode_queries(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Encode many questions in shared batches, ``(n, d)``; see ``encode_query``.

        Raises:
            BadQuestion: a question is empty or has neither letter nor digit.
        """
        vectors = np.zeros((len(questions), self.dimensions), np.float32)
        rows = [self._units([ids]) for ids in self._question_tokens(questions)]
        short = [n for n, row in enumerate(rows) if self._fit(row)]
        if short:
            vectors[short] = [_mean(each) for each in self.encode_windows([rows[n] for n in short])]
        for n in set(range(len(rows))).difference(short):
            vectors[n] = self.encode_query(questions[n])
        return vectors

    def _question_tokens(self, questions: Sequence[str]) -> list[Sequence[int]]:
        for question in questions:
            if not any(letter.isalnum() for letter in question):
                said = question.strip()
                problem = f"{said!r} has neither letter nor digit" if said else "is empty"
                raise BadQuestion(f"the question {problem}", "ask in words")
        texts = [prefixed(question, self.manifest.query_prefix) for question in questions]
        return [ids for ids, _, _ in self.tokenizer.count(texts)]

    def encode_windows(self, rows: Sequence[Sequence[Sequence[int]]]) -> list[NDArray[np.float32]]:
        """Encode windows that the caller has built; returns ``(sentences, d)`` for each window.

        ``rows`` has token ids of each sentence of each window, without special tokens; a landmark
        closes each sentence, whatever the model's granularity.
        """
        if not rows:
            return []
        ends = np.cumsum([0, *map(len, rows)]).tolist()
        windows = [Window(a, a, b, b) for a, b in pairwise(ends)]
        costs = [1 + sum(len(ids) + 1 for ids in row) for row in rows]
        flat = [ids for row in rows for ids in row]
        vectors = np.zeros((len(flat), self.dimensions), np.float32)
        for batch in batches(zip(costs, windows, strict=True), budget=_BATCH_TOKENS):
            for window, _, states in self._run_batch(batch, flat, everywhere=False):
                vectors[window.first : window.last] = states
        return np.split(vectors, ends[1:-1])

    @typed
    def vocab_coverage(self, question: str) -> float:
        """Compute the question's vocabulary coverage, 0–1; see ``Landmarks.vocab_coverage``."""
        _, tokens, letters = self.tokenizer.count([question])[0]
        return vocab_coverage(tokens, letters)

    @typed
    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text with this model's tokenizer, special tokens not counted."""
        return len(self.tokenizer.count([text])[0][0])

    def _units(self, ids: Sequence[Sequence[int]]) -> Sequence[Sequence[int]]:
        """Group token ids into the units that landmarks close: sentences or grid segments."""
        every = self.manifest.every
        return segments(ids, every) if every and ids else ids

    def _fit(self, units: Sequence[Sequence[int]]) -> bool:
        """Whether a question is no longer than one sentence and fits into one window."""
        tokens = sum(map(len, units))
        return tokens <= self.manifest.longest and 1 + tokens + len(units) <= self.manifest.window

    def _landmarks(self, read: Read, landmarks: NDArray[np.float32], tokens_read: int) -> Landmarks:
        counts = [len(ids) for ids in read.ids]
        tokens, vectors = sum(counts), landmarks
        if self.manifest.every and counts:
            ends = segment_ends(tokens, self.manifest.every)
            vectors = sentence_vectors(landmarks, ends, counts)
        return Landmarks(
            vectors=vectors,
            spans=np.array(read.spans, np.int64).reshape(-1, 2),
            document=self._pool(landmarks),
            tokens_given=tokens,
            tokens_read=tokens_read,
            vocab_coverage=np.array(read.vocab_coverage, np.float32),
        )

    def _read(
        self,
        text: str | Document,
        spans: Sequence[Span] | None = None,
        token_starts: list[array[int]] | None = None,
    ) -> Read:
        return read_sentences(self.tokenizer, self.manifest.longest, text, spans, token_starts)

    def _run(
        self, ids: Sequence[Sequence[int]], vectors: NDArray[np.float32], progress: Progress | None
    ) -> int:
        """Fill ``vectors`` window by window; returns the number of owned tokens that were read."""
        done = tokens = 0
        for batch in self._batches(ids, [len(ids)]):
            for window, count, states in batch:
                vectors[window.own_first : window.own_last] = states
                tokens += count
                done += len(states)
            if progress is not None:
                progress(done, len(ids))
        return tokens

    def _batches(
        self, ids: Sequence[Sequence[int]], counts: Sequence[int], *, everywhere: bool = False
    ) -> Iterator[list[_Seen]]:
        costs = [len(unit) + 1 for unit in ids]
        windows = (
            (1 + sum(costs[window.first : window.last]), window)
            for window in self._windows(costs, counts)
        )
        for batch in batches(windows, budget=_BATCH_TOKENS):
            yield self._run_batch(batch, ids, everywhere)

    def _windows(self, costs: Sequence[int], counts: Sequence[int]) -> Iterator[Window]:
        """Plan windows that each hold one text's units, numbered across all texts."""
        at = 0
        for count in counts:
            for window in plan(costs[at : at + count], self._shape):
                yield Window(*(at + n for n in astuple(window)))
            at += count

    def _run_batch(
        self, batch: list[Window], ids: Sequence[Sequence[int]], everywhere: bool
    ) -> list[_Seen]:
        rows = [[ids[number] for number in range(w.first, w.last)] for w in batch]
        owned = [(w.own_first - w.first, w.own_last - w.first) for w in batch]
        arrays, asked, counts = inputs_of(
            rows, owned, self.tokenizer, most=self.manifest.window, everywhere=everywhere
        )
        states = self._engine.run(*arrays)
        return [
            (window, count, states[row, :places])
            for row, (window, count, places) in enumerate(zip(batch, counts, asked, strict=True))
        ]


def _mean(landmarks: NDArray[np.float32]) -> NDArray[np.float32]:
    return landmarks[0] if len(landmarks) == 1 else document_vector(landmarks)


def _in_sentences(progress: Progress, sentences: int, units: int) -> Progress:
    if sentences == units:
        return progress
    return lambda done, _: progress(done * sentences // units, sentences)
