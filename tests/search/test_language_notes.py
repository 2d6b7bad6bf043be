"""The note where the model does not read a language: when it is given, and what it says."""

import pytest

from milepost.language import SupportedLanguages
from milepost.search.language_notes import language_notes
from support.languages import PAGES, QUESTIONS

SCRIPTS = frozenset(script for _, script in PAGES if script != "other")
ENGLISH = SupportedLanguages(
    "landmark-e", frozenset(), SCRIPTS, "`pip install it` adds a model that reads it"
)
MANY = SupportedLanguages("landmark-m", SCRIPTS, frozenset(), "")
PROSE = "The fee was raised to five pounds, and those who could not pay it were sent away."


def noted(
    question: str, *passages: str, reads: SupportedLanguages | None = ENGLISH, known: float = 1.0
) -> str:
    notes = language_notes(question, passages, reads, known, 0.4)
    assert len(notes) <= 1
    return "".join(notes)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("language", "script"), PAGES)
def test_an_english_question_about_a_foreign_page(
    question: str, language: str, script: str
) -> None:
    note = noted(question, PAGES[language, script])
    if script == "other":
        assert note == (
            "no package of Milepost reads the script of this text: searched mostly by words"
        )
        assert noted(question, PAGES[language, script], reads=MANY) == note
    else:
        assert note.startswith("this text is not English, which landmark-e reads: searched")
        assert note.endswith("`pip install it` adds a model that reads it")
        assert not noted(question, PAGES[language, script], reads=MANY)


def test_english_gets_no_note() -> None:
    for question in (*QUESTIONS, "fee 1902", "naïve café"):
        assert not noted(question, PROSE)
        assert not noted(question, "12 34\n56 78", "x = 1")
        assert not noted(question)


def test_most_passages_decide() -> None:
    german = PAGES["de", "Latin"]
    assert noted("fees", german, german, PROSE)
    assert noted("fees", german, PROSE)
    assert not noted("fees", german, PROSE, PROSE)


def test_short_passages_are_judged_together() -> None:
    assert noted(
        "eggs", "Eier und Honig.", "Die Drohnen.", "Zellen aus Wachs.", "Das Volk der Bienen."
    )


def test_a_question_in_another_language() -> None:
    assert noted("Wie entstehen die Zellen der Bienen?", PROSE).startswith("the question is not")
    assert noted("養蜂家は何をしますか", PROSE).startswith("the question is not English")


def test_vocabulary_decides_where_the_language_does_not() -> None:
    for note in (
        noted("C8H10N4O2", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", known=0.3),
        noted("Wer?", PAGES["de", "Latin"], reads=None, known=0.3),
    ):
        assert note == (
            "the model hardly knows this language or notation (vocabulary coverage 30%): "
            "landmarks weigh 40%"
        )
    assert not noted("Wer?", PAGES["de", "Latin"], reads=None, known=0.6)
    assert "hardly knows" not in noted("Wer?", PAGES["de", "Latin"], known=0.3)
    assert language_notes("eggs", ["CN1C=NC2"], None, 0.3, 1.0) == ()
