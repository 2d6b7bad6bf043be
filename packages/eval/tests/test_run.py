"""From a system and a task to a record."""

import json
from dataclasses import replace

import numpy as np
import pytest

from milepost.errors import InputError
from milepost.testing import fake_encoder
from milepost.text import split
from milepost.types import Document
from milepost_eval.metrics import of_sentences
from milepost_eval.records import from_value, to_line
from milepost_eval.run import evaluate
from milepost_eval.systems.landmark import Milepost
from milepost_eval.systems.units import Scored, Units
from milepost_eval.types import Place, Question, Task
from milepost_eval.vectors import Vectors

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
    assert figures["precision@100"] == pytest.approx((14 / 42, 13 / 27))
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


def test_questions_with_and_without_spans_are_two_tasks():
    """A mean over questions must be over all of them."""
    with pytest.raises(InputError, match="two tasks"):
        evaluate(Letters(), _task(DOG, Question("q", "s", "b", (), {"b": 1})), "collection")


def test_a_record_says_whether_vectors_were_there_before(tmp_path):
    """Times of a second run say little, so it is told apart."""
    vectors = Vectors(tmp_path / "v.sqlite")

    class Keeping(Letters):
        def open(self, documents):
            vectors.get("x", [d.text for d in documents], lambda: (np.zeros((1, 2), "f4"), 0))
            return super().open(documents)

    first, second = (evaluate(Keeping(), _task(DOG), "document", vectors=vectors) for _ in range(2))
    assert (first.cached, second.cached) == (False, True)


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
