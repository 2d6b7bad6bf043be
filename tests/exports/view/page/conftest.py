"""Pages in a real Chromium, opened from the disk without a network."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import milepost
from milepost.encoder import Encoder
from milepost.exports.view import write_page
from milepost.index import Index
from milepost.types import Document, Mark
from support.browser_page import Browser, Page, Tab, Tabs, axe, browser

__all__ = ["axe", "browser"]

SCRIPT = "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>"
HOSTILE = (
    f"# {SCRIPT}\n\nThe password of the vault {SCRIPT} is on the back of the painting.\n\n"
    "A comment <!-- and --> a \u2028 line \u2029 and a \x00 zero, half of a pair \ud83d alone, "
    "</title></style> and \udc00\ud83d.\n\nThe harbour master 😀👩‍🚀 counts ships at noon.\n"
)
NOTES = "Ants 🐜🐜 follow trails of scent to find food.\n\nA trail of scent fades within an hour.\n"


@pytest.fixture(scope="session")
def small(light: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with milepost.open(tmp_path_factory.mktemp("index") / "small", model=light) as index:
        hostile = "<img src=x onerror=window.hacked=1>.md"
        index.add(Document(hostile, HOSTILE, marks=(Mark(2, "heading", SCRIPT, 1),)))
        pages = Mark(0, "page", "1"), Mark(NOTES.index("A trail"), "page", "2")
        index.add(Document("notes.txt", NOTES, marks=pages))
        yield index


@pytest.fixture(scope="session")
def small_page(small: Index, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "small page.html"
    write_page(small, path)
    return path


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Tab]:
    """Opens the tab of a page that is watched and has no network; see ``Watched``."""
    tabs = Tabs(browser, offline=True)

    def opened(page: Path, **options: Any) -> AbstractContextManager[Page]:
        return tabs(page.as_uri(), **options)

    yield opened
    tabs.close()
