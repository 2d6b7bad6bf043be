"""An index knows the model that made it."""

from __future__ import annotations

from pathlib import Path

import pytest

import milepost
from milepost.engine.folder import find_model
from milepost.errors import WrongModel
from milepost.types import Document

LIGHT = "landmark-light"
BEES = Document("bees", "The queen lays all the eggs. Bees build cells of wax.")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with milepost.open(tmp_path / "db", model=LIGHT) as index:
        index.add(BEES)
    return tmp_path / "db"


def test_an_index_is_opened_with_the_model_that_made_it(place: Path) -> None:
    with milepost.open(place, read_only=True) as index:
        assert index.model.manifest.name == LIGHT
        assert index.search("What are cells made of?")[0].document == "bees"
    with milepost.open(place) as index:
        index.add(Document("more", "Wax is made by young bees."))
        assert len(index.documents()) == 2
    with pytest.raises(WrongModel):
        milepost.open(place, model="landmark-minilm")


def test_a_model_that_is_not_installed_is_not_guessed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = find_model(LIGHT).manifest.fingerprint
    monkeypatch.setattr("milepost.engine.folder.shipped_models", list)
    with pytest.raises(WrongModel) as caught:
        milepost.open(place)
    assert caught.value.fingerprint == known
