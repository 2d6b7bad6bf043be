"""The page about the ranking says what the benches have measured."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "docs" / "make_ranking.py").is_file():
    pytest.skip("needs the checkout", allow_module_level=True)


@pytest.fixture(scope="module")
def made() -> dict[str, object]:
    return runpy.run_path(str(ROOT / "docs" / "make_ranking.py"))


def test_the_page_is_up_to_date(made: dict) -> None:
    """What stands in docs is what the figures give."""
    text = made["page"](*made["measured"]())
    assert text == (ROOT / "docs" / "results-ranking.md").read_text(encoding="utf-8")


def test_every_row_and_figure_stands_in_the_page(made: dict) -> None:
    """Losing rows included."""
    fitted, again, said = made["measured"]()
    text = made["page"](fitted, again, said)
    for report in (*fitted.values(), again):
        for row, of_settings in report["table"].items():
            for figures in of_settings.values():
                cells = " | ".join(f"{values[1]:.1f}" for values in figures.values())
                assert f"| {row} | {cells} |" in text


def test_the_picture_needs_nothing_but_the_figures(made: dict) -> None:
    """One SVG, the same for the same figures."""
    pytest.importorskip("matplotlib", reason="the picture needs the eval extra")
    *_, said = made["measured"]()
    assert made["picture"](said) == made["picture"](said)
    assert made["picture"](said).startswith("<?xml")
