"""A store on a server, for files that say at which address."""

import pytest

from milepost.store import Store
from support.store_entries import opened


@pytest.fixture
def store(address: str) -> Store:
    return opened(address)
