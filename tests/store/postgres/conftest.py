"""A store on a server, for files that say at which address."""

from collections.abc import Iterator

import pytest

from milepost.store import Store
from support.store_entries import opened


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    made = opened(address)
    yield made
    made.close()
