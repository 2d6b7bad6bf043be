"""What holds for every objective."""

from random import Random
from typing import Any

import pytest
import torch

from milepost.errors import InputError
from milepost_train.objectives import build
from milepost_train.stages import MergedStage, PairsStage, RerankStage
from support.small_material import Student, small_material

MERGED = {"tokens": 160, "questions": 2, "hard": 2, "window": 40, "left": 12, "right": 8}


@pytest.mark.parametrize(
    "stage",
    [PairsStage(pairs=8), MergedStage(**MERGED), RerankStage(questions=4, windows=(40,))],
    ids=lambda stage: type(stage).__name__,
)
def test_it_learns(stage: Any) -> None:
    losses = Student().learn(build(stage, small_material()), 35)
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize(
    ("kind", "settings", "chunk"),
    [
        *((PairsStage, {"pairs": 10, "landmarks": n}, 3) for n in ("passage", "sentences", "both")),
        (MergedStage, {**MERGED, "question_dropout": 0.3}, 2),
    ],
)
def test_in_chunks_it_is_the_same(kind: Any, settings: dict[str, Any], chunk: int) -> None:
    found = []
    for size in (0, chunk):
        student = Student()
        stage = kind(**settings, chunk=size, dimensions=(16, 32))
        parts = build(stage, small_material()).step(student, Random(6))
        found.append((parts, student.gradients(), max(len(batch.ids) for batch in student.seen)))
    (whole, gradient, rows), (parts, cached, most) = found
    assert parts["loss"] == pytest.approx(whole["loss"], abs=1e-5)
    assert parts["floor"] == whole["floor"]
    assert torch.allclose(cached, gradient, atol=1e-4)
    assert most == chunk < rows


@pytest.mark.parametrize("kind", [PairsStage, MergedStage])
def test_there_must_be_pairs(kind: Any) -> None:
    with pytest.raises(InputError, match="no pairs"):
        build(kind(), small_material(pairs=[]))
