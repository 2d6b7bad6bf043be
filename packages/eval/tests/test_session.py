"""A session: names to tasks and systems, and every mistake told before anything is measured."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from milepost.documents import split
from milepost.errors import InputError
from milepost.testing import fake_encoder
from milepost.types import Document
from milepost_eval import session as room
from milepost_eval.metrics import of_sentences
from milepost_eval.records import from_value, read, to_line, to_value
from milepost_eval.run import evaluate
from milepost_eval.session import Session
from milepost_eval.systems.landmark import Milepost
from milepost_eval.systems.units import Scored, Units
from milepost_eval.types import Place, Question, Task
from support.files import write_lines

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
    return str(write_lines(path, lines or LINES))


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


def test_tasks_together_are_one_collection(mine, tmp_path):
    hens = {"id": "ships", "text": "Hens lay eggs. " * 9}
    other = own(tmp_path / "other.jsonl", LINES[0], hens, *LINES[2:5])
    ((task, left_out),) = Session((mine, other), questions=2, together=True).loaded()
    assert (task.name, left_out, len(task.questions)) == ("mine+other", 2, 4)
    names = [document.name for document in task.documents]
    assert sorted(names) == ["mine/bees", "mine/ships", "other/ships"]
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


A = "The cat sleeps. The dog barks. The cow eats."
B = "A ship sinks. A train stops."


class Letters:
    """Scores a sentence by how often the question's first letter stands in it."""

    name, fingerprint = "letters", "1"
    opened = 0

    def open(self, documents):
        self.opened += 1
        self.units = Units.of(documents, split)
        self.tokens = len(self.units)
        return self

    def search(self, questions):
        for question in questions:
            texts = [t for n in range(len(self.units.documents)) for t in self.units.texts(n)]
            counts = [text.count(question[0]) for text in texts]
            yield Scored(self.units, np.array(counts, np.float32))


def _task(*questions, **fields):
    return Task("pets", "dev", (Document("a", A), Document("b", B)), questions, **fields)


DOG = Question("q1", "g what?", "a", ((16, 30),), {"a": 1}, "plain")
SHIP = Question("q2", "s what?", "b", ((0, 13),), {"b": 1})


def test_the_document_is_given_or_all_are_searched():
    """``s`` stands most often in B, but in A as well: the setting decides what is looked at."""
    record = evaluate(Letters(), _task(DOG, SHIP), "document", budgets=(10, 100))
    figures = record.per_question.figures
    assert record.per_question.names == ("q1", "q2")
    assert figures["mrr@10"] == (1.0, 1.0)
    assert figures["recall@10"] == pytest.approx((10 / 14, 10 / 13))
    assert figures["recall@100"] == (1.0, 1.0)
    assert figures["precision@100"] == pytest.approx((14 / 44, 13 / 28))
    assert "ndcg@10" not in figures
    assert (record.questions, record.documents, record.tokens) == (2, 2, 5)
    assert record.metrics["recall@10"] == pytest.approx((10 / 14 + 10 / 13) / 2)
    assert record.per_question.positions == pytest.approx((16 / 44, 0.0))
    assert record.per_question.lengths == (44, 28)
    assert record.per_question.kinds == ("plain", "")


def test_the_collection_is_opened_once_and_documents_are_ranked():
    system = Letters()
    record = evaluate(system, _task(DOG, SHIP), "collection", budgets=(10,))
    assert system.opened == 1
    assert record.per_question.figures["ndcg@10"] == (1.0, 1.0)
    assert record.per_question.figures["doc-recall@100"] == (1.0, 1.0)
    worse = evaluate(Letters(), _task(Question("q", "T", "b", ((0, 13),), {"b": 1})), "collection")
    assert worse.per_question.figures["ndcg@10"] == pytest.approx((1 / np.log2(3),))
    assert worse.per_question.figures["mrr@10"] == (1 / 4,)


def test_whole_documents_are_asked_for_in_the_collection_only():
    task = _task(Question("q", "s", "b", (), {"b": 2}), settings=("collection",))
    record = evaluate(Letters(), task, "collection")
    assert set(record.metrics) == {"ndcg@10", "doc-recall@100"}
    with pytest.raises(InputError, match=r"no spans.*--setting collection"):
        evaluate(Letters(), task, "document")
    with pytest.raises(InputError, match="two tasks"):  # a mean must be over all questions
        evaluate(Letters(), _task(DOG, *task.questions), "collection")


def test_the_strongest_sentence_and_twins():
    twin = replace(DOG, twins=((31, 44),), distance=1)
    behind = replace(DOG, name="q3", text="e what?", twins=((31, 44),))
    record = evaluate(Letters(), _task(twin, SHIP, behind), "document", budgets=(10,))
    assert record.per_question.names == ("q1", "q3", "q2")
    assert record.per_question.figures["twins"] == (1.0, 0.0, None)
    assert record.per_question.figures["mark@1"] == (1.0, 0.0, 1.0)
    assert record.metrics["twins"] == 0.5
    assert record.metrics["mark@1"] == pytest.approx(2 / 3)
    back = from_value(json.loads(to_line(record)), "here").per_question
    assert back.figures["twins"] == (1.0, 0.0, None)


def test_a_unit_that_holds_evidence_and_twin_is_not_above_it():
    question = replace(DOG, twins=((31, 44),))
    places = [Place("b", 16, 30, 2.0), Place("a", 20, 40, 1.0), Place("a", 16, 30, 0.5)]
    assert of_sentences(places[0], places, question) == {"mark@1": 0.0, "twins": 0.0}
    assert of_sentences(places[2], places[2:], question) == {"mark@1": 1.0, "twins": 1.0}
    assert of_sentences(None, (), question) == {"mark@1": 0.0, "twins": 0.0}


def test_the_search_marks_its_best_sentence():
    system = Milepost("landmark", fake_encoder())
    (ranking,) = system.open([Document("a", A), Document("b", B)]).search(["Who barks?"])
    found = ranking.strongest()
    assert (found.document, A[found.start : found.end].strip()) == ("a", "The dog barks.")
    (nothing,) = system.open([Document("c", "- - -")]).search(["Who barks?"])
    assert nothing.strongest() is None or nothing.strongest().document == "c"
