"""Everything a run draws from, read and tokenised once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer as Backend
from torch import Tensor

from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.errors import InputError
from milepost.language.terms import question_terms, terms
from milepost.search.lexical import bm25, idf
from milepost_eval.tasks.reading import ELSEWHERE, split_hint
from milepost_train.config import DataSettings, Dtype
from milepost_train.data import Judged, Pair, Progress, Question, Text
from milepost_train.loading import (
    PAIRS,
    Report,
    Sentence,
    Texts,
    existing,
    load_judged,
    load_negatives,
    load_pairs,
    load_task,
)
from milepost_train.model.landmark_encoder import Reading
from milepost_train.teacher import LandmarkTeacher, MeanTeacher, Targets, Teacher, is_ours

_NEAREST = 30  # sentences that the teacher ranks highest, evidence among them is not a negative
_HARD = 20


class Words:
    """Scores the sentences of a text for a question as the search's words do."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self._numbers: dict[str, int] = {}
        self._terms: list[NDArray[np.int32]] = []  # of each text, one sentence behind the other
        self._lengths: list[NDArray[np.int64]] = []  # terms of each sentence
        for text in texts:
            said = [terms(text.words[a:b]) for a, b in text.spans]
            numbers = [self._numbers.setdefault(t, len(self._numbers)) for t in chain(*said)]
            self._terms.append(np.array(numbers, np.int32))
            self._lengths.append(np.array([len(each) for each in said], np.int64))
        self._sentences = sum(map(len, self._lengths))
        self._mean = sum(map(len, self._terms)) / max(1, self._sentences)
        self._frequency = np.zeros(len(self._numbers), np.int64)  # sentences that hold a term
        for own, lengths in zip(self._terms, self._lengths, strict=True):
            owner = np.repeat(np.arange(len(lengths)), lengths)
            held = np.unique(np.stack([owner, own]), axis=1)[1]
            self._frequency += np.bincount(held, minlength=len(self._numbers))

    def scores(self, question: str, text: int) -> NDArray[np.float32]:
        """``(n,)`` BM25 of a text's sentences, mean over the scales; rarities are of all texts.

        0 for a sentence that shares no term, and whose neighbours share none.
        """
        own, lengths = self._terms[text], self._lengths[text]
        owner = np.repeat(np.arange(len(lengths)), lengths)
        counts, weights = {}, {}
        for term in question_terms(question):
            number = self._numbers.get(term)
            if number is not None:
                found = np.bincount(owner[own == number], minlength=len(lengths))
                counts[term] = found.astype(np.float32)
                weights[term] = idf(int(self._frequency[number]), self._sentences)
        document = np.array([0, len(lengths)], np.int64)
        by_scale = bm25(counts, lengths.astype(np.float32), document, weights, self._mean)
        mean: NDArray[np.float32] = by_scale.mean(axis=0)
        return mean


@dataclass
class Material:
    """What the objectives draw from.

    Attributes:
        texts: documents, each once; the evidence of ``questions`` is in them.
        bos_id: None where the model has no BOS token.
        width: numbers of the model's vectors; None if unknown.
        mined: of a question, by its number: sentences that are hard negatives.
        read: token ids of a question in other words than its own.
        judged: texts with sentences, and what these say of them.
        verdicts: the model's log-odds of that, from landmarks; None where it has none.
    """

    texts: Sequence[Text] = ()
    questions: Sequence[Question] = ()
    pairs: Sequence[Pair] = ()
    bos_id: int | None = None
    landmark: int = 0
    causal: bool = False
    width: int | None = None
    mined: Mapping[int, Sequence[Sentence]] = field(default_factory=dict)
    targets: Targets | None = None
    read: Callable[[str], NDArray[np.int32]] | None = None
    judged: Sequence[Judged] = ()
    verdicts: Callable[[Tensor], Tensor] | None = None
    report: Report = field(default_factory=Report)

    @cached_property
    def by_task(self) -> dict[str, dict[int, list[int]]]:
        """Numbers of the questions, by task and text."""
        found: dict[str, dict[int, list[int]]] = {}
        for number, question in enumerate(self.questions):
            found.setdefault(question.task, {}).setdefault(question.text, []).append(number)
        return found

    @cached_property
    def by_text(self) -> dict[int, list[int]]:
        """Numbers of the questions, by text."""
        found: dict[int, list[int]] = {}
        for number, question in enumerate(self.questions):
            found.setdefault(question.text, []).append(number)
        return found

    @cached_property
    def words(self) -> Words:
        """What scores sentences by words."""
        return Words(self.texts)

    def question_target(self, number: int) -> NDArray[np.float16]:
        """The teacher's vector of a question, ``(d,)``."""
        assert self.targets is not None
        # All questions of a text in one batch: fast, and the same bits whatever was drawn before.
        group = self.by_text[self.questions[number].text]
        words = tuple(self.questions[each].words for each in group)
        target: NDArray[np.float16] = self.targets.of_questions(words)[group.index(number)]
        return target

    def hard(self, number: int) -> Sequence[Sentence]:
        """Sentences like a question's answer, best first: mined, else by the teacher or words."""
        if number in self.mined:
            return self.mined[number]
        question = self.questions[number]
        text = self.texts[question.text]
        if self.targets is None:
            scores = self.words.scores(question.words, question.text)
            scores[scores == 0] = -np.inf  # they share no word
        else:
            vectors = self.targets.of_text(text).astype(np.float32)
            scores = vectors @ self.question_target(number).astype(np.float32)
        order = np.argsort(-scores, kind="stable")[:_NEAREST]
        known = {*question.evidence, *question.beside, *text.aside}
        alike = [int(n) for n in order if scores[n] > -np.inf and int(n) not in known]
        return [(question.text, n) for n in alike[:_HARD]]


