"""Evidence found by landmarks: windows, ranking, and which questions are asked."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from milepost.engine.tokenizer import Tokenizer
from milepost.errors import InputError
from milepost.windows.plan import WindowSize, plan
from milepost_train.batches import Batch, windows_of
from milepost_train.check import Check, landmarks_of, load_check, vectors_of
from milepost_train.config import CheckSettings
from milepost_train.data import Question, tokenize
from support.small_models import random_model, write_tokenizer
from support.tiny_runs import write_lines, write_task

SHAPE = WindowSize(size=40, left=12, right=8, longest=20)


@pytest.fixture
def tokenizer(tmp_path: Path) -> Tokenizer:
    return Tokenizer(write_tokenizer(tmp_path / "tokenizer.json"), "[CLS]", "[SEP]")


def by_ids(batch: Batch) -> Any:
    """A vector a landmark: which tokens its sentence has."""
    rows = []
    for row in range(len(batch.ids)):
        for place in range(int(batch.used[row].sum())):
            inside = batch.sentences[row] == place + 1
            rows.append(torch.bincount(batch.ids[row][inside], minlength=200).float())
    return torch.nn.functional.normalize(torch.stack(rows), dim=-1)


@pytest.mark.parametrize("bos_id", [2, None])
def test_every_landmark_comes_from_the_window_that_owns_it(
    tokenizer: Tokenizer, bos_id: int | None
) -> None:
    text = tokenize(tokenizer, "a", "t", "".join(f"The cat sat {n} times. " for n in range(90)))
    model = random_model("bert")

    def encode(batch: Batch) -> Any:
        return vectors_of(model, batch)

    with torch.no_grad():
        found = landmarks_of(encode, text, bos_id, 3, SHAPE)
        for window in plan((text.lengths + 1).tolist(), SHAPE):
            batch = windows_of([(0, window.first, window.last)], [text], bos_id, 3)
            alone = encode(batch).numpy()[
                window.own_first - window.first : window.own_last - window.first
            ]
            assert np.allclose(found[window.own_first : window.own_last], alone, atol=1e-5)
    assert len(found) == len(text.spans) == 90


def test_shares_written_out(tokenizer: Tokenizer) -> None:
    words = "A cat sat. A dog sat. A bird ran!"
    text = tokenize(tokenizer, "a", "t", words)
    assert [words[a:b].strip() for a, b in text.spans] == [
        "A cat sat.",
        "A dog sat.",
        "A bird ran!",
    ]

    def asked(question: str, task: str, *evidence: int) -> Question:
        ids = np.array(tokenizer.encode([question])[0].ids, np.int32)
        return Question(question, task, ids, 0, evidence)

    questions = [
        asked("a cat sat.", "right", 0),
        asked("a bird ran!", "right", 2),
        asked("a dog sat.", "wrong", 2),
        asked("a dog sat.", "half", 1, 2),
    ]
    length = text.spans[1][1] - text.spans[1][0]
    check = Check([text], questions, 2, 3, SHAPE, budget=length)
    found = check(by_ids)
    evidence = sum(b - a for a, b in text.spans[1:])
    assert found == pytest.approx({"right": 1.0, "wrong": 0.0, "half": length / evidence})


def test_questions_of_a_split_spread_over_documents(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """From a folder or one file, as many as asked for, the same ones every time."""
    folder = write_task(tmp_path / "mine")
    made = load_check(CheckSettings((folder,), documents=3, questions=4), tokenizer, SHAPE)
    assert made is not None
    assert len(made.texts) == 3
    assert len(made.questions) == 4
    assert {question.task for question in made.questions} == {"mine"}
    assert all(question.name.split(":")[1] in "37" for question in made.questions)
    train = load_check(CheckSettings((folder,), "train", documents=3), tokenizer, SHAPE)
    assert train is not None
    assert len(train.questions) == 18
    one = tmp_path / "one.jsonl"
    write_lines(
        one,
        [
            {"id": "d", "text": "A cat sat. A dog sat."},
            {"document": "d", "question": "who sat?", "spans": [[0, 5]], "split": "dev"},
        ],
    )
    (question,) = load_check(CheckSettings((one,)), tokenizer, SHAPE).questions  # type: ignore[union-attr]
    assert question.evidence == (0,)
    assert load_check(CheckSettings(), tokenizer, SHAPE) is None
    with pytest.raises(InputError, match="no train question"):
        load_check(CheckSettings((one,), "train"), tokenizer, SHAPE)
