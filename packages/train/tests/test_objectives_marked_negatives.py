"""Stage III: which sentences are negatives, and how much each of them counts."""

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from milepost_train.objectives import build, marked
from milepost_train.stages import MarkedStage
from support.small_material import small_material, small_teacher

SMALL = {"documents": 2, "questions": 3, "hard": 3, "windows": (20, 30)}


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return small_teacher(tmp_path_factory.mktemp("teacher"))


def candidates(stage: MarkedStage, material: Any, asked: list[int]) -> Any:
    """Positives and negatives of some questions among all sentences of the first two texts."""
    owners = [(t, n) for t in (0, 1) for n in range(len(material.texts[t].spans))]
    questions = [material.questions[n] for n in asked]
    found = marked.candidates(questions, np.array(owners), material.texts, stage)
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
    (right, wrong), every = candidates(plain, material, [0, 1])
    assert right == [{(0, 0), (0, 1)}, {(0, 6), (0, 7)}]
    assert wrong[0] == every - {(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)}
    assert wrong[1] == every - {(0, 6), (0, 7), (0, 4)}
    # Evidence of the other question is a safe negative only where all evidence is marked.
    (_, wrong), _ = candidates(replace(plain, open_tasks=("first",)), material, [0, 1])
    assert wrong[0] == every - {(0, n) for n in (0, 1, 2, 3, 4, 6, 7)}
    (_, wrong), _ = candidates(replace(plain, across=False), material, [0])
    assert wrong[0] == {(0, n) for n in range(5, 12)}


def test_what_is_no_negative_gets_no_push() -> None:
    """A sentence beside the evidence has no gradient; one that is a negative has."""
    material = small_material()
    material.questions = material.questions[:1]
    question = material.questions[0]
    text = material.texts[0]
    others = tuple(n for n in range(len(text.spans)) if n not in question.evidence)
    stage = MarkedStage(documents=1, questions=1, hard=0, windows=(200,), distil=0)

    def pushes(beside: tuple[int, ...], aside: tuple[int, ...]) -> dict[int, float]:
        material.questions = [replace(question, beside=beside)]
        material.texts = [replace(text, aside=aside), *material.texts[1:]]
        leaves = []

        def encode(batch: Any) -> Any:
            made = torch.randn(len(batch.owners), 8, generator=torch.Generator().manual_seed(1))
            leaves.append((batch.owners, F.normalize(made, dim=1).requires_grad_()))
            return leaves[-1][1]

        build(stage, material).step(encode, Random(1))
        owners, vectors = leaves[0]
        return {
            int(n): float(g) for (_, n), g in zip(owners, vectors.grad.norm(dim=1), strict=True)
        }

    free = pushes((), ())
    assert all(free[n] > 0 for n in others)
    held = pushes(others[:2], others[2:3])
    assert [held[n] for n in others[:3]] == [0.0, 0.0, 0.0]
    assert all(held[n] > 0 for n in others[3:])


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
