"""Rerankers and judges: windows with the question or claim in front."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer as Backend

from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.engine.verdict_head import VerdictHead
from milepost.errors import InputError
from milepost.verdicts import VERDICTS
from milepost_train.batches import assemble
from milepost_train.check import vectors_of
from milepost_train.data import Judged
from milepost_train.loading import Report, Texts, load_judged
from milepost_train.model import open_checkpoint
from milepost_train.objectives import build
from milepost_train.settings import JudgeStage, RerankStage
from support.files import write_lines
from support.small_material import BOS, LANDMARK, Student, small_material
from support.tiny_models import write_checkpoint


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
    student.steps_as(objective, total / 3, 4)


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


LABELS = ("supported", "contradicted", "unknown", "answered", "unanswered")


def judged(*labels: str, seed: int = 3) -> list[Judged]:
    random = Random(seed)

    def ids(length: int) -> Any:
        return np.array([random.randrange(105, 200) for _ in range(length)], np.int32)

    return [
        Judged(ids(4), (ids(5), ids(3)), label, "claims" if label in LABELS[:3] else "questions")
        for label in labels
        for _ in range(4)
    ]


def prepared(*labels: str) -> tuple[Any, Student]:
    student = Student(verdicts=True)
    made = material(judged=judged(*labels), verdicts=student.model.verdicts)
    return made, student


def test_the_loss_of_verdicts_by_hand() -> None:
    made, student = prepared(*LABELS)
    objective = build(JudgeStage(rows=12, beside=0.5), made)
    drawn = objective.draw(Random(4))
    losses = []
    for row, window in drawn:
        batch = assemble([window], [(0, n) for n in range(len(window))], BOS, LANDMARK)
        odds = student.model.verdicts(vectors_of(student.model, batch)[0])
        if row.label in VERDICTS[:3]:
            losses.append(-odds[:3].log_softmax(0)[VERDICTS.index(row.label)])
        else:
            sign = 1.0 if row.label == "answered" else -1.0
            losses.append(-F.logsigmoid(sign * odds[3]))
    student.steps_as(objective, sum(losses) / 12, 4, atol=1e-4)


def test_labels_are_drawn_alike() -> None:
    made, _ = prepared("supported", "contradicted")
    made.judged = [*made.judged, *judged("supported", seed=8) * 20]
    objective = build(JudgeStage(rows=400), made)
    drawn = [row.label for row, _ in objective.draw(Random(1))]
    assert 150 < drawn.count("contradicted") < 250


def test_what_does_not_fit_the_window_is_left_out() -> None:
    made, _ = prepared("supported")
    objective = build(JudgeStage(rows=8, window=14, beside=0.0), made)
    for _, window in objective.draw(Random(1)):
        assert 1 + sum(len(part) + 1 for part in window) <= 14
        assert len(window) >= 2


@pytest.mark.parametrize(
    ("changes", "stage", "problem"),
    [
        ({"judged": []}, JudgeStage(), "judged rows"),
        ({"verdicts": None}, JudgeStage(), "no verdicts"),
        ({}, JudgeStage(sources={"elsewhere": 1.0}), "elsewhere"),
        ({"causal": True}, JudgeStage(), "causal"),
        ({"verdicts": None}, RerankStage(answers=0.5), "no verdicts"),
        ({}, RerankStage(tasks={"frist": 1.0}), "'first'"),
        ({"causal": True}, RerankStage(), "causal"),
        ({"questions": []}, RerankStage(), "no questions"),
    ],
)
def test_what_cannot_be_is_refused(
    changes: dict[str, Any], stage: JudgeStage | RerankStage, problem: str
) -> None:
    made, _ = prepared("supported")
    with pytest.raises(InputError, match=problem):
        build(stage, replace(made, **changes))


def test_windows_with_evidence_are_told_from_others() -> None:
    """Reranking with ``answers`` adds the loss of its windows' labels."""
    made, student = prepared("answered")
    settings = {"questions": 3, "windows": (20, 30)}
    plain = build(RerankStage(**settings), made).step(student, Random(4))["loss"]
    objective = build(RerankStage(**settings, answers=0.5), made)
    losses = []
    for number, pieces in objective.draw(Random(4)):
        question = made.questions[number]
        for text, first, last in pieces:
            rows = [question.ids, *(made.texts[text].sentence(n) for n in range(first, last))]
            batch = assemble([rows], [(0, n) for n in range(len(rows))], BOS, LANDMARK)
            odds = student.model.verdicts(vectors_of(student.model, batch)[0])[3]
            holds = text == question.text and bool({*range(first, last)} & {*question.evidence})
            losses.append(-F.logsigmoid(odds if holds else -odds).item())
    found = objective.step(student, Random(4))["loss"]
    assert found - plain == pytest.approx(0.5 * np.mean(losses), abs=1e-4)


def test_rows_of_a_file(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "model", "bert")
    rows: list[dict[str, Any]] = [
        {"text": "word1 word2", "sentences": ["word3", "word4 word5"], "label": "supported"},
        {"text": "word1", "sentences": ["word3"], "label": "answered", "split": "dev"},
        {"text": "word1", "sentences": ["word3"], "label": "perhaps"},
        {"text": "word1", "sentences": "word3", "label": "unknown"},
        {"text": "word1", "sentences": ["word3"], "label": "unknown", "licence": "CC-BY-NC-4.0"},
    ]
    path = write_lines(tmp_path / "rows.jsonl.gz", rows)
    backend = Backend.from_file(str(folder / "tokenizer.json"))
    report = Report()
    found = load_judged(path, Texts(Tokenizer(backend, "[CLS]", "[SEP]")), report)
    assert [(row.label, len(row.sentences)) for row in found] == [("supported", 2)]
    assert len(report.bad) == 2
    assert report.counts[path]["rows of another split"] == 1
    everything = Texts(Tokenizer(backend, "[CLS]", "[SEP]"))
    assert len(load_judged(path, everything, Report(), allow_nc=True)) == 2


def test_a_checkpoint_keeps_its_verdicts_and_the_engine_gives_the_same(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(write_checkpoint(tmp_path / "first", "bert"))
    checkpoint.reading = replace(checkpoint.reading, verdicts=True)
    checkpoint.model.read_as(checkpoint.reading)
    checkpoint.save(tmp_path / "second", torch.float32)
    again = open_checkpoint(tmp_path / "second").model.verdicts
    assert again is not None
    again.head().write(tmp_path)
    head = VerdictHead.read(tmp_path)
    assert head is not None
    vectors = F.normalize(torch.randn(3, head.weight.shape[1]), dim=-1)
    wanted = checkpoint.model.verdicts(vectors).detach().numpy()
    np.testing.assert_allclose(head(vectors.numpy()), wanted, atol=1e-5)
