"""Files that are read while the page is open, also behind a proxy."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.browser_page import Tabs, ask, open_page, ready, remove
from support.locked_pdf import locked
from support.nginx import nginx
from support.page_documents import HERONS, LARKS, NOTES, harbour
from support.pdf_writer import pdf_of
from support.server import Server


def test_a_locked_file_is_opened_with_its_password(tabs: Tabs, own: Server, tmp_path: Path) -> None:
    vault = pdf_of(["The vault of the office opens at nine on Mondays."])
    (tmp_path / "vault.pdf").write_bytes(locked(vault, "s3same"))
    with tabs(own.url, allowed=("422",)) as page:
        open_page(page, own.url)
        page.set_input_files("#files", tmp_path / "vault.pdf")
        page.wait_for_selector("#failures", state="visible")
        page.click("#failures summary")
        field = page.get_by_label("Password of vault.pdf")
        field.fill("open")
        field.press("Enter")
        page.wait_for_selector("#failure-list [role=alert]:has-text('password')")
        assert field.input_value() == ""
        field.fill("s3same")
        page.locator("#failure-list button[type=submit]").click()
        page.wait_for_selector("#documents li:has-text('vault.pdf')")
        page.wait_for_selector("#failures", state="hidden")
        page.locator("#documents a").click()
        page.wait_for_selector("#document-body .text:has-text('nine on Mondays')")
        remove(page, "vault.pdf")


def test_results_are_shown_and_renewed_while_files_are_read(tabs: Tabs, own: Server) -> None:
    with own.client() as client, tabs(own.url) as page:
        client.post("/documents", files={"file": ("larks.txt", LARKS)})
        own.indexed(client)
        waits = {"idle": False, "waiting": 1, "current": None}
        reading = [client.get("/indexing").json() | waits]
        page.route(
            "**/indexing",
            lambda route: route.fulfill(json=reading[0]) if reading else route.continue_(),
        )
        page.goto(own.url)
        page.wait_for_selector("#documents li")
        ask(page, "Where do herons fish?")
        page.wait_for_selector("#results .note:visible")
        assert "Herons" not in page.locator("#results").inner_text()
        client.post("/documents", files={"file": ("herons.txt", HERONS)})
        own.indexed(client)
        reading.clear()
        page.wait_for_selector("mark.best:has-text('Herons')")
        page.wait_for_selector("#results .note", state="hidden")
        for each in client.get("/documents").json()["documents"]:
            client.delete(f"/documents/{each['id']}")


def test_a_list_item_is_shown_below_its_lead_in(tabs: Tabs, own: Server) -> None:
    rules = "Not allowed on board are:\n\n- smoking\n- dogs and cats\n\nMeals are at noon.\n"
    with own.client() as client, tabs(own.url) as page:
        (added,) = client.post("/documents", files={"file": ("rules.txt", rules)}).json()[
            "documents"
        ]
        own.indexed(client)
        ready(page, own.url)
        ask(page, "dogs and cats")
        quote = page.locator(".passage .quote").first
        assert quote.inner_text() == "Not allowed on board are:\n- dogs and cats"
        assert quote.locator("mark").inner_text() == "- dogs and cats"
        client.delete(f"/documents/{added['id']}")


def test_a_row_of_a_table_is_shown_under_its_columns(tabs: Tabs, own: Server) -> None:
    fees = "vessel,fee in euros,quay\nTimber ship,120,north\nCoal barge,95,south\nFerry,60,east\n"
    with own.client() as client, tabs(own.url) as page:
        (added,) = client.post("/documents", files={"file": ("fees.csv", fees)}).json()["documents"]
        own.indexed(client)
        ready(page, own.url)
        ask(page, "What fee does a coal barge pay?")
        first = page.locator(".passage table").first
        assert first.locator("th").all_inner_texts() == ["vessel", "fee in euros", "quay"]
        assert first.locator("mark.best").all_inner_texts() == ["Coal barge", "95", "south"]
        client.delete(f"/documents/{added['id']}")


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
