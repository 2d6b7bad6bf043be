"""The page gives the passages that Python gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from milepost.index import Index
from milepost.language.terms import question_terms
from support.browser_page import from_disk
from support.page_search import compare

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
def page(book_page: Path, browser: Any) -> Iterator[Page]:
    with from_disk(browser, book_page) as opened:
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
