"""Whether a text is English: other languages are told apart, English texts of all kinds are not."""

import re
import sys
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest

from milepost.language.detection import UNKNOWN, Written, judge
from milepost.language.stemming import SCRIPTS, stem, stemmer_class, stemmer_of
from support.languages import PAGES, QUESTIONS
from support.threads import at_once

ROOT = Path(__file__).resolve().parents[2]
ENGLISH = Written(english=True, script="")


@pytest.mark.parametrize(("language", "script"), PAGES)
def test_other_languages_are_told(language: str, script: str) -> None:
    page = PAGES[language, script]
    assert judge(page) == Written(english=False, script=script)
    assert judge(unicodedata.normalize("NFD", page)) == judge(page)
    capitals = judge(page.upper())
    assert capitals.script in {script, ""}
    assert not capitals.english


def test_few_words_of_another_language_leave_a_text_english() -> None:
    text = (
        'In the "Kritik der reinen Vernunft" Kant asks what can be known; the word ἀρχή, which '
        "the Greeks used, and the naïve résumé of his café friends are not in it, nor are Москва "
        "and 東京."
    )
    assert judge(text) == ENGLISH


def pieces(size: int) -> list[tuple[str, str]]:
    files = [
        ROOT / "examples" / "origin-of-species.txt",
        ROOT / "README.md",
        ROOT / "THIRD_PARTY.md",
        ROOT / "constraints.txt",
        *sorted((ROOT / "docs").glob("results*.md")),
        *sorted((ROOT / "src" / "milepost").rglob("*.py")),
        *sorted((ROOT / "src" / "milepost").rglob("*.js")),
        *sorted((ROOT / "examples" / "train").glob("*.toml")),
    ]
    foreign = {"abbreviations.py", "detection.py", "guessing.py", "numbers.py", "tex.py"}
    # These have lists of other languages' words and letters.
    found = []
    for file in files:
        if file.name not in foreign:
            text = file.read_text(encoding="utf-8")
            found += [(file.name, text[at : at + size]) for at in range(0, len(text), size)]
    return found


@pytest.mark.parametrize("size", [200, 1200])
def test_english_texts_are_hardly_ever_taken_for_others(size: int) -> None:
    given = pieces(size)
    wrong = [(name, piece) for name, piece in given if judge(piece).script]
    assert len(given) > 1000
    assert len(wrong) <= len(given) / 1000, wrong
    book = {piece: judge(piece) for name, piece in given if name == "origin-of-species.txt"}
    french = [piece for piece, each in book.items() if each.script]  # Darwin quotes some
    assert all(re.search(r"\b(les|que|qui)\b", piece) for piece in french), french
    assert sum(each == ENGLISH for each in book.values()) > 0.97 * len(book)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12 34 56\n78.5 -3 1e9",
        "x = 1; el = document.querySelector('#la'); de = lang.get('x'); return el ?? de",
        "José Müller\tSão Paulo\t12\nZoë Gößmann\tKøbenhavn\t9\nRenée Brontë\tMálaga\t7",
        "10:00 EST\n11:00 EST\n12:00 IST\n13:00 EST\n14:00 CET",
        "LA, CA, DE, IL, ME\nDE, LA, IL\nLA, IL, DE",
        "α + β = γ, Δx → 0, ∑ μ σ λ",
        "apples oranges pears bananas grapes plums cherries",
    ],
)
def test_of_what_is_no_prose_nothing_is_said(text: str) -> None:
    assert judge(text) == UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        *QUESTIONS,
        "THE FEE WAS RAISED TO FIVE POUNDS, WHICH WAS MORE THAN ANY OF THEM COULD PAY.",
        "The café's naïve owner would not have these.",
    ],
)
def test_short_english_is_english(text: str) -> None:
    assert judge(text, 2) == ENGLISH


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("connected connecting connection", "english"),
        ("книга книги книгами", "russian"),
        ("мова мови мовою", "russian"),  # Ukrainian: the script decides
        ("θαλασσα θαλασσας", "greek"),
        ("المدرسة مدرسة", "arabic"),
        ("लड़की लड़कियों लड़कियाँ", "hindi"),
        ("ուսանող ուսանողի ուսանողներ", "armenian"),
        ("வீடு வீடுகள்", "tamil"),
    ],
)
def test_forms_of_a_word_have_one_stem(words: str, name: str) -> None:
    forms = words.split()
    assert {stemmer_of(form) for form in forms} == {name}
    assert len({stem(form) for form in forms}) == 1
    assert stem(forms[0]) == stemmer_class(name)().stemWord(forms[0])


@pytest.mark.parametrize(
    "word", ["", "gas", "größe", "ספרים", "μmol", "covidом", "группа2", "ღვინო"]
)
def test_other_words_stay(word: str) -> None:
    assert stemmer_of(word) is None
    assert stem(word) == word


def test_scripts_do_not_overlap() -> None:
    ranges = sorted(SCRIPTS.values())
    assert ranges[0][0] > "\x7f"
    assert all(last < first for (_, last), (first, _) in pairwise(ranges))


def test_threads_do_not_share_a_stemmer() -> None:
    """A stemmer keeps the word that it works on: threads that share one spoil each other's."""
    words = [f"connect{a}{b}ing" for a in "abcdefghij" for b in "abcdefghij"]
    wanted = [stem(word) for word in words]

    def work() -> None:
        for _ in range(20):
            assert [stem(word) for word in words] == wanted

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        assert at_once(*[lambda: [stemmer_class("english") for _ in range(20)]] * 4) == []
        assert at_once(*[work] * 4) == []
    finally:
        sys.setswitchinterval(before)
