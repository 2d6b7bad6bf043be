"""One server for the tests of this folder that only ask."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

pytest.importorskip("fastapi", reason="needs the serve extra")

from support.files import write_files
from support.server import Server, running_server
from support.small_disk import small_disk  # noqa: F401 - a fixture

BEES = """# Bees

A honey bee makes the cells of its comb from wax. The wax comes from eight glands under its abdomen.

# Ants

Ants follow trails of scent to find food. 😀 A trail fades within an hour.
"""
"""The emoji is one code point and two units of UTF-16."""

SHIPS = "The ship Beagle left Plymouth in December 1831. It returned to Falmouth in October 1836.\n"


@pytest.fixture(scope="session")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("texts"), {"bees.md": BEES, "ships.txt": SHIPS})


@pytest.fixture(scope="session")
def server(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(texts, cache=tmp_path_factory.mktemp("cache")) as (running, _):
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[httpx2.Client]:
    with server.client() as made:
        yield made
