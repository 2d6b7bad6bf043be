"""Everything a run draws from, read and tokenised once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer as Backend

from milepost.engine.tokenizer import Tokenizer
from milepost.errors import InputError, nearest
from milepost.model.reading import Reading
from milepost.train.data import Pair, Question, Text, without_title
from milepost.train.loading import (
    Report,
    Sentence,
    Texts,
    Weighed,
    existing,
    load_documents,
    load_negatives,
    load_pairs,
    load_task,
)
from milepost.train.teacher import Context, MeanTeacher, Targets

Progress = Callable[[str, int, int], object]
"""Called with what is being done, how many of it are done, and of how many (0: nobody knows)."""

_NEAREST = 30  # sentences that the teacher ranks highest, of which evidence is no negative
_HARD = 20


@dataclass(frozen=True, slots=True)
class DataSettings:
    """``[data]`` of a run: files, and what of them is used.

    Attributes:
        tasks: folders or files of marked questions; see ``load_task``.
        pairs: files of queries and passages, or folders of them.
        documents: files of documents with titles, or folders of them.
        negatives: files that ``milepost mine`` wrote.
        teacher: folder of a sentence-transformers model with mean pooling; None for no teacher.
        context: what the teacher reads in front of a sentence, see ``MeanTeacher``.
        allow_nc: use documents whose licence has ``nc`` in it: never for weights that ship.
        hold_out: share of the documents, by a hash of their names, to keep from training.
        longest: tokens that are read of a sentence.
        passage: tokens that are read of a passage, at a sentence's end.
    """

    tasks: tuple[Path, ...] = ()
    pairs: tuple[Path, ...] = ()
    documents: tuple[Path, ...] = ()
    negatives: tuple[Path, ...] = ()
    teacher: Path | None = None
    context: Context = "alone"
    allow_nc: bool = False
    hold_out: float = 0.0
    longest: int = 128
    passage: int = 160

    def __post_init__(self) -> None:
        """Check them.

        Raises:
            InputError: no data, or a number or name that cannot be.
        """
        if not (self.tasks or self.pairs or self.documents):
            raise InputError("[data] names no tasks, pairs or documents", "name some files")
        if self.context not in get_args(Context):
            known = get_args(Context)
            raise InputError(
                f"there is no context {self.context!r}",
                f"{nearest(self.context, known)}contexts: {', '.join(known)}",
            )
        if not 0 <= self.hold_out < 1:
            raise InputError(f"hold_out is {self.hold_out:g}", "a share: 0 or more, below 1")
        if min(self.longest, self.passage) < 4:
            raise InputError("longest or passage is below 4 tokens", "give it more")


@dataclass
class Material:
    """What the objectives draw from.

    Attributes:
        texts: documents, each once.
        questions: with evidence in ``texts``.
        pairs: queries with passages.
        documents: titles with their texts, the title itself left out of them.
        opening, landmark: ids of the model's tokens; None where nothing opens a window.
        causal: the model sees only what stands before: windows get no context behind.
        mined: of a question, by its number: sentences that are hard negatives.
        weights: of a question, by its number: how surely a mined sentence is none of its answers,
            in [0, 1]; what is not named is sure.
        targets: a teacher's vectors; None without a teacher.
        report: what was read and what was not.
    """

    texts: Sequence[Text] = ()
    questions: Sequence[Question] = ()
    pairs: Sequence[Pair] = ()
    documents: Sequence[Pair] = ()
    opening: int | None = None
    landmark: int = 0
    causal: bool = False
    mined: Mapping[int, Sequence[Sentence]] = field(default_factory=dict)
    weights: Mapping[int, Mapping[Sentence, float]] = field(default_factory=dict)
    targets: Targets | None = None
    report: Report = field(default_factory=Report)

    @cached_property
    def by_task(self) -> dict[str, dict[int, list[int]]]:
        """Numbers of the questions, by task and text."""
        found: dict[str, dict[int, list[int]]] = {}
        for number, question in enumerate(self.questions):
            found.setdefault(question.task, {}).setdefault(question.text, []).append(number)
        return found

    @cached_property
    def _together(self) -> dict[int, list[int]]:
        """Numbers of the questions, by text."""
        found: dict[int, list[int]] = {}
        for number, question in enumerate(self.questions):
            found.setdefault(question.text, []).append(number)
        return found

    def question_target(self, number: int) -> NDArray[np.float16]:
        """The teacher's vector of a question, ``(d,)``."""
        assert self.targets is not None
        # All questions of a text in one batch: fast, and the same bits whatever was drawn before.
        group = self._together[self.questions[number].text]
        words = tuple(self.questions[each].words for each in group)
        target: NDArray[np.float16] = self.targets.of_questions(words)[group.index(number)]
        return target

    def hard(self, number: int) -> Sequence[Sentence]:
        """Sentences that look like the answer of a question: mined, else nearest by the teacher."""
        if number in self.mined:
            return self.mined[number]
        if self.targets is None:
            return ()
        question = self.questions[number]
        text = self.texts[question.text]
        vectors = self.targets.of_text(text).astype(np.float32)
        scores = vectors @ self.question_target(number).astype(np.float32)
        order = np.argsort(-scores)[:_NEAREST]
        known = {*question.evidence, *question.beside, *text.aside}
        return [(question.text, int(n)) for n in order if int(n) not in known][:_HARD]


