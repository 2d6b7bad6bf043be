"""Copies of indexes: equal answers, interruptions, what is passed over and what is refused."""

from pathlib import Path

import numpy as np
import pytest

import milepost
from milepost.errors import NotAnIndex, StoreError, WrongModel
from milepost.store.sqlite import SqliteStore
from support.store_checks import placed

LIGHT = "landmark-light"
TEXTS = {
    "bees": "# Bees\n\nBees make wax in eight glands. They build cells of it.",
    "ships": "Ships sail the sea. A harbour needs deep water.",
    "empty": "",
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    place = tmp_path / "source"
    with milepost.open(place, model=LIGHT) as index:
        index.add([milepost.Document(name, text) for name, text in TEXTS.items()])
    return place


def same(one: object, other: object) -> None:
    with milepost.open(one, model=LIGHT) as ours, milepost.open(other, model=LIGHT) as theirs:
        assert [info.name for info in ours.documents()] == [
            info.name for info in theirs.documents()
        ]
        with ours.snapshot() as a, theirs.snapshot() as b:
            np.testing.assert_array_equal(a.vectors(a.documents()), b.vectors(b.documents()))
        for name in TEXTS:
            assert ours.document(name) == theirs.document(name)
        found, due = (index.search("Where is wax made?") for index in (ours, theirs))
        assert [(each.text, each.start) for each in found] == [
            (each.text, each.start) for each in due
        ]
        assert [each.score for each in found] == pytest.approx([each.score for each in due])


@pytest.mark.parametrize("kind", ["postgres", "lance"])
def test_there_and_back(source: Path, tmp_path: Path, kind: str) -> None:
    with placed(kind, tmp_path) as address:
        report = milepost.copy(source, address, model=LIGHT)
        assert (len(report.added), report.sentences) == (3, 5)
        same(source, address)
        assert milepost.copy(source, address, model=LIGHT).unchanged == tuple(TEXTS)
        milepost.copy(address, tmp_path / "back", model=LIGHT)
    same(source, tmp_path / "back")


def test_an_interruption_is_continued(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, put, stored = tmp_path / "target", SqliteStore.put, []

    def full(store: SqliteStore, entry: milepost.store.Entry) -> None:
        if stored:
            raise StoreError("no space is left")
        stored.append(entry)
        put(store, entry)

    monkeypatch.setattr(SqliteStore, "put", full)
    with pytest.raises(StoreError, match="no space"):
        milepost.copy(source, target, model=LIGHT)
    monkeypatch.undo()
    report = milepost.copy(source, target, model=LIGHT)
    assert (len(report.added), len(report.unchanged)) == (2, 1)
    same(source, target)


def test_changed_documents_are_replaced_and_others_stay(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    milepost.copy(source, target, model=LIGHT)
    with milepost.open(source, model=LIGHT) as index:
        index.add(milepost.Document("bees", "Bees sting."))
        index.remove("empty")
    report = milepost.copy(source, target, model=LIGHT)
    assert (report.changed, report.unchanged) == (("bees",), ("ships",))
    with milepost.open(target, model=LIGHT) as index:
        assert {info.name for info in index.documents()} == {"bees", "ships", "empty"}
        assert index.document("bees").text == "Bees sting."


def test_what_cannot_be_copied_is_refused(source: Path, tmp_path: Path) -> None:
    with pytest.raises(NotAnIndex):
        milepost.copy(tmp_path / "nothing", tmp_path / "target", model=LIGHT)
    with pytest.raises(WrongModel):
        milepost.copy(source, tmp_path / "target", model="landmark-minilm")
    assert not (tmp_path / "target").exists()


def test_the_model_need_not_be_named(source: Path, tmp_path: Path) -> None:
    assert len(milepost.copy(source, tmp_path / "target").added) == 3
    same(source, tmp_path / "target")
