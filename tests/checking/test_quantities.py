"""Numbers and dates of claims: what is the same in other words, and what is another one."""

import pytest

from milepost.checking.claims.quantities import quantities
from milepost.checking.claims.reading import read


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 km", "5,000 m"), ("30 kPa", "300 hPa"), ("3.6 V", "3600 mV"),
        ("5 km", "3.1 miles"), ("90 °C", "194 °F"), ("22 pounds", "10.0 kg"),
        ("half a gram", "500 mg"), ("1 hour and 45 minutes", "105 minutes"),
        ("a third of it", "33 percent"), ("two dozen", "24"), ("one in five", "20 %"),
        ("150 basis points", "1.5 percentage points"), ("USD 4.5 billion", "US$4,500 million"),
        ("Q3 2024", "the third quarter of 2024"), ("FY23", "fiscal year 2023"),
        ("third-quarter 2020 sales", "Q3 2020"), ("first-half 2020 results", "H1 2020"),
        ("3 × 10^5 cells", "300,000 cells"), ("10⁶ bees", "1 million bees"), ("1e-3", "0.001"),
        ("2 1/2 cups", "2½ cups"), ("½ cup", "0.5 cup"), ("1/3 of it", "a third of it"),
        ("half a million", "500,000"), ("5-fold", "fivefold"), ("noon", "12:00"),
        ("minus 5 °C", "-5 degrees Celsius"), ("minus five degrees Celsius", "-5 °C"),
        ("2-1/2 inches", "2.5 inches"),
        ("12th century", "twelfth century"), ("2:30 pm", "14:30"), ("3 to 5 days", "3–5 days"),
        ("1775 to 1783", "1775–1783"), ("20 mins", "twenty minutes"),
        ("5 µA", "0.005 mA"), ("2,000 US dollars", "$2,000"),
    ],
)  # fmt: skip
def test_one_quantity_in_other_words(one: str, other: str) -> None:
    (first,), (second,) = quantities(one), quantities(other)
    assert first.follows(second)
    assert second.allows(first)


@pytest.mark.parametrize(
    "text", ["24/7 service", "9/11 attacks", "a rate of 3/4", "B12e3 and X10^2"]
)
def test_what_is_no_fraction_or_power(text: str) -> None:
    assert all(each.value in (2, 3, 4, 7, 9, 11, 24) for each in quantities(text))


@pytest.mark.parametrize(
    ("claim", "text", "is_allowed", "follows"),
    [
        ("$14.2 billion", "$14,189 million", True, True),
        ("$14,189 million", "$14.2 billion", True, False),
        ("$14.3 billion", "$14,189 million", False, False),
        ("£0.4 million", "£440,000", True, True),
        ("2 million people", "2.4 million people", False, False),
        ("12 people", "13 employees", False, False),
        ("12,000 hives", "11,987 hives", False, False),
        ("42 per cent", "41.8 %", True, True),
        ("41.8 %", "42 per cent", False, False),
        ("7 km", "6.8 km", True, True),
        ("7.1 km", "6.8 km", False, False),
        ("no later than 60 days", "60 days", True, True),
        ("at least 3 years", "not be less than three years", True, True),
        ("at most 3 years", "not be less than three years", False, False),
        ("at most 3 years", "not be longer than three years", True, True),
    ],
)
def test_rounded_numbers(claim: str, text: str, is_allowed: bool, follows: bool) -> None:
    (own,), (other,) = quantities(claim), quantities(text)
    assert (own.allows(other), own.follows(other)) == (is_allowed, follows)


def test_the_marks_of_notes_are_no_words_and_no_numbers() -> None:
    reading = read("The drug[3] halved pain[a1] of Lee[b,c] within [30] days [5, 6].")
    assert [word.text for word in reading.content] == ["drug", "halved", "pain", "Lee", "days"]
    assert [each.value for each in reading.quantities] == [30]
