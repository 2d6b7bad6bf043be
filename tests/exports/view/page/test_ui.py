"""The page as people use it: from the disk, without a network, with hostile texts."""

import re
from pathlib import Path

import pytest

import milepost
from milepost.encoder import Encoder
from milepost.exports.view import write_page
from milepost.types import Mark
from support.browser_page import Tab, ask, open_file
from support.files import write_files
from support.pdf_writer import PdfPage, write_pdf

NOTES = "Ants follow trails of scent to find food.\n\nA trail of scent fades within an hour.\n"


def test_a_question_leads_to_the_sentence_in_its_text(tab: Tab, small_page: Path) -> None:
    with tab(small_page) as page:
        open_file(page, small_page)
        ask(page, "how long does a trail of scent last")
        card = page.locator(".passage").first
        assert card.locator("h3").inner_text().startswith("Result 1 of ")
        assert card.locator(".title").inner_text() == "notes.txt"
        assert card.locator(".quote mark.best").inner_text().startswith("A trail of scent fades")
        assert card.locator(".likely strong").inner_text() in ("very likely", "likely", "possible")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        mark = page.locator("#document-body mark.best")
        assert mark.inner_text().startswith("A trail of scent fades within an hour.")
        assert page.locator("#document-title").inner_text() == "notes.txt"
        assert page.locator("#document-where").inner_text().lower() == "page 2"
        assert page.locator("#heat span").count() == 64
        link = page.url
        page.keyboard.press("Escape")
        assert page.locator("#document").is_hidden()
        page.goto("about:blank")
        page.goto(link)  # as somebody else gets it
        page.wait_for_selector("#document-body mark.best")
        assert mark.inner_text().startswith("A trail of scent fades within an hour.")


def test_documents_have_titles_authors_and_dates(tab: Tab, light: Encoder, tmp_path: Path) -> None:
    about = {"title": "The House of Bees", "author": "Ida Lund", "date": "2023-05-04"}
    path = tmp_path / "page.html"
    with milepost.open(model=light) as index:
        pages = Mark(0, "page", "1"), Mark(NOTES.index("A trail"), "page", "2")
        index.add(milepost.Document("a.pdf", NOTES, marks=pages, properties=about))
        index.add(milepost.Document("plain.txt", "The ship sails at noon."))
        write_page(index, path)
    with tab(path, permissions=["clipboard-read", "clipboard-write"]) as page:
        open_file(page, path)
        listed = page.locator("#documents li .about").all_inner_texts()
        assert [list(filter(None, each.split("\n"))) for each in listed] == [
            ["The House of Bees", "a.pdf · 2 pages · 4 May 2023"],
            ["plain.txt"],
        ]
        ask(page, 'how long does "a trail of scent" last')
        card = page.locator(".passage").first
        assert card.locator(".where").inner_text().startswith("The House of Bees · 4 May 2023")
        assert "a.pdf" in card.locator(".where").inner_text()
        card.locator(".menu > summary").click()
        card.get_by_role("button", name="APA").click()
        assert page.evaluate("navigator.clipboard.readText()").endswith(
            "Lund, I. (2023). The House of Bees."
        )
        card.locator(".title").click()
        assert page.locator("#document-title").inner_text() == "The House of Bees"
        assert page.locator("#document-where").inner_text() == "Page 2 · a.pdf"


def test_rows_of_tables_are_those_of_python(tab: Tab, light: Encoder, tmp_path: Path) -> None:
    files = {
        "fees.csv": "vessel,fee in euros,quay\nTimber ship,120,north\nCoal barge,95,south\n",
        "tides.md": "# Tides 🌊\n\nThe tide table:\n\n| tide | hour |\n|---|---|\n"
        "| spring 🌊 | six \\| seven |\n| neap | ten |\n\nA text behind it.\n",
    }
    write_files(tmp_path, files)
    questions = (
        "What fee does a coal barge pay?",
        "At which hour is the neap tide?",
        "text behind",
        "What did the dredger cost in 2021?",
    )
    pdf = PdfPage()
    figures = (("Cost of ships", "2022", "2021"), ("Dredger", "$ 1,300", "(90)"), ("Tug (6)", "70"))
    for number, row in enumerate((*figures, ("Buoys of 2020", "-", "5%"))):
        for column, cell in enumerate(row):
            pdf.text(72 + 120 * column, 700 - 14 * number, cell)
    (tmp_path / "costs.pdf").write_bytes(write_pdf([pdf]))
    target = tmp_path / "page.html"
    with milepost.open(tmp_path / "index", model=light) as index:
        index.add([tmp_path / name for name in (*files, "costs.pdf")])
        write_page(index, target)
        expected = [
            [passage.table and passage.table.rows for passage in index.search(question)]
            for question in questions
        ]
    assert any(expected[0])
    assert any(expected[1])
    assert any(expected[3])
    with tab(target) as page:
        open_file(page, target)
        for question, tables in zip(questions, expected, strict=True):
            ask(page, question)
            for card, rows in zip(page.locator(".passage").all(), tables, strict=False):
                shown = [row.locator("td").all_inner_texts() for row in card.locator("tr").all()]
                assert [cells for cells in shown if cells] == [
                    list(row.cells) for row in rows or ()
                ]


