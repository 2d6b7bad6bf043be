"""A model folder → vectors of texts and questions: the class users meet first."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple
from itertools import pairwise
from typing import TYPE_CHECKING

from milepost.encoder.sentences import Read, read_sentences, vocab_coverage
from milepost.engine.folder import POOLING_GRAPH, ModelFolder
from milepost.engine.inputs import inputs_of
from milepost.engine.manifest import prefixed
from milepost.engine.pooling import PoolingGraph
from milepost.engine.tokenizer import Tokenizer
from milepost.errors import BadQuestion
from milepost.types import Document, Landmarks, Span
from milepost.windows import Window, WindowSize, batches, plan
from milepost.windows.document_vector import document_vector
from milepost.windows.grid import segment_ends, segments, sentence_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.engine.base import Engine

_Seen = tuple[Window, int, "NDArray[np.float32]"]
"""A window, how many tokens it owns, and the states that were asked of it."""

Opener = Callable[[ModelFolder], "Engine"]
"""A model folder to what runs its graph."""

Progress = Callable[[int, int], None]
"""Called with sentences done and sentences in all."""

# Tokens of one batch. Measured: flat from 1,000 to 4,000, slower beyond: states leave the caches.
_BATCH_TOKENS = 2048


class Encoder:
    """Reads texts in windows with context and returns a vector a sentence.

    What a landmark closes is a unit, and windows hold whole units: the sentences themselves, or
    segments of so many tokens where the manifest's ``granularity`` says so (``windows/grid.py``).

    Args:
        folder: the model folder.
        engine: runs the graph; see ``load`` for the default one.
        tokenizer: another one than the folder's, e.g. one made in memory.
        opener: opens the engine of a folder inside as this one's was; None for the usual one.

    Attributes:
        manifest: the model's own record (name, fingerprint, window sizes …).
        folder: where it lies.
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
        self._pool = _pooling(folder)
        self._shape = WindowSize(
            size=self.manifest.window,
            left=self.manifest.left,
            right=self.manifest.right,
            longest=(self.manifest.every or self.manifest.longest) + 1,
        )

    @property
    def dimensions(self) -> int:
        """Width ``d`` of the vectors."""
        return self.manifest.dimensions

    @property
    def fingerprint(self) -> str:
        """What an index remembers of the model that made it."""
        return self.manifest.fingerprint

    @property
    def engine(self) -> str:
        """The engine in one line, for people."""
        return self._engine.description

    def encode(
        self,
        text: str | Document,
        *,
        spans: Sequence[Span] | None = None,
        progress: Progress | None = None,
    ) -> Landmarks:
        """Read a text of any length; nothing is truncated.

        Args:
            text: a string, or a document (whose known document_offsets are then respected).
            spans: what is to have a landmark in the place of each sentence, ascending and apart;
                what no span covers is not read. Over-long ones are cut as sentences are.
            progress: called after each batch with sentences done and in all.

        Returns:
            One vector a sentence, their spans (which tile the text), and the document's vector,
            which is pooled from all landmarks, be they of sentences or not.
        """
        import numpy as np

        read = self._read(text, spans)
        units = self._units(read.ids)
        vectors = np.zeros((len(units), self.dimensions), np.float32)
        if progress is not None:
            progress = _in_sentences(progress, len(read.ids), len(units))
        return self._landmarks(read, vectors, self._run(units, vectors, progress))

    def encode_documents(self, texts: Iterable[str | Document]) -> Iterator[Landmarks]:
        """``encode`` over many texts, one at a time, so that memory stays flat."""
        for text in texts:
            yield self.encode(text)

    def encode_texts(self, texts: Sequence[str | Document]) -> list[Landmarks]:
        """``encode`` over many short texts whose windows run together, nearly twice as fast.

        No window holds two texts, so each has the vectors that it has alone, up to the rounding
        of another batch. Texts of similar length beside each other are read fastest.
        """
        import numpy as np

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

    def token_states(self, text: str) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """The state of every token in its context, for what wants more than landmarks.

        A token's state is what the network's last layer gives at its place, unit length, in the
        window that owns it. Landmarks are left out.

        Args:
            text: of any length; memory stays flat.

        Yields:
            A window's owned tokens: where each starts in the text, ``(t,)``, and their states,
            ``(t, d)``. Windows come in no order, each token once.
        """
        import numpy as np

        starts: list[array[int]] = []
        ids = self._units(self._read(text, token_starts=starts).ids)
        if self.manifest.every and starts:
            starts = segments(starts, self.manifest.every, typecode="q")
        for batch in self._batches(ids, [len(ids)], everywhere=True):
            for window, _, states in batch:
                own = starts[window.own_first : window.own_last]
                yield np.concatenate([np.array(part, np.int64) for part in own]), states

    def encode_query(self, question: str) -> NDArray[np.float32]:
        """The vector of a question, ``(d,)`` float32, unit length.

        It is read with the model's ``query_prefix`` in front. If that is longer than a sentence may
        be, it is a text of several sentences, whose mean is returned; nothing is cut off. Where
        landmarks close segments, it is the mean of the question's.

        Raises:
            BadQuestion: the question is empty or has neither letter nor digit.
        """
        import numpy as np

        ids = self._question_tokens([question])[0]
        if len(ids) > self.manifest.longest:
            return self.encode(prefixed(question, self.manifest.query_prefix)).document
        # One sentence whatever full stops it holds: so questions were read in training.
        units = self._units([ids])
        vectors = np.zeros((len(units), self.dimensions), np.float32)
        self._run(units, vectors, None)
        return _mean(vectors)

    def encode_queries(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """``encode_query`` of many questions, ``(n, d)``, which run together.

        Raises:
            BadQuestion: one of them is empty or has neither letter nor digit.
        """
        import numpy as np

        vectors = np.zeros((len(questions), self.dimensions), np.float32)
        rows = [self._units([ids]) for ids in self._question_tokens(questions)]
        short = [n for n, row in enumerate(rows) if self._fit(row)]
        if short:
            vectors[short] = [_mean(each) for each in self.encode_windows([rows[n] for n in short])]
        for n in set(range(len(rows))).difference(short):
            vectors[n] = self.encode_query(questions[n])
        return vectors

    def _question_tokens(self, questions: Sequence[str]) -> list[Sequence[int]]:
        """Token ids of questions, the model's prefix in front.

        Raises:
            BadQuestion: one of them is empty or has neither letter nor digit.
        """
        for question in questions:
            if not any(letter.isalnum() for letter in question):
                said = question.strip()
                problem = f"{said!r} has neither letter nor digit" if said else "is empty"
                raise BadQuestion(f"the question {problem}", "ask in words")
        texts = [prefixed(question, self.manifest.query_prefix) for question in questions]
        return [ids for ids, _, _ in self.tokenizer.count(texts)]

    def encode_windows(self, rows: Sequence[Sequence[Sequence[int]]]) -> list[NDArray[np.float32]]:
        """Vectors of sentences in windows that the caller has made, ``(sentences, d)`` for each.

        Args:
            rows: token ids of each sentence of each window, special tokens left out; a landmark
                closes each, whatever the model's granularity.
        """
        import numpy as np

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

    def vocab_coverage(self, question: str) -> float:
        """How well the tokenizer knows the question, 0–1; see ``Landmarks.vocab_coverage``."""
        _, tokens, letters = self.tokenizer.count([question])[0]
        return vocab_coverage(tokens, letters)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text as this model reads it, special tokens not counted."""
        return len(self.tokenizer.count([text])[0][0])

    def _units(self, ids: Sequence[Sequence[int]]) -> Sequence[Sequence[int]]:
        """What landmarks close: the sentences, or segments of so many of their tokens."""
        every = self.manifest.every
        return segments(ids, every) if every and ids else ids

    def _fit(self, units: Sequence[Sequence[int]]) -> bool:
        """Whether a question's units are one sentence's, and fit into one window."""
        tokens = sum(map(len, units))
        return tokens <= self.manifest.longest and 1 + tokens + len(units) <= self.manifest.window

    def _landmarks(self, read: Read, landmarks: NDArray[np.float32], tokens_read: int) -> Landmarks:
        """What a text's landmarks say of its sentences."""
        import numpy as np

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
        self,
        ids: Sequence[Sequence[int]],
        vectors: NDArray[np.float32],
        progress: Progress | None,
    ) -> int:
        """Fill ``vectors`` window by window; returns the owned tokens that were read."""
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
        """Read units batch by batch.

        Args:
            ids: tokens of each unit, of all texts.
            counts: how many of the units each text has.
            everywhere: states of all tokens of a unit, not of its landmark.
        """
        costs = [len(unit) + 1 for unit in ids]
        windows = (
            (1 + sum(costs[window.first : window.last]), window)
            for window in self._windows(costs, counts)
        )
        for batch in batches(windows, budget=_BATCH_TOKENS):
            yield self._run_batch(batch, ids, everywhere)

    def _windows(self, costs: Sequence[int], counts: Sequence[int]) -> Iterator[Window]:
        """Windows of all texts, each of one text; numbers count the sentences of all."""
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
        inputs = inputs_of(
            rows, owned, self.tokenizer, most=self.manifest.window, everywhere=everywhere
        )
        states = self._engine.run(inputs.ids, inputs.sentences, inputs.marks)
        return [
            (window, count, states[row, :asked])
            for row, (window, count, asked) in enumerate(
                zip(batch, inputs.owned, inputs.asked, strict=True)
            )
        ]


def _pooling(folder: ModelFolder) -> Callable[[NDArray[np.float32]], NDArray[np.float32]]:
    """How the model's landmarks become a document's vector."""
    if folder.manifest.pooling == "lmk":
        return document_vector
    from milepost.pooling.ragged import unit  # only such a model needs the operators

    graph = PoolingGraph(folder.pooling(POOLING_GRAPH))

    def pool(landmarks: NDArray[np.float32]) -> NDArray[np.float32]:
        import numpy as np

        if not len(landmarks):
            return np.zeros(landmarks.shape[1], np.float32)
        return unit(graph(landmarks))

    return pool


def _mean(landmarks: NDArray[np.float32]) -> NDArray[np.float32]:
    """A question's vector from its landmarks, of which it usually has one."""
    return landmarks[0] if len(landmarks) == 1 else document_vector(landmarks)


def _in_sentences(progress: Progress, sentences: int, units: int) -> Progress:
    """The same report where the work is counted in units."""
    if sentences == units:
        return progress
    return lambda done, _: progress(done * sentences // units, sentences)
