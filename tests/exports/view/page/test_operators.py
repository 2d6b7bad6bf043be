"""Quotation marks and minus signs on the page mean what they mean in Python."""

from collections.abc import Iterator
from itertools import product
from typing import Any
from unicodedata import category

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import milepost
from milepost.encoder import Encoder
from milepost.errors import BadQuestion
from milepost.index import Index
from milepost.quotes import fold, occurrences, stripped
from milepost.search.query import read_operators
from milepost.types import Document
from support.browser_page import Page, page_of
from support.page_search import compare

TEXTS = {
    "bees.txt": (
        "Bees build cells of wax. The queen lays the eggs, and the workers feed the young.\n\n"
        "A swarm leaves the hive in early summer. The self-\ncontained hive is warm at -5 degrees. "
        "Honey is kept for the winter in the upper combs.\n\nThe queen is fed by workers. Wax is "
        "made by young workers. Combs of wax hold honey and young bees.\n\n"
    ),
    "ships.txt": (
        "A ship needs deep water. Tugs pull large ships to the quay, and workers tie them up.\n\n"
        "The queen named a ship. “Deep water” was not to be had for 1,600 miles.\n\n"
    ),
    "signs.txt": (
        "Ein Naïve café costs £3.50 – or 10² 😀 marks. The ﬁrst ﬂat is at 5–10 Main Street.\n\n"
        "養蜂家は蜜蜂を飼う。 Ｔｈｅ hive-mind is not a hive. It has 1 000 rooms and 3. 5 beds.\n\n"
    ),
    "empty.txt": "",
}
QUESTIONS = (
    'where is "deep water"',
    'who feeds "the young" -queen',
    'what does "The  Queen" do',
    '"wax" "workers" "honey"',
    '"wax" "quay"',
    'is "deep winter" there',
    'is "deep winter" or "warm queen" there',
    '"queen" -"the"',
    "who are the workers -queen -wax",
    "who are the workers -the -a -bees -hive -honey -wax -queen -ship -tugs -water -ein -養",
    '"self-contained" hive at "-5 degrees"',
    'degrees "5 degrees"',
    'rooms "1 000" "beds"',
    '"first flat" „naïve café“ «10²» »養蜂家« -"3.5"',
    'the -"5" question, "workers," -tugs.',
    "'hive' 5\" and 6\" --json e-mail - -5",
    '"bees" -the',
)
SIGNS = "a5.,-–—'’\"“”„«»…²ﬁéßİıيς蜜蜂각\u11a8ก$😀^⁻/_! \xa0\n\xad\u0301\u0323"
PIECES = st.sampled_from(
    [*SIGNS, "bee", "the", "10", "3.5", "1 000", "...", " -", '"a', 'e"', "x-"]
)
TEXT = st.lists(PIECES, max_size=12).map("".join)


@pytest.fixture(scope="module")
def several(light: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """An index of small documents."""
    with milepost.open(tmp_path_factory.mktemp("index") / "several", model=light) as index:
        index.add(Document(name, text) for name, text in TEXTS.items())
        yield index


@pytest.fixture(scope="module")
def page(several: Index, browser: Any) -> Iterator[Page]:
    with page_of(browser, several) as opened:
        yield opened


def test_passages_are_those_of_python(page: Page, several: Index) -> None:
    found = [len(compare(page, several, question).passages) for question in QUESTIONS]
    assert found.count(0) >= 4  # questions that leave nothing are among them
    assert sum(map(bool, found)) >= 8
    for question in QUESTIONS[:4]:
        compare(page, several, question, ["bees.txt"])
        compare(page, several, question, ["ships.txt", "signs.txt"])


def test_a_question_of_excluded_words_alone_is_refused(page: Page, several: Index) -> None:
    with pytest.raises(BadQuestion, match="only says what passages must not hold"):
        several.search("-queen")
    said = page.evaluate(
        "() => { try { milepost.search('-queen'); } catch (error) { return error.message; } }"
    )
    assert said.startswith("The question only says what passages must not hold.")


def test_every_character_is_folded_as_in_python(page: Page) -> None:
    # Signs of TeX are read in Python alone.
    codes = (*range(0x20000), *range(0x2F800, 0x2FA20), *range(0xE0000, 0xE0200))
    known = (
        sign
        for sign in map(chr, codes)
        if category(sign) not in ("Cs", "Cn", "Co") and sign not in "~\\"
    )
    text = "x".join(sign for sign in known if not "\u4e00" <= sign <= "\u9fff")
    assert page.evaluate("(text) => milepost.letters(text)", text) == fold(text).letters


def found(page: Page, cases: list[tuple[str, str]]) -> int:
    held = page.evaluate("(cases) => cases.map((case_) => milepost.places(...case_))", cases)
    for (phrase, text), places in zip(cases, held, strict=True):
        spans = [[each.start, each.end] for each in occurrences(stripped(phrase), fold(text))]
        assert places == spans, (phrase, text)
    return sum(map(bool, held))


def test_gaps_between_letters_are_compared_as_in_python(page: Page) -> None:
    gaps = ("", " ", "\n", "-", "--", " - ", "- ", " -", "-\n", "—", " — ", "—\n", "\xad", "\xa0")
    pairs = ("ab", "55", "a5", "5a", "5.", ".5", "a.", "蜂蜜", "蜂5", "$5", "²a")
    cases = [
        (f"{left}{asked}{right}x", f"{left}{gap}{right}x")
        for left, right in pairs
        for asked, gap in product(gaps, gaps)
    ]
    assert 300 < found(page, cases) < 1500


def test_edges_of_words_and_numbers_are_those_of_python(page: Page) -> None:
    phrases = ("a", "5", "-5", "500", "5.5", ".5", "$5", "蜂", "ﬁ", "e\u0301")
    before = ("", "a", "1", "a ", "1 ", "1\xa0", "-", "a-", "a -", "1-", ".", "1.", "f", "蜂", "$")
    after = ("", "a", "1", "\xa0000", "\xa00000", "-", ".", ".1", "²", "^2", "蜂", "\u0301", "ﬁ")
    cases = [
        (phrase, left + phrase + right) for phrase, left, right in product(phrases, before, after)
    ]
    assert 600 < found(page, cases) < 1500


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.tuples(TEXT, TEXT), min_size=20, max_size=20))
@example(texts=[("a -5 -a. ", "“a, ” --b"), ("“a,”", ' -"b"')])
def test_operators_are_read_as_in_python(page: Page, texts: list[tuple[str, str]]) -> None:
    asked = [one + other for one, other in texts]
    read = page.evaluate("(all) => all.map((text) => milepost.operators(text))", asked)
    for text, operators in zip(asked, read, strict=True):
        expected = read_operators(text)
        assert operators == {
            "question": expected.question,
            "phrases": list(expected.phrases),
            "excluded": list(expected.excluded),
        }
    found(page, texts)
