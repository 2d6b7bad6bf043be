"""Where values and objects end in the bytes of a PDF."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.exports.marking.objects import Piece, entries, pieces, value_end

STRINGS = st.binary(max_size=12).map(
    lambda data: (
        b"(" + data.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)") + b")"
    )
)
LEAVES = STRINGS | st.sampled_from(
    [b"12", b"-.5", b"/Name", b"/A#20B", b"<0aFF>", b"true", b"null", b"7 0 R", b"(a(b)c)", b"()"]
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda each: b"[" + b" ".join(each) + b"]")
        | st.lists(inner, max_size=3).map(
            lambda each: b"<<" + b"".join(b"/K%d %s" % pair for pair in enumerate(each)) + b">>"
        )
    ),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([b"", b" ", b"\n/Next", b">>", b"]", b"(x)", b"<</A 1>>"]))
def test_a_value_ends_where_the_next_thing_begins(value: bytes, rest: bytes) -> None:
    if value[-1:].isalnum() and rest[:1].isalnum():
        rest = b" " + rest
    assert value_end(b"  " + value + rest, 0) == 2 + len(value)


@given(st.dictionaries(st.sampled_from([b"/A", b"/Size", b"/ID"]), VALUES))
def test_entries_of_a_dictionary(values: dict[bytes, bytes]) -> None:
    written = b"<< " + b"".join(b"%s %s " % pair for pair in values.items()) + b">>"
    assert entries(written) == values


@given(st.lists(st.tuples(st.integers(1, 999), VALUES, st.none() | st.binary(max_size=20))))
def test_objects_one_behind_the_other(objects: list[tuple[int, bytes, bytes | None]]) -> None:
    data, wanted = b"%PDF", []
    for number, value, stream in objects:
        if stream is None:
            data += b"%d 0 obj\n%s\nendobj\n" % (number, value)
            wanted.append(Piece(number, value))
        else:
            held = b"<</Length %d>>" % len(stream)
            data += b"%d 0 obj\r\n%sstream\r\n%s\r\nendstream\r\nendobj\r\n" % (
                number,
                held,
                stream,
            )
            wanted.append(Piece(number, held, b"stream\n%s\nendstream" % stream))
    assert list(pieces(data + b"xref\n0 1\n", 4)) == wanted


@pytest.mark.parametrize("data", [b"", b">>", b"(abc", b"<abc", b"<<", b"[1 2"])
def test_what_does_not_end(data: bytes) -> None:
    with pytest.raises(ValueError):
        value_end(data, 0)


def test_an_object_that_does_not_end() -> None:
    with pytest.raises(ValueError):
        entries(b"<</A>>")
    with pytest.raises(ValueError, match="object 7"):
        list(pieces(b"7 0 obj\n12\n8 0 obj\n13\nendobj", 0))
