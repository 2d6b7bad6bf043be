"""The page gives the passages and notes that Python gives, and reads words as Python does."""

import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import milepost
from milepost.encoder import Encoder
from milepost.exports.view.vocabulary import vocabulary
from milepost.index import Index
from milepost.language.terms import question_terms
from milepost.types import Document
from milepost.wording import without_options
from support.annual_reports import REPORTS
from support.browser_page import Page, page_of
from support.languages import PAGES
from support.languages import QUESTIONS as ASKED
from support.page_search import compare
from support.ranking_cases import BOOK

QUESTIONS = (
    "how do bees build their cells",
    "why do male birds have bright feathers",
    "What did Lamarck believe about species?",
    "can seeds survive in salt water",
    "which animals live in dark caves and are blind",
    "frogs and toads absent from islands",
    "what is the capital of France",
    "how does a quantum computer work",
    "the",
    "Wie entstehen die Zellen der Bienen?",
    "naïve café, £3.50 in 1,859 — O'Neill's “cells” -pigeons",
    "養蜂家 \U0001f41d \U0001f469\u200d\U0001f680 of bees\x00\ud800",
    'how is "natural selection" tested -pigeons',
    'are "hybrids" and "sterility" one thing -"first crosses"',
    '"the" bees -of',
    "hive hive bees cells wax comb spheres planes intersect hexagonal prisms Melipona Huber",
)


@pytest.fixture(scope="module")
def page(book: Index, browser: Any) -> Iterator[Page]:
    with page_of(browser, book) as opened:
        yield opened


@pytest.mark.parametrize("question", QUESTIONS)
def test_passages_and_scores_are_those_of_python(question: str, page: Page, book: Index) -> None:
    compare(page, book, question)


def test_more_passages_are_those_of_python(page: Page, book: Index) -> None:
    found = page.evaluate(
        "milepost.search('how are species distributed', 80).passages.map((p) => [p.start, p.end])"
    )
    passages = book.search("how are species distributed", k=80)
    assert found == [[passage.start, passage.end] for passage in passages]


def test_a_question_becomes_the_vector_that_the_model_says(page: Page, book: Index) -> None:
    for question in QUESTIONS:
        read = page.evaluate(
            "(q) => { const { vector, ...rest } = milepost.read(q);"
            " return { ...rest, vector: [...vector] }; }",
            question,
        )
        assert read["ids"] == list(book.model.tokenizer.count([question])[0][0])
        assert read["terms"] == question_terms(question)
        assert read["coverage"] == pytest.approx(book.model.vocab_coverage(question), abs=1e-9)
        assert read["vector"] == pytest.approx(book.model.encode_query(question).tolist(), abs=1e-5)


def test_the_shipped_model_gives_its_own_passages(browser: Any, tmp_path: Path) -> None:
    with milepost.open(tmp_path / "index", model="landmark-light") as index:
        index.add(Document("book", BOOK.read_text(encoding="utf-8")[400_000:430_000]))
        with page_of(browser, index) as opened:
            for question in (*QUESTIONS[:3], "the", "Wie bauen Bienen ihre Zellen?"):
                compare(opened, index, question)


def test_reports_are_asked_without_their_names(
    browser: Any, light: Encoder, tmp_path: Path
) -> None:
    with milepost.open(tmp_path / "index", model=light) as index:
        index.add([Document(name, text) for name, text in REPORTS.items()])
        with page_of(browser, index) as opened:
            for question, names in (
                ("How many owners of the land did Tern Water meet in 2021?", None),
                ("How many owners did Knot Grain meet in FY2022?", ["knot 2022"]),
                ("knot grain's works that were closed, and water rates", None),
                ("How many owners of the land were met?", None),
            ):
                compare(opened, index, question, names)


ENGLISH = "Bees. In spring the queen lays two thousand eggs a day, and the drones are driven out."
NOTATION = "CN1C=NC2=C1C(=O)N(C(=O)N2C)C 12.5 α β γ\n(λx.x)(λy.yy) ⊢ ∀p∃q ¬q\n"
NAMES = "José Müller\tSão Paulo\t12 EST\nZoë Gößmann\tKøbenhavn\t9 LA\n"
TEXTS = [*PAGES.values(), ENGLISH, ENGLISH.upper(), NOTATION, NAMES, "naïve café", "ﬁrst ﬂour"]
NOTES = "([question, number]) => milepost.search(question, 5, [number]).notes"


