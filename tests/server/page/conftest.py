"""A server of some small documents and a real Chromium for the tests of the page."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from support.browser_page import Browser, Page, Tab, Tabs, axe, browser, ready
from support.files import write_files
from support.page_documents import EVIL, EVIL_NAME, NOTES, book, harbour
from support.server import Server

__all__ = ["axe", "browser"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {"notes.md": NOTES, EVIL_NAME: EVIL, "harbour.pdf": harbour()}
    files["origin-of-species.txt"] = book()
    return write_files(tmp_path_factory.mktemp("library"), files)


@pytest.fixture(scope="session")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(str(folder), cache=tmp_path_factory.mktemp("cache")) as running:
        with running.client() as client:
            assert running.indexed(client)["failed"] == []
        yield running


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without documents, to which files can be added."""
    place = tmp_path_factory.mktemp("own")
    with Server("--db", str(place / "index"), cache=place / "cache") as running:
        yield running


@pytest.fixture(scope="module")
def tabs(browser: Browser) -> Iterator[Tabs]:
    """Opens the tab of a server that is watched; see ``Watched``."""
    opened = Tabs(browser)
    yield opened
    opened.close()


@pytest.fixture
def tab(tabs: Tabs, server: Server) -> Tab:
    return partial(tabs, server.url)


@pytest.fixture
def page(tab: Tab, server: Server) -> Iterator[Page]:
    """A tab whose page is ready for a question."""
    with tab() as opened:
        ready(opened, server.url)
        yield opened
