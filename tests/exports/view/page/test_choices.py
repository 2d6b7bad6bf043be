"""Some of the documents, and the model that is shipped: the page gives what Python gives."""

from pathlib import Path

import milepost
from milepost.encoder import Encoder
from milepost.exports.view import write_page
from milepost.index import Index
from milepost.types import Document
from support.annual_reports import REPORTS
from support.browser_page import Tab
from support.page_search import compare
from support.ranking_cases import BOOK

QUESTIONS = (
    "how do bees build their cells",
    "do ants make slaves",
    "what is instinct",
    "the",
    "Wie bauen Bienen ihre Zellen?",
)


def test_some_documents_are_searched_alone(tab: Tab, small_page: Path, small: Index) -> None:
    question = "trail of the harbour painting"
    with tab(small_page) as opened:
        opened.goto(small_page.as_uri())
        opened.wait_for_selector("#documents li")
        for info in small.documents():
            compare(opened, small, question, [info.name])


def test_the_shipped_model_gives_its_own_passages(tab: Tab, tmp_path: Path) -> None:
    with milepost.open(tmp_path / "index", model="landmark-light") as index:
        index.add(Document("book", BOOK.read_text(encoding="utf-8")[400_000:520_000]))
        write_page(index, tmp_path / "page.html")
        with tab(tmp_path / "page.html") as opened:
            opened.goto((tmp_path / "page.html").as_uri())
            opened.wait_for_selector("#documents li")
            for question in QUESTIONS:
                compare(opened, index, question)


def test_reports_are_asked_without_their_names(tab: Tab, light: Encoder, tmp_path: Path) -> None:
    with milepost.open(tmp_path / "index", model=light) as index:
        index.add([Document(name, text) for name, text in REPORTS.items()])
        write_page(index, tmp_path / "page.html")
        with tab(tmp_path / "page.html") as opened:
            opened.goto((tmp_path / "page.html").as_uri())
            opened.wait_for_selector("#documents li")
            for question, names in (
                ("How many owners of the land did Tern Water meet in 2021?", None),
                ("How many owners did Knot Grain meet in FY2022?", ["knot 2022"]),
                ("knot grain's works that were closed, and water rates", None),
                ("How many owners of the land were met?", None),
            ):
                compare(opened, index, question, names)
