"""Words that stand in a passage, and words that only seem to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.answers.quotes import find_quote
from milepost.quotes import fold, stripped

EDGES = " \t\n.,;:!?…"
PASSAGE = "The fee was low. In 1998 it was raised\n  to £5.50 (from £3), and few\u00a0complained."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("it was raised to £5.50", "it was raised\n  to £5.50"),
        (" It was ", "it was"),
        ("few complained.", "few\u00a0complained"),
        ("The fee was low,", "The fee was low"),
        ("raised … few complained", "raised\n  to £5.50 (from £3), and few\u00a0complained"),
        ("few complained ... raised", None),
        ("The fee [...] In 1998", "The fee was low. In 1998"),
        ("he fee", None),
        ("comp", None),
        ("(from £3)", "(from £3)"),
        ("", None),
        ("…", None),
        (". . .", None),
    ],
)
def test_quotes_of_a_passage(quote: str, found: str | None) -> None:
    span = find_quote(quote, PASSAGE)
    assert (span and PASSAGE[slice(*span)]) == found


def test_scripts_without_spaces_have_no_whole_words() -> None:
    assert find_quote("蜂巢是", "蜜蜂的蜂巢是用蜡做的。") == (3, 6)


# Nor signs of Markdown: a quotation leaves them out.
plain = st.text(st.characters(exclude_characters=".…[]_*`"), max_size=60)


# Accents that stand alone belong to the letter before, beyond white space too.
apart = st.text(st.characters(exclude_categories=["Cs", "Lm", "Mc", "Me", "Mn", "Sk"]), max_size=60)


@given(plain, apart, apart)
def test_any_words_of_a_text_are_found_in_it(quote: str, before: str, after: str) -> None:
    span = find_quote(quote, f"{before} {quote} {after}")
    if any(map(str.isalnum, quote)):
        assert span is not None


@given(plain, plain)
def test_what_is_found_are_the_quotes_words(quote: str, passage: str) -> None:
    span = find_quote(quote, passage)
    if span is not None:
        assert fold(passage[slice(*span)]).letters == stripped(quote.strip(EDGES)).letters
