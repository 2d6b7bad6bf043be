"""Small folders in the layout of each public format, written here and read back."""

import gzip
import json
from pathlib import Path

import pytest

from milepost.errors import InputError, UnreadableFile
from milepost_eval.tasks.judged import read_beir


def jsonl(path: Path, *rows: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "scifact"
    jsonl(
        folder / "corpus.jsonl",
        {"_id": "d1", "title": "Wax", "text": "Bees build cells.", "metadata": {}},
        {"_id": "d2", "title": "", "text": "Ants carry leaves.", "metadata": {}},
        {"_id": "d3", "title": "", "text": "Nobody asks of me.", "metadata": {}},
    )
    jsonl(
        folder / "queries.jsonl",
        {"_id": "1", "text": "What do bees build?", "metadata": {}},
        {"_id": "2", "text": "Who carries leaves?", "metadata": {}},
        {"_id": "3", "text": "A question of another split?", "metadata": {}},
    )
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\n1\td1\t2\n1\td2\t1\n1\td3\t0\n2\td3\t0\n"
    )
    return folder


def test_beir(beir: Path) -> None:
    task = read_beir(beir, "test")
    assert task.settings == ("collection",)
    assert [document.name for document in task.documents] == ["d1", "d2", "d3"]
    assert task.documents[0].text == "Wax\n\nBees build cells."
    (question,) = task.questions
    assert question.relevant == {"d1": 2, "d2": 1}
    assert (question.document, question.spans) == ("d1", ())
    assert task.notes == ("1 questions without a relevant document are left out",)


def test_beir_judgements_as_lines(beir: Path) -> None:
    (beir / "qrels" / "test.tsv").unlink()
    jsonl(beir / "qrels" / "test.jsonl", {"query-id": "2", "corpus-id": "d2", "score": 1.0})
    assert read_beir(beir, "test").questions[0].relevant == {"d2": 1}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("1\td9\t1", "line 2: unknown document 'd9'"),
        ("9\td1\t1", "line 2: unknown question '9'"),
        ("1\td1", "line 2: 2 columns"),
        ("1\td1\tx", "line 2: 'x' is not a score"),
        ("1\td1\tinf", "line 2: 'inf' is not a score"),
        ("1\td1\t0.5", "line 2: '0.5' is not a whole number"),
    ],
)
def test_beir_mistakes_are_named(beir: Path, row: str, problem: str) -> None:
    (beir / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{row}\n")
    with pytest.raises(InputError, match=rf"test\.tsv, {problem}"):
        read_beir(beir, "test")


def test_beir_names_the_splits_it_has(beir: Path) -> None:
    with pytest.raises(UnreadableFile, match="has judgements for test"):
        read_beir(beir, "dev")
