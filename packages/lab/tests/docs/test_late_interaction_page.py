"""The page of late interaction says what was measured."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
PAGE = ROOT / "docs" / "pooling" / "late-interaction.md"
REPORT = ROOT / "bench" / "results" / "late-interaction.json"


@pytest.fixture(scope="module")
def report():
    if not REPORT.is_file():
        pytest.skip("bench/results is not in this checkout")
    return json.loads(REPORT.read_text(encoding="utf-8"))


def test_every_row_is_on_the_page(report):
    text = PAGE.read_text(encoding="utf-8")
    assert report["date"] in text
    for row in report["rows"]:
        low, high = (f"{100 * row[end]:.1f}" for end in ("low", "high"))
        told = (
            f"| {row['system']} | {row['numbers']:,} | {100 * row['ndcg']:.1f} ({low} to {high}) |"
        )
        assert told in text


def test_the_claims_have_the_measured_effects(report):
    """The table of claims repeats differences and smallest effects of the rows it names."""
    rows = {row["system"]: row for row in report["rows"]}
    claims = PAGE.read_text(encoding="utf-8").split("## The claims, tested")[1].split("\n## ")[0]
    for groups in (2, 3, 4):
        row = rows[f"MaxSim, tokens in groups of {groups}"]
        assert f"{100 * row['less']:+.1f} points" in claims
        assert f"{100 * row['detectable']:.1f}" in claims
