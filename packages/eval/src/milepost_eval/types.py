"""What is evaluated: documents with questions, systems that search, places that they return."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from milepost.types import Document, Span

if TYPE_CHECKING:
    from milepost.search import SearchResult

Split = Literal["train", "dev", "test"]
Setting = Literal["document", "collection"] | int
"""``document``: the question's document is given, find the place. ``collection``: all documents
of the task are searched at once, find document and place. A number: so many documents, the
question's among them."""

SETTINGS: tuple[Literal["document", "collection"], ...] = ("document", "collection")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what answers it.

    Attributes:
        name: unique in its task.
        text: the question.
        document: name of the document that holds the evidence.
        spans: evidence as code-point offsets into that document: ascending, apart, not empty.
            Empty for a task that judges whole documents only, and for an absent question, which
            its document does not answer.
        relevant: documents judged relevant, with their grade (1 unless the task grades); none for
            an absent question.
        kind: the question's type, "" if the task has no types (``context``, ``scattered`` …).
        twins: passages of the document that say the same of another subject, and do not answer.
        distance: sentences between the evidence and what its subject is named by, if it is known.
    """

    name: str
    text: str
    document: str
    spans: tuple[Span, ...]
    relevant: Mapping[str, int] = field(default_factory=dict)
    kind: str = ""
    twins: tuple[Span, ...] = ()
    distance: int | None = None

    @property
    def absent(self) -> bool:
        """Whether its document, though it is about this, does not answer."""
        return not self.spans and not self.relevant


@dataclass(frozen=True, slots=True)
class Task:
    """Documents and questions of one split.

    Attributes:
        name: short, as in ``milepost eval run --tasks NAME``.
        split: of the questions; tuning refuses ``test``.
        documents: the collection.
        questions: each one's documents are in the collection.
        facts: document → what else is known of it (licence, language, kind …).
        settings: in which it can be asked. A task without spans: ``collection`` only. One with
            ``document`` also by numbers of documents, see ``has``.
        notes: what the task leaves out of its source and what was changed, in words.
    """

    name: str
    split: Split
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    settings: tuple[Setting, ...] = SETTINGS
    notes: tuple[str, ...] = ()

    def has(self, setting: Setting) -> bool:
        """Whether it can be asked in a setting."""
        if isinstance(setting, int):
            return "document" in self.settings and setting <= len(self.documents)
        return setting in self.settings


@dataclass(frozen=True, slots=True)
class Place:
    """A piece of a document that a system returns: ``text[start:end]`` of ``document``."""

    document: str
    start: int
    end: int
    score: float


class Ranking(Protocol):
    """A system's ranking for one question, before a budget is applied."""

    def best(self, most: int) -> list[Place]:
        """The best ``most`` units (sentences, chunks …), best first."""

    def strongest(self) -> Place | None:
        """The sentence that a user is shown first: the search's best, else the first unit."""

    @property
    def shown(self) -> SearchResult | None:
        """What a user is shown who sets no limit, with probabilities; None of a system without."""

    def spend(self, budget: int) -> list[Place]:
        """What a user with a budget of ``budget`` characters gets, best first.

        Whole units until the budget is full, or less if a system cuts its result itself: the
        metrics cut the last place at the end of the budget.
        """

    def documents(self, most: int) -> list[str]:
        """Names of the best ``most`` documents, each as good as its best unit, best first."""


class Opened(Protocol):
    """A system that has read its documents."""

    tokens: int
    """Tokens its model has read of the documents; 0 without a model."""

    def search(self, questions: Sequence[str]) -> Iterable[Ranking]:
        """One ranking per question, in order. Several at once, so that models can batch them."""


class System(Protocol):
    """A way of searching. ``open`` may be called many times, with few or many documents."""

    name: str
    """As in ``milepost eval run --systems NAME``."""

    fingerprint: str
    """What the results depend on beside the name: the model's fingerprint, a library's version."""

    def open(self, documents: Sequence[Document]) -> Opened:
        """Read the documents; their names are distinct."""
