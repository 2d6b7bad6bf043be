"""Properties are bounded and cannot be changed; files are forgiven, callers are not."""

import datetime
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import milepost
from milepost.documents import zotero
from milepost.errors import InputError
from milepost.properties import EMPTY, Properties, checked, cleaned, iso_date, merged
from milepost.testing import fake_encoder
from milepost.types import Document
from support.zotero_library import DARWIN, SOCIETY, ZoteroLibrary

_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text() | st.integers(), _ANY, max_size=90))
def test_what_files_say_becomes_properties(said: dict[Any, Any]) -> None:
    made = cleaned(said)
    assert len(made) <= 64
    assert checked(dict(made)) == made
    assert Properties.stored(made.as_json()) == made
    for value in made.values():
        texts = (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()
        assert all(text.strip() and len(text) <= 1000 and "\n" not in text for text in texts)


def test_values_of_files_are_tidied() -> None:
    made = cleaned(
        {
            "Project Name": " a\n b\x00",
            "date": datetime.datetime(2020, 3, 1, 12),
            "tags": ["x", "", 3, None, "x"],
            "nested": {"a": 1},
            "empty": " ",
            "n": 3,
            "ok": True,
            "nan": float("nan"),
            "9x": "no key",
            "long": "y" * 5000,
        }
    )
    assert made == {
        "project_name": "a b",
        "date": "2020-03-01",
        "tags": ("x", "3"),
        "n": 3.0,
        "ok": True,
        "long": "y" * 1000,
    }


@pytest.mark.parametrize(
    ("given_", "problem"),
    [
        ({"Key": "x"}, "'Key' cannot be the key"),
        ({"k" * 65: "x"}, "cannot be the key"),
        ({3: "x"}, "'3' cannot be the key"),
        ({"a": None}, "'a' cannot be NoneType"),
        ({"fileName": "x"}, "'fileName' cannot be the key"),
        *(({"a": n}, "'a' is not a number, or too large") for n in (float("inf"), 2**60 + 1)),
        ({"a": {}}, "'a' cannot be dict"),
        ({"a": "x" * 1001}, "'a' has 1,001 characters"),
        ({"a": ["x", 3]}, "'a' has several values"),
        ({"a": ["x" * 600, "y" * 600]}, "more than 1,000 characters"),
        ({f"k{n}": n for n in range(65)}, "65 properties"),
    ],
)
def test_callers_are_refused(given_: dict[Any, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Document("d", "text", properties=given_)


def test_documents_hold_them_unchangeably() -> None:
    mine: dict[str, Any] = {"tags": ["a", "b"], "year": 2020}
    document = Document("d", "text", properties=mine)
    mine["year"] = 3
    assert document.properties == {"tags": ("a", "b"), "year": 2020}
    assert isinstance(document.properties["year"], int)
    with pytest.raises(TypeError):
        document.properties["year"] = 3  # type: ignore[index]
    assert pickle.loads(pickle.dumps(document)) == document
    assert hash(document) == hash(Document("d", "text", properties=document.properties))
    assert document != Document("d", "text")
    assert Document("d", "text").properties is EMPTY


def test_merged_lets_the_second_win() -> None:
    many = {f"k{n}": float(n) for n in range(64)}
    made = merged(many, {"own": "x", "k1": "y"})
    assert (len(made), made["own"], made["k1"]) == (64, "x", "y")
    assert merged({"a": 1.0}, {}) == {"a": 1.0}


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2020", "2020"),
        ("2020-03", "2020-03"),
        ("2020-03-01T23:59:59-08:00", "2020-03-01"),
        ("D:20200301120000+01'00'", "2020-03-01"),
        ("D:2020", "2020"),
        ("20200301", "2020-03-01"),
        ("Sun, 1 Mar 2020 12:00:00 +0100", "2020-03-01"),
        ("2020-02-30", None),
        ("1.3.2020", None),
        ("", None),
    ],
)
def test_dates(written: str, date: str | None) -> None:
    assert iso_date(written) == date


PAGE = "<html><head><title>Untitled</title></head><body><p>Bees build cells.</p></body></html>"


def test_files_have_the_properties_of_their_item(tmp_path: Path) -> None:
    library = ZoteroLibrary(tmp_path / "zotero")
    work = library.item(
        {1: "On the Origin", 6: "1859-11-00 November 1859"}, [(8, DARWIN), (8, SOCIETY)]
    )
    library.attach(work, "storage:a.html", "text/html", PAGE.encode())
    alone = library.attach(None, "storage:b.html", "text/html", PAGE.encode())
    assert alone
    with milepost.open(tmp_path / "db", model=fake_encoder()) as index:
        assert len(index.add(library.folder).added) == 2
        first, second = index.documents()
        assert first.properties == {
            "title": "On the Origin",
            "author": ("Charles Darwin", "Royal Society"),
            "date": "1859-11",
        }
        assert second.properties == {"title": "Untitled"}
        where = 'author = "charles darwin" and date < 1860'
        assert {each.document for each in index.search("cells", where=where)} == {first.name}
        assert len(index.add(library.folder).unchanged) == 2

        library.run(
            ("UPDATE itemDataValues SET value = ? WHERE value = ?", "On Bees", "On the Origin")
        )
        report = index.add(library.folder)
        assert (report.changed, report.sentences) == ((first.name,), 0)
        assert index.document(first.name).properties["title"] == "On Bees"

        beside = Path(f"{first.name}.meta.json")
        beside.write_text(json.dumps({"title": "Mine"}), encoding="utf-8")
        assert index.add(library.folder).changed == (first.name,)
        held = index.document(first.name).properties
        assert (held["title"], held["date"]) == ("Mine", "1859-11")


def test_other_files_have_none(tmp_path: Path) -> None:
    assert zotero.described(str(tmp_path / "a.pdf")) == {}
    assert zotero.described(str(tmp_path / "storage" / "ABCD1234" / "a.pdf")) == {}


def test_words_stay_words_and_dates_of_numpy_dates() -> None:
    made = checked({"title": 1984, "author": "Orwell", "date": np.datetime64("2020-01-02", "ns")})
    assert made == {"title": "1984", "author": "Orwell", "date": "2020-01-02"}
    assert cleaned({"title": 7.5})["title"] == "7.5"
    with pytest.raises(InputError, match="only strings"):
        checked({"tags": {"a", 1}})
