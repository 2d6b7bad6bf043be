"""What spares a text the search for marks of other scripts spares no text that has them."""

import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.text import breaks, split

EVERY = [chr(code) for code in (*range(0xD800), *range(0xE000, 0x10000))]
EVERY += [chr(code) for code in range(0x10000, sys.maxunicode + 1, 257)]


def test_no_other_character_matches() -> None:
    """Whatever stands beyond the range: between words, behind a mark, behind itself."""
    others = [letter for letter in EVERY if not breaks._BEYOND.search(letter)]
    assert len(others) > 4_000
    text = "".join(f"a{letter} b!{letter}{letter} {letter}?" for letter in others)
    assert breaks._OWN.search(text) is None
    assert breaks._BY_SPACES.search(text) is None


@settings(max_examples=80, deadline=None)
@given(
    st.text(
        alphabet=st.sampled_from("ab .!?“”»)]」。！।॥؟۔։።។༎อไ한あ、…—\n") | st.characters(),
        max_size=50,
    )
)
def test_borders_are_those_of_the_full_search(text: str) -> None:
    found = split(text)
    shortcut = breaks._BEYOND
    try:
        breaks._BEYOND = breaks.re.compile("")
        assert split(text) == found
    finally:
        breaks._BEYOND = shortcut
