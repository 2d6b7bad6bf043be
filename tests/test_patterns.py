"""Patterns that are compiled when they are first used."""

import re
import subprocess
import sys

import pytest

from milepost._patterns import late


def test_it_does_what_a_pattern_does() -> None:
    for flags in (0, re.IGNORECASE):
        made, true = late("(b)(c)?", flags), re.compile("(b)(c)?", flags)
        for _ in range(2):
            assert made.findall("abcB") == true.findall("abcB")
            assert made.sub("-", "abcB") == true.sub("-", "abcB")
            assert made.split("abcB") == true.split("abcB")
            assert [each.span() for each in made.finditer("abcB")] == [
                each.span() for each in true.finditer("abcB")
            ]
            for text in ("b", "bc", "ab", "B", ""):
                for name in ("match", "search", "fullmatch"):
                    assert bool(getattr(made, name)(text)) == bool(getattr(true, name)(text))


def test_nothing_else_is_taken_for_a_method() -> None:
    with pytest.raises(AttributeError):
        _ = late("a").nothing  # type: ignore[attr-defined]


def test_it_is_compiled_at_its_first_use_and_once() -> None:
    wrong = late("(")
    with pytest.raises(re.error):
        wrong.match("a")
    made = late("a+")
    assert made.match("aa")
    assert made.match == made.match
    assert isinstance(made.match.__self__, re.Pattern)  # type: ignore[attr-defined]


def test_a_search_does_not_compile_what_only_reading_needs() -> None:
    code = (
        "import milepost.index\nfrom milepost.text import breaks, lines\n"
        "assert not any('match' in vars(each) for each in (breaks._BEYOND, lines._FULL_WIDTH))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
