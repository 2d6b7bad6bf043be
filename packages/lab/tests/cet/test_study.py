"""The audit of hard negatives: what is hidden, who ranks it where, and what it weighs."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost.errors import InputError  # noqa: E402
from milepost.testing import fake_encoder  # noqa: E402
from milepost.types import Document  # noqa: E402
from milepost_eval.types import Question, Task  # noqa: E402
from milepost_lab.cet.study import BUCKETS, audit  # noqa: E402
from milepost_lab.controls.readers import control_readers  # noqa: E402
from milepost_train.negatives import Limits  # noqa: E402

SENTENCES = (
    "The queen of the hive lays all the eggs.",
    "Workers feed the young with pollen and honey.",
    "Drones leave the hive early in the summer.",
    "All the eggs in a hive are from its queen alone.",
    "Honey is stored well above the brood.",
    "Wax is made by workers of two weeks.",
)
TEXT = " ".join(SENTENCES)


def spans(*numbers):
    return tuple(
        (TEXT.index(SENTENCES[n]), TEXT.index(SENTENCES[n]) + len(SENTENCES[n])) for n in numbers
    )


def task(*questions):
    documents = tuple(Document(name, TEXT) for name in ("a", "b"))
    return Task("bees", "dev", documents, questions)


EGGS = Question("eggs", "Who lays the eggs of the hive?", "a", spans(0, 3))
WAX = Question("wax", "Who makes wax?", "a", spans(5))
HONEY = Question("honey", "Where is honey?", "b", spans(1, 4))
ENCODER = fake_encoder()


def test_what_is_hidden_is_found_where_it_ranks():
    """Two questions have two sentences; each hides one, which stands in each whole list once."""
    found = audit(task(EGGS, WAX, HONEY), ENCODER, ("words", "landmarks", "search"), hide="pooled")
    assert (found.questions, found.documents, found.hidden) == (2, 2, 2)
    for ranker in ("landmarks", "search"):
        rows = [row for row in found.rows if row.ranker == ranker]
        assert sum(row.count for row in rows) == 2 * (len(SENTENCES) - 1)
        assert sum(row.share * row.count for row in rows) == pytest.approx(2)
        assert [(row.first, row.last) for row in rows] == list(BUCKETS[:3])
    # The other sentence of the queen shares most words with the question once the first is kept.
    first = next(row for row in found.rows if row.ranker == "words" and row.last == 1)
    assert first.share * first.count >= 1
    for row in found.rows:
        assert 0 <= row.low <= row.share <= row.high <= 1
        assert row.passed <= row.count


def test_pooled_keeps_the_best_by_words_and_random_keeps_any():
    """By words the first sentence of the eggs is marked, whatever the seed."""
    words = ("words",)
    pooled = {str(audit(task(EGGS), ENCODER, words, hide="pooled", seed=s)) for s in range(6)}
    drawn = {str(audit(task(EGGS), ENCODER, words, hide="random", seed=s)) for s in range(6)}
    assert len(pooled) == 1
    assert len(drawn) == 2


def test_weights_are_those_of_mining():
    """All is sure where all answers are marked; the filter is that of mining."""
    sure = audit(task(EGGS, HONEY), ENCODER, ("landmarks",), selected=1.0)
    weights = [weight for row in sure.rows for weight in row.mined if weight is not None]
    assert set(weights) == {1.0}
    assert sure.areas["mined"] == 0.5
    loose = audit(task(EGGS, HONEY), ENCODER, ("landmarks",), limits=Limits(around=0))
    assert sum(row.passed for row in loose.rows) >= sum(row.passed for row in sure.rows)
    told = [weight for row in loose.rows for weight in row.coupled if weight is not None]
    assert all(0 <= weight <= 1 for weight in told)
    assert len(set(np.round(told, 6))) > 1


def test_where_nothing_is_listed_the_weights_are_not_judged():
    """No sentence shares a word with the question: there is no area, and no NaN either."""
    strange = Question("strange", "Zebra?", "a", spans(0, 3))
    found = audit(task(strange), ENCODER, ("words",))
    assert found.rows == ()
    assert found.areas == {"mined": None, "coupled": None, "constant": None}


def test_another_reader_ranks_too():
    """A model that reads each sentence alone: here one that likes long sentences."""

    class Long:
        name = fingerprint = "long"

        def texts(self, texts):
            return np.array([[len(text)] for text in texts], np.float32), 0

        def questions(self, texts):
            return np.ones((len(texts), 1), np.float32)

    found = audit(task(EGGS), ENCODER, ("minilm",), minilm=Long(), hide="pooled")
    first = found.rows[0]
    assert (first.ranker, first.count, first.share) == ("minilm", 1, 1.0)  # 48 letters, the longest


@pytest.mark.usefixtures("small_controls")
def test_controls_are_audited_in_the_model_s_place():
    """Rows and areas of their own; what the model's say stays as it is."""
    asked, rankers = task(EGGS, HONEY), ("words", "landmarks", "search")
    bare = audit(asked, ENCODER, rankers)
    found = audit(asked, ENCODER, rankers, controls=control_readers())
    assert found.rows[: len(bare.rows)] == bare.rows
    assert bare.areas.items() <= found.areas.items()
    for name in ("random", "nonsense", "hierarchical"):
        rows = [row for row in found.rows if row.ranker == f"landmarks@{name}"]
        # Each of the two questions hides one of its sentences in a whole list.
        assert sum(row.count for row in rows) == 2 * (len(SENTENCES) - 1)
        assert sum(row.share * row.count for row in rows) == pytest.approx(2)
        assert 0 <= found.areas[f"mined@{name}"] <= 1
    assert len(found.areas) == 12


@pytest.mark.parametrize(
    ("questions", "rankers", "words"),
    [
        ((EGGS,), ("word",), "try: 'words'"),
        ((EGGS,), ("minilm",), "unknown ranker 'minilm'"),
        ((WAX,), ("words",), "two sentences of evidence"),
    ],
)
def test_what_cannot_be_audited_is_refused(questions, rankers, words):
    """One line that says what is wrong."""
    with pytest.raises(InputError, match=words):
        audit(task(*questions), ENCODER, rankers)
