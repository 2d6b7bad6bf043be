"""Transfer of a byte encoder, tuned on one language's questions, to documents of another.

Rows are encoders, columns languages; a cell is the recall of the evidence among the sentences of
the question's document. The first rows are encoders that nobody tuned: span corruption trains to
rebuild, not to compare, so the raw mean is not a result but what a tuned one is compared with. The
last are controls, tuned on the first source's questions: what they find owes nothing to what was
read before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from milepost.errors import InputError, nearest
from milepost_eval.types import Task
from milepost_lab.controls.byte_training import ByteRecipe, pretrain
from milepost_lab.controls.encoders import control_model
from milepost_lab.controls.kinds import KINDS
from milepost_lab.model.bytes.encoder import ByteModel
from milepost_lab.model.bytes.tokenizer import as_bytes
from milepost_lab.tokens.few_documents import few
from milepost_lab.tokens.sentence_search import Bytes, Finder, Grams, Recall, asked_of, recall, tune

_BETWEEN = "\n\n"  # between two documents of a language


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
    """Size of the beginning of a language's text: equal bytes are not equal content.

    Attributes:
        name: as the documents' facts say.
        documents: how many it takes from, the last perhaps in part.
        characters: how many there are.
        size: of those in bytes of UTF-8.
    """

    name: str
    documents: int
    characters: int
    size: int


@dataclass(frozen=True, slots=True)
class Budget:
    """Sizes of the experiment.

    Attributes:
        recipe: of pre-training, on the source's own documents.
        size: characters of those at most; the same for every source, see ``shared_size``.
        steps: of tuning, 16 questions each.
        questions: for tuning, at most.
        documents: asked of each target, at most.
        each: questions of a document, at most.
        seed: of everything.
    """

    recipe: ByteRecipe = field(default_factory=ByteRecipe)
    size: int = 60_000
    steps: int = 100
    questions: int = 500
    documents: int = 6
    each: int = 10
    seed: int = 0


@dataclass(frozen=True, slots=True)
class TransferTable:
    """A table, and what was read for it.

    Attributes:
        rows: row by row, column by column.
        languages: all that the documents have, as much of each as an encoder is pre-trained on.
    """

    rows: list[Transfer]
    languages: dict[str, Language]


def texts_of(task: Task) -> dict[str, list[str]]:
    """The documents of each language, languages by name."""
    texts: dict[str, list[str]] = {}
    for document in task.documents:
        name = task.facts.get(document.name, {}).get("language")
        if name:
            texts.setdefault(str(name), []).append(document.text)
    return dict(sorted(texts.items()))


def languages(texts: Mapping[str, Sequence[str]], size: int | None = None) -> list[Language]:
    """Sizes of the texts of each language.

    Args:
        texts: see ``texts_of``.
        size: characters of each language at most, as ``transfer`` reads them; None for all.
    """
    found: list[Language] = []
    for name, own in texts.items():
        begun = _joined(own, size)
        starts = accumulate((len(text) + len(_BETWEEN) for text in own[:-1]), initial=0)
        count = sum(start < len(begun) for start in starts)
        found.append(Language(name, count, len(begun), len(as_bytes(begun))))
    return found


def shared_size(texts: Mapping[str, Sequence[str]], sources: Sequence[str], most: int) -> int:
    """Characters that an encoder of any source is pre-trained on: what the shortest source has.

    Args:
        texts: see ``texts_of``.
        sources: languages of them.
        most: characters at most.
    """
    return min(most, *(len(_joined(texts[name])) for name in sources))


def transfer(
    train: Task,
    dev: Task,
    sources: Sequence[str],
    targets: Sequence[str],
    budget: Budget,
    progress: Callable[[str], None] = lambda _: None,
    *,
    controls: bool = True,
) -> TransferTable:
    """Pre-train and tune an encoder per source, and ask all of them in every target.

    Rows: n-grams without parameters; a random encoder as it is; each source before and after
    tuning; and the controls, random weights and both texts without meaning, tuned on the first
    source's questions.

    Args:
        train: documents and questions to learn from.
        dev: others to measure on.
        sources: languages.
        targets: languages.
        budget: sizes.
        progress: called with what is done next.
        controls: add rows of untrained baselines.

    Raises:
        InputError: a language that the tasks do not have.
    """
    texts = texts_of(train)
    for name in (*sources, *targets):
        if name not in texts:
            raise InputError(
                f"{train.name}: no documents in {name!r}",
                f"{nearest(name, texts)}one of {', '.join(texts)}",
            )
    size = shared_size(texts, sources, budget.size)
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
    if controls:
        random = control_model("random", budget.recipe, seed=budget.seed)
        measure(Bytes(random, "random, raw"))
    for source in sources:
        progress(f"pre-training on {source}")
        text = as_bytes(_joined(texts[source], size))
        model = pretrain(text, budget.recipe, budget.seed)
        measure(Bytes(model, f"{source}, raw"))
        measure(_tuned(model, source, train, source, budget, progress))
    for kind in KINDS if controls else ():
        name = f"{sources[0]}@{kind}"
        progress(f"pre-training {name}")
        model = control_model(kind, budget.recipe, seed=budget.seed, size=size)
        measure(_tuned(model, name, train, sources[0], budget, progress))
    return TransferTable(found, {language.name: language for language in languages(texts, size)})


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


def _joined(texts: Sequence[str], size: int | None = None) -> str:
    return _BETWEEN.join(texts)[:size]


def _in(language: str) -> Callable[..., bool]:
    return lambda facts: facts.get("language") == language
