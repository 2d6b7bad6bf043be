"""Text on the pages of a PDF: where it is printed, and selected."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from support.browser_page import Page, Tab, ready
from support.page_documents import ACROSS, NOTES
from support.server import Server

PILOT = "A pilot boards each vessel two miles off the coast."


@pytest.fixture
def opened(tab: Tab, server: Server) -> Iterator[Page]:
    with tab() as page:
        ready(page, server.url)
        page.locator("#documents a", has_text="harbour.pdf").click()
        page.wait_for_selector(".page[data-page='2'] .words span")
        yield page


def drag(page: Page, first: str, last: str) -> None:
    """Select with the mouse from the beginning of a line to the end of another."""
    start = page.locator(".words span", has_text=first).bounding_box()
    line = page.locator(".words span", has_text=last)
    line.scroll_into_view_if_needed()
    end = line.bounding_box()
    start = page.locator(".words span", has_text=first).bounding_box()
    assert start
    assert end
    page.mouse.move(start["x"] + 1, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] + 2, end["y"] + end["height"] / 2, steps=5)
    page.mouse.up()


def test_a_line_is_selected_where_it_is_printed(opened: Page) -> None:
    for clicks in (0, 2):
        for _ in range(clicks):
            opened.click("#larger")
        drag(opened, PILOT, PILOT)
        assert opened.evaluate("getSelection().toString().trim()") == PILOT
        share = opened.evaluate(
            """() => {
              const box = getSelection().getRangeAt(0).getBoundingClientRect();
              const page = document.querySelector(".page[data-page='1']").getBoundingClientRect();
              return [(box.left - page.left) / page.width, box.width / page.width];
            }"""
        )
        # 72 points from the left; Helvetica's widths give 230 points
        assert share[0] == pytest.approx(72 / 612, abs=0.01)
        assert share[1] == pytest.approx(230 / 612, abs=0.02)


def test_a_sentence_is_found_on_a_page_that_was_not_seen(opened: Page) -> None:
    opened.wait_for_selector(".page[data-page='3'] .words span", state="attached")
    assert opened.locator(".page[data-page='3'] img").is_hidden()
    opened.evaluate("() => getSelection().removeAllRanges()")
    assert opened.evaluate("() => window.find('forbidden in winter')")
    where = "getSelection().anchorNode.parentNode.closest('.page').dataset.page"
    assert opened.evaluate(where) == "3"


def test_a_selection_over_two_pages_is_copied_and_cited_as_one_sentence(
    opened: Page, server: Server
) -> None:
    drag(opened, ACROSS[0], ACROSS[1])
    opened.keyboard.press("Control+C")
    assert opened.evaluate("navigator.clipboard.readText()") == " ".join(ACROSS)
    opened.locator("#document-actions").get_by_role("button", name="Copy link").click()
    opened.wait_for_selector("#toast:has-text('Link copied')")
    link = parse_qs(urlsplit(opened.evaluate("navigator.clipboard.readText()")).fragment)
    with server.client() as client:
        path = f"/documents/{link['id'][0]}/text?start={link['start'][0]}&end={link['end'][0]}"
        assert " ".join(client.get(path).json()["text"].split()) == " ".join(ACROSS)


def test_a_selection_is_cited_by_its_own_offsets(page: Page) -> None:
    page.locator("#documents a", has_text="notes.md").click()
    page.wait_for_selector("#document-body .text:has-text('Rain washes')")
    page.evaluate(
        """() => {
          const walker = document.createTreeWalker(
            document.querySelector("#document-body .text"), NodeFilter.SHOW_TEXT);
          while (!walker.nextNode().data.includes("👩‍🚀"));
          const range = document.createRange();
          const at = walker.currentNode.data.indexOf("trail of scent fades");
          range.setStart(walker.currentNode, at);
          range.setEnd(walker.currentNode, at + "trail of scent".length);
          getSelection().removeAllRanges();
          getSelection().addRange(range);
        }"""
    )
    page.locator("#document-actions").get_by_role("button", name="Copy link").click()
    page.wait_for_selector("#toast:has-text('Link copied')")
    link = parse_qs(urlsplit(page.evaluate("navigator.clipboard.readText()")).fragment)
    assert NOTES[int(link["start"][0]) : int(link["end"][0])] == "trail of scent"
