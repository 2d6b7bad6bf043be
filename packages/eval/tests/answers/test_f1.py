"""Token F1: cases by hand."""

from __future__ import annotations

import pytest

from milepost_eval.answers.f1 import f1, words


@pytest.mark.parametrize(
    ("answer", "references", "wanted"),
    [
        ("Paris", ["Paris"], 1.0),
        ("  the PARIS. ", ["Paris"], 1.0),
        ("red fox jumps", ["The red fox"], 0.8),  # p 2/3, r 2/2
        ("in the town of Paris", ["Paris, France"], 1 / 3),  # p 1/4, r 1/2
        ("Rome", ["Paris"], 0.0),
        ("", ["Paris"], 0.0),
        ("...", ["Paris"], 0.0),
        ("yes", ["no", "Yes!", "yes it is"], 1.0),
        ("one one two", ["one two two"], 2 / 3),  # each repeat is met once
        ("1914-1918", ["1914–1918"], 0.0),  # LongBench removes ASCII punctuation alone
        ("'Ada' Lovelace's", ['"Ada" Lovelaces'], 1.0),
        ("café – bar", ["café bar"], 0.8),  # a dash between spaces is a word to LongBench, too
        ("东京都。", ["「东京」"], 0.8),  # p 2/3, r 2/2 characters
        ("a–b", ["–b"], 1.0),  # the dash parts the article from the rest
        ("anthem", ["the them"], 0.0),  # articles are words, not letters
        ("anything", [], 0.0),
    ],
)
def test_f1_by_hand(answer: str, references: list[str], wanted: float) -> None:
    """The best of the references counts."""
    assert f1(answer, references) == pytest.approx(wanted)


def test_words_are_those_of_squad() -> None:
    """Lower case, no punctuation, no articles, white space folded."""
    assert words("An  APPLE a day;\tkeeps (the) doctor's away!") == [
        "apple", "day", "keeps", "doctors", "away",
    ]  # fmt: skip
