"""A session: names to tasks and systems, and every mistake told before anything is measured."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.errors import InputError
from milepost_eval import session as room
from milepost_eval.records import read, to_value
from milepost_eval.session import Session, data_folder
from milepost_eval.tasks.shared import SPAN_TASKS, TEST_ONLY

BEES = "Bees build cells of wax. The queen lays the eggs. " * 4
LINES = (
    {"id": "bees", "text": BEES},
    {"id": "ships", "text": "A ship needs deep water. Tugs pull ships to the quay. " * 4},
    {"document": "bees", "question": "Who lays the eggs?", "spans": [[25, 49]]},
    {"document": "bees", "question": "What is built?", "spans": [[0, 24]]},
    {"document": "ships", "question": "What do tugs do?", "spans": [[25, 53]]},
    {"document": "ships", "question": "What is deep?", "spans": [[0, 24]], "split": "test"},
)


def own(path: Path, *lines: dict[str, object]) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines or LINES), encoding="utf-8")
    return str(path)


@pytest.fixture
def mine(tmp_path):
    return own(tmp_path / "mine.jsonl")


def test_a_record_for_every_system_setting_and_task(mine, tmp_path):
    other = own(tmp_path / "other.jsonl")
    session = Session((mine, other), ("bm25", "bm25:100"), budgets=(60,), cache=tmp_path / "kept")
    heard = []
    records = list(session.records(lambda *step: heard.append(step)))
    assert [(r.task, r.setting, r.system) for r in records] == [
        (task, setting, system)
        for task in ("mine", "other")
        for setting in ("document", "collection")
        for system in ("bm25", "bm25:100")
    ]
    assert heard[0] == ("bm25", "mine", 0, 3)  # before anything is read
    assert heard[-1] == ("bm25:100", "other", 3, 3)
    assert all(record.metrics["recall@60"] > 0 for record in records)


def test_a_run_continues_where_it_was_left(mine, tmp_path, monkeypatch):
    rows = tmp_path / "rows.toml"
    rows.write_text('[systems]\na = { kind = "bm25" }')

    def measured(**other):
        session = Session((mine,), (str(rows),), settings=("document",), run=tmp_path / "run")
        return list(replace(session, cache=tmp_path / "kept", **other).records())

    (first,) = measured()
    with monkeypatch.context() as context:
        context.setattr(room, "evaluate", None)
        (again,) = measured()
    assert to_value(again) == to_value(first)
    assert read(tmp_path / "run") == [again]
    rows.write_text('[systems]\na = { kind = "bm25", k1 = 9.0 }')
    assert measured()[0].fingerprint != first.fingerprint
    measured(questions=1)
    assert len(read(tmp_path / "run")) == 3
    with pytest.raises(InputError, match=r"made with budgets \[800, 1600, 3200\], not \[60\]"):
        measured(budgets=(60,))


def test_fewer_questions_and_documents_are_counted(mine):
    ((task, left_out),) = Session((mine,), questions=2).loaded()
    assert (len(task.questions), left_out, len(task.documents)) == (2, 1, 2)
    ((task, left_out),) = Session((mine,), documents=1).loaded()
    assert len(task.documents) == 1
    assert len(task.questions) + left_out == 3


def test_all_is_the_usual_tasks_that_have_the_split(monkeypatch):
    monkeypatch.setattr(room, "load", lambda name, split, data: name)
    monkeypatch.setattr(room, "take", lambda task, questions, documents: task)
    asked = {split: Session(split=split)._task_names(SPAN_TASKS) for split in ("dev", "test")}
    assert asked["test"] == list(SPAN_TASKS)
    assert set(asked["test"]) - set(asked["dev"]) == TEST_ONLY


def test_tasks_together_are_one_collection(mine, tmp_path):
    other = own(tmp_path / "other.jsonl")
    ((task, left_out),) = Session((mine, other), questions=2, together=True).loaded()
    assert (task.name, left_out, len(task.questions)) == ("mine+other", 2, 4)
    names = [document.name for document in task.documents]
    assert sorted(names) == ["mine/bees", "mine/ships", "other/bees", "other/ships"]
    assert {question.kind for question in task.questions} == {"mine", "other"}
    assert all(set(question.relevant) == {question.document} for question in task.questions)
    session = Session((mine, other), ("bm25",), settings=("collection",), together=True)
    (record,) = session.records()
    assert (record.task, record.questions) == ("mine+other", 6)


def test_two_tasks_of_one_name_are_refused(mine, tmp_path):
    """Results tell tasks apart by name, so two of one name would be mixed."""
    other = own(tmp_path / "folder" / "mine.jsonl")
    with pytest.raises(InputError, match=r"2 of the tasks are named 'mine'"):
        Session((mine, other)).loaded()
    assert len(Session((mine, mine)).loaded()) == 1


@pytest.mark.parametrize(
    ("tasks", "systems", "message"),
    [
        (["mine.jsonl"], ["bm25", "bm52"], "unknown system 'bm52'.*'bm25'"),
        (["mine.jsonl"], ["bm25", "shorts"], "unknown system 'shorts'.*'short'"),
        (["mine.jsonl", "nothere.jsonl"], ["bm25"], r"nothere\.jsonl cannot be read"),
        (["mine.jsonl"], ["bm25", "bm25:huge"], "huge"),
        (["mine.jsonl", "beir:judged"], ["bm25"], "judged.*cannot be asked.*collection"),
    ],
)
def test_nothing_is_measured_before_everything_is_known(
    tasks, systems, message, mine, tmp_path, monkeypatch
):
    (tmp_path / "judged" / "qrels").mkdir(parents=True)
    (tmp_path / "judged" / "corpus.jsonl").write_text('{"_id": "d", "text": "Wax."}\n')
    (tmp_path / "judged" / "queries.jsonl").write_text('{"_id": "q", "text": "What?"}\n')
    (tmp_path / "judged" / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(room, "evaluate", lambda *_, **__: pytest.fail("something was measured"))
    session = Session(tasks, systems, settings=("document",), cache=tmp_path / "kept")
    with pytest.raises(InputError, match=message):
        list(session.records())


def test_the_data_folder_is_the_one_given_else_the_environments(monkeypatch, tmp_path):
    monkeypatch.delenv("MILEPOST_DATA", raising=False)
    assert data_folder(None) is None
    monkeypatch.setenv("MILEPOST_DATA", str(tmp_path))
    assert data_folder(None) == tmp_path
    assert data_folder(Path("other")) == Path("other")
