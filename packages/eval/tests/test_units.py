"""Units of a collection, and rankings of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from milepost.text import split
from milepost.types import Document
from milepost_eval.systems.units import Scored, Units
from milepost_eval.types import Place

DOCUMENTS = [
    Document("a", "One here. Two here.\n\nThree."),
    Document("none", " \n "),
    Document("b", "Four is longer than the others."),
]


def test_white_space_belongs_to_no_unit():
    units = Units.of(DOCUMENTS, split)
    assert [units.texts(number) for number in range(3)] == [
        ["One here.", "Two here.", "Three."],
        [],
        ["Four is longer than the others."],
    ]
    assert units.document_offsets.tolist() == [0, 3, 3, 4]
    assert units.place(3, 1.0) == Place("b", 0, 31, 1.0)


def test_documents_are_as_good_as_their_best_unit():
    units = Units.of(DOCUMENTS, split)
    assert Scored(units, np.array([0.5, 0.5, 0.5, 0.6], np.float32)).documents(9) == ["b", "a"]
    assert Scored(units, np.array([0.0, 0.7, 0.0, 0.6], np.float32)).documents(1) == ["a"]


@given(st.lists(st.floats(-1, 1, width=16), min_size=4, max_size=4), st.integers(1, 80))
def test_what_is_spent_is_the_beginning_of_the_ranking_and_fills_the_budget(scores, budget):
    units = Units.of(DOCUMENTS, split)
    scored = Scored(units, np.array(scores, np.float32))
    spent = scored.spend(budget)
    assert spent == scored.best(4)[: len(spent)]
    lengths = [place.end - place.start for place in spent]
    assert sum(lengths[:-1]) < budget
    assert sum(lengths) >= budget or len(spent) == 4
