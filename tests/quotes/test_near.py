"""Places that nearly hold a quotation, with exactly the words that differ."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.quotes import MAX_WORDS, fold, near, occurrences, stripped
from milepost.quotes.words import amounts_in
from support.shipped_book import BOOK

TOO_LONG = "one more word " * (MAX_WORDS // 3 + 1)
BEES = "Lead is soft. Gold melts at 1064 degrees. It is heavier than lead, and it never rusts."


def differences(quotation: str, text: str) -> list[tuple[str, str]]:
    """What differs at the best place, checked to be where it is said to be."""
    asked, there = stripped(quotation), fold(text)
    places = near(asked, there)
    for place in places:
        assert place.differences
        assert 0.75 <= place.similarity <= 1.0
        assert place.start <= place.end <= len(text)
        for each in place.differences:
            assert asked.text[each.given_start : each.given_end] == each.given
            assert text[each.start : each.end] == each.text
            assert place.start <= each.start <= each.end <= place.end
    return [(each.given, each.text) for each in places[0].differences] if places else []


@pytest.mark.parametrize(
    ("quotation", "text", "wanted"),
    [
        ("Gold melts at 1164 degrees.", BEES, [("1164", "1064")]),
        ("Gold melts at degrees. It is heavier than lead", BEES, [("", "1064")]),
        ("It is heavier then lead, and it ever", BEES, [("then", "than"), ("ever", "never")]),
        ("he did go to the market", "Yes, he did not go to the market.", [("", "not")]),
        ("We sell what we collect", "True. We don't sell what we collect.", [("", "don't")]),
        ("bees now here build cells", "bees nowhere build cells", [("now here", "nowhere")]),
        ("it is 5 degrees in winter here", "it is -5 degrees in winter here", [("5", "-5")]),
        ("5 degrees in winter is the rule", "−5 degrees in winter is the rule", [("5", "−5")]),
        ("about 5 degrees, hard frost through late winter", "near −5 degrees, hard frost through late winter", [("about 5", "near −5")]),  # noqa: E501
        ("234 people saw the king", "1\u00a0234 people saw the king", [("234", "1\u00a0234")]),
        ("the mean winter temperature is 5", "the mean winter temperature is 5.5", [("5", "5.5")]),
        ("the mean winter density is 10", "the mean winter density is 10^2 or", [("10", "10^2")]),
        ("in hives bees build cells of clay.", "in hives bees build cells of sand here",
         [("clay.", "sand")]),
        ("a man eating fish swims", "a man-eating fish swims", [("man eating", "man-eating")]),
        ("the new drug[3] reduced all the pain by half within weeks",
         "the new drug[4] reduced all the pain by half within weeks[5].",
         [("drug[3] reduced", "drug[4] reduced")]),
        ("应用程序应争取的最高限度", "所有应用程序应争取的最低限度。", [("高", "低")]),
    ],
)  # fmt: skip
def test_what_differs_is_named(quotation: str, text: str, wanted: list[tuple[str, str]]) -> None:
    assert differences(quotation, text) == wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 %", "12 percent"),
        ("$1.2bn", "1.2 billion dollars"),
        ("5 March 2024", "2024-03-05"),
        ("5. März 2024", "5.3.2024"),
        ("March 5, 2024", "03/05/2024"),
        ("5/3/2024", "2024-03-05"),
        ("1,234", "1\u202f234"),
        ("3°C", "3 degrees Celsius"),
    ],
)
def test_an_amount_written_otherwise_is_one_small_difference(one: str, other: str) -> None:
    frame = "the members were told that {} had been reported in the year before, and agreed"
    for given_amount, amount in ((one, other), (other, one)):
        asked, text = stripped(frame.format(given_amount)), f"Then {frame.format(amount)}. Late."
        (place,) = near(asked, fold(text))
        assert [(each.given, each.text) for each in place.differences] == [(given_amount, amount)]
        assert place.similarity > 0.97


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 %", "13 percent"),
        ("12 %", "12 km"),
        ("$1.2bn", "€1.2bn"),
        ("$1.2bn", "$1.2m"),
        ("5 March 2024", "2024-03-06"),
        ("it was 1,234", "it was -1,234"),
        ("5 miles", "5 metres"),
    ],
)
def test_other_amounts_stay_others(one: str, other: str) -> None:
    values = [{value for *_, value in amounts_in(text)} for text in (one, other)]
    assert all(values)
    assert not values[0] & values[1]


@pytest.mark.parametrize(
    ("quotation", "text"),
    [
        ("it was in the house", "it was in the garden"),
        ("gold", BEES.replace("Gold", "Silver")),
        ("one two three four", ""),
        ("…", BEES),
        pytest.param(TOO_LONG, TOO_LONG, id="too long to be aligned"),
    ],
)
def test_other_texts_are_not_near(quotation: str, text: str) -> None:
    """A few small words in common are not enough."""
    assert near(stripped(quotation), fold(text)) == []


WORDS = "bees build cells of wax the queen's -5 3.5 10² hive, summer. ﬁve 東京"


@given(st.lists(st.sampled_from(WORDS.split()), min_size=6, max_size=30), st.data())
@settings(max_examples=100)
def test_one_word_changed_is_the_one_that_differs(held: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(held) - 1))
    asked = [*held[:at], "otherwise", *held[at + 1 :]]
    text = f"Before it all, other things. {' '.join(held)} And after it."
    quotation = " ".join(asked)
    if not list(occurrences(stripped(quotation), fold(text))):
        got = differences(quotation, text)
        assert not got or any("otherwise" in given_words for given_words, _ in got)


def test_places_of_a_changed_book() -> None:
    if not BOOK.is_file():
        pytest.skip("needs the checkout")
    book = BOOK.read_text(encoding="utf-8")
    folded, choice = fold(book), random.Random(3)
    for size in (12, 60, 400):
        for _ in range(3):
            start = book.index(" ", choice.randrange(len(book) - 9_000)) + 1
            asked = book[start : start + 9_000].split()[:size]
            changed = range(5, size, 10)
            for number in changed:
                asked[number] = "xylophone"
            place = near(stripped(" ".join(asked)), folded)[0]
            assert abs(place.start - start) < 30
            named = [each for each in place.differences if each.given]
            assert len(named) == len(changed)
            assert all("xylophone" in each.given for each in named)
