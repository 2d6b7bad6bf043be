"""Arguments of another type and closed indexes are refused in one line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from milepost.errors import InputError, StoreError
from milepost.testing import fake_index
from milepost.types import Document


@pytest.mark.parametrize("question", [[], None, 3, b"bees"])
def test_a_question_of_another_type_is_refused(question: Any) -> None:
    """``str([])`` would be looked for as the text ``[]``."""
    index = fake_index({"bees": "Bees build cells of wax."})
    for ask in (index.search, index.search_detailed, index.check):
        with pytest.raises(TypeError, match=f"must be str, not {type(question).__name__}"):
            ask(question)


def test_arguments_of_another_type_name_the_right_one() -> None:
    index = fake_index({"bees": "Bees build cells of wax."})
    for k in ("3", 3.0, True):
        with pytest.raises(TypeError, match=f"k must be int, not {type(k).__name__}; try: k=3"):
            index.search("wax", k=k)
    assert index.search("wax", k=np.int64(1))
    with pytest.raises(InputError, match="min_score must be a number, not str"):
        index.search("wax", min_score="0.2")
    with pytest.raises(InputError, match="is not a length") as caught:
        index.search("wax", budget="9" * 5000)
    assert len(str(caught.value)) < 100
    assert index.search("wax", budget=10**5000)


def test_a_closed_index_in_memory_refuses() -> None:
    """As an index in a folder does, instead of finding nothing."""
    index = fake_index({"bees": "Bees build cells of wax."})
    index.close()
    for use in (
        lambda: index.search("wax"),
        index.documents,
        lambda: index.check("wax"),
        lambda: index.add([Document("a", "A text.")]),
        lambda: index.remove("bees"),
    ):
        with pytest.raises(StoreError, match="the index in memory is closed"):
            use()


def test_a_property_too_large_for_a_number_is_refused() -> None:
    with pytest.raises(InputError, match="the property 'a' cannot be int"):
        fake_index({}).add(Document("p", "x y.", properties={"a": 10**400}))
