"""Numbers, units, dates and periods are found however they are written, and others are not."""

import datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.language.numbers import others
from milepost.language.terms import question_terms, terms

DAYS = st.dates(datetime.date(1000, 1, 1), datetime.date(2999, 12, 31))


@pytest.mark.parametrize(
    "spellings",
    [
        ("1234", "1,234", "1.234", "1\u202f234", "1'234", "(1,234)", "−1,234"),
        ("1.2 billion dollars", "$1.2bn", "$1.2 billion", "USD 1.2bn", "1,2 Mrd. USD"),
        ("CAD 85m", "85 million CAD", "CAD 85 million", "CAD85m"),
        ("1.2 billion euros", "1,2 Mrd. €", "1,2 Milliarden Euro", "€1.2bn", "EUR 1.2 billion"),
        ("3 million pounds", "£3m", "GBP 3m", "3 millions £", "£3mm"),
        ("12 percent", "12 %", "12%", "12 per cent", "12 pct", "12 Prozent", "12 pour cent"),
        ("10 kilometres", "10 km", "10km", "10 kilometers", "10 Kilometer"),
        ("3°C", "3 °C", "3° C"),
        ("Q3 2024", "3Q24", "Q3'24", "3Q 2024"),
        ("fiscal 2024", "FY2024", "FY24", "FY 2024", "fy 24"),
        ("2024", "२०२४", "۲۰۲۴", "２０２４"),
    ],
)
def test_one_number_in_all_its_spellings(spellings: tuple[str, ...]) -> None:
    for one, other in pairwise(spellings):
        assert sorted(terms(one)) == sorted(terms(other)) != []


@pytest.mark.parametrize(
    ("text", "question", "wanted"),
    [
        ("sales of $1.2bn", "1,200 million", "1200000000"),
        ("1,200,000,000 people", "1.2 billion", "1200000000"),
        ("12 000 habitants", "12,000", "12000"),
        ("3 degrees Celsius", "3°C", "celsius"),
        ("100m", "100 metres", "meter"),
        ("100 m² of land", "square metres", "squar"),
        ("at 50 km/h", "kilometres per hour", "hour"),
        ("a net debt of 3.5x", "3.5 times", "time"),
        ("the third quarter of 2024", "Q3 2024", "q3"),
        ("first-half profit", "H1", "h1"),
        ("5 March 2024", "March 5th, 2024", "2024-03-05"),
        ("5. März 2024", "5.3.2024", "2024-03-05"),
        ("5 de marzo de 2024", "05/03/2024", "2024-03-05"),
        ("MARCH 5, 2024", "03/05/24", "2024-03-05"),
        ("2024-03-05T10:00:00Z", "March 2024", "2024-03"),
        ("05.03.2024", "2024", "2024"),
        ("Mar 5", "the 5th of March", "--03-05"),
    ],
)
def test_forms_meet(text: str, question: str, wanted: str) -> None:
    assert wanted in terms(text)
    assert wanted in question_terms(question)


@pytest.mark.parametrize(
    ("text", "question", "shared"),
    [
        ("12 %", "12 km", {"12"}),
        ("12", "15 %", set()),
        ("$1.2m", "$1.2bn", {"1.2", "dollar"}),
        ("$12m", "12 m", {"12"}),
        ("5g networks", "5 kg", {"5"}),
        ("5G", "5 grams", set()),
        ("the FT of London", "feet", set()),
        ("1.234.567", "1.234", set()),
        ("1 234 5678", "1234", set()),
        ("5 March 2024", "6 March 2024", {"march", "2024", "2024-03"}),
        ("5 May", "may", {"may"}),
        ("they may 5 times", "5 May", {"may", "5"}),
        ("31 February 2024", "2024-02-31", {"2024", "31"}),
        ("192.168.1.20", "1.1.2020", set()),
        ("Table 1/2/3", "1 February 2003", {"1"}),
        ("three quarters", "Q3", set()),
        ("1920x1080", "1920 times", set()),
    ],
)
def test_others_do_not_meet(text: str, question: str, shared: set[str]) -> None:
    assert set(terms(text)) & set(question_terms(question)) == shared


@given(DAYS)
def test_every_day_is_one_form(day: datetime.date) -> None:
    month, short = f"{day:%B}", f"{day:%b}"
    for written in (
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        f"{short}. {day.day}, {day.year}",
        f"{day.day}.{day.month}.{day.year}",
        f"{day.day:02}/{day.month:02}/{day.year}",
        f"{day.month:02}/{day.day:02}/{day.year}",
        f"{day.year}-{day.month:02}-{day.day:02}",
    ):
        assert day.isoformat() in [form for form, _, _ in others(f"On {written}, it rained.")]


@given(DAYS, DAYS)
def test_two_days_are_two_forms(one: datetime.date, other: datetime.date) -> None:
    texts = [f"{day.day} {day:%B} {day.year}" for day in (one, other)]
    assert ({*others(texts[0])} == {*others(texts[1])}) == (one == other)


@given(st.integers(1, 10**15 - 1))
def test_thousands_are_marked_or_not(number: int) -> None:
    for mark in ",.\u00a0\u2009\u202f'":
        assert str(number) in terms(f"{number:,}".replace(",", mark))


@given(st.decimals(0, 10_000, places=2), st.sampled_from([("million", 6), ("billion", 9)]))
def test_a_scale_moves_the_point(number: object, scale: tuple[str, int]) -> None:
    name, power = scale
    value = f"{round(float(f'{number}') * 100) * 10 ** (power - 2)}"
    assert value in terms(f"{number} {name}")
    assert value in terms(f"{int(value):,}")
