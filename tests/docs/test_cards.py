"""The cards of the models that ship say how large their folders are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CARDS = sorted((ROOT / "src" / "milepost" / "models").glob("*/README.md"))


def parts(card):
    found = re.split(r"^\d\. \*\*(.+?)\.\*\*", card.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


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
