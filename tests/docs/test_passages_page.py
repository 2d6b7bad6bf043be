"""The page about passages says what the benches have measured."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "make_passages.py"


def test_the_page_is_up_to_date(made: dict) -> None:
    """What stands in docs is what the figures give."""
    text = made["page"](*made["measured"]())
    assert text == (ROOT / "docs" / "results-passages.md").read_text(encoding="utf-8")


def test_every_row_stands_in_the_page(made: dict) -> None:
    """Losing rows included."""
    grown, alike = made["measured"]()
    text = made["page"](grown, alike)
    for row in grown["rows"]:
        assert f" {100 * row['mean']:.1f} |" in text
    assert text.count("| vectors, ") + text.count("| places, ") == len(alike["rows"]) - 2
