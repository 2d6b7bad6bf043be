"""What Zotero knows of a document reaches the API, from which the page cites."""

from __future__ import annotations

from pathlib import Path

from support.page_documents import harbour
from support.server import Server
from support.zotero_library import DARWIN, SOCIETY, ZoteroLibrary


def test_passages_and_documents_have_the_reference(tmp_path: Path) -> None:
    library = ZoteroLibrary(tmp_path / "Zotero")
    book = library.item({1: "Harbours", 6: "1859-11-00 1859"}, [(8, DARWIN), (8, SOCIETY)])
    library.attach(book, "storage:harbour.pdf", "application/pdf", harbour())
    beside = tmp_path / "beside.txt"
    beside.write_text("Anchoring is allowed in spring.\n", encoding="utf-8")
    known = {
        "title": "Harbours",
        "authors": [
            {"family": "Darwin", "given": "Charles"},
            {"family": "Royal Society", "given": ""},
        ],
        "date": "1859-11",
    }
    with (
        Server(str(library.folder), str(beside), cache=tmp_path / "cache") as running,
        running.client() as client,
    ):
        running.indexed(client)
        answer = client.post("/search", json={"question": "When is anchoring forbidden?"}).json()
        found = {Path(each["title"]).name: each["reference"] for each in answer["passages"]}
        assert found == {"harbour.pdf": known, "beside.txt": None}
        for each in answer["passages"]:
            details = client.get(f"/documents/{each['id']}").json()
            assert details["reference"] == each["reference"]
