"""The list of documents: adding, watching, filtering, removing; keys; a server that fails."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import milepost
from support.browser_page import Page, Route, Tab, Tabs, answered, ask, open_page, ready, remove
from support.files import write_files
from support.page_documents import HERONS, LARKS, OWLS, harbour
from support.server import Server

KEY = "a-key-of-the-tests"


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("closed")
    (place / "harbour.pdf").write_bytes(harbour())
    with milepost.open(place / "index", model=milepost.load("landmark-light")) as index:
        index.add([place / "harbour.pdf"])
    options = ["--db", str(place / "index"), "--read-only"]
    with Server(*options, cache=place / "cache", more={"MILEPOST_API_KEY": KEY}) as running:
        yield running


def test_files_are_added_watched_replaced_and_removed(
    tabs: Tabs, own: Server, tmp_path: Path
) -> None:
    files = {"good.txt": LARKS, "broken.pdf": b"%PDF-1.4\nnothing of a PDF", "empty.md": b""}
    files["picture.png"] = b"\x89PNG\r\n"
    write_files(tmp_path, files)
    with tabs(own.url) as page:
        page.goto(own.url)
        page.wait_for_selector("#results h2:has-text('No documents yet')")
        page.set_input_files("#files", [tmp_path / name for name in files])
        page.wait_for_selector("#documents li:has-text('good.txt')")
        page.wait_for_selector("#failure-list li", state="attached")
        assert page.locator("#failure-list").is_hidden(), "folded"
        assert "broken.pdf could not be read" in page.locator("#toast").inner_text()
        page.click("#failures summary")
        refused = page.locator("#uploads li").all_inner_texts()
        assert [re.sub(r"\s+", " ", text).strip() for text in refused] == [
            "empty.md Not uploaded: it is empty",
            "picture.png Not uploaded: files ending in .png are not read",
        ]
        assert page.locator("#failure-list li").inner_text().startswith("broken.pdf")
        assert str(tmp_path) not in page.locator("#side").inner_text()
        page.wait_for_selector("#results h2:has-text('What do you want to know?')")

        page.get_by_label("Dismiss the message about empty.md").click()
        assert page.locator("#uploads li").count() == 1
        with page.expect_response(lambda answer: answer.request.method == "DELETE"):
            page.get_by_label("Dismiss the message about broken.pdf").click()
        assert page.locator("#failure-list li").count() == 0
        page.set_input_files("#files", tmp_path / "broken.pdf")
        page.wait_for_selector("#failure-list li")
        page.get_by_label("Dismiss the message about broken.pdf").click()
        page.reload()
        page.wait_for_selector("#documents li:has-text('good.txt')")
        page.wait_for_timeout(500)
        assert page.locator("#failure-list li").count() == 0, "its copy is gone from the server"

        ask(page, "When do larks sing?")
        assert page.locator(".passage .title").first.inner_text() == "good.txt"
        (tmp_path / "good.txt").write_text(OWLS, encoding="utf-8")
        (tmp_path / "other.txt").write_text(HERONS, encoding="utf-8")
        page.set_input_files("#files", [tmp_path / "good.txt", tmp_path / "other.txt"])
        assert "Replace “good.txt”?" in page.locator("#confirm-title").inner_text()
        page.click("#confirm-no")
        page.wait_for_selector("#documents li:has-text('other.txt')")
        page.get_by_label("Remove other.txt").click()
        page.click("#confirm-yes")
        page.wait_for_selector("#documents li:has-text('other.txt')", state="detached")
        page.set_input_files("#files", tmp_path / "good.txt")
        page.click("#confirm-yes")
        page.wait_for_function(
            "() => !document.getElementById('results').textContent.includes('Larks')"
        )

        page.get_by_label("Remove good.txt").click()
        page.keyboard.press("Escape")
        page.wait_for_selector("#confirm-dialog", state="hidden")
        assert page.locator("#documents li").count() == 1
        page.locator("#documents a").click()
        page.wait_for_selector("#document-body:has-text('Owls call')")
        remove(page, "good.txt")
        page.wait_for_selector("#document", state="hidden")
    with own.client() as client:
        assert client.get("/documents").json()["documents"] == []


def test_files_are_dropped_on_the_page(tabs: Tabs, own: Server) -> None:
    with tabs(own.url) as page:
        open_page(page, own.url)
        transfer = page.evaluate_handle(
            """(text) => {
              const transfer = new DataTransfer();
              transfer.items.add(new File([text], "hérons 🪿.txt"));
              return transfer;
            }""",
            HERONS,
        )
        page.dispatch_event("body", "dragenter", {"dataTransfer": transfer})
        page.wait_for_selector("#drop", state="visible")
        page.dispatch_event("body", "drop", {"dataTransfer": transfer})
        page.wait_for_selector("#drop", state="hidden")
        page.wait_for_selector("#documents li:has-text('hérons 🪿.txt')")
        ask(page, "Where do herons fish?")
        best = page.locator("mark.best").first.inner_text()
        assert best == "Herons fish in the shallows of the brook."
        remove(page, "hérons 🪿.txt")


def test_progress_is_shown_while_files_are_read(tabs: Tabs, own: Server) -> None:
    current = {"id": "x", "name": "<b>long</b>.pdf", "number": 3, "documents": 12}
    current |= {"sentences": 840, "done": 120}
    idle = {"idle": True, "current": None, "waiting": 0, "indexed": 0, "failed": [], "notes": []}
    answers = [idle | {"idle": False, "current": current, "waiting": 2}]
    with tabs(own.url) as page:
        page.route("**/indexing", lambda route: route.fulfill(json=answers[0]))
        page.goto(own.url)
        page.wait_for_selector("#indexing progress")
        text = " ".join(page.locator("#indexing").inner_text().split())
        assert text == ("Reading <b>long</b>.pdf Document 3 of 12. 2 more uploads wait.")
        bar = page.locator("#indexing progress")
        assert (bar.get_attribute("max"), bar.evaluate("(node) => node.value")) == ("840", 120)
        answers[0] = idle
        page.wait_for_selector("#indexing progress", state="detached")
        page.wait_for_function(
            "() => document.getElementById('announcer').textContent.includes('Indexing is done')"
        )


def test_the_list_is_filtered_and_limits_the_search(tab: Tab, server: Server) -> None:
    many = [
        {
            "id": f"{number:020x}", "name": f"folder/report {number}.pdf", "characters": 10,
            "sentences": 1, "pdf": True, "uploaded": False, "notes": [],
        }
        for number in range(1500)
    ]  # fmt: skip
    with tab() as page:

        def listing(route) -> None:
            first = "cursor" not in route.request.url
            part = many[:1000] if first else many[1000:]
            route.fulfill(json={"documents": part, "cursor": "next" if first else None})

        page.route(re.compile(r"/documents\?limit"), listing)
        ready(page, server.url)
        assert page.locator("#library-count").inner_text() == "1,500"
        assert page.locator("#documents li").count() == 200
        assert "1,300 more" in page.locator("#documents-note").inner_text()
        page.fill("#filter", "77 REPORT")
        wanted = [each["name"] for each in many if "77" in each["name"]]
        page.wait_for_function(
            "(count) => document.querySelectorAll('#documents li').length === count",
            arg=len(wanted),
        )
        assert page.locator("#documents a").all_inner_texts() == wanted
        page.fill("#filter", "nothing like it")
        page.wait_for_selector("#documents-note:has-text('None of 1,500 documents')")
        page.unroute(re.compile(r"/documents\?limit"))
        ready(page, server.url)
        page.get_by_label("Search only in notes.md").check()
        page.get_by_label("Search only in harbour.pdf").check()
        ask(page, "How do bees make the cells of the honeycomb?")
        assert set(page.locator(".passage .title").all_inner_texts()) <= {"notes.md", "harbour.pdf"}
        assert page.locator("#scope").inner_text() == "Only 2 documents. Search all"
        page.get_by_role("button", name="Search all").click()
        page.wait_for_selector(".passage .title:has-text('origin-of-species.txt')")


def test_a_filter_limits_list_and_search_and_is_in_the_address(page: Page) -> None:
    page.click("#filters summary")
    page.select_option("#filter-kind", "pdf")
    assert page.locator("#documents a").all_inner_texts() == ["harbour.pdf"]
    ask(page, "When is anchoring in the channel forbidden?")
    assert set(page.locator(".passage .title").all_inner_texts()) == {"harbour.pdf"}
    page.reload()
    answered(page)
    # the kinds to choose from come with the list of documents
    page.wait_for_function("() => document.querySelector('#filter-kind').value === 'pdf'")
    assert set(page.locator(".passage .title").all_inner_texts()) == {"harbour.pdf"}
    page.get_by_role("button", name="Search all").click()
    page.wait_for_function("() => document.querySelectorAll('#documents li').length === 4")
    assert page.locator("#filter-kind").input_value() == ""


def test_a_key_is_asked_for_and_pictures_come_with_it(tabs: Tabs, closed: Server) -> None:
    question = "#q=When+is+anchoring+in+the+channel+forbidden%3F"
    with tabs(closed.url, allowed=("401",)) as page:
        page.goto(f"{closed.url}/{question}")
        page.wait_for_selector("#key-dialog[open]")
        page.keyboard.press("Escape")
        assert page.locator("#key-dialog").is_visible()
        page.fill("#key-field", "not the key")
        page.press("#key-field", "Enter")
        assert "without spaces" in page.locator("#key-problem").inner_text()
        page.fill("#key-field", "not-the-key")
        page.press("#key-field", "Enter")
        page.wait_for_selector("#key-problem:has-text('did not accept')")
        page.fill("#key-field", KEY)
        page.press("#key-field", "Enter")
        answered(page)
        page.locator(".passage .title").first.click()
        page.wait_for_selector(".page[data-page='3'] img[src^='blob:']:not([hidden])")
        page.wait_for_selector(".page[data-page='3'] .best")
        assert page.locator("#add-files").is_hidden()
        assert page.locator("[aria-label^='Remove']").count() == 0
        page.reload()
        page.wait_for_selector(".page[data-page='3'] .best")
        assert page.locator("#key-dialog").is_hidden(), "kept for the tab"
        assert KEY not in page.url
        assert page.evaluate("() => localStorage.length") == 0
        assert page.evaluate("() => document.cookie") == ""
    with closed.client() as client:
        assert client.get("/documents").status_code == 401


def test_a_server_that_does_not_answer_is_named(tab: Tab, server: Server) -> None:
    with tab(allowed=("ERR_FAILED", "422", "500", "503")) as page:
        ready(page, server.url)
        page.route("**/search", lambda route: route.abort())
        page.fill("#question", "How long does a trail of scent last?")
        page.press("#question", "Enter")
        problem = page.locator("#results [role=alert]")
        problem.wait_for()
        assert "does not answer" in problem.inner_text()
        page.unroute("**/search")
        page.route(
            "**/search",
            lambda route: route.fulfill(status=500, json={"error": {"message": "<i>no</i>"}}),
        )
        page.get_by_role("button", name="Try again").click()
        page.wait_for_selector("#results [role=alert]:has-text('<i>no</i>')")
        page.unroute("**/search")
        unusable = {"error": {"message": "not a question"}}
        page.route("**/search", lambda route: route.fulfill(status=422, json=unusable))
        page.get_by_role("button", name="Try again").click()
        page.wait_for_selector("#results [role=alert]:has-text('not a question')")
        assert page.locator("#results button").count() == 0, "it would fail once more"
        page.unroute("**/search")
        tries = []

        def busy_once(route) -> None:
            tries.append(route)
            if len(tries) == 1:
                route.fulfill(status=503, headers={"Retry-After": "1"}, json={})
            else:
                route.continue_()

        page.route("**/search", busy_once)
        page.press("#question", "Enter")
        answered(page)
        assert page.locator(".passage").count() > 0
        assert len(tries) == 2


def test_what_is_typed_stays_while_documents_are_chosen(page: Page) -> None:
    page.fill("#question", "not asked yet")
    page.get_by_label("Search only in notes.md").check()
    page.locator("#documents a", has_text="notes.md").click()
    page.wait_for_selector("#document-body .text")
    assert page.locator("#question").input_value() == "not asked yet"


def test_a_pdf_whose_file_is_gone_is_shown_as_text(tab: Tab, server: Server) -> None:
    with tab(allowed=("404",)) as page:
        gone = {"error": {"message": "the file is not there any more"}}
        page.route("**/pages", lambda route: route.fulfill(status=404, json=gone))
        ready(page, server.url)
        page.locator("#documents a", has_text="harbour.pdf").click()
        page.wait_for_selector("#document-body .text:has-text('pilot')")
        assert "the file is not there any more" in page.locator("#document-note").inner_text()
        assert page.locator("#view-choice").is_hidden()


def test_pages_are_shown_where_boxes_cannot_be_found(tab: Tab, server: Server) -> None:
    with tab(allowed=("422",)) as page:
        changed = {"error": {"message": "the file has changed"}}
        page.route("**/boxes?*", lambda route: route.fulfill(status=422, json=changed))
        ready(page, server.url)
        ask(page, "Where must ships that carry timber unload?")
        page.locator(".passage .title", has_text="harbour.pdf").first.click()
        page.wait_for_selector("#document-note:has-text('the file has changed')")
        page.wait_for_selector(".page[data-page='1'] img[src^='blob:']")


def test_a_page_that_did_not_come_is_asked_for_again(tab: Tab, server: Server) -> None:
    with tab(allowed=("ERR_FAILED",)) as page:
        page.route("**/pages/1.png?*", lambda route: route.abort())
        ready(page, server.url)
        page.locator("#documents a", has_text="harbour.pdf").click()
        first = page.locator(".page[data-page='1']")
        again = first.get_by_role("button", name="Try again")
        again.wait_for()
        page.wait_for_load_state("networkidle")  # it is asked for twice when it is opened
        page.unroute("**/pages/1.png?*")
        again.click()
        first.locator("img").wait_for()
        assert not again.count()


def test_an_upload_is_refused_cancelled_or_sent_again(
    tabs: Tabs, own: Server, tmp_path: Path
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method != "POST" or len(held) == 3:
            route.continue_()
            return
        held.append(route)
        if len(held) == 2:
            route.fulfill(status=413, body="<html>413 Request Entity Too Large</html>")
        elif len(held) == 3:
            route.fulfill(status=507, json={"error": {"message": "no space is left"}})

    with tabs(own.url, allowed=("net::ERR_", "413", "507")) as page:
        open_page(page, own.url)
        with own.client() as client:
            told = client.get("/ready").json() | {"max_upload": 10}
        page.route("**/ready", lambda route: route.fulfill(json=told))
        page.route(re.compile("/documents$"), hold)
        page.reload()
        page.wait_for_selector("#results h2")
        files = {"long": b"x" * 11, "slow": b"Slow.", "wide": b"Wide.", "next": b"Next."}
        page.set_input_files("#files", [write_files(tmp_path, files) / name for name in files])
        page.wait_for_selector("#uploads li:has-text('it is larger than 10 bytes')")
        page.wait_for_selector("#uploads li:has-text('Uploading')")
        page.get_by_label("Cancel the upload of slow").click()
        page.wait_for_selector("#uploads li:has-text('wide'):has-text('proxy')")
        page.wait_for_selector("#uploads li:has-text('no space is left')")
        page.get_by_role("button", name=re.compile("Upload .* again")).click()
        page.wait_for_selector("#documents li:has-text('next')")
        assert page.locator("#uploads li").count() == 2
        assert page.locator("#documents li", has_text="slow").count() == 0
        remove(page, "next")


def test_the_last_question_wins(page: Page) -> None:
    held = []
    page.route("**/search", lambda route: held.append(route) if not held else route.continue_())
    page.fill("#question", "How do bees make the cells of the honeycomb?")
    page.press("#question", "Enter")
    page.wait_for_selector("#results[aria-busy=true]")
    ask(page, "How long does a trail of scent last?")
    page.wait_for_selector(".passage")
    assert page.locator(".passage .title").first.inner_text() == "notes.md"
    page.go_back()
    page.go_forward()
    answered(page)
    assert page.locator("#question").input_value() == "How long does a trail of scent last?"
