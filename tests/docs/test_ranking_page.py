"""The page about the ranking says what the benches have measured."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "make_ranking.py"


FIELDS_OF_LATER = {"commit", "budget", "questions", "means", "limits"}
BUDGET = " --budget 1600c"


def test_the_page_is_up_to_date(made: dict) -> None:
    """What stands in docs is what the figures give."""
    text = made["page"](*made["measured"]())
    assert text == (ROOT / "docs" / "results-ranking.md").read_text(encoding="utf-8")


def test_every_row_and_figure_stands_in_the_page(made: dict) -> None:
    """Losing rows included."""
    fitted, again, said = made["measured"]()
    text = made["page"](fitted, again, said)
    for report in said.values():
        assert f"over passages): {report['error']:.3f}" in text
    for report in (*fitted.values(), again):
        for row, of_settings in report["table"].items():
            for figures in of_settings.values():
                cells = " | ".join(f"{values[1]:.1f}" for values in figures.values())
                assert f"| {made['ROWS'].get(row, row)} | {cells} |" in text


def test_limits_and_other_measurements_are_shown_where_they_were_made(made: dict) -> None:
    """A table of minimum scores, and a section with its own command for each file besides."""
    fitted, again, said = made["measured"]()
    before = {key: v for key, v in said["reliability.json"].items() if key not in FIELDS_OF_LATER}
    plain = made["page"](fitted, again, {"reliability.json": before})
    assert "false alarm" not in plain
    assert "### " not in plain
    row = {
        "least": 0.2,
        "false alarms": 0.125,
        "passages": 0.5,
        "misses": {"document": 0.25, "collection": 1.0},
    }
    later = {
        **before,
        "commit": "abc1234",
        "budget": None,
        "means": {"document": {"said": 0.1, "true": 0.3}},
        "limits": [row],
    }
    files = {
        "reliability.json": later,
        "reliability-light.json": {**later, "model": "landmark-light"},
        "reliability-budget.json": {**later, "budget": "1600c"},
    }
    text = made["page"](fitted, again, files)
    assert text.count("| 20% | 12.5% | 0.50 | 25.0% | 100.0% |") == 3
    assert text.count("commit `abc1234`") == 3
    assert text.count("observed probability: document 10.0% and 30.0%.") == 3
    script = "python bench/reliability.py --split test"
    for asked, name in (("", ""), (" --model landmark-light", "-light"), (BUDGET, "-budget")):
        assert f"{script}{asked} --out bench/results/reliability{name}.json" in text


def test_the_picture_needs_nothing_but_the_figures(made: dict) -> None:
    """One SVG, the same for the same figures."""
    pytest.importorskip("matplotlib", reason="the picture needs the eval extra")
    *_, said = made["measured"]()
    assert made["picture"](said["reliability.json"]) == made["picture"](said["reliability.json"])
    assert made["picture"](said["reliability.json"]).startswith("<?xml")
