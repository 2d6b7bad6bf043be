"""The built-in keys of a document."""

from __future__ import annotations

import os

import pytest

from milepost.filters import facts, parse
from milepost.types import Document


def test_keys_of_a_file() -> None:
    """A file has a path, a name, a folder and a kind; a date has a year."""
    path = os.path.join(os.sep, "data", "2024", "Plan.V2.PDF")  # noqa: PTH118
    held = facts(Document(path, "", source=path, properties={"date": "2024-05", "kind": "blog"}))
    assert held["kind"] == "pdf"
    assert held["year"] == 2024.0
    for text in [
        'document = "plan.v2.pdf"',
        'document = "/data/2024/plan.v2.pdf"',
        'document matches "*/2024/*"',
        'document contains "2024"',
        'folder = "2024"',
        'folder matches "*/2024"',
        'kind in ("pdf", "docx")',
        "year = 2024 and date >= 2024",
    ]:
        assert parse(text).matches(held), text
    assert not parse('document != "plan.v2.pdf"').matches(held)


@pytest.mark.parametrize("name", ["note", "a/b.md", "", ".hidden", "v1."])
def test_keys_of_a_given_document(name: str) -> None:
    """A document without a file has a name and its properties, nothing that is guessed."""
    held = facts(Document(name, "", properties={"year": 1999, "date": "2024"}))
    assert "kind" not in held
    assert "folder" not in held
    assert held["year"] == 1999.0
    assert held.get("document", "") == (("a/b.md", "b.md") if "/" in name else name)


def test_a_file_without_suffix_has_no_kind() -> None:
    """A leading dot is no suffix, and a name without a dot has none."""
    for name in ("/x/Makefile", "/x/.profile", "/x/odd."):
        assert "kind" not in facts(Document(name, "", source=name))
