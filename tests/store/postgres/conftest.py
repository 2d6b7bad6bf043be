"""A store on a server; files may say at which address."""

from collections.abc import Iterator

import pytest

from milepost.store import Store
from support.postgres import fresh_schema
from support.store_entries import opened


@pytest.fixture
def address() -> Iterator[str]:
    with fresh_schema() as made:
        yield made


@pytest.fixture
def store(address: str) -> Store:
    return opened(address)
