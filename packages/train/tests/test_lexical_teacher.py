"""BM25 with neighbours as a teacher: its scores written out, and what a step makes of them."""

import math
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from milepost.errors import InputError
from milepost_train.check import vectors_of
from milepost_train.objectives import build
from milepost_train.objectives.marked import candidates
from milepost_train.stages import MarkedStage
from milepost_train.teacher import LexicalTeacher
from support.small_material import Student, small_material

SMALL = {"documents": 2, "questions": 3, "hard": 3, "windows": (20, 30), "distil": 0}


def said_of(text: Any) -> list[list[str]]:
    """Words of each sentence: the made up texts hold nothing that is stemmed or folded."""
    return [text.words[a:b].replace(".", "").split() for a, b in text.spans]


def longhand(texts: list[Any], question: str, number: int, sentence: int) -> float:
    """The formula for one sentence, without an array: box kernels of 1, 3 and 7 sentences."""
    every = [said for text in texts for said in said_of(text)]
    mean = sum(map(len, every)) / len(every)
    own = said_of(texts[number])
    asked = {word for word in question.split() if any(word in said for said in every)}
    rare = {}
    for word in asked:
        held = sum(word in said for said in every)
        rare[word] = math.log(1 + (len(every) - held + 0.5) / (held + 0.5))
    total = 0.0
    for reach in (0, 1, 3):
        near = own[max(0, sentence - reach) : sentence + reach + 1]
        length = sum(map(len, near))
        for word, weight in rare.items():
            often = sum(said.count(word) for said in near)
            norm = 1.2 * (1 - 0.75 + 0.75 * length / (mean * (2 * reach + 1)))
            total += weight * often * 2.2 / (often + norm) / 3
    return 0.5 * total / sum(rare.values())


def asked_in_words(material: Any) -> Any:
    """The questions of the material, each in the words of its evidence and one that nobody says."""
    material.questions = [
        replace(q, words=" ".join(said_of(material.texts[q.text])[q.evidence[0]]) + " unheard")
        for q in material.questions
    ]
    return material


def test_scores_are_bm25_with_its_kernels() -> None:
    """Every sentence of two texts, first and last ones too, and their order as it is asked for."""
    material = asked_in_words(small_material())
    teacher = LexicalTeacher(material.texts)
    owners = np.array([(n, i) for n in (4, 1) for i in range(12)], np.int64)
    for number in (5, 22):
        question = material.questions[number].words
        expected = [longhand(material.texts, question, *owner) for owner in owners.tolist()]
        assert teacher.scores(question, owners) == pytest.approx(expected, rel=1e-5)
        assert max(expected) > 0.1
    backwards = teacher.scores(question, owners[::-1])
    assert np.array_equal(backwards[::-1], teacher.scores(question, owners))
    assert not teacher.scores("nobody said it", owners).any()
    assert LexicalTeacher([]).scores("word75", np.zeros((0, 2), np.int64)).shape == (0,)


def test_the_ranking_of_a_step_by_hand() -> None:
    """``sum t (log t - log p)`` over the candidates; a question without any known word is none."""
    material = asked_in_words(small_material())
    asked, _ = build(MarkedStage(**SMALL), material).draw(Random(3))
    silent = asked[1]
    material.questions[silent] = replace(material.questions[silent], words="nobody said it")
    objective = build(MarkedStage(**SMALL, rank=0.5, rank_by="words"), material)
    student = Student()
    parts = objective.step(student, Random(3))
    windows, queries = student.seen
    scores = vectors_of(student.model, queries) @ vectors_of(student.model, windows).T / 0.05
    questions = [material.questions[n] for n in asked]
    positive, negative = candidates(questions, windows.owners, material.texts, objective.stage)
    terms = []
    for row, number in enumerate(asked):
        used = torch.from_numpy(positive[row] | negative[row])
        words = [
            longhand(list(material.texts), material.questions[number].words, *owner)
            for owner in windows.owners.tolist()
            if number != silent
        ]
        if words:
            truth = (torch.tensor(words) / 0.05)[used].log_softmax(0)
            terms.append((truth.exp() * (truth - scores[row][used].log_softmax(0))).sum().item())
    assert len(terms) == len(asked) - 1
    assert parts["rank"] == pytest.approx(np.mean(terms), rel=1e-4)
    assert parts["loss"] == pytest.approx(parts["contrast"] + 0.5 * parts["rank"], rel=1e-5)


def test_a_student_learns_to_rank_as_words_do() -> None:
    """Without contrast's help nearly gone: the divergence falls on the same examples."""
    material = asked_in_words(small_material())
    objective = build(MarkedStage(**SMALL, rank=20.0, rank_by="words"), material)
    student = Student()
    before = objective.step(student, Random(5))["rank"]
    student.gradients()
    student.learn(objective, 25)
    assert objective.step(student, Random(5))["rank"] < 0.7 * before


def test_it_stands_beside_a_teacher_and_without_one() -> None:
    """No teacher is asked for where words rank; a name that is not known is refused."""
    with pytest.raises(InputError, match="rank_by = 'words' needs none"):
        build(MarkedStage(**SMALL, rank=0.5), small_material())
    with pytest.raises(ValidationError, match="'words'"):
        MarkedStage(rank_by="word")
