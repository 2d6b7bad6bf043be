"""Systems by name: the package's rows, rows of one's own, and what they make."""

from pathlib import Path

import pytest

from milepost.errors import InputError, UnreadableFile
from milepost.types import Document
from milepost_eval.catalogue import KINDS, SystemRow, chosen, read_catalogue
from milepost_eval.factory import SystemFactory
from milepost_eval.vectors import Vectors

DOCUMENTS = [
    Document("d", "Bees build cells of wax. The queen lays eggs.\n\nShips carry grain. " * 9)
]


@pytest.fixture(scope="module")
def factory() -> SystemFactory:
    return SystemFactory(Vectors(None))


def test_sets_hold_known_names_once() -> None:
    catalogue = read_catalogue()
    for names in catalogue.sets.values():
        assert len(set(names)) == len(names)
        for name in names:
            assert catalogue.row(name).kind in KINDS
    assert chosen(["bm25", "short"])[1] == [
        "bm25", "landmark", "landmark-only", "bm25:400", "bm25-scales",
    ]  # fmt: skip


def test_a_name_takes_another_model() -> None:
    catalogue = read_catalogue()
    assert catalogue.row("chunk:400@./a/b") == SystemRow("dense", unit="400", model="./a/b")
    assert catalogue.row("landmark@landmark-light") == SystemRow("search", model="landmark-light")
    for name in ("bm25:400@minilm", "bm25s:400@minilm", "nothing@minilm"):
        with pytest.raises(InputError, match=f"unknown system '{name}'"):
            catalogue.row(name)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(
        '[models]\nminilm = "landmark"\n[systems]\n'
        'bm25 = { kind = "bm25", k1 = 2, unit = "80" }\n"my chunks" = { kind = "dense" }\n'
    )
    catalogue, names = chosen(["landmark", str(own)])
    assert names == ["landmark", "bm25", "my chunks"]
    assert catalogue.row("bm25") == SystemRow("bm25", unit="80", k1=2)
    made = SystemFactory(Vectors(None), catalogue=catalogue).make("my chunks")
    assert made.name == "my chunks"
    assert made.fingerprint == SystemFactory(Vectors(None)).make("sentence@landmark").fingerprint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a = { kind = "bm26" }', "a: unknown kind 'bm26'.*'bm25'"),
        ("a = {}", "a: unknown kind None"),
        ('a = { kind = "bm25", model = "minilm" }', "bm25 has no 'model'"),
        ('a = { kind = "dense", units = "400" }', "dense has no 'units'.*'unit'"),
        ('a = { kind = "dense", unit = 400 }', "unit is 400.*such as 'sentence'"),
        ('a = { kind = "dense", words = "both" }', "words is 'both'.*score or rank"),
        ("[system]", "unknown table 'system'.*'systems'"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text if text.startswith("[") else f"[systems]\n{text}")
    with pytest.raises(InputError, match=message) as raised:
        read_catalogue(file)
    assert str(file) in str(raised.value)


def test_a_file_that_is_not_toml(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[systems")
    for name in ("bad.toml", "none.toml"):
        with pytest.raises(UnreadableFile, match=f"{name} cannot be read"):
            chosen([str(tmp_path / name)])


@pytest.mark.parametrize(
    "name",
    ["landmark", "landmark-first", "landmark-only", "landmark-scales", "sentence-scales@landmark",
     "bm25", "bm25:400-100", "bm25-k0.9-b0.4:400", "bm25-scales", "sentence@landmark",
     "sentence-window:1@landmark", "chunk:200@landmark", "late-chunk:200@landmark",
     "chunk:tuned@landmark+bm25", "late-chunk:200@landmark+bm25/rank",
     "sentence@landmark+bm25/2", "document:lmk@landmark"],
)  # fmt: skip
def test_systems_of_the_base_install_find_the_sentence(factory: SystemFactory, name: str) -> None:
    system = factory.make(name)
    assert system.name == name
    assert system.fingerprint
    (ranking,) = system.open(DOCUMENTS).search(["What do bees build of wax?"])
    place = ranking.best(1)[0]
    assert place.document == "d"
    assert "wax" in DOCUMENTS[0].text[place.start : place.end]
    assert sum(p.end - p.start for p in ranking.spend(100)) >= 90  # the search cuts at a word
    assert ranking.documents(3) == ["d"]


def test_windows_of_late_chunking_are_a_rivals(factory: SystemFactory) -> None:
    with pytest.raises(InputError, match="landmark has its own windows"):
        factory.make("late-chunk-w64:200@landmark")
