"""What a byte encoder that was tuned on one language's questions finds in another's documents.

Rows are encoders, columns languages; a cell is the recall of the evidence among the sentences of
the question's document. The first rows are encoders that nobody tuned: span corruption trains to
rebuild, not to compare, so the raw mean is no result but what a tuned one is compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from milepost.errors import InputError, nearest
from milepost.evaluate.types import Task
from milepost.lab.byte_training import Recipe, pretrain
from milepost.lab.few_documents import few
from milepost.lab.pool_protocol import source_text
from milepost.lab.sentence_search import Bytes, Finder, Grams, Recall, asked_of, recall, tune
from milepost.model.bytes.encoder import ByteModel, made
from milepost.model.bytes.tokenizer import as_bytes


@dataclass(frozen=True, slots=True)
class Transfer:
    """A row on a column.

    Attributes:
        source: what the encoder was tuned on, or what it is.
        target: the language asked in.
        found: how often the evidence is found.
    """

    source: str
    target: str
    found: Recall


@dataclass(frozen=True, slots=True)
class Language:
    """What a language's text weighs: equal bytes are not equal content.

    Attributes:
        name: as the documents' facts say.
        documents: how many train.
        characters: of them.
        size: of them in bytes of UTF-8.
    """

    name: str
    documents: int
    characters: int
    size: int


@dataclass(frozen=True, slots=True)
class Budget:
    """How small it is.

    Attributes:
        recipe: of pre-training, on the source's own documents.
        size: characters of those at most, the same for every language.
        steps: of tuning, 16 questions each.
        questions: for tuning, at most.
        documents: asked of each target, at most.
        each: questions of a document, at most.
        seed: of everything.
    """

    recipe: Recipe = field(default_factory=Recipe)
    size: int = 60_000
    steps: int = 100
    questions: int = 500
    documents: int = 6
    each: int = 10
    seed: int = 0


def languages(task: Task) -> list[Language]:
    """The languages of a task's documents, by name, with what they weigh."""
    texts: dict[str, list[str]] = {}
    for document in task.documents:
        name = task.facts.get(document.name, {}).get("language")
        if name:
            texts.setdefault(str(name), []).append(document.text)
    return [
        Language(name, len(found), sum(map(len, found)), sum(len(as_bytes(t)) for t in found))
        for name, found in sorted(texts.items())
    ]


def transfer(
    train: Task,
    dev: Task,
    sources: Sequence[str],
    targets: Sequence[str],
    budget: Budget,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Transfer]:
    """Pre-train and tune an encoder a source, and ask all of them in every target.

    Rows: n-grams without parameters; a random encoder; each source before and after tuning; and
    the nonsense control, tuned on the first source's questions.

    Args:
        train: documents and questions to learn from.
        dev: others to measure on.
        sources: languages.
        targets: languages.
        budget: sizes.
        progress: called with what is done next.

    Raises:
        InputError: a language that the tasks do not have.
    """
    known = [language.name for language in languages(train)]
    for name in (*sources, *targets):
        if name not in known:
            raise InputError(
                f"{train.name} has no documents in {name!r}",
                f"{nearest(name, known)}known: {', '.join(known)}",
            )
    asked = {
        name: few(dev, budget.documents, budget.each, seed=budget.seed, where=_in(name))
        for name in targets
    }
    found: list[Transfer] = []

    def measure(finder: Finder) -> None:
        for name, task in asked.items():
            progress(f"{finder.name} asked in {name}")
            found.append(Transfer(finder.name, name, recall(finder, task)))

    measure(Grams())
    measure(Bytes(made(budget.recipe.shape, budget.seed), "random"))
    for source in sources:
        progress(f"pre-training on {source}")
        text = as_bytes(_text(train, source, budget.size))
        model = pretrain(text, budget.recipe, budget.seed)
        measure(Bytes(model, f"{source}, raw"))
        measure(_tuned(model, source, train, source, budget, progress))
    nonsense = source_text("nonsense", budget.size, budget.seed)
    assert nonsense is not None  # only "random" has no text
    model = pretrain(nonsense, budget.recipe, budget.seed)
    measure(_tuned(model, f"nonsense, then {sources[0]}", train, sources[0], budget, progress))
    return found


def _tuned(
    model: ByteModel,
    name: str,
    train: Task,
    language: str,
    budget: Budget,
    progress: Callable[[str], None],
) -> Bytes:
    progress(f"tuning {name}")
    own = few(train, len(train.documents), budget.questions, where=_in(language))
    finder = Bytes(model, name)
    asked = asked_of(own, budget.questions, budget.seed)
    tune(finder, asked, steps=budget.steps, seed=budget.seed)
    return finder


def _text(task: Task, language: str, size: int) -> str:
    fits = _in(language)
    texts = [one.text for one in task.documents if fits(task.facts.get(one.name, {}))]
    return "\n\n".join(texts)[:size]


def _in(language: str) -> Callable[..., bool]:
    return lambda facts: facts.get("language") == language
