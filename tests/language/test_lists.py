"""List items, and their lead-ins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.documents import split
from milepost.language.lists import lead_in_before, marker_of

WORDS = st.lists(st.sampled_from(["bees", "dogs", "wax", "roof", "honey"]), min_size=2, max_size=6)


@given(
    lead=WORDS,
    items=st.lists(WORDS, min_size=1, max_size=6),
    mark=st.sampled_from(["- ", "* ", "• ", "1. ", "(a) ", "  - "]),
    gap=st.sampled_from(["\n", "\n\n"]),
)
def test_the_lead_in(lead, items, mark, gap) -> None:
    front = f"Not all of them are {' '.join(lead)}:"
    rows = [f"{mark}{' '.join(words)}" for words in items]
    text = gap.join(["A sentence before it.", front, *rows]) + gap
    sentences = [text[start:end] for start, end in split(text)]
    found = lead_in_before(sentences)
    assert found is not None
    assert sentences[found].rstrip() == front
    assert lead_in_before([*sentences, "Another sentence.\n"]) is None


@pytest.mark.parametrize(
    ("text", "length"),
    [("- a", 2), ("  • a", 4), ("12. a", 4), ("(iv) a", 5), ("a - b", 0), ("-5 degrees", 0)],
)
def test_the_marker_of_an_item(text: str, length: int) -> None:
    assert marker_of(text) == length
