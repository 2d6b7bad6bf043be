"""Some of the documents, and the model that is shipped: the page gives what Python gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import milepost
from milepost.index import Index
from milepost.types import Document
from milepost.view import write_page
from support.browser_page import Watched
from support.ranking_cases import BOOK

TOLERANCE = 1e-5

QUESTIONS = (
    "how do bees build their cells",
    "do ants make slaves",
    "what is instinct",
    "the",
    "Wie bauen Bienen ihre Zellen?",
)

FOUND = """([question, chosen]) => milepost.search(question, 5, chosen).passages
  .map(({ start, end, score }) => [start, end, score])"""


def test_some_documents_are_searched_alone(
    tab: Callable[..., Watched], small_page: Path, small: Index
) -> None:
    watched = tab(small_page)
    question = "trail of the harbour painting"
    with watched as opened:
        opened.goto(watched.url)
        opened.wait_for_selector("#documents li")
        for number, info in enumerate(small.documents()):
            found = opened.evaluate(FOUND, [question, [number]])
            passages = small.search(question, documents=info.name)
            assert [each[:2] for each in found] == [[each.start, each.end] for each in passages]
            scores = [passage.score for passage in passages]
            assert [each[2] for each in found] == pytest.approx(scores, abs=TOLERANCE)


def test_the_shipped_model_gives_its_own_passages(
    tab: Callable[..., Watched], tmp_path: Path
) -> None:
    with milepost.open(tmp_path / "index", model="landmark-light") as index:
        index.add(Document("book", BOOK.read_text(encoding="utf-8")[400_000:520_000]))
        write_page(index, tmp_path / "page.html")
        watched = tab(tmp_path / "page.html")
        with watched as opened:
            opened.goto(watched.url)
            opened.wait_for_selector("#documents li")
            for question in QUESTIONS:
                found = opened.evaluate(FOUND, [question, None])
                passages = index.search(question)
                assert [each[:2] for each in found] == [[each.start, each.end] for each in passages]
                scores = [passage.score for passage in passages]
                assert [each[2] for each in found] == pytest.approx(scores, abs=TOLERANCE)
