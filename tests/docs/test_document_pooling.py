"""The page of the document poolings says what its figures say."""

from __future__ import annotations

import json
import lzma
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "make_document_pooling.py"
if not SCRIPT.is_file():
    pytest.skip("needs the checkout", allow_module_level=True)
pytest.importorskip("matplotlib", reason="needs the eval extra: pip install 'milepost[eval]'")

LENGTHS = [1024, 2048, 4096]
MADE = {"steps": 2, "batch": 4, "temperature": 0.03, "rate": 1e-4, "granularities": [32, 64]}


def result() -> dict[str, Any]:
    """LMK falls by a point a doubling, mean by 10, CLS by 5 from 20 lower; the rest is LMK's."""
    questions = [[f"q{n}", "title" if n % 2 else "trials", f"d{n // 2}"] for n in range(40)]

    def figures(top: float, fall: float, seed: int) -> list[list[float]]:
        return [
            [top - fall * at + 0.001 * (n % 7) * (1 - 2 * seed) for n in range(40)]
            for at in range(3)
        ]

    readings = {
        "lmk": [("whole", 32), ("whole", "sentences"), ("windows", 32)],
        "mean": [("whole", 32), ("windows", 32)],
        "last": [("whole", 32)],
        "cls": [("whole", 32)],
    }
    falls = {"mean": (0.95, 0.10), "cls": (0.7, 0.05)}
    runs = []
    for seed in (0, 1):
        for pooling, ways in readings.items():
            run: dict[str, Any] = {"pooling": pooling, "seed": seed, "seconds": [30.0, 30.0]}
            run |= {"short before": 0.5, "short": 0.75}
            if pooling == "mean":
                run["estimate"] = 0.9995
            run["figures"] = [
                {"reading": reading, "granularity": every, "length": length, "ndcg": row}
                for reading, every in ways
                for length, row in zip(
                    LENGTHS, figures(*falls.get(pooling, (0.9, 0.01)), seed), strict=True
                )
            ]
            runs.append(run)
    return {
        "made": "some day",
        "settings": {"lengths": LENGTHS, "seeds": [0, 1], "states": 2048, "recipe": MADE},
        "documents": [[f"d{n}", "trials", 5000] for n in range(20)],
        "questions": questions,
        "runs": runs,
    }


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("docs")
    source = folder / "found.json.xz"
    source.write_bytes(lzma.compress(json.dumps(result()).encode()))
    patch = pytest.MonkeyPatch()
    patch.setattr(sys, "argv", [str(SCRIPT), str(source), "--docs", str(folder)])
    try:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    finally:
        patch.undo()
    assert "<svg" in (folder / "results" / "document-pooling.svg").read_text(encoding="utf-8")
    return (folder / "results-document-pooling.md").read_text(encoding="utf-8")


def test_figures_of_a_length(page: str) -> None:
    """The mean of questions and seeds, and what a doubling adds."""
    row = next(line for line in page.splitlines() if line.startswith("| LMK | 50.0 → 75.0"))
    cells = [cell.strip() for cell in row.split("|")[3:-1]]
    assert [cell.split()[0] for cell in cells] == ["90.0", "89.0", "88.0", "-1.0"]


def test_the_card_of_the_claim(page: str) -> None:
    """LMK's lead at the longest cut, the seeds, and what was found on short texts."""
    card = page.partition("## The claim, tested\n")[2].partition("\n## ")[0]
    assert "LMK less CLS at 4,096 tokens: +28.0 (+28.0 to +28.0) points; less mean:" in card
    assert "`milepost lab lmk --seeds 2`" in card
    assert "2 steps a pooling, 2 seeds, averaged" in card
    assert "50.0, 50.0, 50.0 before any training and 75.0, 75.0, 75.0 after it" in card


def test_the_gap_and_its_growth(page: str) -> None:
    """Verdicts follow the figures: growing, growing from ahead, level."""
    assert "- over mean: yes: +9.0 (+9.0 to +9.0) points a doubling" in page
    assert "- over CLS: yes: +4.0 (+4.0 to +4.0) points a doubling" in page
    assert "- over last: no, not surely: +0.0" in page


def test_lost_rows_are_printed(page: str) -> None:
    """Mean is ahead at the shortest cut, and the page says so; where LMK leads it does not."""
    assert "- mean at 1,024 tokens: LMK loses 5.0 points" in page
    assert "- mean at 4,096 tokens" not in page
    assert "- CLS at" not in page


def test_each_seed_and_each_kind(page: str) -> None:
    """Seeds stand side by side; titles and questions apart."""
    assert "| CLS | 70.3 / 69.7 |" in page
    assert "| title | LMK | 20 |" in page
    assert "| question | mean | 20 |" in page


def test_the_two_pages_about_length_name_each_other() -> None:
    """They contradict each other at 8k tokens; each gives both figures and links to the other."""
    docs = SCRIPT.parents[1] / "docs"
    pages = {
        name: (docs / f"results-{name}.md").read_text(encoding="utf-8")
        for name in ("pooling", "document-pooling")
    }
    for name, other in (("pooling", "document-pooling"), ("document-pooling", "pooling")):
        head = pages[name].partition("\n## ")[0]
        assert f"[results-{other}.md](results-{other}.md)" in head
        assert "5.2 points" in head
        assert "8.7 points" in head
    assert "not a test of the paper's claim" in pages["pooling"]
    frozen = pages["pooling"].partition("## Against lmk")[2]
    (row,) = (line for line in frozen.splitlines() if line.startswith("| cls | -2.5"))
    assert row.split("|")[5].strip().startswith("-8.7 ")
    assert re.search(r"- CLS at 8,192 tokens: LMK .* -?5\.2 points", pages["document-pooling"])
