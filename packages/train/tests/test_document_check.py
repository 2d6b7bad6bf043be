"""Documents found by titles: at which granularity, by what, among which."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost.engine.tokenizer import Tokenizer  # noqa: E402
from milepost.windows.plan import WindowSize  # noqa: E402
from milepost_train.batches import Batch  # noqa: E402
from milepost_train.check import Check, load_check, vectors_of  # noqa: E402
from milepost_train.config import CheckSettings  # noqa: E402
from milepost_train.data import Question, tokenize  # noqa: E402
from milepost_train.document_check import DocumentCheck, document_check  # noqa: E402
from milepost_train.objectives.documents import beginning  # noqa: E402
from milepost_train.stages import DocumentsStage  # noqa: E402
from support.small_models import random_model, write_tokenizer  # noqa: E402
from support.tiny_runs import write_lines, write_task  # noqa: E402

SHAPE = WindowSize(size=40, left=12, right=8, longest=20)
STAGE = DocumentsStage(window=32, tokens=30, granularities=(4, "sentences"), evaluation=6)


@pytest.fixture
def tokenizer(tmp_path: Path) -> Tokenizer:
    return Tokenizer(write_tokenizer(tmp_path / "tokenizer.json"), "[CLS]", "[SEP]")


def check_of(tokenizer: Tokenizer, folder: Path, rows: list[dict[str, Any]]) -> Check:
    """A check of one file, with a question for every document."""
    questions = [
        {"document": row["id"], "question": row["text"][:7], "spans": [[0, 7]], "split": "dev"}
        for row in rows
    ]
    write_lines(folder / "task.jsonl", [*rows, *questions])
    check = load_check(CheckSettings((folder / "task.jsonl",)), tokenizer, SHAPE)
    assert check is not None
    return check


def of_words(batch: Batch) -> Any:
    """A vector a landmark: which tokens its piece has, what every piece has left out."""
    rows = []
    for row in range(len(batch.ids)):
        for place in range(int(batch.used[row].sum())):
            inside = batch.ids[row][batch.sentences[row] == place + 1]
            rows.append(torch.bincount(inside[inside > 3], minlength=200).float() + 1e-9)
    return torch.nn.functional.normalize(torch.stack(rows), dim=-1)


def test_a_prefix_stands_before_titles_alone(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Of the queries, not of the texts."""
    check = load_check(CheckSettings((write_task(tmp_path / "mine"),)), tokenizer, SHAPE)
    assert check is not None
    plain, asked = (document_check(check, STAGE, tokenizer, prefix) for prefix in ("", "whale "))
    assert plain is not None
    assert asked is not None
    front = [int(token) for token in tokenizer.encode(["whale"])[0].ids]
    titled = [ids.tolist() for ids in asked.queries if ids[: len(front)].tolist() == front]
    assert titled
    before = [ids.tolist() for ids in plain.queries]
    assert all(ids[len(front) :] in before for ids in titled)
    assert [text.ids.tolist() for text in asked.texts] == [t.ids.tolist() for t in plain.texts]


def test_read_at_the_granularity_of_evaluation(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Of every text and title, whatever training draws from; the figures do not depend on it."""
    check = load_check(CheckSettings((write_task(tmp_path / "mine"),)), tokenizer, SHAPE)
    assert check is not None
    made = document_check(check, STAGE, tokenizer)
    assert made is not None
    seen: list[Batch] = []
    model = random_model("bert")

    def encode(batch: Batch) -> Any:
        seen.append(batch)
        return vectors_of(model, batch)

    first, again = made(encode), made(encode)
    assert first == again
    assert set(first) == {"ndcg@10", "success@1"}
    assert 0 <= first["success@1"] <= first["ndcg@10"] <= 1
    queries, texts = seen[:2]
    assert queries.ids.shape[1] <= 32 >= texts.ids.shape[1]
    for batch, lengths in (
        (queries, [len(ids) for ids in made.queries]),
        (texts, [len(beginning(STAGE, text).ids) for text in made.texts]),
    ):
        landmarks = [int((batch.owners[:, 0] == n).sum()) for n in range(len(lengths))]
        assert landmarks == [-(-length // 6) for length in lengths]
    assert max(len(beginning(STAGE, text).ids) for text in made.texts) == 24


def test_figures_written_out(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """One title is its text's words, one another text's; the second stands at rank 2 or 3."""
    rows = [
        {"id": "a", "title": "tree river", "text": "A tree. A river, a tree. "},
        {"id": "b", "title": "cat", "text": "The dog sat on a mat. The dog! "},
        {"id": "c", "title": "house bird", "text": "The cat sat on a mat. The cat! "},
    ]
    made = document_check(check_of(tokenizer, tmp_path, rows), STAGE, tokenizer)
    assert made is not None
    assert [len(right) for right in made.right] == [1, 1, 1]
    asking, found = (
        torch.stack([_mean(each) for each in side])
        for side in (made.queries, [beginning(STAGE, text).ids for text in made.texts])
    )
    scores = asking @ found.T
    gains, firsts = [], []
    for number, row in enumerate(scores.tolist()):
        rank = 1 + sum(
            other > row[number] or (other == row[number] and n < number)
            for n, other in enumerate(row)
        )
        gains.append(1 / math.log2(rank + 1))
        firsts.append(rank == 1)
    assert made(of_words) == pytest.approx(
        {"ndcg@10": np.mean(gains), "success@1": np.mean(firsts)}
    )
    assert 0 < sum(firsts) < 3


def _mean(ids: Any) -> Any:
    """A text's vector by ``of_words`` at six tokens a landmark, by a loop."""
    rows = [
        torch.bincount(torch.tensor(ids[at : at + 6].astype(np.int64)), minlength=200).float()
        for at in range(0, len(ids), 6)
    ]
    units = [row / row.norm() for row in rows]
    mean = torch.stack(units).mean(0)
    return mean / mean.norm()


def test_what_asks_for_a_document(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Its title, taken off its text; without one its first question; one title may have two."""
    rows = [
        {"id": "a", "title": "Tree 1", "text": "tree 1\n\nA cat sat. A dog sat. "},
        {"id": "b", "title": "tree 1", "text": "A bird sat. A dog sat. "},
        {"id": "c", "title": "", "text": "The river. A dog sat. "},
    ]
    check = check_of(tokenizer, tmp_path, rows)
    made = document_check(check, STAGE, tokenizer)
    assert isinstance(made, DocumentCheck)
    names = [text.name for text in made.texts]
    title, question = (tuple(tokenizer.encode([words])[0].ids) for words in ("tree 1", "The riv"))
    asked = {
        tuple(ids.tolist()): {names[n] for n in right}
        for ids, right in zip(made.queries, made.right, strict=True)
    }
    assert asked == {title: {"a", "b"}, question: {"c"}}
    whole = {text.name: len(text.ids) for text in check.texts}
    left = {text.name: len(text.ids) for text in made.texts}
    assert left == {**whole, "a": whole["a"] - len(title)}


def test_one_document_is_no_check(tokenizer: Tokenizer) -> None:
    """Two at least have to be told apart."""
    text = tokenize(tokenizer, "a", "t", "A cat sat.")
    asked = Question("q", "t", text.ids[:2], 0, (0,))
    assert document_check(Check([text], [asked], 2, 3, SHAPE, 100), STAGE, tokenizer) is None