def load_material(
    data: DataSettings,
    tokenizer: Backend,
    reading: Reading,
    *,
    causal: bool = False,
    width: int | None = None,
    cache: Path | None = None,
    device: str = "cpu",
    dtype: Dtype = "float32",
    progress: Progress = lambda *_: None,
) -> Material:
    """Read and tokenise everything once.

    The model's tokenizer is changed: truncation and padding are switched off. ``cache`` is the
    folder that keeps the teacher's vectors; the teacher computes on ``device`` in ``dtype``.

    Raises:
        UnreadableFile: a file is missing or damaged.
        InputError: nothing is left to train on.
        ModelError: the teacher's folder cannot be read.
    """
    report = Report()
    reader = Tokenizer(tokenizer, reading.bos_token, reading.landmark)
    texts = Texts(reader, data.longest, reading.query_prefix)
    pairs_in = existing(data.pairs, PAIRS)
    negatives_in = existing(data.negatives)
    paths = [*data.tasks, *pairs_in, *negatives_in]
    questions: list[Question] = []
    pairs: list[Pair] = []
    mined: dict[tuple[str, str], dict[Sentence, None]] = {}
    allow = data.allow_nc
    for number, path in enumerate(paths):
        progress(f"reading {path.name}", number, len(paths))
        if number < len(data.tasks):
            questions += load_task(path, texts, report, allow_nc=allow, hold_out=data.hold_out)
        elif number < len(data.tasks) + len(pairs_in):
            pairs += load_pairs(path, texts, report, most_tokens=data.passage, allow_nc=allow)
        else:
            asked = {(question.name, question.words) for question in questions}
            queries = {pair.words for pair in pairs}
            for key, places in load_negatives(path, texts.all, report, asked, queries):
                mined.setdefault(key, {}).update(dict.fromkeys(places))
    read = (load_judged(path, texts, report, allow_nc=allow) for path in data.judged)
    judged = [row for rows in read for row in rows]
    if not (questions or pairs or judged):
        said = "; ".join([*report.lines(), *map(str, report.bad[:3])])
        elsewhere = any(counts[ELSEWHERE] for counts in report.counts.values())
        raise InputError(
            f"the data holds nothing that can be trained on: {said}",
            split_hint("train") if elsewhere else "see docs/training-data.md",
        )
    alike: dict[str, dict[Sentence, None]] = {}
    for (_, words), found in mined.items():
        alike.setdefault(words, {}).update(found)
    return Material(
        texts=texts.all,
        questions=questions,
        pairs=[_with_mined(pair, alike.get(pair.words, ()), texts.all) for pair in pairs],
        bos_id=texts.tokenizer.bos_id,
        landmark=texts.tokenizer.landmark,
        causal=causal,
        width=width,
        mined={
            number: list(mined[question.name, question.words])
            for number, question in enumerate(questions)
            if mined.get((question.name, question.words))
        },
        targets=Targets(_teacher(data.teacher, device, dtype), cache) if data.teacher else None,
        read=lambda words: texts.query(words, Counter()),
        judged=judged,
        report=report,
    )


def _teacher(folder: Path, device: str, dtype: Dtype) -> Teacher:
    if is_ours(folder):
        return LandmarkTeacher(folder, device=device)
    return MeanTeacher(folder, device=device, dtype=dtype)


def _with_mined(pair: Pair, mined: Iterable[Sentence], texts: Sequence[Text]) -> Pair:
    own = pair.text.ids.tobytes()
    parts = [replace(texts[t].part(n, n + 1), name="") for t, n in mined]
    found = [part for part in parts if part.ids.tobytes() not in own]
    return replace(pair, negatives=(*pair.negatives, *found))
