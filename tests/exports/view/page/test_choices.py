"""Some of the documents, and the model that is shipped: the page gives what Python gives."""

from pathlib import Path

import pytest

import milepost
from milepost.encoder import Encoder
from milepost.exports.view import write_page
from milepost.index import Index
from milepost.types import Document
from support.annual_reports import REPORTS
from support.browser_page import Tab
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


def test_some_documents_are_searched_alone(tab: Tab, small_page: Path, small: Index) -> None:
    question = "trail of the harbour painting"
    with tab(small_page) as opened:
        opened.goto(small_page.as_uri())
        opened.wait_for_selector("#documents li")
        for number, info in enumerate(small.documents()):
            found = opened.evaluate(FOUND, [question, [number]])
            passages = small.search(question, documents=info.name)
            assert [each[:2] for each in found] == [[each.start, each.end] for each in passages]
            scores = [passage.score for passage in passages]
            assert [each[2] for each in found] == pytest.approx(scores, abs=TOLERANCE)


def test_the_shipped_model_gives_its_own_passages(tab: Tab, tmp_path: Path) -> None:
    with milepost.open(tmp_path / "index", model="landmark-light") as index:
        index.add(Document("book", BOOK.read_text(encoding="utf-8")[400_000:520_000]))
        write_page(index, tmp_path / "page.html")
        with tab(tmp_path / "page.html") as opened:
            opened.goto((tmp_path / "page.html").as_uri())
            opened.wait_for_selector("#documents li")
            for question in QUESTIONS:
                found = opened.evaluate(FOUND, [question, None])
                passages = index.search(question)
                assert [each[:2] for each in found] == [[each.start, each.end] for each in passages]
                scores = [passage.score for passage in passages]
                assert [each[2] for each in found] == pytest.approx(scores, abs=TOLERANCE)


def test_reports_are_asked_without_their_names(tab: Tab, light: Encoder, tmp_path: Path) -> None:
    with milepost.open(tmp_path / "index", model=light) as index:
        index.add([Document(name, text) for name, text in REPORTS.items()])
        write_page(index, tmp_path / "page.html")
        number = [info.name for info in index.documents()].index("knot 2022")
        with tab(tmp_path / "page.html") as opened:
            opened.goto((tmp_path / "page.html").as_uri())
            opened.wait_for_selector("#documents li")
            for question, chosen, names in (
                ("How many owners of the land did Tern Water meet in 2021?", None, None),
                ("How many owners did Knot Grain meet in FY2022?", [number], "knot 2022"),
                ("knot grain's works that were closed, and water rates", None, None),
                ("How many owners of the land were met?", None, None),
            ):
                found = opened.evaluate(FOUND, [question, chosen])
                passages = index.search(question, documents=names)
                assert [each[:2] for each in found] == [[p.start, p.end] for p in passages]
                scores = [passage.score for passage in passages]
                assert [each[2] for each in found] == pytest.approx(scores, abs=TOLERANCE)
