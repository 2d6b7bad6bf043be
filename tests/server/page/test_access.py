"""Everybody can use the page: axe finds nothing in any state, in light, dark and on a phone."""

from typing import Any

import pytest

from support.browser_page import Page, Tab, ask, open_page, ready
from support.server import Server

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
SETTINGS: dict[str, dict[str, Any]] = {
    "light": {},
    "phone, dark": {**PHONE, "color_scheme": "dark"},
}
"""Each layout and each set of colours once."""


@pytest.fixture(params=list(SETTINGS))
def screen(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(SETTINGS[request.param])


def check(page: Page, axe: str, state: str) -> None:
    """No violation of any rule, WCAG 2.2 AA and best practices; colours must not fade."""
    # By the driver, which the policy of the page does not bind.
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(axe)
    found = page.evaluate(
        """async () => {
          const rules = { "target-size": { enabled: true } };
          const { violations } = await axe.run(document, { rules });
          const said = (node) => node.html + node.failureSummary;
          return violations.map(({ id, nodes }) => [id, nodes.map(said)]);
        }"""
    )
    assert found == [], f"{state}: {found}"
    wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{state}: {wide} pixels wider than the screen"


def test_axe_finds_nothing(tab: Tab, server: Server, axe: str, screen: dict[str, Any]) -> None:
    with tab(reduced_motion="reduce", **screen) as page:
        narrow = screen.get("viewport", {}).get("width") == 360
        open_page(page, server.url)
        check(page, axe, "invitation")
        if narrow:
            page.click("#library-button")
            page.wait_for_selector("#documents li")
            check(page, axe, "documents")
            page.click("#library-button")
        ask(page, "How long does a trail of scent last?")
        check(page, axe, "passages")
        page.locator(".passage .menu summary").first.click()
        check(page, axe, "menu")
        page.keyboard.press("Escape")
        page.locator(".passage .title").first.click()
        page.wait_for_selector("#document-body mark.best")
        check(page, axe, "text")
        page.click("#document-close")
        ask(page, "Where must ships that carry timber unload?")
        page.locator(".passage .title", has_text="harbour.pdf").first.click()
        page.wait_for_selector(".page .best")
        check(page, axe, "pages")
        page.click("#document-close")
        ask(page, "Xylophone quartz tariffs of 2031?")
        check(page, axe, "nothing probable")
        if narrow:
            page.click("#library-button")
        page.locator("#documents [aria-label^='Remove']").first.click()
        check(page, axe, "a question with yes or no")
        page.click("#confirm-no")


def test_a_document_covers_a_narrow_screen_and_gives_it_back(tab: Tab, server: Server) -> None:
    with tab(**PHONE) as page:
        page.goto(f"{server.url}/#q=How+long+does+a+trail+of+scent+last%3F")
        page.wait_for_selector(".passage")
        page.locator(".passage .title").first.click()
        page.wait_for_selector("#document-body mark.best")
        box = page.locator("#document").bounding_box()
        assert box == {"x": 0, "y": 0, "width": 360, "height": 740}
        assert page.evaluate(
            "() => ['top', 'side', 'results'].every((id) => document.getElementById(id).inert)"
        )
        page.click("#document-close")
        page.wait_for_selector("#document", state="hidden")
        assert not page.evaluate("() => document.getElementById('results').inert")
        assert page.evaluate("() => document.activeElement.className") == "title"


def test_motion_is_reduced_where_it_is_not_wanted(tab: Tab, server: Server) -> None:
    with tab(reduced_motion="reduce") as page:
        ready(page, server.url)
        moving = page.evaluate(
            """() => [...document.querySelectorAll("*")].filter((node) => {
              const style = getComputedStyle(node);
              return style.animationName !== "none" || style.transitionDuration !== "0s";
            }).length"""
        )
        assert moving == 0
