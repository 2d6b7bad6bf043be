"""An index of the shipped book by the rounded light model."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import milepost
from milepost.encoder import Encoder, load
from milepost.exports.view import page_model
from milepost.index import Index

BOOK = Path(__file__).resolve().parents[3] / "examples" / "origin-of-species.txt"


@pytest.fixture(scope="session")
def light(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Encoder]:
    before = os.environ.get("MILEPOST_CACHE")
    os.environ["MILEPOST_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    try:
        yield load(page_model())
    finally:
        if before is None:
            del os.environ["MILEPOST_CACHE"]
        else:
            os.environ["MILEPOST_CACHE"] = before


@pytest.fixture(scope="session")
def book(light: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """An index on disk, which keeps landmarks in 8 bits as the page does."""
    with milepost.open(tmp_path_factory.mktemp("index") / "book", model=light) as index:
        index.add(BOOK)
        yield index
