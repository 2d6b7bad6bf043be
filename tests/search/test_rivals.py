"""Entries of a table of contents, rows of another year, and questions are no answers."""

from pathlib import Path

import pytest

import milepost
from milepost.types import Document

TITLES = ["Scope of the law", "Fees and fines", "Appeals", "Entry into force"]
CONTENTS = "".join(f"{title} {'.' * 20} {page}\n" for page, title in enumerate(TITLES, 3))
SECTIONS = "".join(f"\n{title}\n\nThis is what the law says of it.\n" for title in TITLES)
PRICES = "Paint ........ 40\nFees for the wall ........ 12\nBrushes ........ 30\nNails ........ 2\n"
ROWS = "".join(
    f"{place},{year},{1000 + 37 * year % 90 + len(place)}\n"
    for place in ("Sill", "Opelacd")
    for year in range(2011, 2026)
)


def best(text: str, question: str) -> milepost.Hit:
    with milepost.open() as index:
        index.add(Document("a.txt", text))
        return index.search(question)[0].best


def best_row(folder: Path, table: str, question: str) -> str:
    (folder / "table.csv").write_text(table, encoding="utf-8")
    with milepost.open() as index:
        index.add(milepost.read(folder / "table.csv"))
        return index.search(question)[0].best.text


@pytest.mark.parametrize("title", TITLES)
def test_the_section_comes_before_its_entry(title: str) -> None:
    text = CONTENTS + SECTIONS
    assert best(text, title).start > len(CONTENTS)


def test_entries_whose_page_is_no_leader_away_are_known_by_those_around() -> None:
    text = CONTENTS.replace("Appeals ....................", "Appeals") + SECTIONS
    assert best(text, "Appeals").start > text.index("Entry into force ")


def test_a_list_of_prices_answers() -> None:
    found = best(PRICES + "\nThe wall stands in the yard of the law.\n", "fees for the wall")
    assert "12" in found.text
    assert "contents" not in found.contributions


@pytest.mark.parametrize("year", [2011, 2016, 2020, 2025])
@pytest.mark.parametrize("place", ["Sill", "Opelacd"])
def test_the_row_of_the_year_is_marked(tmp_path: Path, place: str, year: int) -> None:
    question = f"What was the phosphorus at {place} in {year}?"
    row = best_row(tmp_path, f"place,year,phosphorus\n{ROWS}", question)
    assert row.startswith(f"place: {place} | year: {year} ")


def test_years_that_name_columns_lower_no_row(tmp_path: Path) -> None:
    table = "crop,2019,2020\nwheat,512,498\nbarley,301,302\nrye,77,81\n"
    row = best_row(tmp_path, table, "How much wheat was there in 2020?")
    assert row.startswith("crop: wheat")


ANSWERS = {
    "Are dogs allowed in the rooms?": "No, only guide dogs may stay.",
    "Is breakfast included in the price?": "Yes, for all guests.",
    "What is the fee for a boat?": "50 euros.",
    "Who built the bridge?": "Anna Berg of Oslo.",
}


@pytest.mark.parametrize("question", ANSWERS)
@pytest.mark.parametrize("gap", [" ", "\n", "\n\n"])
def test_the_answer_is_marked_and_not_the_question(question: str, gap: str) -> None:
    text = "\n\n".join(f"{asked}{gap}{answer}" for asked, answer in ANSWERS.items())
    with milepost.open() as index:
        index.add(Document("faq.txt", text))
        found = index.search(question)[0]
    assert (found.best.text, found.lead_in) == (ANSWERS[question], question)
    assert sum(found.best.contributions.values()) == pytest.approx(found.best.logit, abs=1e-3)


def test_a_question_at_the_end_is_marked_where_it_is_asked_for() -> None:
    text = "Mary came in late.\n\nShe sat down at the table.\n\nWho has eaten the honey?"
    assert best(text, "who has eaten the honey").text == "Who has eaten the honey?"
