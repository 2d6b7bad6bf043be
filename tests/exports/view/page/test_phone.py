"""The page on a small screen, with a finger, and before it has started."""

import re
from pathlib import Path

import pytest

import milepost
from milepost.encoder import Encoder
from milepost.exports.view import write_page
from support.browser_page import Tab, answered, ask, open_file
from support.files import write_files

PHONE = {"viewport": {"width": 390, "height": 780}}
LONG = "Donaudampfschifffahrtsgesellschaftskapitaensmuetze" * 4
ADDRESS = f"https://example.org/{'harbour/' * 40}index.html?quay=north"
WIDE = f"""# Harbour fees

| vessel | fee in euros | draught in metres | registration code |
|---|---|---|---|
| Coal barge | 95 | 3 | `{"0123456789abcdef" * 8}` |
| Timber ship | 120 | 4 | `{"fedcba9876543210" * 8}` |
"""
TEXT = f"""# Lighthouses of {LONG}

The register of all lighthouses is at {ADDRESS} for everybody.

The captain wears a {LONG} on Sundays.
"""
TIDES = "".join(
    f"The tide of day {day} is noted by the harbour master at the quay.\n\n" for day in range(30)
)
QUESTIONS = (
    "What fee does a coal barge pay?",
    "Where is the register of all lighthouses?",
    "What does the captain wear on Sundays?",
)

OUTSIDE = """() => {
  const scrolled = ".table, .visually-hidden, [hidden], #side *";
  const beyond = (node) => node.checkVisibility() && !node.closest(scrolled)
    && node.getBoundingClientRect().right > innerWidth + 0.5;
  const all = [...document.querySelectorAll("body *")].filter(beyond);
  const said = all.map((node) => `${node.tagName}.${node.className}`);
  for (const box of document.querySelectorAll(".table")) {
    if (box.getBoundingClientRect().right > innerWidth) said.push("table");
  }
  return said;
}"""


@pytest.fixture(scope="module")
def file(light: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("phone") / "page.html"
    with milepost.open(model=light) as index:
        texts = {"fees.md": WIDE, "lighthouses.md": TEXT, f"{LONG}.txt": TIDES}
        index.add([write_files(tmp_path_factory.mktemp("texts"), texts)])
        write_page(index, path)
    return path


def test_nothing_is_wider_than_a_phone(tab: Tab, file: Path) -> None:
    with tab(file, **PHONE) as page:
        open_file(page, file)
        for question in QUESTIONS:
            ask(page, question)
            if weaker := page.get_by_role("button", name=re.compile("Show .* weaker")).all():
                weaker[0].click()
            assert page.evaluate(OUTSIDE) == []
            page.locator("details.context > summary").first.click()
            page.locator(".passage .menu > summary").first.click()
            assert page.evaluate(OUTSIDE) == []
            tables = page.locator(".passage .table").evaluate_all(
                "(all) => all.map((node) => node.scrollWidth > node.clientWidth)"
            )
            assert all(tables), "they scroll"
            assert tables or question != QUESTIONS[0]
        page.locator(".passage .title").first.click()
        page.wait_for_selector("#document-body .text")
        assert page.evaluate(OUTSIDE) == []


def test_weaker_results_appear_without_a_leap(tab: Tab, file: Path) -> None:
    with tab(file, viewport={"width": 1280, "height": 500}) as page:
        open_file(page, file)
        ask(page, "Xylophone quartz tariffs of 2031 by the harbour master at the quay?")
        page.get_by_role("button", name=re.compile("Show .* weaker")).click()
        page.wait_for_selector(".passage")
        height = "(node) => node.scrollHeight - node.clientHeight"
        assert page.locator("#results").evaluate(height) > 100, "there is something to leap over"
        assert page.locator("#results").evaluate("(node) => node.scrollTop") == 0
        assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"


@pytest.mark.parametrize("sent", [True, False])
def test_a_question_typed_while_the_page_starts_stays(sent: bool, tab: Tab, file: Path) -> None:
    typed = f"""
    new MutationObserver((_, watching) => {{
      if (!document.getElementById("results")) return;
      watching.disconnect();
      document.getElementById("question").value = "{QUESTIONS[0]}";
      if ({str(sent).lower()}) document.getElementById("search-form").requestSubmit();
    }}).observe(document, {{ childList: true, subtree: true }});
    """
    with tab(file, **PHONE) as page:
        page.add_init_script(typed)
        open_file(page, file)
        assert page.locator("#question").input_value() == QUESTIONS[0]
        if not sent:
            page.press("#question", "Enter")
        answered(page)
        assert page.locator(".passage").count() > 0


def test_boxes_of_documents_can_be_seen_without_a_mouse(tab: Tab, file: Path) -> None:
    shown = "() => [...document.querySelectorAll('#documents input')]" + (
        ".map((box) => getComputedStyle(box).opacity)"
    )
    with tab(file, **PHONE, has_touch=True, is_mobile=True) as page:
        open_file(page, file)
        page.click("#library-button")
        assert page.evaluate(shown) == ["1"] * 3
    with tab(file, viewport={"width": 1280, "height": 800}) as page:
        open_file(page, file)
        assert page.evaluate(shown) == ["0"] * 3
        page.locator("#documents input").first.focus()
        assert page.evaluate(shown) == ["1"] * 3
        page.keyboard.press("Space")
        page.locator("#question").focus()
        assert page.evaluate(shown) == ["1"] * 3
