"""The facade on a folder over time: opened again, killed, refused, read while it is written."""

import signal
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import milepost
from milepost.encoder.engine.folder import find_model
from milepost.errors import NotAnIndex, StoreError, WrongModel
from milepost.testing import fake_index
from milepost.types import Document, Passage
from support.cli_process import started
from support.small_index import BEES, MODEL, everything


def test_reopening_finds_everything(notes: Path, tmp_path: Path) -> None:
    with milepost.open(tmp_path / "db", model=MODEL) as index:
        index.add(notes)
        held = everything(index)
        wanted = index.search("queen lays eggs")
    for path in notes.iterdir():
        path.unlink()
    with milepost.open(tmp_path / "db", model=MODEL, create=False) as index:
        assert everything(index) == held
        assert index.search("queen lays eggs") == wanted


def test_read_only(notes: Path, tmp_path: Path) -> None:
    with milepost.open(tmp_path / "db", model=MODEL) as index:
        index.add(notes)
    (notes / "new.txt").write_text("Something new.", encoding="utf-8")
    with milepost.open(tmp_path / "db", model=MODEL, read_only=True) as index:
        assert index.search("gold", k=1)[0].text.startswith("Gold")
        assert len(index.add(notes / "gold.txt").unchanged) == 1
        with pytest.raises(StoreError, match="reading only"):
            index.add(notes)
        with pytest.raises(StoreError, match="reading only"):
            index.remove(str(notes / "gold.txt"))
        assert len(index.documents()) == 3


KILLED = """
import sys
import milepost
from milepost.testing import fake_encoder

index = milepost.open(sys.argv[1], model=fake_encoder())
index.add(sys.argv[2], progress=lambda step: step.done or print(step.number, flush=True))
print("done", flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_indexing_goes_on_after_a_kill(tmp_path: Path) -> None:
    after = 5
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(16):
        text = "".join(f"Text {number} has a sentence {n} about whales. " for n in range(150))
        (folder / f"{number:02}.txt").write_text(text, encoding="utf-8")
    process = started([sys.executable, "-c", KILLED, tmp_path / "db", folder])
    for line in process.stdout:
        assert line != "done\n"
        if line == f"{after + 1}\n":
            process.send_signal(signal.SIGKILL)
            break
    process.communicate()
    with milepost.open(tmp_path / "db", model=MODEL) as index, fake_index() as fresh:
        kept = index.documents()
        assert after <= len(kept) < 16
        report = index.add(folder)
        assert len(report.unchanged) == len(kept)
        assert len(report.added) == 16 - len(kept)
        fresh.add(folder)
        exactly = everything(fresh)
        assert everything(index).keys() == exactly.keys()
        for name, held in everything(index).items():
            wanted = exactly[name]
            assert held[:6] == wanted[:6]
            got, exact = (np.frombuffer(x[6], np.float32) for x in (held, wanted))
            assert np.abs(got - exact).max() < 0.01  # int8 in the folder, float32 in memory
        question = "sentence 7 of text 3"
        assert index.search(question, k=1)[0].document == fresh.search(question, k=1)[0].document


def turned(turn: int, name: str) -> Document:
    """A document whose every sentence says which version of it this is."""
    return Document(name, f"Turn {turn} of the whale {name} that sings. " * (15 + turn))


def assert_of_one_state(passages: list[Passage]) -> None:
    """Each passage is a slice of a version of its document; a document has one version."""
    assert passages
    versions: dict[str, int] = {}
    for passage in passages:
        turn = int(passage.text.split()[1])
        text = turned(turn, passage.document).text
        assert passage.text == text[passage.start : passage.end]
        assert versions.setdefault(passage.document, turn) == turn


WRITING = """
import sys
import milepost
from milepost.testing import fake_encoder
from test_index_reopen import turned

with milepost.open(sys.argv[1], model=fake_encoder()) as index:
    for turn in range(1, 25):
        index.add(turned(turn, "abcd"[turn % 3]))
        if turn % 4 == 3:
            index.remove("b")
"""


def test_searches_beside_a_process_that_writes(tmp_path: Path) -> None:
    with milepost.open(tmp_path / "db", model=MODEL) as index:
        index.add([turned(0, name) for name in "abcd"])
        process = started([sys.executable, "-c", WRITING, tmp_path / "db"], Path(__file__).parent)
        seen: set[str] = set()
        searches = 0
        while process.poll() is None:
            for budget in (None, "60t", "900c"):
                passages = index.search("a whale that sings", budget=budget)
                assert_of_one_state(passages)
                seen.update(passage.text.split()[1] for passage in passages)
                searches += 1
        _, complaint = process.communicate()
        assert process.returncode == 0, complaint
        passages = index.search("a whale that sings", k=99)
        assert_of_one_state(passages)
        # b comes back with turn 22 and is removed after turn 23.
        assert {passage.document for passage in passages} == {"a", "c", "d"}
    assert searches > 5
    assert len(seen) > 1


def test_the_model_loads_when_it_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with milepost.open(tmp_path / "db", model=MODEL) as index:
        index.add(Document("a", BEES))
    load = Mock(return_value=MODEL)
    folder = Mock(manifest=MODEL.manifest, path=tmp_path / "model")
    monkeypatch.setattr("milepost.index.opening.load", load)
    monkeypatch.setattr("milepost.encoder.engine.find_model", lambda _: folder)
    with milepost.open(tmp_path / "db", model="any") as index:
        assert [info.name for info in index.documents()] == ["a"]
        assert index.document("a").text == BEES
        load.assert_not_called()
        assert index.search("queen", k=1)
        load.assert_called_once()
        assert load.call_args.args == (tmp_path / "model",)


LIGHT = "landmark-light"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with milepost.open(tmp_path / "db", model=LIGHT) as index:
        index.add(Document("bees", "The queen lays all the eggs. Bees build cells of wax."))
    return tmp_path / "db"


def test_an_index_is_opened_with_the_model_that_made_it(place: Path) -> None:
    with milepost.open(place, read_only=True) as index:
        assert index.model.manifest.name == LIGHT
        assert index.search("What are cells made of?")[0].document == "bees"
    with milepost.open(place) as index:
        index.add(Document("more", "Wax is made by young bees."))
        assert len(index.documents()) == 2
    with pytest.raises(WrongModel, match="--rebuild --model landmark-minilm"):
        milepost.open(place, model="landmark-minilm")


@pytest.mark.parametrize(
    ("model", "rebuild"), [(None, "--rebuild"), ("landmark-minilm", "--model landmark-minilm")]
)
def test_a_model_that_is_not_installed_is_not_guessed(
    place: Path, model: str | None, rebuild: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = find_model(LIGHT).manifest.fingerprint
    monkeypatch.setattr("milepost.encoder.engine.folder.shipped_models", list)
    with pytest.raises(WrongModel) as caught:
        milepost.open(place, model=model)
    assert caught.value.hint.startswith("--model FOLDER, that of the model that made it, or ")
    assert caught.value.hint.endswith(rebuild)
    assert caught.value.fingerprint == known


def test_a_document_is_no_index(tmp_path: Path) -> None:
    (tmp_path / "there.txt").write_text("Bees dance.")
    for name in ("there.txt", "missing.PDF"):
        with pytest.raises(NotAnIndex, match=name):
            milepost.open(tmp_path / name, model=MODEL)
    assert [path.name for path in tmp_path.iterdir()] == ["there.txt"]
