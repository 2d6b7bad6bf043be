"""The page about the ranking says what the benches have measured."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
SCRIPT = "make_ranking.py"


FIELDS_OF_LATER = {
    "commit", "budget", "questions", "means", "limits",
    "fingerprint", "sampled", "collections", "absent",
}  # fmt: skip
BUDGET = " --budget 1600c"


def test_the_page_is_up_to_date(made: dict) -> None:
    """What stands in docs is what the figures give."""
    text = made["page"](*made["measured"]())
    assert text == (ROOT / "docs" / "results-ranking.md").read_text(encoding="utf-8")


def test_every_row_and_figure_stands_in_the_page(made: dict) -> None:
    """Losing rows included."""
    fitted, said = made["measured"]()
    text = made["page"](fitted, said)
    for report in said.values():
        assert f"over passages): {report['error']:.3f}" in text
    for report in fitted.values():
        found = dict(report["evidence"])
        for rows in (found.pop(made["RERANKED"], {}), found):
            for row, of_settings in rows.items():
                for figures in of_settings.values():
                    cells = " | ".join(f"{values[1]:.1f}" for values in figures.values())
                    assert f"| {row} | {cells} |" in text


def test_limits_and_other_measurements_are_shown_where_they_were_made(made: dict) -> None:
    """A table of minimum scores, and a section with its own command for each file besides."""
    fitted, said = made["measured"]()
    before = {key: v for key, v in said["reliability.json"].items() if key not in FIELDS_OF_LATER}
    plain = made["page"](fitted, {"reliability.json": before})
    assert "false alarm" not in plain
    assert "### The light model" not in plain
    assert "### With a budget" not in plain
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
    text = made["page"](fitted, files)
    assert text.count("| 20% | 12.5% | 0.50 | 25.0% | 100.0% |") == 3
    assert text.count("commit `abc1234`") == 3
    assert text.count("observed probability: document 10.0% and 30.0%.") == 3
    script = "python bench/reliability.py --split test"
    for asked, name in (("", ""), (" --model landmark-light", "-light"), (BUDGET, "-budget")):
        assert f"{script}{asked} --out bench/results/reliability{name}.json" in text


def test_sizes_of_collections_and_absent_questions_are_shown(made: dict) -> None:
    """A table by size and a column where they were asked, and the command that asks so."""
    fitted, said = made["measured"]()
    first = {k: v for k, v in said["reliability.json"].items() if k not in FIELDS_OF_LATER}
    misses = {"document": 0.25, "collection": 0.5}
    limit = {"least": 0.2, "false alarms": 0.125, "passages": 0.5, "misses": misses}
    size = {"size": "12", "searched": 11.5, "questions": 40, "error": 0.0125, "said": 0.25,
            "true": 0.125, "misses": {"0.0": 0.1, "0.2": 0.375}}  # fmt: skip
    plain = {**first, "limits": [limit], "sampled": made["SAMPLED"], "collections": [size]}
    text = made["page"](fitted, {"reliability.json": plain})
    assert "By the size of the collection" not in text
    assert "absent" not in text
    assert "reliability.py --split test --out bench/results/reliability.json" in text
    mixed = {**size, "size": "mixed", "searched": 112.0}
    later = {
        **plain,
        "limits": [{**limit, "absent": 0.875}],
        "sampled": {**made["SAMPLED"], "documents": 100},
        "collections": [size, mixed],
        "absent": {"questions": 29, "documents": 13},
    }
    text = made["page"](fitted, {"reliability.json": later})
    cells = "40 | 0.013 | 25.0% | 12.5% | 10.0% | 37.5% |"
    assert f"| 12 | 11.5 | {cells}" in text
    assert f"| mixed | 112.0 | {cells}" in text
    assert "misses at 0% | misses at 20% |" in text
    assert "| 20% | 12.5% | 0.50 | 25.0% | 50.0% | 87.5% |" in text
    assert "29 about 13 documents" in text
    options = "--documents 100 --collection 12,mixed --absent scratch/absent"
    assert f"--split test {options} --out bench/results/reliability.json" in text


def test_figures_of_other_weights_are_marked(made: dict) -> None:
    """By fingerprint; files without one by their day. Unknown models are not judged."""
    said = {"model": "landmark-minilm", "date": "2026-11-21"}
    folder = made["MODELS"][0] / "landmark-minilm"
    ships = made["read_manifest"](folder).fingerprint
    assert f"earlier weights**; those that ship, `{ships}`" in made["earlier"](said)
    assert made["earlier"]({**said, "date": "2026-11-23"}) == ""
    assert made["earlier"]({**said, "fingerprint": ships}) == ""
    other = {**said, "date": "2026-12-24", "fingerprint": "0123456789abcdef"}
    assert "earlier weights**, `0123456789abcdef`;" in made["earlier"](other)
    assert made["earlier"]({**other, "model": "somebody's"}) == ""
    fitted, measured = made["measured"]()
    text = made["page"](fitted, {"reliability.json": {**measured["reliability.json"], **other}})
    assert made["earlier"](other) in text


def test_every_model_has_a_picture(made: dict) -> None:
    """One each, not of the run with a budget; those of today's files are in docs."""
    fitted, said = made["measured"]()
    first = {**said["reliability.json"], "budget": None}
    files = {
        "reliability.json": first,
        "reliability-light.json": {**first, "model": "landmark-light"},
        "reliability-multilingual.json": {**first, "model": "landmark-multilingual"},
        "reliability-sizes.json": first,
        "reliability-budget.json": {**first, "budget": "1600c"},
    }
    assert made["pictures"](files) == list(files)[:3]
    text = made["page"](fitted, files)
    assert text.count("(results/reliability") == 3
    for name in made["pictures"](said):
        assert (ROOT / "docs" / "results" / made["svg"](name)).is_file()
        assert f"(results/{made['svg'](name)})" in made["page"](fitted, said)


def test_the_picture_needs_nothing_but_the_figures(made: dict) -> None:
    """One SVG, the same for the same figures."""
    pytest.importorskip("matplotlib", reason="the picture needs the eval extra")
    *_, said = made["measured"]()
    assert made["picture"](said["reliability.json"]) == made["picture"](said["reliability.json"])
    assert made["picture"](said["reliability.json"]).startswith("<?xml")
