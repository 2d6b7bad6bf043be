"""Tables are the searches that they stand for, and go on after a kill."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

import milepost
from milepost.errors import BadQuestion, InputError
from milepost.exports.tables import Row, write_table
from milepost.exports.tables.writing import Journal
from milepost.index import Index
from milepost.types import Document
from support.cli_process import python

TEXTS = {
    "bees": "Bees build cells of wax. The queen lays the eggs. Honey is kept for the winter.",
    "ships": "A ship needs deep water. Tugs pull ships to the quay. Sails were made of hemp.",
    "g\udcffld": "Gold melts at 1064 degrees. It is heavier than lead, and it never rusts.",
}
QUESTIONS = ["What do bees build?", "At how many degrees does gold melt?"]


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with milepost.open(model="landmark-light") as made:
        made.add([Document(name, text) for name, text in TEXTS.items()])
        yield made


@pytest.fixture
def asked(index: Index, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    search = Index.search_detailed

    def counted(self: Index, question: object, *args: object, **options: object) -> object:
        found.append(str(getattr(question, "text", question)))
        return search(self, question, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Index, "search_detailed", counted)
    return found


def test_a_row_is_the_best_passage_of_its_document(index: Index, tmp_path: Path) -> None:
    rows = write_table(index, QUESTIONS, tmp_path / "t.jsonl", min_score=0.0)
    assert [(row.document, row.question) for row in rows] == [
        (name, question) for name in TEXTS for question in QUESTIONS
    ]
    for row in rows:
        (best,) = index.search(row.question, 1, documents=row.document)
        assert (row.text, row.start, row.end) == (best.text, best.start, best.end)
        assert row.score == round(best.score, 4)
        assert row.text == TEXTS[row.document][row.start : row.end]
    written = (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()
    assert [Row(**json.loads(line)) for line in written] == rows
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"], "nothing else is left"


def test_what_is_improbable_leaves_its_cells_empty(index: Index, tmp_path: Path) -> None:
    every = write_table(index, QUESTIONS, tmp_path / "all.csv", min_score=0.0)
    limit = sorted(row.score for row in every)[3]
    rows = write_table(index, QUESTIONS, tmp_path / "some.csv", min_score=limit)
    for before, row in zip(every, rows, strict=True):
        if round(before.score, 3) > round(limit, 3):
            assert row == before
        if round(before.score, 3) < round(limit, 3):
            assert row == Row(before.document, before.question)
    assert 0 < sum(row.text is None for row in rows) < len(rows)


def test_one_row_a_question_over_the_collection(index: Index, tmp_path: Path) -> None:
    rows = write_table(index, QUESTIONS, tmp_path / "t.html", per="collection", min_score=0.0)
    assert [row.document for row in rows] == ["bees", "g\udcffld"]
    some = write_table(
        index, QUESTIONS, tmp_path / "s.csv", per="collection", documents=["ships"], min_score=0.0
    )
    assert [row.document for row in some] == ["ships", "ships"]


def test_an_index_without_documents_gives_empty_tables(tmp_path: Path) -> None:
    with milepost.open(model="landmark-light") as empty:
        assert write_table(empty, QUESTIONS, tmp_path / "new" / "a.csv") == []
        rows = write_table(empty, QUESTIONS, tmp_path / "b.csv", per="collection")
    assert rows == [Row(None, question) for question in QUESTIONS]


def test_what_was_asked_is_not_asked_again(index: Index, asked: list[str], tmp_path: Path) -> None:
    target = tmp_path / "t.csv"
    stop = Mock(side_effect=[*[None] * 4, RuntimeError("stopped")])  # before the first, after each
    with pytest.raises(RuntimeError, match="stopped"):
        write_table(index, QUESTIONS, target, on_row=stop)
    assert not target.exists()
    (journal,) = tmp_path.iterdir()
    kept = journal.read_bytes().splitlines(keepends=True)
    assert len(kept) == 4
    kept[2] = b'{"key": "x", "document": 3}\n'
    journal.write_bytes(b"".join(kept) + b'{"key": "cut')
    asked.clear()
    rows = write_table(index, [*QUESTIONS, "Who pulls ships?"], target)
    assert len(asked) == len(rows) - 3
    asked.clear()
    again = write_table(index, [*QUESTIONS, "Who pulls ships?"], target, overwrite=True)
    assert again == rows
    assert len(asked) == len(rows), "a table that is complete leaves nothing behind"


@pytest.mark.parametrize("change", ["text", "limit", "rerank", "per"])
def test_a_row_that_may_differ_is_asked_again(
    tmp_path: Path, asked: list[str], change: str
) -> None:
    options: dict[str, object] = {"min_score": 0.0, "rerank": True, "per": "document"}
    with milepost.open(model="landmark-light") as index:
        index.add([Document(name, text) for name, text in TEXTS.items()])
        rows = write_table(index, QUESTIONS[:1], tmp_path / "first.csv", **options)
        with Journal(tmp_path / "t.csv") as journal:
            from milepost.exports.tables.rows import plan_rows

            planned = plan_rows(index, QUESTIONS[:1], index.documents(), **options)
            for one, row in zip(planned, rows, strict=True):
                journal.add(one.key, row)
        if change == "text":
            index.add(Document("bees", TEXTS["bees"] + " Bees like gold."))
        options |= {"limit": {"min_score": 0.1}, "rerank": {"rerank": False}}.get(change, {})
        options |= {"per": "collection"} if change == "per" else {}
        asked.clear()
        write_table(index, QUESTIONS[:1], tmp_path / "t.csv", **options)
    assert len(asked) == {"text": 1, "limit": 3, "rerank": 3, "per": 1}[change]


KILLED = """
import os, signal, sys
import milepost
from milepost.exports.tables import write_table
from milepost.types import Document

