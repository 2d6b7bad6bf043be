"""The page says, as Python does, that its model does not read a language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import milepost
from milepost.encoder import Encoder
from milepost.exports.view import write_page
from milepost.index import Index
from milepost.types import Document
from support.browser_page import from_disk
from support.languages import PAGES, QUESTIONS

if TYPE_CHECKING:
    from playwright.sync_api import Page

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
def page(foreign: Index, tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[Page]:
    path = tmp_path_factory.mktemp("pages") / "foreign.html"
    write_page(foreign, path)
    with from_disk(browser, path) as opened:
        yield opened


def test_notes_are_those_of_python(page: Page, foreign: Index) -> None:
    names = [info.name for info in foreign.documents()]
    asked = (*QUESTIONS, "Wie entstehen die Zellen der Bienen?", "養蜂家", "caffeine C8H10N4O2")
    said = set()
    for question in asked:
        for number, name in enumerate(names):
            expected = foreign.search_detailed(question, documents=[name]).notes
            shown = page.evaluate(NOTES, [question, number])
            assert list(map(rounded, shown)) == list(map(rounded, expected)), (question, name)
            said |= {note[:24] for note in expected}
    assert {"this text is not English", "the question is not Engl"} <= said
    assert {"no package of Milepost r", "the model hardly knows t"} <= said
