"""Stage III: marked evidence in long documents."""

import math
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

from milepost.errors import InputError
from milepost_train.check import vectors_of
from milepost_train.model.landmark_encoder import LandmarkEncoder, Reading
from milepost_train.objectives import build
from milepost_train.objectives.marked import candidates
from milepost_train.settings import MarkedStage
from milepost_train.teacher import Targets
from support.small_material import Student, small_material, small_teacher

SMALL = {"documents": 2, "questions": 3, "hard": 3, "windows": (20, 30)}


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return small_teacher(tmp_path_factory.mktemp("teacher"))


@pytest.mark.parametrize(
    "changes",
    [
        {"distil": 0},
        {"alpha": 0.3},
        {"dimensions": (8, 32)},
        {"rank": 0.5},
        {"question_dropout": 0.4},
        {"across": False},
    ],
)
def test_what_it_tells(teacher: Any, changes: dict[str, Any]) -> None:
    """Whatever is set: a finite loss, gradients, and a floor that an uninformed model is at."""
    objective = build(MarkedStage(**SMALL, **changes), small_material(teacher))
    student = Student()
    parts = objective.step(student, Random(3))
    assert {"loss", "floor", "spread", "contrast"} <= set(parts)
    assert ("distance" in parts) == ("distil" not in changes)
    away = parts.get("distance", 0.0) + 0.5 * parts.get("question_distance", 0.0)
    ranked = changes.get("rank", 0.0) * parts.get("rank", 0.0)
    assert parts["loss"] == pytest.approx(parts["contrast"] + 0.7 * away + ranked, rel=1e-5)
    assert all(math.isfinite(value) for value in parts.values())
    assert student.gradients().abs().max() > 0
    alike = objective.step(lambda batch: _alike(len(batch.owners)), Random(3))
    assert alike["loss"] == pytest.approx(alike["floor"], abs=1e-4)
    assert alike["spread"] == pytest.approx(1.0)


def test_the_ranking_of_a_step_by_hand(teacher: Any) -> None:
    """``sum t (log t - log p)`` over the candidates of each question."""
    material = small_material(teacher)
    objective = build(MarkedStage(**SMALL, distil=0, rank=0.5), material)
    asked, _ = objective.draw(Random(3))
    student = Student()
    parts = objective.step(student, Random(3))
    windows, queries = student.seen
    scores = vectors_of(student.model, queries) @ vectors_of(student.model, windows).T / 0.05
    questions = [material.questions[n] for n in asked]
    positive, negative = candidates(questions, windows.owners, material.texts, objective.stage)
    targets = [material.targets.of_text(material.texts[t])[n] for t, n in windows.owners]
    terms = []
    for row, number in enumerate(asked):
        used = torch.from_numpy(positive[row] | negative[row])
        wanted = np.stack(targets).astype(np.float32) @ material.question_target(number)
        truth = (torch.from_numpy(wanted) / 0.05)[used].log_softmax(0)
        terms.append((truth.exp() * (truth - scores[row][used].log_softmax(0))).sum().item())
    assert parts["rank"] == pytest.approx(np.mean(terms), rel=1e-4)
    assert parts["loss"] == pytest.approx(parts["contrast"] + 0.5 * parts["rank"], rel=1e-5)


def _alike(count: int) -> Any:
    row = torch.nn.functional.normalize(torch.ones(32), dim=0)
    return row.repeat(count, 1).requires_grad_()


def test_context_vectors_have_a_contrast_of_their_own() -> None:
    """It is that of the vectors behind the own ones; a model without them is named."""
    model = Student().model
    wide = LandmarkEncoder(model.config)
    wide.read_as(Reading("", "", own_sentence=True, context=model.dimensions))
    material = small_material(width=model.dimensions)
    objective = build(MarkedStage(**SMALL, distil=0, context=0.5), material)
    parts = objective.step(lambda batch: vectors_of(wide, batch), Random(3))
    assert parts["loss"] == pytest.approx(parts["contrast"] + 0.5 * parts["context"])
    with pytest.raises(InputError, match="no context vector"):
        objective.step(lambda batch: vectors_of(model, batch), Random(3))


def test_position_weights_reach_the_loss() -> None:
    """What they are is written out in test_losses."""
    weighted, flat = (
        build(MarkedStage(**SMALL, distil=0, alpha=alpha), small_material()).step(
            Student(), Random(3)
        )
        for alpha in (0.7, 0.0)
    )
    assert abs(flat["loss"] - weighted["loss"]) > 1e-3


