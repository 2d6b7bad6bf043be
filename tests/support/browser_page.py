"""The page of a server in a real browser, with all that it must not do watched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

CHROMIUM = Path("/usr/bin/chromium")
PATIENCE = 30_000
"""Milliseconds that a loaded machine may take for one step."""

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`);
});
"""


class Watched:
    """A tab in a context of its own; it fails the test where the page did what it must not.

    That is: an error on the console, an exception, a request to another origin, a violation of
    the content security policy, a dialog of the browser.

    Args:
        browser: a running Chromium.
        url: of the server.
        allowed: parts of console errors that the test expects, such as a status of an answer.
        options: of the browser context: viewport, colour scheme.
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
        violations = [] if kind else self.page.evaluate("window.violations ?? []")
        self.context.close()
        if kind is None:
            assert not self.faults
            assert not violations

    def _on_console(self, message: ConsoleMessage) -> None:
        expected = any(part in message.text for part in self._allowed)
        if message.type in ("error", "warning") and not expected:
            self.faults.append(f"console: {message.text}")

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((self.url, "blob:", "about:")):
            self.faults.append(f"request: {request.url}")


def ask(page: Page, question: str) -> None:
    """Type a question and wait for its answer."""
    page.fill("#question", question)
    page.press("#question", "Enter")
    answered(page)


def answered(page: Page) -> None:
    """Wait until the search is over."""
    page.wait_for_selector("#results[aria-busy=false] h2")


def ready(page: Page, url: str, fragment: str = "") -> None:
    """Open the page and wait for its list of documents."""
    page.goto("about:blank")  # else a new fragment would be a step within the page
    page.goto(f"{url}/{fragment}")
    page.wait_for_selector("#documents li")
