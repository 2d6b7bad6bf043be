"""What another model would change in an index."""

from contextlib import closing

import numpy as np
import pytest

import milepost
from milepost.errors import InputError
from milepost.types import Document
from milepost_eval.drift import NEIGHBOURS, agreement, distances, index_drift, kept, unit

SUBJECTS = ("bees", "ships", "rivers", "kings", "clocks", "wolves", "bread", "glass")
VERBS = ("build cells", "carry coal", "reach the sea", "lose a war", "run late", "hunt at night")


def documents() -> list[Document]:
    return [
        Document(
            name=subject,
            text=" ".join(f"In year {n}, {subject} {verb} again." for n, verb in enumerate(VERBS)),
        )
        for subject in SUBJECTS
    ]


@pytest.fixture(scope="module")
def index() -> milepost.Index:
    made = milepost.open(model="landmark-light")
    made.add(documents())
    return made


def test_the_model_that_made_the_index_changes_nothing(index: milepost.Index) -> None:
    asked: list[tuple[str, int, int]] = []
    with index.snapshot() as state:
        found = index_drift(state, index.model, progress=lambda *each: asked.append(each))
    assert (found.sentences, found.documents) == (48, 8)
    assert found.kept.mean > 0.97  # stored vectors have fewer digits
    assert found.cka > 0.99
    assert found.rebuild_s > 0
    assert {name for name, *_ in asked} == set(SUBJECTS)


def test_another_model_changes_neighbours(index: milepost.Index) -> None:
    other = milepost.load("landmark-minilm")
    with index.snapshot() as state:
        found = index_drift(state, other)
        few = index_drift(state, other, sentences=20)
    assert found.kept.chance == pytest.approx(NEIGHBOURS / 47)
    assert found.kept.chance < found.kept.low < found.kept.mean < 0.97
    assert found.cka < 0.97
    assert (few.sentences, few.documents) == (20, 4)
    assert few.rebuild_s > 0


def test_too_few_sentences_are_named() -> None:
    with closing(milepost.open(model="landmark-light")) as made:
        made.add([Document(name="a", text="Bees build cells. They hum.")])
        with (
            made.snapshot() as state,
            pytest.raises(InputError, match="has 2 sentences to compare"),
        ):
            index_drift(state, made.model)


def test_kept_neighbours_by_hand() -> None:
    """Of four points on a line each one's nearest; in the other space two have moved."""
    line = np.array([[0.0], [1.0], [10.0], [11.0]])
    moved = np.array([[0.0], [1.0], [11.5], [1.9]])
    assert agreement(line, line, 1).tolist() == [1, 1, 1, 1]
    assert agreement(line, moved, 1).tolist() == [1, 0, 1, 0]
    assert distances(line)[0].tolist() == [0, 1, 10, 11]
    assert unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [[0.6, 0.8], [0.0, 0.0]]


def test_questions_of_one_document_are_not_independent() -> None:
    rng = np.random.default_rng(1)
    before, after = unit(rng.normal(size=(60, 8))), unit(rng.normal(size=(60, 8)))
    after[:30] = before[:30]
    alone = kept(before, after, [str(n) for n in range(60)])
    halves = kept(before, after, ["a"] * 20 + ["b"] * 20 + ["c"] * 20)
    assert alone.mean == halves.mean
    assert halves.high - halves.low > alone.high - alone.low
