"""The page gives the passages and the notes that Python gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import milepost
from milepost.encoder import Encoder
from milepost.index import Index
from milepost.language.terms import question_terms
from milepost.types import Document
from support.annual_reports import REPORTS
from support.browser_page import page_of
from support.languages import PAGES
from support.languages import QUESTIONS as ASKED
from support.page_search import compare
from support.ranking_cases import BOOK

if TYPE_CHECKING:
    from playwright.sync_api import Page

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
    """A note without its percentages, which float32 may round to the one or the other side."""
    return re.sub(r"\d+%", "%", note)


@pytest.fixture(scope="module")
def foreign(light: Encoder) -> Iterator[Index]:
    with milepost.open(model=light) as index:
        index.add([Document(f"{number:03}", text) for number, text in enumerate(TEXTS)])
        yield index


@pytest.fixture(scope="module")
def foreign_page(foreign: Index, browser: Any) -> Iterator[Page]:
    with page_of(browser, foreign) as opened:
        yield opened


def test_notes_are_those_of_python(foreign_page: Page, foreign: Index) -> None:
    names = [info.name for info in foreign.documents()]
    asked = (*ASKED, "Wie entstehen die Zellen der Bienen?", "養蜂家", "caffeine C8H10N4O2")
    said = set()
    for question in asked:
        for number, name in enumerate(names):
            expected = foreign.search_detailed(question, documents=[name]).notes
            shown = foreign_page.evaluate(NOTES, [question, number])
            assert list(map(rounded, shown)) == list(map(rounded, expected)), (question, name)
            said |= {note[:24] for note in expected}
    assert {"this text is not English", "the question is not Engl"} <= said
    assert {"no package of Milepost r", "the model hardly knows t"} <= said
