"""Marks of documents that callers make."""

import pytest

from milepost.errors import InputError
from milepost.types import Document, Mark

TEXT = "Whales sing songs. Whales swim far."


def test_marks_in_any_order_give_the_right_page() -> None:
    made = Document("z", TEXT, (Mark(19, "page", "2"), Mark(0, "page", "1")))
    assert [made.page(at) for at in (0, 18, 19)] == [1, 1, 2]
    assert [mark.offset for mark in made.marks] == [0, 19]


@pytest.mark.parametrize(
    ("mark", "problem"),
    [
        (Mark(0, "Page", "1"), "'Page' is no kind of mark; try: heading, "),  # type: ignore[arg-type]
        (Mark(0, "page", "two"), "a page must be digits, not 'two'"),
        (Mark(-5, "page", "1"), "offset -5 is outside the 35 characters"),
        (Mark(36, "heading", "Songs"), "offset 36 is outside"),
    ],
)
def test_what_is_no_mark_of_the_text_is_refused(mark: Mark, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Document("z", TEXT, (mark,))