def load_material(
    data: DataSettings,
    tokenizer: Backend,
    reading: Reading,
    *,
    causal: bool = False,
    cache: Path | None = None,
    device: str = "cpu",
    progress: Progress = lambda *_: None,
) -> Material:
    """Read and tokenise everything once.

    Args:
        data: which files; their paths are taken as they are.
        tokenizer: the model's; its truncation and padding are switched off.
        reading: names the model's opening and landmark.
        causal: whether the model sees only what stands before.
        cache: folder that keeps the teacher's vectors.
        device: where the teacher computes.
        progress: see ``Progress``.

    Raises:
        UnreadableFile: a file is missing or damaged.
        InputError: a line that is no JSON object, or nothing is left to train on.
        ModelError: the teacher's folder cannot be read.
    """
    report = Report()
    texts = Texts(Tokenizer(tokenizer, reading.opening, reading.landmark), data.longest)
    kinds = data.tasks, *map(existing, (data.pairs, data.documents, data.negatives))
    order = [(kind, path) for kind, paths in enumerate(kinds) for path in paths]
    questions: list[Question] = []
    pairs: list[Pair] = []
    mined: dict[tuple[str, str], Weighed] = {}
    allow = data.allow_nc
    for number, (kind, path) in enumerate(order):
        progress(f"reading {path.name}", number, len(order))
        if kind == 0:
            questions += load_task(path, texts, report, allow_nc=allow, hold_out=data.hold_out)
        elif kind == 1:
            pairs += load_pairs(path, texts, report, most_tokens=data.passage, allow_nc=allow)
        elif kind == 2:
            load_documents(path, texts, report, allow_nc=allow, hold_out=data.hold_out)
        else:
            mined.update(load_negatives(path, texts.all, report))
    documents = list(_titled(texts))
    if not (questions or pairs or documents):
        said = "; ".join([*report.lines(), *map(str, report.bad[:3])])
        raise InputError("the data holds nothing that can be trained on", said)
    alike: dict[str, Weighed] = {}
    for (_, words), found in mined.items():
        alike.setdefault(words, {}).update(found)
    own = {
        number: mined[question.name, question.words]
        for number, question in enumerate(questions)
        if mined.get((question.name, question.words))
    }
    return Material(
        texts=texts.all,
        questions=questions,
        pairs=[_with_mined(pair, alike.get(pair.words, {}), texts.all) for pair in pairs],
        documents=documents,
        opening=texts.tokenizer.opening,
        landmark=texts.tokenizer.landmark,
        causal=causal,
        mined={number: list(found) for number, found in own.items()},
        weights={
            number: {place: weight for place, weight in found.items() if weight < 1}
            for number, found in own.items()
        },
        targets=Targets(MeanTeacher(data.teacher, data.context, device=device), cache)
        if data.teacher
        else None,
        report=report,
    )


def _with_mined(pair: Pair, mined: Weighed, texts: Sequence[Text]) -> Pair:
    """A pair with the sentences that were mined for its query."""
    own = pair.text.ids.tobytes()
    parts = [
        (replace(texts[t].part(n, n + 1), name=""), weight) for (t, n), weight in mined.items()
    ]
    found = [(part, weight) for part, weight in parts if part.ids.tobytes() not in own]
    sure = (1.0,) * (len(pair.negatives) - len(pair.weights))
    return replace(
        pair,
        negatives=(*pair.negatives, *(part for part, _ in found)),
        weights=(*pair.weights, *sure, *(weight for _, weight in found)),
    )


def _titled(texts: Texts) -> Iterator[Pair]:
    """The documents that have a title and go on after it."""
    for text in texts.all:
        rest = without_title(text)
        if rest is not None:
            yield Pair(texts.query(text.title, Counter()), rest, text.title)
