"""A server of some small documents and a real Chromium for the tests of the page."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("fastapi", reason="needs the serve extra")

from support.browser_page import CHROMIUM, Tab, Tabs
from support.page_documents import EVIL, EVIL_NAME, NOTES, book, harbour
from support.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("library")
    (made / "notes.md").write_text(NOTES, encoding="utf-8")
    (made / EVIL_NAME).write_text(EVIL, encoding="utf-8")
    (made / "harbour.pdf").write_bytes(harbour())
    (made / "origin-of-species.txt").write_text(book(), encoding="utf-8")
    return made


@pytest.fixture(scope="session")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(str(folder), cache=tmp_path_factory.mktemp("cache")) as running:
        with running.client() as client:
            assert running.indexed(client)["failed"] == []
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, without a window.

    For a module, not a session: while Playwright is open, its event loop runs in this thread,
    and other tests could not call ``asyncio.run``.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if not CHROMIUM.exists():
        pytest.skip(f"needs {CHROMIUM} (apt install chromium)")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def tabs(browser: Browser) -> Iterator[Tabs]:
    """Opens the tab of a server that is watched; see ``Watched``."""
    opened = Tabs(browser)
    yield opened
    opened.close()


@pytest.fixture
def tab(tabs: Tabs, server: Server) -> Tab:
    return partial(tabs, server.url)


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, which checks a page for accessibility."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs npm, which brings axe-core")
    place = tmp_path_factory.mktemp("axe")
    got = subprocess.run(
        [npm, "pack", "axe-core@4.14.1", "--json", "--prefer-offline"],
        cwd=place,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if got.returncode:
        pytest.skip(f"npm cannot bring axe-core: {got.stderr[-200:]}")
    name = json.loads(got.stdout)[0]["filename"]
    with tarfile.open(place / name) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode("utf-8")
