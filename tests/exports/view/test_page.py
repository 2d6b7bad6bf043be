"""The file: its parts, its size, and what it is not written for."""

import json
import subprocess
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import milepost
from milepost.encoder import Encoder
from milepost.errors import InputError, ModelError
from milepost.exports.view import bundle, document_sections, page, write_page
from milepost.exports.view.pack import ALPHABET, Pack, as_characters
from milepost.index import Index
from milepost.types import Document
from support.cli_process import python
from support.ranking_cases import BOOK

HOSTILE = ("</script>", "<!--", "\u2028", "\u2029", "\x00", "\ud800", "\udc00", "&lt;", "]]>", "😀")


def test_a_page_is_at_most_3_2_megabytes_more_than_the_book(book: Index, tmp_path: Path) -> None:
    size = write_page(book, tmp_path / "page.html")
    written = (tmp_path / "page.html").stat().st_size
    assert written == size.total
    assert written - BOOK.stat().st_size < 3_200_000
    assert size.model + size.program < 2_250_000
    assert (size.documents, size.sentences) == (1, 5837)
    assert not list(tmp_path.glob(".page*"))


@lru_cache
def frame() -> list[str]:
    """The page before its data, and behind them."""
    return page.html_of("{{}}").split("{{}}")


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=8)), min_size=1).map("".join),
        min_size=1,
        max_size=3,
    )
)
def test_no_text_changes_what_html_reads(light: Encoder, texts: list[str]) -> None:
    pack = Pack()
    with milepost.open(model=light) as index:
        for number, text in enumerate(texts):
            index.add(Document(f"{number}{text[:40]}.txt", f"{text} A word."))
        with index.snapshot() as state:
            document_sections.add_documents(pack, state)
    html = page.html_of(as_characters(pack.to_bytes()))
    html.encode("utf-8")
    before, after = frame()
    assert html.startswith(before)
    assert html.endswith(after)
    assert set(html[len(before) : -len(after)]) <= {*ALPHABET, "\n"}


def test_the_page_has_no_module_that_asks_a_server() -> None:
    script = bundle.script({})
    assert "fetch(" not in script
    assert "XMLHttpRequest" not in script


def test_a_page_that_is_there_stays(book: Index, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"page\.html exists; try:.*--overwrite"):
        write_page(book, target)
    assert target.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["page.txt", "page", "page.pdf"])
def test_a_name_of_another_format_is_refused(book: Index, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"must end in \.html"):
        write_page(book, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_too_many_sentences_are_refused_with_their_number(
    light: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_sections, "EVERYTHING", 2)
    with milepost.open(model=light) as index:
        index.add(Document("a", "One. Two. Three."))
        with pytest.raises(InputError, match=r"3 sentences \(16 characters\).*holds 2"):
            write_page(index, tmp_path / "page.html")


def test_no_text_is_refused(light: Encoder, tmp_path: Path) -> None:
    with milepost.open(model=light) as index, pytest.raises(InputError, match="no text"):
        write_page(index, tmp_path / "page.html")


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    with milepost.open(model="landmark-minilm") as index:
        index.add(Document("a", "A word."))
        with pytest.raises(ModelError, match="landmark-light"):
            write_page(index, tmp_path / "page.html")


def test_documents_of_one_name_are_told_apart() -> None:
    from milepost.store import DocumentInfo

    def shown(*names: str) -> list[str]:
        infos = [DocumentInfo(name, None, "", None, 1, 1, 0) for name in names]
        return document_sections.names_of(infos)

    assert shown("/a/b/one.txt", "/a/c/two.txt") == ["one.txt", "two.txt"]
    assert shown("/a/b/one.txt", "/a/c/one.txt") == ["b/one.txt", "c/one.txt"]
    assert shown("/a/one.txt", "one.txt") == ["/a/one.txt", "one.txt"]


def test_the_command_writes_a_page_and_says_how_to_ask_the_same(
    light: Encoder, tmp_path: Path
) -> None:
    (tmp_path / "bees.txt").write_text("Bees make wax.\n\nAnts do not.", encoding="utf-8")

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        command = "milepost", "view", "bees.txt", "-o", "page.html"
        return python("-m", *command, *more, cwd=tmp_path)

    first = run()
    assert first.returncode == 0, first.stderr
    assert "page.html: 1 document, 2 sentences, 2.2 MB: text" in first.stderr
    assert f'milepost search "…" PATH --model {light.folder}' in first.stderr
    full = run("--overwrite", "--full", "--json")
    record = json.loads(full.stdout)
    assert full.returncode == 0, full.stderr
    assert record["size_bytes"] == (tmp_path / "page.html").stat().st_size > 6_000_000
    assert record["sentences"] == 2
