"""What people do with the page: ask, open, mark, share, cite, with mouse and with keyboard."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import milepost
from milepost.search import SearchResult
from milepost.search.searcher import doubts
from support.browser_page import Page, Route, Tab, answered, ask, ready
from support.page_documents import ACROSS, EVIL_NAME, NOTES, SCRIPT
from support.server import Server

TRAIL = "A trail of scent fades within an hour."
BEES = "How do bees make the cells of the honeycomb?"


def marked(page: Page) -> str:
    page.wait_for_selector("#document-body mark.best")
    return "".join(page.locator("#document-body mark.best").all_inner_texts())


def fragment(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).fragment)


def test_a_question_gives_passages_with_the_best_sentence_marked(page: Page) -> None:
    ask(page, "How long does a trail of scent last?")
    first = page.locator(".passage").first
    assert first.locator(".title").inner_text() == "notes.md"
    assert first.locator(".quote mark.best").inner_text() == TRAIL
    context = first.locator("details.context")
    assert context.locator("p").is_hidden()
    context.locator("summary").click()
    assert context.locator("mark.best").inner_text() == TRAIL
    assert len(context.locator("p").inner_text()) > len(TRAIL)
    words = r"(very likely|likely|possible) \d{1,2}\u202f%"
    assert re.fullmatch(words, first.locator(".likely").inner_text().strip())
    assert "result" in page.locator("#announcer").inner_text()


def test_a_passage_opens_at_its_sentence_behind_emoji(page: Page, folder: Path) -> None:
    """Offsets of the API count code points; the page must not take them for UTF-16."""
    text = milepost.read(folder / "notes.md").text
    assert text == NOTES
    ask(page, "How long does a trail of scent last?")
    page.locator(".passage .title").first.click()
    assert marked(page) == TRAIL
    place = fragment(page)
    start, end = int(place["start"][0]), int(place["end"][0])
    assert text[start:end] == TRAIL
    body = page.locator("#document-body .text").inner_text()
    assert "😀👩‍🚀" in body
    assert "Rain\nwashes" not in body, "the broken line is joined"


def test_a_sentence_across_two_pages_has_boxes_on_both(page: Page, server: Server) -> None:
    size = page.viewport_size
    assert size is not None
    page.set_viewport_size({**size, "height": 5000})  # all pages fit: nothing scrolls
    page.locator("#documents a", has_text="harbour.pdf").click()
    page.wait_for_selector("#document-where:has-text('of 3')")
    page.keyboard.press("Escape")
    page.set_viewport_size(size)
    ask(page, "Where must ships that carry timber unload?")
    page.locator(".passage .title", has_text="harbour.pdf").first.click()
    page.wait_for_selector(".page[data-page='1'] .best")
    page.wait_for_selector(".page[data-page='2'] .best")
    page.wait_for_selector(".page[data-page='1'] img[src^='blob:']:not([hidden])")
    page.wait_for_function("() => document.querySelector('.page img').naturalWidth > 0")
    assert page.locator("#document-quote").inner_text() == f"Pages 1 and 2. {' '.join(ACROSS)}"
    place = fragment(page)
    with server.client() as client:
        got = client.get(
            f"/documents/{place['id'][0]}/boxes",
            params={"start": place["start"][0], "end": place["end"][0]},
        ).json()
    for box in got["boxes"]:
        frame = page.locator(f".page[data-page='{box['page']}']").bounding_box()
        drawn = page.locator(f".page[data-page='{box['page']}'] .best").bounding_box()
        scale = frame["width"] / 612
        assert abs(drawn["x"] - frame["x"] - scale * box["left"]) < 1
        assert abs(drawn["y"] - frame["y"] - scale * box["top"]) < 1
        assert abs(drawn["width"] - scale * (box["right"] - box["left"])) < 1
    page.click("#next-page")
    page.wait_for_function("() => document.getElementById('page-number').value === '2'")
    page.click("#next-page")
    page.wait_for_selector("#document-where:has-text('page 3 of 3')")
    page.set_viewport_size({**size, "height": 2000})  # the last two pages fit
    for typed, number in (("1", 1), ("2", 2), ("999", 3)):
        page.fill("#page-number", typed)
        page.press("#page-number", "Enter")
        page.wait_for_selector(f"#document-where:has-text('page {number} of 3')")
        assert page.locator("#page-number").input_value() == str(number)
    page.click("#larger")
    assert page.locator(".pages").evaluate("(node) => node.style.inlineSize") == "125%"


def test_a_pdf_can_be_read_as_text(page: Page) -> None:
    ask(page, "Where must ships that carry timber unload?")
    page.locator(".passage .title", has_text="harbour.pdf").first.click()
    page.wait_for_selector(".page .best")
    page.click("#as-text")
    assert " ".join(marked(page).split()) == " ".join(ACROSS)
    assert page.locator(".text .border").evaluate_all(
        "(nodes) => nodes.map((node) => node.dataset.place)"
    ) == ["page 1", "page 2", "page 3"]


def test_the_text_of_a_document_is_never_markup(page: Page) -> None:
    assert page.locator("#documents a", has_text=EVIL_NAME).count() == 1
    ask(page, "Where is the password of the vault written?")
    first = page.locator(".passage").first
    assert first.locator(".title").inner_text() == EVIL_NAME
    assert SCRIPT in first.locator(".quote").inner_text()
    first.locator(".title").click()
    assert SCRIPT in marked(page)
    page.click(f"[aria-label='Remove {EVIL_NAME}']")
    assert EVIL_NAME in page.locator("#confirm-title").inner_text()
    page.click("#confirm-no")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x], main script, aside script").count() == 0


def test_nothing_is_marked_where_nothing_is_probable(page: Page) -> None:
    one: Any = None
    found = SearchResult(passages=(one,))
    notes = [doubts(replace(found, answerable=chance))[0] for chance in (0.1, 0.4)]

    def doubted(waiting: Route) -> None:
        got = waiting.fetch()
        waiting.fulfill(response=got, json=got.json() | {"notes": notes})

    page.route("**/search", doubted)
    ask(page, "Xylophone quartz tariffs of 2031?")
    assert "Nothing here is likely to answer this" in page.locator("#results h2").inner_text()
    assert page.locator(".passage, mark").count() == 0
    assert "that something does" not in page.locator("#results").inner_text()
    page.get_by_role("button", name=re.compile("Show .* weaker")).click()
    page.wait_for_selector(".passage")
    assert page.locator("mark").count() == 0
    assert "probably not an answer" in page.locator(".likely").first.inner_text()
    page.locator(".passage .title").first.click()
    page.wait_for_selector("#document-where:not(:has-text('Loading'))")
    page.wait_for_selector("#document-body .text, #document-body .page")
    assert page.locator("#document-body mark, .boxes span").count() == 0
    assert page.locator("#document-quote").is_hidden()


def test_keys_alone_are_enough(page: Page) -> None:
    def focused() -> str:
        return str(page.evaluate("document.activeElement.textContent.trim()"))

    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.type("How do ants find food/prey?")
    page.keyboard.press("Enter")
    answered(page)
    assert page.locator("#question").input_value() == "How do ants find food/prey?"
    page.get_by_role("button", name=re.compile("Show .* weaker")).press("Enter")
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    assert focused() == "notes.md"
    page.keyboard.press("ArrowDown")
    second = page.evaluate("document.activeElement.getAttribute('href')")
    assert second != page.locator(".passage .title").first.get_attribute("href")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert marked(page) == "Ants follow trails of scent 😀👩‍🚀 to find food."
    assert page.evaluate("document.activeElement.id") == "document-title"
    page.keyboard.press("Escape")
    page.wait_for_selector("#document", state="hidden")
    assert focused() == "notes.md"
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "question"


def test_a_link_brings_everything_back(tab: Tab, server: Server) -> None:
    with tab() as page:
        ready(page, server.url)
        page.get_by_label("Search only in notes.md").check()
        ask(page, "How long does a trail of scent last?")
        page.locator(".passage").first.get_by_role("button", name="Copy link").click()
        page.wait_for_selector("#toast:has-text('Link copied')")
        link = page.evaluate("navigator.clipboard.readText()")
        assert set(parse_qs(urlsplit(link).fragment)) == {"id", "start", "end", "q", "in"}
    with tab() as page:
        page.goto(link)
        assert marked(page) == TRAIL
        answered(page)
        assert page.locator("#question").input_value() == "How long does a trail of scent last?"
        assert page.get_by_label("Search only in notes.md").is_checked()
        assert set(page.locator(".passage .title").all_inner_texts()) == {"notes.md"}
        assert page.locator(".passage[data-open] .quote mark.best").inner_text() == TRAIL
        page.reload()
        assert marked(page) == TRAIL


def test_an_open_passage_stays_marked_when_the_list_of_documents_comes_late(page: Page) -> None:
    ask(page, "How long does a trail of scent last?")
    page.locator(".passage .title").first.click()
    assert marked(page) == TRAIL
    held: list[Route] = []
    page.route(re.compile(r"/documents(\?.*)?$"), lambda waiting: held.append(waiting))
    page.reload()
    assert marked(page) == TRAIL
    answered(page)
    assert held, "the list was not asked for"
    assert page.locator(".passage[data-open] .quote mark.best").inner_text() == TRAIL
    for waiting in [*held]:
        waiting.continue_()
    page.wait_for_selector("#documents li")
    assert page.locator(".passage[data-open] .quote mark.best").inner_text() == TRAIL


def test_back_and_forward_go_through_places(page: Page) -> None:
    ask(page, "How long does a trail of scent last?")
    page.locator(".passage .title").first.click()
    assert marked(page) == TRAIL
    ask(page, "Where does a honey bee make wax?")
    assert page.locator("#document").is_hidden(), "another question closes the document"
    page.go_back()
    assert marked(page) == TRAIL
    answered(page)
    assert page.locator("#question").input_value() == "How long does a trail of scent last?"
    page.go_back()
    page.wait_for_selector("#document", state="hidden")
    page.go_forward()
    assert marked(page) == TRAIL


def test_links_that_make_no_sense_say_so(tab: Tab, server: Server) -> None:
    with tab(allowed=("404",)) as page:
        ready(page, server.url, "#id=0123456789abcdef0123&start=5&end=9")
        page.wait_for_selector("#document .problem")
        assert "not here" in page.locator("#document .problem").inner_text()
        page.keyboard.press("Escape")
        page.wait_for_selector("#document", state="hidden")
        identity = page.locator("#documents a", has_text="notes.md").get_attribute("href")
        assert identity is not None
        # Offsets behind the end, and a question that is only white space.
        ready(page, server.url, f"{identity}&start=99999999&end=-7&q=++&nonsense=%F0")
        page.wait_for_selector("#document-note:has-text('beyond the end')")
        assert page.locator("#document-body mark").count() == 0
        ready(page, server.url, f"{identity}&start=99999998&end=99999999")
        page.wait_for_selector("#document-body .text:has-text('honey bee')")


def test_the_strip_leads_to_the_best_sentence_of_a_part(page: Page, server: Server) -> None:
    ask(page, BEES)
    page.locator(".passage .title", has_text="origin-of-species.txt").first.click()
    marked(page)
    strip = page.locator("#heat")
    assert strip.locator("span").count() == 64
    before = fragment(page)
    heights = strip.locator("span").evaluate_all(
        "(cells) => cells.map((cell) => parseFloat(cell.style.blockSize))"
    )
    now = int(strip.get_attribute("aria-valuenow") or 0) - 1
    other = max((n for n in range(64) if n != now), key=lambda n: heights[n])
    box = strip.bounding_box()
    page.mouse.click(box["x"] + box["width"] * (other + 0.5) / 64, box["y"] + 10)
    page.wait_for_function("(url) => location.href !== url", arg=page.url)
    place = fragment(page)
    assert place["id"] == before["id"]
    with server.client() as client:
        size = client.get(f"/documents/{place['id'][0]}").json()["characters"]
    assert int(64 * (int(place["start"][0]) + int(place["end"][0])) / 2 / size) == other
    page.wait_for_function(f"() => document.getElementById('heat').ariaValueNow === '{other + 1}'")
    strip.focus()
    page.keyboard.press("Home")
    page.wait_for_function(
        "() => document.getElementById('document-body').scrollTop < 5 "
        "&& document.getElementById('heat').ariaValueNow === '1'"
    )


def test_a_book_scrolls_without_gaps_and_stays_small(page: Page, folder: Path) -> None:
    text = milepost.read(folder / "origin-of-species.txt").text
    ask(page, BEES)
    page.locator(".passage .title", has_text="origin-of-species.txt").first.click()
    marked(page)
    body = page.locator("#document-body")
    for direction in (1, -1):
        for _ in range(25):
            body.evaluate("(node, by) => node.scrollBy(0, by * 2500)", direction)
            page.evaluate("() => new Promise(requestAnimationFrame)")
        shown = body.locator(".text").evaluate("(node) => node.textContent")
        assert len(shown) < 200_000
        # Line breaks may be shown as spaces, which changes no offset.
        assert "".join(shown.split()) in "".join(text.split())
    assert page.locator("#document-body .text > div").count() <= 10
    page.locator(".passage .title", has_text="origin-of-species.txt").nth(1).click()
    mark = page.locator("#document-body mark.best")
    page.wait_for_function(
        "(start) => location.hash.includes(start)",
        arg=f"start={page.locator('.passage').nth(1).get_attribute('data-start')}",
    )
    page.wait_for_timeout(500)
    place, frame = mark.first.bounding_box(), body.bounding_box()
    assert frame["y"] <= place["y"] < frame["y"] + frame["height"], "the mark is in view"


def test_next_and_previous_result(page: Page) -> None:
    page.get_by_label("Search only in origin-of-species.txt").check()
    ask(page, BEES)
    page.locator(".passage .title").first.click()
    marked(page)
    total = page.locator(".passage").count()
    assert total > 1
    assert page.locator("#previous-result").is_disabled()
    assert page.locator("#result-total").inner_text() == f"Result 1 of {total}"
    page.click("#next-result")
    page.wait_for_selector(f"#result-total:has-text('Result 2 of {total}')")
    second = page.locator(".passage").nth(1)
    assert second.locator("h3").inner_text() == f"Result 2 of {total}"
    assert fragment(page)["start"][0] == second.get_attribute("data-start")


def test_the_last_answer_stays_until_the_next_one_is_there(page: Page) -> None:
    ask(page, "How long does a trail of scent last?")
    held: list[Route] = []
    page.route("**/search", lambda waiting: held.append(waiting))
    page.fill("#question", BEES)
    page.press("#question", "Enter")
    page.wait_for_selector("#results[aria-busy=true]")
    assert page.locator(".quote mark.best").first.inner_text() == TRAIL
    held[0].continue_()
    answered(page)
    assert page.locator(".quote mark.best").first.inner_text() != TRAIL


def test_more_passages_can_be_asked_for(page: Page) -> None:
    ask(page, BEES)
    weaker = page.get_by_role("button", name=re.compile("Show .* weaker"))
    if weaker.count():
        weaker.click()
    listed = page.locator(".passage").count()
    page.get_by_role("button", name="Show more results").click()
    page.wait_for_function(
        "(count) => document.querySelectorAll('.passage').length > count", arg=listed
    )
    result = f"Result {listed + 1} of "
    page.wait_for_selector(f".passage:has(:focus) h3:has-text('{result}')")
