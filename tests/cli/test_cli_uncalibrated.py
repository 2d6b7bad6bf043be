"""Models that no fit has calibrated: their scores are no probabilities, and nobody says so."""

import json
import shutil
from pathlib import Path

import pytest

from milepost.encoder.engine.folder import find_model
from milepost.encoder.engine.manifest import MANIFEST
from support.cli_fixtures import Cli
from support.pdf_writer import pdf_of


@pytest.fixture
def unfitted(tmp_path: Path) -> list[str]:
    """The light model as it was before ``milepost fit``."""
    folder = shutil.copytree(find_model("landmark-light").path, tmp_path / "unfitted")
    for name in ("ranking.npz", "SHA256SUMS"):
        (folder / name).unlink(missing_ok=True)
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    (folder / MANIFEST).write_text(json.dumps(manifest | {"fusion": {}}), encoding="utf-8")
    return ["--model", str(folder)]


def test_a_search_prints_no_percentages(cli: Cli, notes: Path, unfitted: list[str]) -> None:
    asked = "search", "Who repairs trams in Lisbon?", notes, *unfitted
    shown = cli(*asked, "-C", 0)
    assert shown.stdout
    assert "%" not in shown.stdout + shown.stderr
    assert "weaker" not in shown.stderr
    record = json.loads(cli(*asked, "--json").stdout)
    assert record["calibrated"] is False
    assert shown.stdout.count("notes") == len(record["passages"])


def test_a_fit_without_trees_calibrates(cli: Cli, notes: Path, unfitted: list[str]) -> None:
    manifest = Path(unfitted[1]) / MANIFEST
    fields = json.loads(manifest.read_text("utf-8"))
    fields["fusion"] = {"calibration": [-1.0, 0.5, 0.1, 0.0]}
    manifest.write_text(json.dumps(fields), encoding="utf-8")
    asked = "search", "What do bees build?", notes, *unfitted
    assert "%" in cli(*asked, "-C", 0).stdout
    assert json.loads(cli(*asked, "--json").stdout)["calibrated"] is True


def test_limits_by_percentage_are_doubted(
    cli: Cli, notes: Path, tmp_path: Path, unfitted: list[str]
) -> None:
    questions = tmp_path / "questions.txt"
    questions.write_text("What do bees build?\n", encoding="utf-8")
    pdf = tmp_path / "bees.pdf"
    pdf.write_bytes(pdf_of(["Bees build cells of wax."]))
    for asked in (
        ("table", questions, notes, "-o", tmp_path / "out.csv"),
        ("annotate", pdf, "What do bees build?", "--out", tmp_path / "marked.pdf"),
    ):
        assert "milepost fit" in cli(*asked, *unfitted).stderr
        assert "milepost fit" not in cli(*asked, "--overwrite", "--model", "landmark-light").stderr
