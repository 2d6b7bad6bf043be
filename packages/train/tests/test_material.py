"""What a run draws from, from its files."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from milepost.errors import InputError
from milepost_train.config import DataSettings
from milepost_train.material import Words, load_material
from milepost_train.model.landmark_encoder import Reading
from support.files import write_lines
from support.small_material import small_material
from support.tiny_models import write_tokenizer

READING = Reading(bos_token="[CLS]", landmark="[SEP]")
TEXT = "The cat\n\nThe cat sat on the mat. The dog sat by the tree. A bird sat on the house."


@pytest.fixture
def tokenizer(tmp_path: Path) -> Any:
    return Tokenizer.from_file(str(write_tokenizer(tmp_path / "tokenizer.json")))


@pytest.fixture
def data(tmp_path: Path) -> DataSettings:
    task = write_lines(
        tmp_path / "cats.jsonl",
        [
            {"id": "a", "title": "The cat", "text": TEXT, "ignore": [[0, 7]]},
            {"id": "q", "document": "a", "question": "where sat the cat?",
             "spans": [[9, 32]], "split": "train"},
            {"id": "r", "document": "a", "question": "where is nobody?",
             "spans": [[1000, 1002]], "split": "train"},
        ],
    )  # fmt: skip
    pairs = write_lines(
        tmp_path / "pairs.jsonl",
        [
            {"query": "where sat the cat?", "passage": "The cat sat on the mat."},
            {"query": "dogs", "passage": "The dog sat."},
        ],
    )
    mined = write_lines(
        tmp_path / "mined.jsonl",
        [{"id": "q", "question": "where sat the cat?", "document": "a", "spans": [[9, 32]],
          "negatives": [{"document": "a", "span": [33, 58]}]},
         {"id": "gone", "question": "what sat?", "document": "a", "spans": [[9, 32]],
          "negatives": [{"document": "a", "span": [33, 58]}]}],
    )  # fmt: skip
    return DataSettings(tasks=(task,), pairs=(pairs,), negatives=(mined,))


def test_every_kind_of_file(data: DataSettings, tokenizer: Any) -> None:
    told: list[tuple[str, int, int]] = []
    material = load_material(data, tokenizer, READING, progress=lambda *each: told.append(each))
    assert [text.name for text in material.texts] == ["a"]
    (question,) = material.questions
    assert (question.task, question.evidence) == ("cats", (1,))
    assert material.texts[0].aside == (0,)
    assert material.hard(0) == [(0, 2)]
    assert [pair.words for pair in material.pairs] == ["where sat the cat?", "dogs"]
    # What was mined for the same words is no answer of the pair either; words are the sentences'.
    first, second = material.pairs
    found = [text.words[slice(*text.spans[0])].strip() for text in first.negatives]
    assert found == ["The dog sat by the tree."]
    assert second.negatives == ()
    assert (material.bos_id, material.landmark) == (2, 3)
    (bad,) = material.report.bad
    assert "cats.jsonl, line 3: span 1000–1002 is outside document 'a'" in str(bad)
    assert [line.partition(": ")[2] for line in material.report.lines()] == [
        "1 question, 1 document asked of, 1 bad line",
        "2 pairs",
        "1 negative, 1 negative of questions that are not read",
    ]
    assert told[0] == ("reading cats.jsonl", 0, 3)
    assert len(told) == 3


def test_without_a_teacher_words_say_what_is_hard(tmp_path: Path, tokenizer: Any) -> None:
    """The sentence that shares the rare words comes first; evidence is not among them."""
    text = "The dog ran. The cat sat by the river. The tree was old. The bird sat by the river."
    task = write_lines(
        tmp_path / "birds.jsonl",
        [{"id": "a", "title": "", "text": text},
         {"id": "q", "document": "a", "question": "who sat by the river?", "spans": [[13, 38]],
          "split": "train"}],
    )  # fmt: skip
    material = load_material(DataSettings(tasks=(task,)), tokenizer, READING)
    (question,) = material.questions
    assert question.evidence == (1,)
    assert material.read(question.words).tolist() == question.ids.tolist()
    assert material.read("by the river").tolist() != question.ids.tolist()
    found = [sentence for _, sentence in material.hard(0)]
    assert found[0] == 3
    assert set(found) <= {0, 2, 3}
    strange = replace(question, words="xylophones")
    assert replace(material, questions=[strange]).hard(0) == []


def said_of(text: Any) -> list[list[str]]:
    """Words of each sentence: the made up texts hold nothing that is stemmed or folded."""
    return [text.words[a:b].replace(".", "").split() for a, b in text.spans]


def longhand(texts: list[Any], question: str, number: int, sentence: int) -> float:
    """The formula for one sentence, without an array: box kernels of 1, 3 and 7 sentences."""
    every = [said for text in texts for said in said_of(text)]
    mean = sum(map(len, every)) / len(every)
    own, total = said_of(texts[number]), 0.0
    for word in question.split():
        held = sum(word in said for said in every)
        weight = math.log(1 + (len(every) - held + 0.5) / (held + 0.5))
        for reach in (0, 1, 3):
            near = own[max(0, sentence - reach) : sentence + reach + 1]
            often = sum(said.count(word) for said in near)
            length = sum(map(len, near)) / (mean * (2 * reach + 1))
            total += weight * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * length)) / 3
    return total


def test_words_score_by_bm25_at_the_scales_of_the_search() -> None:
    """Every sentence of two texts, first and last ones too; unknown words count nothing."""
    texts = small_material().texts
    words = Words(texts)
    for number in (4, 1):
        question = " ".join(said_of(texts[number])[3])
        expected = [longhand(texts, question, number, sentence) for sentence in range(12)]
        assert words.scores(f"{question} unheard", number) == pytest.approx(expected, rel=1e-5)
        assert np.argmax(expected) == 3
    assert not words.scores("nobody said it", 1).any()


@pytest.mark.parametrize(
    ("key", "row", "said"),
    [
        ("pairs", {"query": "a"}, r"line 1: no 'passage'.*; try: see docs"),
        ("tasks", {"id": "q", "document": "d", "question": "Who?"}, "without, they are of dev"),
    ],
)
def test_nothing_to_train_on(
    key: str, row: dict[str, str], said: str, tmp_path: Path, tokenizer: Any
) -> None:
    path = write_lines(tmp_path / "given.jsonl", [row])
    with pytest.raises(InputError, match=f"nothing that can be trained on: .*{said}"):
        load_material(DataSettings(**{key: (path,)}), tokenizer, READING)
