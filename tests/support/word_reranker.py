"""A reranker without a model: what a sentence says is a function of its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from milepost.verdicts import WindowReading


class WordReranker:
    """Reads a word as one token, its length; scores sentences by ``score`` of their text.

    By default a sentence's cosine is its number of letters over a thousand. A window has ``room``
    for so many tokens; ``verdicts`` are those of every window.
    """

    def __init__(
        self,
        score: Callable[[str], float] = lambda text: sum(map(len, text.split())) / 1000,
        room: int = 60,
        verdicts: np.ndarray | None = None,
    ) -> None:
        self._score, self.room, self._verdicts = score, room, verdicts
        self._known: dict[int, str] = {}
        self.questions: list[str] = []
        self.windows: list[Sequence[Sequence[int]]] = []  # the token ids of those that were scored
        self.texts: list[list[str]] = []  # their sentences

    def for_query(self, question: str) -> WordReranker:
        """The reranker itself: it scores for any question."""
        self.questions.append(question)
        return self

    def tokens(self, sentences: Sequence[str]) -> list[list[int]]:
        made = [[len(word) for word in sentence.split()] for sentence in sentences]
        self._known |= {id(ids): text for ids, text in zip(made, sentences, strict=True)}
        self._made = [*getattr(self, "_made", []), *made]  # so that no id is used again
        return made

    def read(self, windows: Sequence[Sequence[Sequence[int]]]) -> list[WindowReading]:
        self.windows = list(windows)
        self.texts = [[self._known[id(ids)] for ids in window] for window in windows]
        return [
            WindowReading(np.array([self._score(t) for t in texts], np.float32), self._verdicts)
            for texts in self.texts
        ]