def kill(done, of):
    if done == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

with milepost.open(model="landmark-light") as index:
    index.add([Document(str(n), f"Bees build cells. Number {n} is here.") for n in range(5)])
    write_table(index, ["What do bees build?"], sys.argv[1], min_score=0.0, on_row=kill)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_kill_loses_no_row(tmp_path: Path) -> None:
    target = tmp_path / "t.jsonl"
    ended = python("-c", KILLED, target, 3)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert not target.exists()
    with Journal(target) as journal:
        assert len(journal.rows) == 3
    python("-c", KILLED, target, 99, check=True)
    rows = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert [row["document"] for row in rows] == list("01234")
    assert all(row["text"] for row in rows)
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]


def test_what_cannot_be_written_is_refused_first(index: Index, tmp_path: Path) -> None:
    (tmp_path / "there.csv").touch()
    for name, said in {
        "there.csv": "exists; try: another name",
        "t.xlsx": "does not say in which form",
        "there.csv/t.csv": "there.csv is not a folder",
    }.items():
        with pytest.raises(InputError, match=said):
            write_table(index, QUESTIONS, tmp_path / name)
    with pytest.raises(BadQuestion):
        write_table(index, ["?"], tmp_path / "t.csv")
    with pytest.raises(InputError, match="not in the index"):
        write_table(index, QUESTIONS, tmp_path / "t.csv", documents=["absent"])
    assert [path.name for path in tmp_path.iterdir()] == ["there.csv"]


LIMITED = """
import resource, sys
from pathlib import Path
from milepost.errors import InputError
from milepost.exports.tables.writing import Journal
from milepost.exports.tables.rows import Row

resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
with Journal(Path(sys.argv[1])) as journal:
    try:
        for number in range(99):
            journal.add(str(number), Row("a", "b", text="c" * 500))
    except InputError as error:
        print(error)
"""


def test_a_file_that_cannot_grow_is_said_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    done = python("-c", LIMITED, tmp_path / "t.csv", check=True)
    assert "cannot be written: File too large; try: free some space and run" in done.stdout
    with Journal(tmp_path / "t.csv") as journal:
        kept = len(journal.rows)
        journal.add("more", Row("a", "b"))
    assert kept == 3
    with Journal(tmp_path / "t.csv") as journal:
        assert len(journal.rows) == kept + 1


def test_a_journal_that_is_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".t.csv.rows").mkdir()
    with pytest.raises(InputError, match="is not a file"), Journal(tmp_path / "t.csv"):
        pass
