"""Rerankers: windows with the question in front."""

from random import Random
from typing import Any

import pytest
import torch

from milepost.errors import InputError
from milepost_train.batches import assemble
from milepost_train.check import vectors_of
from milepost_train.objectives import build
from milepost_train.settings import RerankStage
from support.small_material import BOS, LANDMARK, Student, small_material


def material(**changes: Any) -> Any:
    """The small material; every other sentence of a text looks like an answer."""
    made = small_material(**changes)
    made.mined = {
        number: [(question.text, n) for n in range(12) if n % 2 and n not in question.evidence]
        for number, question in enumerate(made.questions)
    }
    return made


def test_the_loss_by_hand() -> None:
    """Each window alone through the network, each evidence sentence against all the others."""
    made, student = material(), Student()
    stage = RerankStage(questions=3, windows=(30, 40), temperature=0.1)
    objective = build(stage, made)
    drawn = objective.draw(Random(4))
    total = 0.0
    for number, pieces in drawn:
        question = made.questions[number]
        right, wrong = [], []
        for text, first, last in pieces:
            rows = [question.ids, *(made.texts[text].sentence(n) for n in range(first, last))]
            alone = assemble([rows], [(0, n) for n in range(len(rows))], BOS, LANDMARK)
            vectors = vectors_of(student.model, alone)
            for n, vector in zip(range(first, last), vectors[1:], strict=True):
                is_right = text == question.text and n in question.evidence
                (right if is_right else wrong).append(vectors[0] @ vector / 0.1)
        assert right
        assert wrong
        total = total + sum(
            torch.log(1 + sum((bad - good).exp() for bad in wrong)) for good in right
        ) / len(right)
    expected = total / 3
    expected.backward()
    longhand = student.gradients()
    told = objective.step(student, Random(4))
    assert told["loss"] == pytest.approx(expected.item(), abs=1e-5)
    assert torch.allclose(student.gradients(), longhand, atol=1e-5)
    assert longhand.abs().max() > 0.01


def test_in_open_tasks_other_evidence_is_no_negative() -> None:
    """There it may answer as well; elsewhere it is as wrong as any other sentence."""
    made = material()
    floors = {}
    for open_tasks in ((), ("first", "second")):
        stage = RerankStage(questions=4, windows=(60,), elsewhere=0.0, open_tasks=open_tasks)
        floors[open_tasks] = build(stage, made).step(Student(), Random(2))["floor"]
    assert floors["first", "second"] < floors[()]


def test_other_documents_are_read_as_often_as_asked() -> None:
    """``elsewhere`` 0 and 1; hard windows stand around mined sentences."""
    made = material()
    own = build(RerankStage(questions=8, elsewhere=0.0, windows=(8,), hard=3), made)
    both = build(RerankStage(questions=8, elsewhere=1.0, windows=(8,), hard=3), made)
    for number, pieces in own.draw(Random(1)):
        question = made.questions[number]
        assert {text for text, _, _ in pieces} == {question.text}
        assert 2 <= len(pieces) <= 4
        around = {*question.evidence, *(n for _, n in made.mined[number])}
        assert all(around & set(range(first, last)) for _, first, last in pieces)
    texts = [
        {text for text, _, _ in pieces} - {made.questions[number].text}
        for number, pieces in both.draw(Random(1))
    ]
    assert sum(map(bool, texts)) >= 4


@pytest.mark.parametrize(
    ("settings", "changes", "said"),
    [
        ({"tasks": {"frist": 1.0}}, {}, "'first'"),
        ({}, {"causal": True}, "causal"),
        ({}, {"questions": []}, "no questions"),
    ],
)
def test_what_cannot_be_is_refused(settings: Any, changes: Any, said: str) -> None:
    made = material()
    for name, value in changes.items():
        setattr(made, name, value)
    with pytest.raises(InputError, match=said):
        build(RerankStage(**settings), made)