def test_hostile_texts_are_shown_as_they_are(tab: Tab, small_page: Path) -> None:
    with tab(small_page) as page:
        open_file(page, small_page)
        assert "<img src=x" in page.locator("#documents").inner_text()
        ask(page, "where is the password of the vault")
        page.get_by_role("button", name=re.compile("Show .* weaker")).click()
        assert "<script>" in page.locator(".passage").first.inner_text()
        page.locator(".passage .title").first.click()
        page.wait_for_selector("#document-body .text")
        text = page.locator("#document-body .text").text_content() or ""
        for part in ("<!-- and -->", "\u2028", "\u2029", "\x00", "\ufffd\ufffd", "</style>"):
            assert part in text
        ask(page, "who counts the ships at noon")
        assert page.locator("mark.best").first.inner_text().startswith("The harbour master 😀👩‍🚀")
        assert page.evaluate("window.hacked") is None
        assert page.locator("#results script, #document script, main img").count() == 0


def test_what_cannot_be_asked_is_said_plainly(tab: Tab, small_page: Path) -> None:
    with tab(small_page) as page:
        open_file(page, small_page)
        for question, said in (("?!", "neither letter nor digit"), ("bees " * 200, "too long")):
            page.fill("#question", question)
            page.press("#question", "Enter")
            assert said in page.locator("#results [role=alert]").inner_text()


def test_the_policy_allows_no_request(tab: Tab, small_page: Path) -> None:
    with tab(small_page, allowed=("Content Security Policy", "HttpError")) as page:
        open_file(page, small_page)
        refused = page.evaluate(
            "fetch('https://example.org/').then(() => 'sent', (error) => error.name)"
        )
        assert refused == "TypeError"
        violations = page.evaluate("window.violations.splice(0)")
        assert any(violation.startswith("connect-src") for violation in violations)
        page.evaluate("""document.body.append(Object.assign(document.createElement("script"),
            { textContent: "window.hacked = 1" }))""")
        assert page.evaluate("window.hacked") is None
        page.evaluate("window.violations.splice(0)")


def test_a_damaged_page_says_so(tab: Tab, small_page: Path, tmp_path: Path) -> None:
    html = small_page.read_text(encoding="utf-8")
    at = html.index('type="text/plain">') + 20_000
    broken = tmp_path / "broken.html"
    broken.write_text(html[:at] + html[at + 5_000 :], encoding="utf-8")
    with tab(broken) as page:
        page.goto(broken.as_uri())
        assert "damaged" in page.locator("#results [role=alert]").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(
    scheme: str, tab: Tab, small_page: Path, axe: str
) -> None:
    with tab(small_page, color_scheme=scheme, viewport={"width": 390, "height": 780}) as page:
        open_file(page, small_page)
        ask(page, "how long does a trail of scent last")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.evaluate(axe)  # not a script of the page, so its policy does not hold
        found = page.evaluate("axe.run().then(({ violations }) => violations)")
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []


def test_paper_has_the_passages_and_no_controls(tab: Tab, small_page: Path) -> None:
    with tab(small_page) as page:
        open_file(page, small_page)
        ask(page, "how long does a trail of scent last")
        page.emulate_media(media="print")
        assert page.locator(".passage .quote").first.is_visible()
        assert page.locator("#side").is_hidden()
        assert page.locator("#search-form button").is_hidden()
