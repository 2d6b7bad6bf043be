"""Documents by name, files that are read ahead, and what the file system keeps out."""

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import milepost
from milepost.errors import InputError
from milepost.index.intake import Step, file_signature
from milepost.index.reading_ahead import ReadingAhead, ToRead
from milepost.testing import fake_encoder
from milepost.types import READ_DEFAULTS, Document
from support.cli_process import plain, run
from support.files import write_files


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[milepost.Index]:
    names = ("reports/2024/costs.txt", "reports/2025/costs.txt", "reports/plan.txt")
    write_files(tmp_path, {name: f"The fee of {name} was raised. " for name in names})
    monkeypatch.chdir(tmp_path)
    with milepost.open(model=fake_encoder()) as opened:
        opened.add(["reports", Document("plan", "The fee of a plan. ")])
        yield opened


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("plan", "plan"),
        ("plan.txt", "reports/plan.txt"),
        ("./plan.txt", "reports/plan.txt"),
        (Path("plan.txt"), "reports/plan.txt"),
        ("reports/plan.txt", "reports/plan.txt"),
        ("2024/costs.txt", "reports/2024/costs.txt"),
        ("reports/2025/../2024/costs.txt", "reports/2024/costs.txt"),
    ],
)
def test_a_document_is_found(
    index: milepost.Index, tmp_path: Path, written: str | Path, found: str
) -> None:
    name = found if found == "plan" else str(tmp_path / found)
    for given in (written, [written]):
        assert {p.document for p in index.search("fee", documents=given)} == {name}
    assert [p.document for p in index.search_many(["fee"], documents=written)[0]] == [name]
    assert index.document(written).name == name
    assert index.check("The fee of", documents=written).verdict == "verbatim"
    assert index.remove(written).removed == (name,)


@pytest.mark.parametrize("written", ["costs.txt", "./costs.txt"])
def test_what_several_documents_end_in_is_refused(index: milepost.Index, written: str) -> None:
    for use in (
        lambda: index.search("fee", documents=written),
        lambda: index.document(written),
        lambda: index.remove(["plan.txt", written]),
    ):
        with pytest.raises(InputError) as caught:
            use()
        for year in ("2024", "2025"):
            assert str(Path("reports", year, "costs.txt")) in str(caught.value)
    assert len(index.documents()) == 4


@pytest.mark.parametrize("written", ["osts.txt", "reports", "2024", "txt", "", ".", "/"])
def test_what_is_no_name_is_not_in_the_index(index: milepost.Index, written: str) -> None:
    """Ends count in whole parts of a path."""
    with pytest.raises(InputError, match="is not in the index"):
        index.search("fee", documents=written)


LOCKED = """
import pathlib, sys
import milepost
from milepost.testing import fake_encoder
notes = pathlib.Path(sys.argv[1])
with milepost.open(model=fake_encoder()) as index:
    index.add(notes)
    (notes / "inner").chmod(int(sys.argv[2], 8))
    try:
        report = index.add([notes, notes / "inner" / "deep.txt"])
        print(len(report.unchanged), len(report.removed), *report.failed.values(), sep="\\n")
    finally:
        (notes / "inner").chmod(0o755)
"""


@pytest.mark.skipif(os.name != "posix", reason="permissions of Unix")
@pytest.mark.parametrize("mode", ["000", "600"])
def test_a_locked_folder_below_is_named_and_not_pruned(tmp_path: Path, mode: str) -> None:
    texts = dict.fromkeys(("0.txt", "1.txt", "2.txt", "inner/deep.txt"), "Bees build cells.")
    notes = write_files(tmp_path / "notes", texts)
    done = run(plain([sys.executable, "-c", LOCKED, str(notes), mode]))
    assert done.returncode == 0, done.stderr
    unchanged, removed, *reasons = done.stdout.splitlines()
    assert (unchanged, removed) == ("3", "0")
    assert f"{notes / 'inner'} cannot be listed" in reasons[0]
    assert "deep.txt cannot be reached: Permission denied" in reasons[1]


def test_a_signature_has_63_bits(tmp_path: Path) -> None:
    path, beside = tmp_path / "note.txt", tmp_path / "note.txt.meta.yaml"
    path.write_text("Text.", encoding="utf-8")
    assert file_signature(path) == (path.stat().st_size, path.stat().st_mtime_ns)
    os.utime(path, ns=(2**63, 2**63))  # in the year 2262
    assert 0 <= file_signature(path)[1] < 2**63
    beside.write_text("a: 1", encoding="utf-8")
    far = 2**62 + 2**61
    for each in (path, beside):
        os.utime(each, ns=(far, far))
    assert 0 <= file_signature(path)[1] < 2**63


def _file(number: int, path: Path) -> ToRead:
    return number, path, READ_DEFAULTS, file_signature(path)


def _files(folder: Path, texts: list[str]) -> list[ToRead]:
    made = []
    for number, text in enumerate(texts, 1):
        path = folder / f"{number}.txt"
        path.write_text(text, encoding="utf-8")
        made.append(_file(number, path))
    return made


def test_the_next_file_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    one, two = _files(tmp_path, ["Bees dance.", "Owls see."])
    begun = threading.Event()

    def coming() -> Iterator[ToRead]:
        yield one
        yield two
        begun.set()  # the last one was taken and read

    with ReadingAhead(coming()) as ahead:
        assert ahead.read(one).text == "Bees dance."
        ahead._pool.shutdown(wait=True)
        two[1].unlink()
        assert ahead.read(two).text == "Owls see."
    assert begun.is_set()


def test_a_file_that_has_changed_meanwhile_is_read_again(tmp_path: Path) -> None:
    one, two = _files(tmp_path, ["Bees dance.", "Owls see."])
    with ReadingAhead([one, two]) as ahead:
        ahead.read(one)
        two[1].write_text("Owls hear well.", encoding="utf-8")
        assert ahead.read(_file(2, two[1])).text == "Owls hear well."


def test_an_index_reads_while_it_encodes(tmp_path: Path) -> None:
    _files(tmp_path, [f"Document {number} is about bees." for number in range(1, 6)])
    steps: list[Step] = []
    with milepost.open(model=fake_encoder()) as index:
        first = index.add(tmp_path, progress=steps.append)
        assert len(first.added) == 5
        assert [index.document(name).text for name in first.added] == [
            f"Document {number} is about bees." for number in range(1, 6)
        ]
        (tmp_path / "3.txt").write_text("Owls hear well.", encoding="utf-8")
        again = index.add(tmp_path)
        assert (len(again.changed), len(again.unchanged)) == (1, 4)