def test_fewer_questions_than_a_step_has_room_for() -> None:
    material = small_material()
    material.questions = material.questions[:3]
    asked, _ = build(MarkedStage(distil=0), material).draw(Random(1))
    assert sorted(asked) == [0, 1, 2]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tasks": {"frst": 1.0}}, "unknown task 'frst';.*'first'"),
        ({"open_tasks": ("thrd",)}, "unknown task 'thrd'"),
        ({}, "distil and rank need a teacher"),
    ],
)
def test_what_the_material_lacks(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        build(MarkedStage(**changes), small_material())


def test_wider_than_the_vectors() -> None:
    objective = build(MarkedStage(**SMALL, distil=0, dimensions=(16, 64)), small_material())
    with pytest.raises(InputError, match=r"vectors have 32 numbers"):
        objective.step(Student(), Random(1))


def test_a_teacher_changes_no_draw(teacher: Any, tmp_path: Path) -> None:
    """Targets from the disk, from memory or counted again: the same step to the bit."""
    found = []
    for folder in (None, tmp_path / "kept", tmp_path / "kept"):
        material = small_material(teacher)
        material.targets = Targets(teacher, folder)
        found.append(build(MarkedStage(**SMALL), material).step(Student(), Random(9)))
    assert found[0] == found[1] == found[2]
    assert list((tmp_path / "kept").iterdir())


def sides(stage: MarkedStage, material: Any, asked: list[int]) -> Any:
    """Positives and negatives of some questions among all sentences of the first two texts."""
    owners = [(t, n) for t in (0, 1) for n in range(len(material.texts[t].spans))]
    questions = [material.questions[n] for n in asked]
    found = candidates(questions, np.array(owners), material.texts, stage)
    return [[{owners[n] for n in np.flatnonzero(row)} for row in each] for each in found], set(
        owners
    )


def test_who_is_a_negative() -> None:
    """Headings for nobody, what may answer too not for its question, evidence never."""
    material = small_material()
    material.texts[0] = replace(material.texts[0], aside=(4,))
    first = replace(material.questions[0], evidence=(0, 1), beside=(2, 3))
    other = replace(material.questions[1], evidence=(6, 7))
    material.questions = [first, other, *material.questions[2:]]
    plain = MarkedStage(distil=0)
    (right, wrong), every = sides(plain, material, [0, 1])
    assert right == [{(0, 0), (0, 1)}, {(0, 6), (0, 7)}]
    assert wrong[0] == every - {(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)}
    assert wrong[1] == every - {(0, 6), (0, 7), (0, 4)}
    # Evidence of the other question is a safe negative only where all evidence is marked.
    (_, wrong), _ = sides(replace(plain, open_tasks=("first",)), material, [0, 1])
    assert wrong[0] == every - {(0, n) for n in (0, 1, 2, 3, 4, 6, 7)}
    (_, wrong), _ = sides(replace(plain, near=2), material, [1])
    assert wrong[0] == every - {(0, n) for n in range(4, 10)}
    (_, wrong), _ = sides(replace(plain, across=False), material, [0])
    assert wrong[0] == {(0, n) for n in range(5, 12)}


def test_mined_sentences_are_drawn() -> None:
    """A hard window stands around a mined sentence, in whatever text it is."""
    material = small_material(mined={n: [(5, 11)] for n in range(15)})
    stage = MarkedStage(
        documents=1, questions=2, hard=2, windows=(8,), tasks={"first": 1.0}, distil=0
    )
    _, pieces = build(stage, material).draw(Random(2))
    assert any(text == 5 and first <= 11 < last for text, first, last in pieces)
    material.mined = {}
    _, pieces = build(stage, material).draw(Random(2))
    assert all(text < 3 for text, _, _ in pieces)


def test_the_nearest_by_the_teacher(teacher: Any) -> None:
    """Hard sentences are the teacher's nearest, without evidence and what may answer too."""
    material = small_material(teacher)
    question = replace(material.questions[7], beside=(0,))
    material.questions[7] = question
    material.texts[question.text] = replace(material.texts[question.text], aside=(11,))
    found = [sentence for text, sentence in material.hard(7) if text == question.text]
    scores = material.targets.of_text(material.texts[question.text]).astype(np.float32)
    scores = scores @ material.question_target(7).astype(np.float32)
    kept = [n for n in range(12) if n not in {*question.evidence, 0, 11}]
    assert found == sorted(kept, key=lambda n: -scores[n])
