"""What objectives share, and what holds for each."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost_train.data import Question
from milepost_train.material import Material
from milepost_train.objectives import build
from milepost_train.objectives.base import read_question, spread_of, thinned
from milepost_train.settings import MarkedStage, MergedStage, PairsStage, RerankStage
from support.small_material import Student, small_material, small_teacher

MERGED = {"tokens": 160, "questions": 2, "hard": 2, "window": 40, "left": 12, "right": 8}


@pytest.mark.parametrize(
    "stage",
    [
        PairsStage(pairs=8),
        MergedStage(**MERGED),
        MarkedStage(documents=2, questions=3, hard=3, windows=(20, 30)),
        RerankStage(questions=4, windows=(40,)),
    ],
    ids=lambda stage: type(stage).__name__,
)
def test_it_learns(stage: Any, tmp_path: Path) -> None:
    material = small_material(small_teacher(tmp_path))
    losses = Student().learn(build(stage, material), 35)
    assert losses[-1] < 0.55 * losses[0]


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


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 40), st.floats(0, 0.99), st.integers(0, 1000))
def test_tokens_left_out_of_a_question(length: int, share: float, seed: int) -> None:
    ids = np.arange(length, dtype=np.int32)
    random = Random(seed)
    kept = thinned(ids, share, random)
    assert kept.tolist() == sorted(set(kept.tolist()))
    assert len(kept) >= min(2, length)
    if not share:
        assert len(kept) == length
        assert random.getstate() == Random(seed).getstate()


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_share_of_the_questions_is_read_with_noise(share: float) -> None:
    """In other words, as the model's tokenizer reads them; without noise nothing is drawn."""
    stage = MarkedStage(noise={"typos": share / 2, "keywords": share / 2} if share else {})
    read: list[str] = []

    def tokens(words: str) -> np.ndarray:
        read.append(words)
        return np.array([7], np.int32)

    material = Material(read=tokens)
    asked = Question("q", "t", np.arange(4, dtype=np.int32), 0, (0,), "what do the bees gather")
    random = Random(1)
    found = [read_question(asked, stage, material, random).tolist() for _ in range(400)]
    assert found.count([7]) == len(read) == pytest.approx(400 * share, rel=0.2)
    assert found.count([0, 1, 2, 3]) == 400 - len(read)
    assert read.count("bees gather") == pytest.approx(200 * share, rel=0.3)
    assert all(words != asked.words for words in read)
    if not share:
        assert random.getstate() == Random(1).getstate()


def test_spread() -> None:
    rows = F.normalize(torch.randn(6, 5), dim=1)
    pairs = [float(rows[a] @ rows[b]) for a in range(6) for b in range(6) if a != b]
    assert spread_of(rows) == pytest.approx(np.mean(pairs), abs=1e-6)
    assert spread_of(rows[:1]) == 0.0
