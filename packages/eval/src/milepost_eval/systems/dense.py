"""Units encoded alone and ranked by cosine, the usual first design."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from milepost.types import Document
from milepost_eval.embedders.base import Embedder
from milepost_eval.systems.units import Scored, Splitter, Units
from milepost_eval.types import Place, Ranking
from milepost_eval.vectors import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Asker = Callable[[Sequence[str]], "NDArray[np.float32]"]
"""Questions → ``(q, d)`` unit vectors."""

# Questions scored at once: few enough that scores over a large collection stay small.
_TOGETHER = 64


class Dense:
    """Each unit's vector, made of the unit alone; a question's vector finds the nearest.

    Args:
        name: the system's name.
        embedder: the model.
        unit: what is encoded.
        vectors: where vectors are kept, a document at a time.
        window: neighbours returned on both sides of a unit, as LlamaIndex's
            ``SentenceWindowNodeParser`` with ``MetadataReplacementPostProcessor`` does.
    """

    def __init__(
        self, name: str, embedder: Embedder, unit: Splitter, vectors: Vectors, window: int = 0
    ) -> None:
        self.name = name
        self.fingerprint = embedder.fingerprint
        self._embedder, self._unit, self._vectors = embedder, unit, vectors
        self._window = window

    def open(self, documents: Sequence[Document]) -> OpenVectors:
        """See ``System.open``."""
        units = Units.of(documents, self._unit)
        made: list[NDArray[np.float32]] = []
        tokens = 0
        for number in range(len(units.documents)):
            texts = units.texts(number)
            if texts:
                vectors, count = self._vectors.get(
                    f"{self.fingerprint} alone", texts, partial(self._embedder.texts, texts)
                )
                made.append(vectors)
                tokens += count
        asker = asked_once(self._embedder.questions, self.fingerprint, self._vectors)
        return OpenVectors(units, made, tokens, asker, self._window)


class OpenVectors:
    """Units with their vectors. Implements ``Opened`` and can be fused.

    Args:
        units: what is ranked.
        vectors: of the units in order, in any number of pieces.
        tokens: the model has read for them.
        ask: gives the vectors of questions.
        window: neighbours returned on both sides of a unit.

    Attributes:
        units: as given.
        tokens: as given.
        vectors: ``(n, d)`` float32; no columns without units.
    """

    def __init__(
        self,
        units: Units,
        vectors: Sequence[NDArray[np.float32]],
        tokens: int,
        ask: Asker,
        window: int = 0,
    ) -> None:
        import numpy as np

        self.units, self.tokens = units, tokens
        self.vectors = np.concatenate(vectors) if vectors else np.zeros((0, 0), np.float32)
        self._ask, self._window = ask, window

    def scores(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Cosines, ``(q, n)`` float32."""
        import numpy as np

        if not len(self.units):
            return np.zeros((len(questions), 0), np.float32)
        scores: NDArray[np.float32] = self._ask(questions) @ self.vectors.T
        return scores

    def search(self, questions: Sequence[str]) -> Iterator[Ranking]:
        """See ``Opened.search``."""
        import numpy as np

        asked = self._ask(questions) if len(self.units) else np.zeros((len(questions), 0))
        for at in range(0, len(questions), _TOGETHER):
            for row in asked[at : at + _TOGETHER] @ self.vectors.T:
                scored = Scored(self.units, row.astype(np.float32, copy=False))
                yield Windowed(scored, self._window) if self._window else scored


@dataclass(frozen=True)
class Windowed:
    """A ranking whose units are returned with their neighbours. Implements ``Ranking``.

    Windows that overlap are returned as they are, and what of them was returned before is paid
    for again: LlamaIndex replaces each node's text by its window and leaves it at that.

    Attributes:
        scored: the ranking of the units.
        window: neighbours on both sides, of the same document.
    """

    scored: Scored
    window: int

    def best(self, most: int) -> list[Place]:
        """See ``Ranking.best``: windows around the best units."""
        return [self._around(number) for number in self.scored.order[:most].tolist()]

    def spend(self, budget: int) -> list[Place]:
        """See ``Ranking.spend``: windows in order of their units' scores."""
        places: list[Place] = []
        left = budget
        for number in self.scored.order.tolist():
            if left <= 0:
                break
            places.append(self._around(number))
            left -= places[-1].end - places[-1].start
        return places

    def strongest(self) -> Place | None:
        """See ``Ranking.strongest``: the sentence, without its neighbours."""
        return self.scored.strongest()

    @property
    def shown(self) -> None:
        """See ``Ranking.shown``: scores are no probabilities."""
        return None

    def documents(self, most: int) -> list[str]:
        """See ``Ranking.documents``."""
        return self.scored.documents(most)

    def _around(self, number: int) -> Place:
        return self.scored.units.place(number, float(self.scored.scores[number]), self.window)


def asked_once(ask: Asker, fingerprint: str, vectors: Vectors) -> Asker:
    """An asker whose answers are kept, all questions of one call in one piece."""

    def kept(questions: Sequence[str]) -> NDArray[np.float32]:
        return vectors.get(f"{fingerprint} questions", questions, lambda: (ask(questions), 0))[0]

    return kept
