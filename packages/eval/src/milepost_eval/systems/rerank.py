"""A cross-encoder reads question and text together and orders the best of another system."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost.engine.hub import OTHER_FRAMEWORKS, local
from milepost.errors import InputError
from milepost.types import Document
from milepost_eval.embedders.base import loaded
from milepost_eval.embedders.fingerprints import fingerprint
from milepost_eval.embedders.sentence_transformer import checked_dtype, no_bars
from milepost_eval.types import Opened, Place, Ranking, System

_BATCH = 32
_HINT = "the folder of a cross-encoder, or its owner/name on the Hugging Face hub"


def cross_encoder_folder(spec: str) -> Path:
    """The folder of a cross-encoder: the user's own, or of the hub's cache, fetched if need be.

    Args:
        spec: a folder, or ``owner/name`` of the Hugging Face hub; a folder goes first. What is
            neither is returned as it is, for ``Reranked`` to refuse.

    Raises:
        ModelError: the hub does not give it, or cannot be reached.
    """
    return local(spec, _HINT, leave=OTHER_FRAMEWORKS) or Path(spec)


class Reranked:
    """The best units of a system, ordered anew by a cross-encoder; the others follow as they were.

    Args:
        name: the system's name.
        system: finds the candidates.
        folder: a cross-encoder as sentence-transformers writes it, with one output.
        top: candidates a question.
        dtype: ``float32`` or ``bfloat16``.

    Raises:
        InputError: the folder is missing, or the dtype is unknown.
    """

    def __init__(
        self, name: str, system: System, folder: Path, top: int = 50, dtype: str = "float32"
    ) -> None:
        if not folder.is_dir():
            raise InputError(f"{name}: {folder} is not a folder", _HINT)
        self.name = name
        self.fingerprint = f"{system.fingerprint}|{fingerprint(folder)} {top} {dtype}"
        self._system, self._folder = system, folder
        self._top, self._dtype = top, checked_dtype(dtype)

    @cached_property
    def _model(self) -> Any:
        library = require("sentence_transformers", extra="rivals")
        torch = require("torch", extra="rivals")
        settings = {
            "device": "cpu",
            "model_kwargs": {"torch_dtype": self._dtype},
            # The sigmoid that is usual puts sure candidates at 1 together.
            "activation_fn": torch.nn.Identity(),
        }
        with no_bars():
            model = loaded(
                self._folder,
                "sentence-transformers as a cross-encoder",
                lambda: library.CrossEncoder(str(self._folder), **settings),
            )
        if model.num_labels != 1:
            raise InputError(
                f"{self._folder} gives {model.num_labels} scores a pair",
                "use a cross-encoder with one",
            )
        return model

    def open(self, documents: Sequence[Document]) -> OpenReranked:
        """See ``System.open``."""
        texts = {document.name: document.text for document in documents}
        return OpenReranked(self._system.open(documents), texts, self._order, self._top)

    def _order(self, question: str, texts: Sequence[str]) -> list[float]:
        """A score for each text."""
        pairs = [(question, text) for text in texts]
        scores: list[float] = self._model.predict(
            pairs, batch_size=_BATCH, show_progress_bar=False
        ).tolist()
        return scores


class OpenReranked:
    """An opened system whose best are ordered anew. Implements ``Opened``.

    Attributes:
        tokens: of the inner system; what the cross-encoder reads belongs to the questions.
    """

    def __init__(
        self,
        opened: Opened,
        texts: dict[str, str],
        order: Callable[[str, Sequence[str]], list[float]],
        top: int,
    ) -> None:
        self.tokens = opened.tokens
        self._opened, self._texts, self._order, self._top = opened, texts, order, top

    def search(self, questions: Sequence[str]) -> Iterator[Ranking]:
        """See ``Opened.search``."""
        for question, ranking in zip(questions, self._opened.search(questions), strict=True):
            places = ranking.best(self._top)
            if not places:
                yield ranking
                continue
            scores = self._order(
                question, [self._texts[place.document][place.start : place.end] for place in places]
            )
            order = sorted(range(len(places)), key=lambda number: -scores[number])
            best = [
                Place(places[n].document, places[n].start, places[n].end, scores[n]) for n in order
            ]
            yield _Reordered(tuple(best), ranking)


@dataclass(frozen=True)
class _Reordered:
    """Some places in their new order, then the rest of a ranking in its old one."""

    first: tuple[Place, ...]
    ranking: Ranking

    def best(self, most: int) -> list[Place]:
        """See ``Ranking.best``; the rest score below, a point less each."""
        if most <= len(self.first):
            return list(self.first[:most])
        lowest = self.first[-1].score
        rest = self.ranking.best(most)[len(self.first) :]
        return [
            *self.first,
            *(
                Place(place.document, place.start, place.end, lowest - number)
                for number, place in enumerate(rest, 1)
            ),
        ]

    def spend(self, budget: int) -> list[Place]:
        """See ``Ranking.spend``: places in order until the budget is full, each whole."""
        most = len(self.first)
        places = self.best(most)
        while sum(place.end - place.start for place in places) < budget:
            most *= 2
            more = self.best(most)
            if len(more) == len(places):
                break
            places = more
        spent = 0
        for number, place in enumerate(places, 1):
            spent += place.end - place.start
            if spent >= budget:
                return places[:number]
        return places

    def strongest(self) -> Place | None:
        """See ``Ranking.strongest``."""
        return self.first[0]

    def documents(self, most: int) -> list[str]:
        """See ``Ranking.documents``: those of the new order, then the others in their old one."""
        found = [place.document for place in self.first] + self.ranking.documents(
            most + len(self.first)
        )
        return list(dict.fromkeys(found))[:most]
