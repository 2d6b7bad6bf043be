"""What people select in a document can be cited."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from support.browser_page import Tab, ready
from support.page_documents import NOTES

if TYPE_CHECKING:
    from support.server import Server


def test_a_selection_is_cited_by_its_own_offsets(tab: Tab, server: Server) -> None:
    with tab() as page:
        ready(page, server.url)
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
