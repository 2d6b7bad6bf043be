"""Training text from the JSON-lines form: sentences as ids, evidence as sentence numbers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra: pip install 'milepost[train]'")

from milepost.testing import fake_encoder  # noqa: E402
from milepost.train.data import held_out, load_pairs, load_task, tokenize, touched  # noqa: E402

BACKEND = fake_encoder()._tokenizer._backend
TEXT = "One whale sings. Two ships pass by. None of them stops."


def write(path: Path, rows: list[dict[str, object]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A task of three documents, one of them not for commerce, and questions of two splits."""
    folder = tmp_path / "written"
    folder.mkdir()
    documents = [
        {"id": "a", "text": TEXT, "meta": {"licence": "CC-BY-4.0"}},
        {"id": "b", "text": TEXT, "meta": {"licence": "CC-BY-NC-4.0"}},
        {"id": "c", "text": TEXT},
    ]
    questions = [
        {"id": "1", "document": "a", "question": "who sings", "spans": [[4, 9]], "split": "train"},
        {"id": "2", "document": "b", "question": "who sings", "spans": [[4, 9]], "split": "train"},
        {"id": "3", "document": "c", "question": "what", "spans": [[10, 40]], "split": "train"},
        {"id": "4", "document": "a", "question": "none", "spans": [[40, 45]], "split": "dev"},
        {"id": "5", "document": "c", "question": " ", "spans": [[0, 4]], "split": "train"},
    ]
    write(folder / "documents.jsonl.gz", documents)
    write(folder / "questions.jsonl.gz", questions)
    return folder


def test_sentences_as_ids() -> None:
    """Ids of all sentences lie flat, each found by its number, its span beside it."""
    text = tokenize(BACKEND, "a", "written", TEXT)
    assert [TEXT[a:b].strip() for a, b in text.spans] == [
        "One whale sings.",
        "Two ships pass by.",
        "None of them stops.",
    ]
    encode = fake_encoder()._tokenizer.encode
    for number, (start, end) in enumerate(text.spans):
        assert text.sentence(number).tolist() == encode([TEXT[start:end]])[0].ids
    assert text.lengths.tolist() == [len(text.sentence(n)) for n in range(3)]


def test_long_sentences_are_cut() -> None:
    """No sentence has more tokens than the limit; one without any joins the one before."""
    text = tokenize(BACKEND, "a", "t", "One whale sings all night long. Two do.", longest=4)
    assert text.lengths.tolist() == [4, 3]
    assert tokenize(BACKEND, "a", "t", "").spans == []


def test_evidence_touches_sentences() -> None:
    """A span belongs to each sentence it shares a character with, and to no neighbour it meets."""
    spans = [(0, 10), (10, 20), (20, 30)]
    assert touched(spans, [[0, 10]]) == (0,)
    assert touched(spans, [[9, 11]]) == (0, 1)
    assert touched(spans, [[25, 26], [3, 4]]) == (0, 2)
    assert touched(spans, [[30, 40]]) == ()
    assert touched([], [[0, 5]]) == ()


def test_a_task(task: Path) -> None:
    """Questions of the split with their evidence; without documents whose licence forbids it."""
    texts, questions = load_task(task, BACKEND)
    assert [text.name for text in texts] == ["a", "c"]
    assert [(q.name, texts[q.text].name, q.evidence) for q in questions] == [
        ("1", "a", (0,)),
        ("3", "c", (0, 1, 2)),
    ]
    assert {q.task for q in questions} == {"written"}
    assert [text.name for text in load_task(task, BACKEND, allow_nc=True)[0]] == ["a", "b", "c"]
    assert [q.name for q in load_task(task, BACKEND, split_name="dev")[1]] == ["4"]


def test_documents_held_out(task: Path) -> None:
    """None at share 0, all at 1, a growing set between, always the same one."""
    assert load_task(task, BACKEND, hold_out=1.0) == ([], [])
    names = [f"document {n}" for n in range(2000)]
    quarter = {name for name in names if held_out(name, 0.25)}
    assert {name for name in names if held_out(name, 0.1)} < quarter
    assert 400 < len(quarter) < 600


def test_pairs(tmp_path: Path) -> None:
    """Passages are cut at a sentence's end, the first sentence stays; empty rows are left out."""
    path = tmp_path / "terms.jsonl.gz"
    rows = [
        {"query": "whale", "passage": TEXT},
        {"query": "", "passage": TEXT},
        {"query": "ship", "passage": " "},
    ]
    write(path, rows)
    (pair,) = load_pairs(path, BACKEND)
    assert pair.text.task == "terms"
    assert len(pair.text.spans) == 3
    lengths = pair.text.lengths
    for most in (1, int(lengths[0]), int(lengths[:2].sum()), int(lengths.sum()) - 1):
        (short,) = load_pairs(path, BACKEND, most_tokens=most)
        count = max(1, int((np.cumsum(lengths) <= most).sum()))
        assert short.text.spans == pair.text.spans[:count]
        assert short.text.ids.tolist() == pair.text.ids[: int(lengths[:count].sum())].tolist()
        assert short.text.lengths.tolist() == lengths[:count].tolist()
