"""The page in Chromium behind a real nginx with TLS and a prefix."""

from collections.abc import Iterator

import pytest

from support.browser_page import Tabs, ask
from support.nginx import nginx
from support.page_documents import NOTES, harbour
from support.server import Server


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an nginx in front of a server without documents."""
    place = tmp_path_factory.mktemp("behind")
    with (
        Server(
            *("--db", str(place / "db"), "--root-path", "/docs", "--trusted-proxy", "127.0.0.1"),
            cache=place / "cache",
        ) as running,
        nginx(running.url) as address,
    ):
        yield address


@pytest.mark.parametrize(
    ("prefix", "name", "data", "question"),
    [
        ("docs", "harbour.pdf", harbour(), "Where must ships that carry timber unload?"),
        ("left", "notes.md", NOTES.encode(), "How long does a trail of scent last?"),
    ],
)
def test_files_are_added_asked_and_opened(
    tabs: Tabs, proxy: str, prefix: str, name: str, data: bytes, question: str
) -> None:
    """And an address that was copied opens the place again."""
    with tabs(proxy, ignore_https_errors=True) as page:
        page.goto(f"{proxy}/{prefix}/")
        page.wait_for_selector("#add-files:not([hidden])")
        page.set_input_files("#files", {"name": name, "mimeType": "", "buffer": data})
        page.locator("#documents li", has_text=name).wait_for()
        ask(page, question)
        page.locator(".passage .title", has_text=name).first.click()
        best = ".page .best" if name.endswith(".pdf") else "#document-body mark.best"
        page.wait_for_selector(best)
        if name.endswith(".pdf"):
            page.wait_for_function("() => document.querySelector('.page img').naturalWidth > 0")
        copied = page.url
        assert copied.startswith(f"{proxy}/{prefix}/#")
        page.goto("about:blank")
        page.goto(copied)
        page.wait_for_selector(best)
