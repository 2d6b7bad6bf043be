"""Filters and properties through an index, in memory and in a folder."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import milepost
from milepost.errors import InputError
from milepost.filters import parse
from milepost.index import Index
from milepost.testing import fake_encoder
from milepost.types import Document

PAPERS = {
    "wax.pdf": {"author": "Ann Lee", "date": "2019-05-01", "tags": ["bees", "wax"]},
    "hive.md": {"author": ["Ann Lee", "Bo Chen"], "date": "2021", "draft": True},
    "queen.txt": {"title": "The Queen", "language": "en-GB"},
}
TEXT = "Bees build cells of wax in the hive. The queen lays the eggs. "


@pytest.fixture
def index(index: Index) -> Index:
    index.add([Document(name, TEXT, properties=held) for name, held in PAPERS.items()])
    return index


def names(index: Index, where: str, **more: Any) -> set[str]:
    return {passage.document for passage in index.search("cells of wax", 9, where=where, **more)}


@pytest.mark.parametrize(
    ("where", "left"),
    [
        ('author = "ann lee"', {"wax.pdf", "hive.md"}),
        ("date >= 2020", {"hive.md"}),
        ("not draft = true", {"wax.pdf", "queen.txt"}),
        ('language = "en"', {"queen.txt"}),
        ('document matches "*.md" or title contains "queen"', {"hive.md", "queen.txt"}),
    ],
)
def test_where_limits_the_documents(index: Index, where: str, left: set[str]) -> None:
    assert names(index, where) == left
    result = index.search_detailed("cells of wax", 9, where=parse(where))
    assert {passage.document for passage in result.passages} == left
    found = index.check(TEXT.strip(), where=where)
    assert {place.document for place in found.places} == left
    assert found.verdict == "verbatim"


def test_where_and_documents_both_count(index: Index) -> None:
    where = 'author = "ann lee"'
    assert names(index, where, documents=["hive.md", "queen.txt"]) == {"hive.md"}
    detailed = index.search_detailed("wax", documents=["queen.txt"], where=where)
    assert detailed.notes == ('no document matches author = "ann lee"',)
    assert detailed.passages == ()
    checked = index.check(TEXT, ["hive.md"], where="year < 2020")
    assert (checked.verdict, checked.notes) == ("not found", ("no document matches year < 2020",))


def test_no_match_is_said(index: Index) -> None:
    for question in ("wax", '"cells of wax" -honey'):
        result = index.search_detailed(question, where="year>=2030 and missing draft")
        assert result.passages == ()
        assert result.notes == ("no document matches year >= 2030 and missing draft",)
    long = " or ".join(f"year = {year}" for year in range(2030, 2130))
    assert len(index.search_detailed("wax", where=long).notes[0]) < 230


def test_phrases_look_only_into_what_is_left(index: Index) -> None:
    result = index.search_detailed('"cells of wax"', where="exists title")
    assert {passage.document for passage in result.passages} == {"queen.txt"}
    assert result.phrases == {"cells of wax": 1}


def test_unknown_keys_are_refused(index: Index) -> None:
    for ask in (index.search, index.search_detailed, index.check):
        with pytest.raises(InputError, match="'tag'; try: 'tags'"):
            ask("wax", where='tag = "wax"')
        with pytest.raises(InputError, match="column 6: pdf needs"):
            ask("wax", where="kind=pdf")
    with milepost.open(model=fake_encoder()) as empty:
        result = empty.search_detailed("wax", where='tag = "wax"')
        assert result.notes == ("there is no text to search",)


def test_new_properties_are_not_encoded_again(index: Index) -> None:
    report = index.add(Document("queen.txt", TEXT, properties={"title": "Other"}))
    assert (report.changed, report.sentences) == (("queen.txt",), 0)
    assert names(index, 'title = "other"') == {"queen.txt"}
    assert index.add(Document("queen.txt", TEXT, properties={"title": "Other"})).changed == ()
    assert index.add(Document("queen.txt", TEXT)).changed == ("queen.txt",)
    assert names(index, "missing title") == set(PAPERS)


def test_a_sidecar_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    note = folder / "bees.md"
    note.write_text(f"---\ntitle: Bees\n---\n\n{TEXT}", encoding="utf-8")
    with milepost.open(tmp_path / "db", model=fake_encoder()) as index:
        assert index.add(folder).added == (str(note),)

        def held() -> dict[str, Any]:
            return dict(index.documents()[0].properties)

        assert held() == {"title": "Bees"}
        beside = folder / "bees.md.meta.json"
        for value in ("a", "b"):  # of one size, so that only the time of change tells
            beside.write_text(json.dumps({"project": value}), encoding="utf-8")
            os.utime(beside, ns=(ord(value) * 10**9, ord(value) * 10**9))
            report = index.add(folder)
            assert (report.changed, report.sentences, report.failed) == ((str(note),), 0, {})
            assert held() == {"title": "Bees", "project": value}
            assert index.add(folder).unchanged == (str(note),)
        assert names(index, 'project = "b" and kind = "md" and folder = "notes"') == {str(note)}
        beside.write_text("{", encoding="utf-8")
        report = index.add(folder)
        assert (report.changed, report.sentences, report.failed) == ((str(note),), 0, {})
        assert "bees.md.meta.json is not JSON" in report.notes[str(note)][0]
        assert index.documents()[0].notes == report.notes[str(note)]
        assert held() == {"title": "Bees"}
        assert index.search("queen", where='title = "Bees"')
        beside.write_text('{"project": "c"}', encoding="utf-8")
        report = index.add(folder)
        assert (report.changed, report.sentences, report.notes) == ((str(note),), 0, {})
        assert held()["project"] == "c"
        assert index.documents()[0].notes == ()
        beside.unlink()
        assert index.add(folder).changed == (str(note),)
        assert held() == {"title": "Bees"}
        assert [info.name for info in index.documents()] == [str(note)]
