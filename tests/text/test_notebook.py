"""Jupyter notebooks and rich text."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.errors import UnreadableFile
from milepost.text import read_bytes


def test_cells_are_read_with_their_outputs() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Bees\n", "\n", "They *fly*."]},
        {
            "cell_type": "code",
            "source": "x = 1\n\nprint(x)",
            "outputs": [
                {"output_type": "stream", "text": ["\x1b[31m1\x1b[0m\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBOR"}},
                {"output_type": "execute_result", "data": {"text/plain": "42"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no bees"},
            ],
        },
        {"cell_type": "raw", "source": "raw words"},
    ]
    document = read_bytes(json.dumps({"cells": cells}).encode(), "a.ipynb")
    assert document.text == (
        "# Bees\n\nThey *fly*.\n\nx = 1\nprint(x)\n\n1\n\n42\n\nValueError: no bees\n\nraw words"
    )
    assert document.place(document.text.index("print")) == "cell 2"
    assert document.place(len(document.text) - 1) == "cell 3"
    assert document.heading(document.text.index("print")) == "Bees"


def test_old_notebooks_keep_their_cells_in_sheets() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Old"},
        {"cell_type": "code", "input": "y = 2", "outputs": []},
    ]
    document = read_bytes(json.dumps({"worksheets": [{"cells": cells}]}).encode(), "a.ipynb")
    assert document.text == "## Old\n\ny = 2"
    assert document.heading(8) == "Old"


@pytest.mark.parametrize("data", [b"[]", b"{}", b'{"cells": 3}', b"{", b"words", b"[" * 100_000])
def test_what_is_no_notebook_is_named(data: bytes) -> None:
    with pytest.raises(UnreadableFile, match=r"a\.ipynb"):
        read_bytes(data, "a.ipynb")


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["cell_type", "source", "outputs", "data", "text", "level", "text/plain"]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=12,
    )
)
def test_any_cell_is_read_or_named(cell: object) -> None:
    with suppress(UnreadableFile):
        read_bytes(json.dumps({"cells": [cell]}).encode(), "a.ipynb")


def test_rich_text() -> None:
    """Paragraphs, letters beyond ASCII, rows, fonts of other scripts; addresses are left out."""
    data = (
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fnil\fcharset0 Arial;}"
        rb"{\f1\fnil\fcharset204{\*\fname Times;}Times CYR;}}{\info{\author Nobody}}"
        rb"Hello \b world\b0  \'e9\u8364?\u-10179?\u-8704?.\par \f1\'cf\'f0\'e8\'e2\'e5\'f2\f0\par "
        rb'A {\field{\*\fldinst HYPERLINK "http://x.y"}{\fldrslt link}}.\par '
        rb"\trowd a\cell b\cell\row c\cell\row One | two\par}"
    )
    text = read_bytes(data, "a.rtf").text
    assert text == "Hello world é€😀.\n\nПривет\n\nA link.\na | b\n\nc\n\nOne | two"


@pytest.mark.parametrize(
    "data",
    [
        b"{\\rtf1 " + b'{\\field{\\*\\fldinst{ HYPERLINK "' * 5000,
        b"{\\rtf1 {\\fonttbl" + b"{\\f0 " * 30_000,
        b"{\\rtf1 {\\fonttbl" + b"\\f0\\fcharset0 a" * 30_000,
        b"{\\rtf1 " + b"{" * 100_000,
        b"{\\rtf1 \\u99999999?}",
        b"{\\rtf1 \\uc",
    ],
)
def test_hostile_rich_text_ends_soon(data: bytes) -> None:
    """No pattern of the library takes hours: some of these took more than ten minutes."""
    with suppress(UnreadableFile):
        assert read_bytes(data, "a.rtf").notes == ("no text in it",)
