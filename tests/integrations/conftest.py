"""An index without a model for quick tests, and one of the shipped model in a folder."""

from pathlib import Path

import pytest

import milepost
from milepost.encoder.engine import shipped_models
from milepost.index import Index
from milepost.testing import fake_index
from milepost.types import Document, Mark

BEES = "Bees build cells of wax. The queen lays the eggs.\n\nA swarm leaves the hive in summer."
SHIPS = "# Harbours\n\nA ship needs deep water. Tugs pull large ships to the quay."
GOLD = "Gold melts at 1064 degrees. It is heavier than lead, and it never rusts."
CONTRACT = (
    "The contract was drafted in May. It was signed by Ada Lovelace and Charles Babbage.\n\n"
    "The fee is due in June. Late payment costs two per cent a month."
)


@pytest.fixture
def index() -> Index:
    found = fake_index({"bees": BEES, "gold": GOLD})
    marks = (Mark(0, "page", "7"), Mark(SHIPS.index("Harbours"), "heading", "Harbours", 1))
    found.add([Document("ships", SHIPS, marks)])
    return found


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shipped_models():
        pytest.skip("no model is shipped here")
    place = tmp_path_factory.mktemp("reports")
    (place / "contract.txt").write_text(CONTRACT, encoding="utf-8")
    (place / "bees.txt").write_text(BEES, encoding="utf-8")
    with milepost.open(place / "reports.milepost") as made:
        made.add([place / "contract.txt", place / "bees.txt"])
    return place


@pytest.fixture
def reports(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder
