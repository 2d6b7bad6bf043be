"""A server's address is refused before a folder of that name is made."""

from __future__ import annotations

from pathlib import Path

import pytest

import milepost
from milepost.errors import StoreError
from milepost.store import erase_store, open_store
from milepost.store.address import index_folder

ADDRESSES = (
    "postgresql://anna:s3cret@db.example/notes",
    "postgresql://db.example/notes?password=s3cret",
    "postgresql://anna:s3/cr@et@db.example/notes",
    "qdrant+http://:s3cret@localhost:6333",
    "HTTPS://example.org/index?s3cret",
    "notes/postgresql://anna:s3cret@db.example",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_is_refused_without_its_secrets(address: str) -> None:
    """The scheme alone is printed: a password may stand in any other part."""
    with pytest.raises(StoreError, match=r"names a server, not a folder; try: --db") as error:
        index_folder(address)
    message = str(error.value)
    assert not any(secret in message for secret in ("s3", "et@", "anna"))


def test_the_message_names_the_scheme() -> None:
    """Also after pathlib made one slash of two."""
    for place in ("postgresql://u:p@host/db", Path("postgresql://u:p@host/db")):
        with pytest.raises(StoreError, match=r"^postgresql://… names a server"):
            index_folder(place)


@pytest.mark.parametrize(
    "place", ["notes", "./notes:/x", "C:/notes", "a:b", "~/notes", "/tmp/a@b", "x//y", "notes:"]
)
def test_a_folder_is_returned_as_a_path(place: str) -> None:
    """Colons, at signs and double slashes are characters of names, too."""
    assert index_folder(place) == Path(place)


def test_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither opening nor erasing an address leaves a folder behind."""
    monkeypatch.chdir(tmp_path)
    address = "postgresql://anna:s3cret@host/notes"
    with pytest.raises(StoreError, match="names a server"):
        milepost.open(address)
    with pytest.raises(StoreError, match="names a server"):
        open_store(Path(address), fingerprint="f", dimensions=4)
    with pytest.raises(StoreError, match="names a server"):
        erase_store(Path(address))
    assert not list(tmp_path.iterdir())
