"""A server's address is refused before a folder of that name is made."""

from pathlib import Path

import pytest

import milepost
from milepost.errors import StoreError
from milepost.store import erase_store, open_store
from milepost.store.address import has_password, index_place, label, local_folder

REFUSED = (
    ("postgresql://anna:s3/cr@et@db.example/notes", "a password holds one of"),
    ("postgresql://anna:s3@cr@et@db.example/notes", "a password holds one of"),
    ("postgresql://anna:s3#cret@db.example/notes", "a password holds one of"),
    ("qdrant+http://:s3cret@localhost:6333", "cannot hold an index"),
    ("HTTPS://example.org/index?s3cret", "cannot hold an index"),
    ("lance+s3://AKIA:s3cret@bucket/notes", "contains credentials or a port"),
    ("lance+s3://bucket/notes?aws_secret_access_key=s3cret", "an option other than endpoint"),
    ("lance+s3://bucket/notes?s3cret", "options of the address cannot be read"),
    ("lance+s3://bucket/notes#s3cret", "an option other than endpoint"),
    ("lance+s3://bucket?region=s3cret", "names no bucket or no path"),
    ("lance+s3:///notes", "names no bucket or no path"),
    ("lance+s3://bucket/notes?endpoint=http://anna:s3cret@host", "not an http or https URL"),
    ("lance+s3://bucket/notes?endpoint=file:///s3cret", "not an http or https URL"),
    ("lance+gs://bucket/s3cret", "cannot hold an index"),
    ("lance://", "names no folder"),
    ("notes/postgresql://anna:s3cret@db.example", "cannot hold an index"),
)


@pytest.mark.parametrize(("address", "words"), REFUSED)
def test_an_address_is_refused_without_its_secrets(address: str, words: str) -> None:
    """The scheme alone is printed: a password may stand in any other part."""
    with pytest.raises(StoreError, match=words) as error:
        index_place(address)
    message = str(error.value).replace("lance+s3://BUCKET/PATH", "…")  # an example
    assert not any(secret in message for secret in ("s3", "et@", "anna"))


def test_a_path_made_of_an_address_is_refused() -> None:
    """Pathlib made one slash of two."""
    with pytest.raises(StoreError, match=r"^postgresql://… was given as a path"):
        index_place(Path("postgresql://u:p@host/db"))


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://anna:s3cret@db.example/notes",
        "postgres://db.example:5433/notes?password=s3cret&schema=a",
        "postgresql:///notes?host=/run/postgresql",
    ],
)
def test_an_address_is_kept_and_named_without_secrets(address: str) -> None:
    assert index_place(address) == address
    assert not any(secret in label(address) for secret in ("s3", "anna", "?"))
    assert "/notes" in label(address)
    assert has_password(address) == ("s3cret" in address)
    folder = local_folder(address)
    assert folder.is_absolute()
    assert not any(secret in str(folder) for secret in ("s3", "anna", "notes"))


@pytest.mark.parametrize(
    "place", ["notes", "./notes:/x", "C:/notes", "a:b", "~/notes", "/tmp/a@b", "x//y", "notes:"]
)
def test_a_folder_is_returned_as_a_path(place: str) -> None:
    """Colons, at signs and double slashes are characters of names, too."""
    assert index_place(place) == Path(place)


def test_an_address_of_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for given in ("lance://notes/a@b #1", f"lance://{tmp_path}/notes/a@b #1"):
        assert index_place(given) == f"lance://{tmp_path.as_posix()}/notes/a@b #1"
        assert label(index_place(given)) == index_place(given)
    bucket = "lance+s3://bucket/notes?endpoint=http%3A%2F%2F127.0.0.1%3A5000&region=eu-north-1"
    assert index_place(bucket) == bucket
    assert index_place("LANCE+S3://bucket/notes") == "lance+s3://bucket/notes"
    assert label(bucket) == "lance+s3://bucket/notes"
    assert not has_password(bucket)
    assert local_folder(bucket).is_absolute()
    assert not list(tmp_path.iterdir())


def test_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    address = "redis://anna:s3cret@host/notes"
    for given in (address, Path(address)):
        with pytest.raises(StoreError, match="cannot hold an index"):
            milepost.open(given)
        with pytest.raises(StoreError, match="cannot hold an index"):
            open_store(given, fingerprint="f", dimensions=4)
        with pytest.raises(StoreError, match="cannot hold an index"):
            erase_store(given)
    assert not list(tmp_path.iterdir())
