"""The page of a server in a real browser, with all that it must not do watched."""

import json
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from milepost.exports.view import write_page
from milepost.index import Index

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Browser
    from playwright.sync_api import BrowserContext, ConsoleMessage, Request
    from playwright.sync_api import Page as Page
    from playwright.sync_api import Route as Route
else:  # tests are collected without Playwright, too
    Browser = BrowserContext = ConsoleMessage = Page = Request = Route = Any

CHROMIUM = Path("/usr/bin/chromium")
PATIENCE = 60_000
"""Milliseconds that a loaded machine may take for one step."""

Tab = Callable[..., AbstractContextManager[Page]]
"""Opens a tab; with the options of ``Watched``."""

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`);
});
"""


class Watched:
    """A tab in a context of its own; it fails the test where the page did what it must not.

    That is: an error on the console, an exception, a request to another origin, a violation of
    the content security policy, a dialog of the browser. ``allowed`` are parts of console errors
    that the test expects; ``options`` are those of the browser context.
    """

    def __init__(
        self, browser: Browser, url: str, *, allowed: tuple[str, ...] = (), **options: Any
    ) -> None:
        self.url, self._allowed = url, allowed
        self.faults: list[str] = []
        self.context: BrowserContext = browser.new_context(
            viewport=options.pop("viewport", {"width": 1280, "height": 800}), **options
        )
        if url.startswith("http"):  # files have no origin to grant it to
            self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=url)
        self.context.set_default_timeout(PATIENCE)
        self.page: Page = self.context.new_page()
        self.page.add_init_script(WATCH)
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.faults.append(f"exception: {error}"))
        self.page.on("request", self._on_request)
        self.page.on("dialog", lambda dialog: (self.faults.append("dialog"), dialog.dismiss()))

    def __enter__(self) -> Page:
        return self.page

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        violations = [] if kind else self._violations()
        self.context.close()
        if kind is None:
            assert not self.faults
            assert not violations

    @contextmanager
    def again(self, allowed: tuple[str, ...]) -> Iterator[Page]:
        """The tab for one more test, which leaves nothing behind; it stays open."""
        self._allowed = allowed
        self.faults.clear()
        try:
            yield self.page
            violations = self._violations()
            assert not self.faults
            assert not violations
        finally:
            self.page.unroute_all(behavior="ignoreErrors")
            self.page.emulate_media(media="null")
            self.page.evaluate(
                "() => { try { localStorage.clear(); sessionStorage.clear(); } catch {} }"
            )
            self.page.goto("about:blank")

    def _violations(self) -> list[str]:
        return list(self.page.evaluate("window.violations ?? []"))

    def _on_console(self, message: ConsoleMessage) -> None:
        expected = any(part in message.text for part in self._allowed)
        if message.type in ("error", "warning") and not expected:
            self.faults.append(f"console: {message.text}")

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((self.url, "blob:", "about:")):
            self.faults.append(f"request: {request.url}")


class Tabs:
    """A tab for each address, opened once: a new one takes half a second of a processor."""

    def __init__(self, browser: Browser, *, offline: bool = False) -> None:
        self._browser, self._offline = browser, offline
        self._kept: dict[str, Watched] = {}

    def __call__(
        self, url: str, *, allowed: tuple[str, ...] = (), **options: Any
    ) -> AbstractContextManager[Page]:
        """The tab of an address, or one of its own where it has options; see ``Watched``."""
        if options:
            return self._opened(url, allowed=allowed, **options)
        if url not in self._kept:
            self._kept[url] = self._opened(url)
        return self._kept[url].again(allowed)

    def close(self) -> None:
        for watched in self._kept.values():
            watched.context.close()

    def _opened(self, url: str, **options: Any) -> Watched:
        watched = Watched(self._browser, url, **options)
        watched.context.set_offline(self._offline)
        return watched


@contextmanager
def page_of(browser: Browser, index: Index) -> Iterator[Page]:
    """The page that ``milepost view`` writes of an index, from the disk and without a network."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        write_page(index, path)
        watched = Watched(browser, path.as_uri())
        with watched as page:
            watched.context.set_offline(True)
            open_file(page, path)
            yield page


def open_file(page: Page, path: Path) -> None:
    """Open a page that ``milepost view`` has written, and wait until it is unpacked."""
    page.goto("about:blank")
    page.goto(path.as_uri())
    page.wait_for_selector("#documents li", state="attached")


def ask(page: Page, question: str) -> None:
    page.fill("#question", question)
    page.press("#question", "Enter")
    answered(page)


def answered(page: Page) -> None:
    page.wait_for_selector("#results[aria-busy=false] h2")


def open_page(page: Page, url: str) -> None:
    page.goto(url)
    page.wait_for_selector("#results h2")


def remove(page: Page, title: str) -> None:
    """Remove the one document of a server."""
    page.get_by_label(f"Remove {title}").click()
    page.click("#confirm-yes")
    page.wait_for_selector("#documents li", state="detached")


def ready(page: Page, url: str, fragment: str = "") -> None:
    """Open the page and wait for its list of documents."""
    page.goto("about:blank")  # else a new fragment would be a step within the page
    page.goto(f"{url}/{fragment}")
    page.wait_for_selector("#documents li")


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
        return member.read().decode("utf-8")