def rounded(note: str) -> str:
    """A note as on the page, without percentages: float32 may round these to either side."""
    return re.sub(r"\d+%", "%", without_options(note))


def test_notes_are_those_of_python(browser: Any, light: Encoder) -> None:
    names = [f"{number:03}" for number in range(len(TEXTS))]
    asked = (*ASKED, "Wie entstehen die Zellen der Bienen?", "養蜂家", "caffeine C8H10N4O2")
    said = set()
    with milepost.open(model=light) as index:
        index.add(map(Document, names, TEXTS))
        with page_of(browser, index) as page:
            for question, (number, name) in product(asked, enumerate(names)):
                expected = index.search_detailed(question, documents=[name]).notes
                shown = page.evaluate(NOTES, [question, number])
                assert list(map(rounded, shown)) == list(map(rounded, expected)), (question, name)
                said |= {note[:24] for note in expected}
    assert {"what was found is not En", "the question is not Engl"} <= said
    assert {"no package of Milepost r", "the model hardly knows t"} <= said


SCRIPTS = (
    "Пчёлы строят соты.\n\nΟι μέλισσες χτίζουν κερήθρες.\n\nالنحل يبني الأقراص.\n\n"
    "मधुमक्खियाँ छत्ते बनाती हैं।\n\nՄեղուները բջիջներ են կառուցում։\n\nதேனீக்கள் கூடுகளை கட்டுகின்றன.\n"
)
"""Words of each script that is stemmed, so that the page has all stemmers."""


@pytest.fixture(scope="module")
def scripts(light: Encoder, browser: Any) -> Iterator[Page]:
    with milepost.open(model=light) as index:
        index.add(Document("scripts.txt", SCRIPTS))
        with page_of(browser, index) as opened:
            yield opened


def different(texts: Sequence[str], scripts: Page, model: Encoder) -> list[str]:
    """The texts that the page reads in another way."""
    read = scripts.evaluate("(texts) => texts.map(milepost.words)", texts)
    return [
        text
        for text, found in zip(texts, read, strict=True)
        if (found["ids"], found["terms"], round(found["coverage"], 9))
        != (
            list(model.tokenizer.count([text])[0][0]),
            question_terms(text),
            round(model.vocab_coverage(text), 9),
        )
    ]


def test_words_of_the_book_and_of_the_tokenizer(scripts: Page, light: Encoder) -> None:
    tokens = vocabulary(light.folder / "tokenizer.json")
    words = sorted({*BOOK.read_text(encoding="utf-8").split(), *tokens})
    assert len(words) > 40_000
    assert different(words[::20], scripts, light) == []


def test_words_of_many_languages(scripts: Page, light: Encoder) -> None:
    words = {word for text in PAGES.values() for word in text.split()}
    assert len(words) > 400
    assert different(sorted(words), scripts, light) == []


def test_letters_of_all_scripts(scripts: Page, light: Encoder) -> None:
    letters = [
        letter
        for code in (*range(0x20, 0x3400, 7), *range(0xA640, 0xAC00, 7), *range(0xF900, 0x10000, 7))
        if (letter := chr(code)).isalnum()
    ]
    assert different([f"xx{letter}yyyy" for letter in letters], scripts, light) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00\ud800 \u2028 </script>",
        "1,600.5 of 3.50 and 2,,3 or .5",
        "it's O'Neill’s l'arbre we'll 'quoted' rock'n'roll",
        "naïve café Ångström ﬁne ½ x² İstanbul ılık ŁØĐ łøđ ΣΊΣΥΦΟΣ straße STRAẞE ᎣᎯᏲ",
        "東京都の蜂 ミツバチ 벌집 ผึ้ง मधुमक्खी النحل דבורה",
        "Пчелою сотами ПЧЁЛЫ строился μέλισσας κερηθρών يبنون والأقراص ٢٠٢٣ मधुमक्खियों छत्तों",
        "Մեղուներից բջիջներով தேனீக்களின் கூடுகளில் μmol группа2 covidом می‌خواهم кни\u00adги",
        "e\u0301te\u0301 soft\u00adhyphen a\u200db zero\u200bwidth",
        "$3+4=7 <a|b> ^~` [UNK] [SEP] ##ing _under_score_",
        "🐜🐜 👩‍🚀🥑 ants\u3000wide",
        "a" * 101 + " " + "b" * 100,
    ],
)
def test_hard_cases(text: str, scripts: Page, light: Encoder) -> None:
    assert different([text], scripts, light) == []
