"""The page reads words as Python does: tokens, terms, vocabulary coverage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

import milepost
from milepost.encoder import Encoder
from milepost.exports.view.vocabulary import vocabulary
from milepost.language.terms import question_terms
from milepost.types import Document
from support.browser_page import page_of
from support.languages import PAGES
from support.ranking_cases import BOOK

if TYPE_CHECKING:
    from playwright.sync_api import Page


SCRIPTS = (
    "Пчёлы строят соты.\n\nΟι μέλισσες χτίζουν κερήθρες.\n\nالنحل يبني الأقراص.\n\n"
    "मधुमक्खियाँ छत्ते बनाती हैं।\n\nՄեղուները բջիջներ են կառուցում։\n\nதேனீக்கள் கூடுகளை கட்டுகின்றன.\n"
)
"""Words of each script that is stemmed, so that the page has all stemmers."""


@pytest.fixture(scope="module")
def page(light: Encoder, browser: Any) -> Iterator[Page]:
    with milepost.open(model=light) as index:
        index.add(Document("scripts.txt", SCRIPTS))
        with page_of(browser, index) as opened:
            yield opened


def different(texts: Sequence[str], page: Page, model: Encoder) -> list[str]:
    """The texts that the page reads in another way."""
    read = page.evaluate("(texts) => texts.map(milepost.words)", texts)
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


def test_words_of_the_book_and_of_the_tokenizer(page: Page, light: Encoder) -> None:
    tokens = vocabulary(light.folder / "tokenizer.json")
    words = sorted({*BOOK.read_text(encoding="utf-8").split(), *tokens})
    assert len(words) > 40_000
    assert different(words[::20], page, light) == []


def test_words_of_many_languages(page: Page, light: Encoder) -> None:
    words = {word for text in PAGES.values() for word in text.split()}
    assert len(words) > 400
    assert different(sorted(words), page, light) == []


def test_letters_of_all_scripts(page: Page, light: Encoder) -> None:
    letters = [
        letter
        for code in (*range(0x20, 0x3400, 7), *range(0xA640, 0xAC00, 7), *range(0xF900, 0x10000, 7))
        if (letter := chr(code)).isalnum()
    ]
    assert different([f"xx{letter}yyyy" for letter in letters], page, light) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00\ud800 \u2028 </script>",
        "1,600.5 of 3.50 and 2,,3 or .5",
        "it's O'Neill’s l'arbre we'll 'quoted' rock'n'roll",
        "naïve café Ångström ﬁne ½ x² İstanbul ılık ΣΊΣΥΦΟΣ straße STRAẞE ᎣᎯᏲ",
        "東京都の蜂 ミツバチ 벌집 ผึ้ง मधुमक्खी النحل דבורה",
        "Пчелою сотами ПЧЁЛЫ строился μέλισσας κερηθρών يبنون والأقراص ٢٠٢٣ मधुमक्खियों छत्तों",
        "Մեղուներից բջիջներով தேனீக்களின் கூடுகளில் μmol группа2 covidом می‌خواهم кни\u00adги",
        "e\u0301te\u0301 soft\u00adhyphen a\u200db zero\u200bwidth",
        "$3+4=7 <a|b> ^~` [UNK] [SEP] ##ing _under_score_",
        "🐜🐜 👩‍🚀🥑 ants\u3000wide",
        "a" * 101 + " " + "b" * 100,
    ],
)
def test_hard_cases(text: str, page: Page, light: Encoder) -> None:
    assert different([text], page, light) == []
