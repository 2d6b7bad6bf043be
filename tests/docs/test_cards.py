"""The cards of the models that ship say what their folders and the records of results say."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "studies" / "results" / "eval-test.jsonl.xz"
if not RESULTS.is_file():
    pytest.skip("needs the checkout", allow_module_level=True)

CARDS = sorted((ROOT / "src" / "milepost" / "models").glob("*/README.md"))
SYSTEMS = {
    "BM25 at several scales": "bm25-scales",
    "WordLlama (static vectors), chunks of 400 + BM25": "chunk:400@wordllama+bm25",
    "all-MiniLM-L6-v2, its best chunks": "chunk:tuned@minilm",
    "the same with BM25": "chunk:tuned@minilm+bm25",
    "all-MiniLM-L6-v2, best chunks + BM25": "chunk:tuned@minilm+bm25",
    "landmarks alone": "landmark-only",
    "landmarks and words, without reranking": "landmark-first",
    "landmarks and words, with reranking (the search)": "landmark",
    "landmark-light, alone": "landmark-only@landmark-light",
    "landmark-light, the search": "landmark@landmark-light",
    "landmark-minilm, alone": "landmark-only",
    "landmark-minilm, its search without reranking": "landmark-first",
    "landmark-minilm, the search": "landmark",
}


@pytest.fixture(scope="module")
def records():
    """Records of the document given, by system and task."""
    with lzma.open(RESULTS, "rt", encoding="utf-8") as file:
        read = [json.loads(line) for line in file]
    return {(r["system"], r["task"]): r for r in read if r["setting"] == "document"}


def parts(card):
    found = re.split(r"^\d\. \*\*(.+?)\.\*\*", card.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def rows(text):
    """Cells of the lines of a table, markup left out."""
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("|")]
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines]


def test_both_models_have_a_card():
    assert [card.parent.name for card in CARDS] == ["landmark-light", "landmark-minilm"]


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.parent.name)
def test_the_size_is_that_of_the_folder(card):
    size = sum(file.stat().st_size for file in card.parent.iterdir() if file.is_file())
    said = " ".join(parts(card)["What it is"].split())
    assert f"{size / 1e6:.1f} MB on disk" in said
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    (line,) = (line for line in page.splitlines() if line.startswith("| on disk |"))
    assert f"{size / 1e6:.1f} MB" in line


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.parent.name)
def test_every_figure_is_that_of_the_records(card, records):
    """So are date and commit: of each row's records one that the card names."""
    given = parts(card)["What it gives"]
    (_, *tasks, mean), _, *table = rows(given)
    assert mean == "mean"
    assert len(table) >= 5
    for label, *cells in table:
        own = [records[SYSTEMS[label], task] for task in tasks]
        found = [100 * record["metrics"]["recall@1600"] for record in own]
        assert [float(cell) for cell in cells] == [
            pytest.approx(value, abs=0.0501) for value in (*found, sum(found) / len(found))
        ]
        for record in own:
            assert f"`{record['commit']}`" in given
            assert record["date"] in given
