"""What Zotero knows of a file can be asked for in filters."""

from __future__ import annotations

import json
from pathlib import Path

import milepost
from milepost.testing import fake_encoder
from milepost.text import zotero
from support.zotero_library import DARWIN, SOCIETY, ZoteroLibrary

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
            ("UPDATE itemDataValues SET value = ? WHERE value = ?", "On Bees", "On the Origin"),
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
