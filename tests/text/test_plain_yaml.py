"""YAML without its surprises, and without its bombs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.text import plain_yaml


def test_scalars_are_what_they_look_like() -> None:
    text = "a: no\nb: on\nc: 12:30\nd: 2020-03-01\ne: true\nf: 1.5\ng: 12\nh: 0x1F\ni: ~\nj: 007\n"
    assert plain_yaml.load(text) == {
        "a": "no", "b": "on", "c": "12:30", "d": "2020-03-01", "e": True, "f": 1.5, "g": 12,
        "h": "0x1F", "i": None, "j": "007",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x]\nb: *a\n",
        "a: &a {x: 1}\nb: &b {<<: [*a, *a]}\nc: {<<: [*b, *b]}\n",
        "a: !!python/name:os.system\n",
        "a: [",
        "a: b: c",
        "\x00",
        "[" * 5000,
        "x" * 65_000,
        "{[a]: 1}",
    ],
)
def test_what_is_refused(text: str) -> None:
    """Aliases, tags, what is broken, deep or long is a ``ValueError`` of one line."""
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        plain_yaml.load(text)


@given(st.text() | st.text("&*!a:- \n[]{}<|>'\"#,?0.1~").map(str))
def test_anything_is_a_value_or_a_value_error(text: str) -> None:
    said = None
    try:
        plain_yaml.load(text)
    except ValueError as error:
        said = str(error)
    assert said is None or "\n" not in said
