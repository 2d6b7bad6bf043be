"""One server for the tests of this folder that only ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the serve extra")

from support.server import Server
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
    folder = tmp_path_factory.mktemp("texts")
    (folder / "bees.md").write_text(BEES, encoding="utf-8")
    (folder / "ships.txt").write_text(SHIPS, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def server(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(str(texts), cache=tmp_path_factory.mktemp("cache")) as running:
        with running.client() as client:
            running.indexed(client)
        yield running
