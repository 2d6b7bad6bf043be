"""The note on a language that the model does not read, in all places where a search is answered."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import milepost
from milepost.cli.program import program
from milepost.encoder.engine.folder import MULTILINGUAL, packaged
from milepost.index import Index
from milepost.types import Document
from support.languages import PAGES, QUESTIONS

NOTE = "what was found is not English, which landmark-light reads: searched mostly by words; "
REMEDY = (
    f"{MULTILINGUAL} reads it; try: --model {MULTILINGUAL} (and --rebuild an index)"
    if packaged(MULTILINGUAL) is not None
    else "pip install ./packages/multilingual in a clone adds a model that reads it"
)
NO_MODEL = "no package of Milepost reads the script of what was found: searched mostly by words"
ENGLISH = (
    "Bees. In spring the queen lays up to two thousand eggs a day. The drones are driven out at "
    "the end of the summer. The honey is taken in July."
)


def expected(language: str) -> list[str]:
    """The notes on a page."""
    return [] if language == "en" else [NO_MODEL if language == "am" else NOTE + REMEDY]


def unread(notes: list[str] | tuple[str, ...]) -> list[str]:
    """Those of the notes that are about languages."""
    return [note for note in notes if "reads" in note]


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with milepost.open(model="landmark-light") as made:
        made.add([Document(language, page) for (language, _), page in PAGES.items()])
        made.add(Document("en", ENGLISH))
        yield made


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("language", ["en", *(language for language, _ in PAGES)])
def test_python(index: Index, question: str, language: str) -> None:
    result = index.search_detailed(question, documents=[language])
    assert result.passages
    assert unread(result.notes) == expected(language)
    hidden = index.search_detailed(question, documents=[language], min_score=1.0)
    assert not hidden.passages
    assert unread(hidden.notes) == expected(language)


def test_a_question_in_the_language_of_the_page(index: Index) -> None:
    found = index.search_detailed("Wie viele Eier legt die Königin am Tag?", documents=["de"])
    assert unread(found.notes) == expected("de")
    found = index.search_detailed("Wie viele Eier legt die Königin am Tag?", documents=["en"])
    assert unread(found.notes) == [NOTE.replace("what was found", "the question") + REMEDY]


def test_the_package_is_named_where_it_is_missing(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milepost.encoder.engine.languages.packaged", lambda _: None)
    found = index.search_detailed(QUESTIONS[0], documents=["es"])
    assert "pip install ./packages/multilingual in a clone" in found.notes[0]
    assert index.search_detailed(QUESTIONS[0], documents=["am"]).notes[0] == NO_MODEL


@pytest.mark.skipif(packaged(MULTILINGUAL) is None, reason="needs packages/multilingual")
def test_the_multilingual_model_gives_a_note_on_scripts_it_lacks_alone() -> None:
    with milepost.open(model=MULTILINGUAL) as made:
        for language in ("de", "ja", "am"):
            page = next(text for (name, _), text in PAGES.items() if name == language)
            made.add(Document(language, page))
            notes = made.search_detailed(QUESTIONS[0], documents=[language]).notes
            assert unread(notes) == ([NO_MODEL] if language == "am" else [])


def test_the_command_prints_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "cache"))
    (tmp_path / "es.txt").write_text(PAGES["es", "Latin"], encoding="utf-8")

    def run(name: str, *options: str) -> tuple[str, str]:
        path = str(tmp_path / name)
        arguments = ["search", QUESTIONS[0], path, "--model", "landmark-light", *options]
        result = CliRunner().invoke(program, arguments)
        assert result.exit_code == 0, result.output
        return result.stdout, result.stderr

    line = f"milepost: {NOTE}{REMEDY}\n"
    out, err = run("es.txt")
    assert (line in err, NOTE in out) == (True, False)
    out, err = run("es.txt", "--explain")
    assert (NOTE in err, out.count(NOTE)) == (False, 1)
    out, _ = run("es.txt", "--json", "--explain")
    assert json.loads(out)["notes"][0] == NOTE + REMEDY
    assert not run("es.txt", "--quiet")[1]
