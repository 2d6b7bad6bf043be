"""An index of the shipped book by the rounded light model."""

from collections.abc import Iterator

import pytest

import milepost
from milepost.encoder import Encoder, load
from milepost.exports.view import page_model
from milepost.index import Index
from support.ranking_cases import BOOK


@pytest.fixture(scope="session")
def light(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Encoder]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MILEPOST_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield load(page_model())


@pytest.fixture(scope="session")
def book(light: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """An index on disk, which keeps landmarks in 8 bits as the page does."""
    with milepost.open(tmp_path_factory.mktemp("index") / "book", model=light) as index:
        index.add(BOOK)
        yield index
