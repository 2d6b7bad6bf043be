"""Teachers of sentence-transformers, and targets that are kept."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.errors import ModelError
from milepost_train.data import tokenize
from milepost_train.model import load_checkpoint
from milepost_train.teacher import MeanTeacher, Targets
from support.tiny_models import write_checkpoint

TEXT = (
    "Where they sat\n\nThe cat sat on the mat. The dog sat by the tree.\n\n"
    "Of birds\n\nA bird sat on the house."
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("teacher"), "bert")


def text_of(folder: Path, words: str = TEXT) -> Any:
    reader = Tokenizer(folder / "tokenizer.json", "[CLS]", "[SEP]")
    return tokenize(reader, "name", "task", words)


def state_of(folder: Path, ids: list[int]) -> Any:
    """States of one row alone, by Milepost's own network."""
    row = torch.tensor([ids])
    backbone = load_checkpoint(folder).backbone
    with torch.no_grad():
        return backbone(row, torch.ones_like(row).bool(), torch.arange(len(ids))[None], None)[0]


def close(found: Any, expected: Any) -> bool:
    target = F.normalize(expected, dim=-1)
    return float((torch.from_numpy(found).float() * target).sum()) > 0.999


def test_a_sentence_alone(folder: Path) -> None:
    """The mean over all tokens, special ones too: as sentence-transformers counts it."""
    teacher = MeanTeacher(folder)
    text = text_of(folder)
    vectors = teacher.of_sentences(text)
    assert vectors.dtype == np.float16
    for number in range(len(text.spans)):
        ids = [2, *text.sentence(number).tolist(), 3]
        assert close(vectors[number], state_of(folder, ids).mean(0))
    (question,) = teacher.of_questions(["where sat the cat"])
    alone = text_of(folder, "where sat the cat")
    assert close(question, state_of(folder, [2, *alone.ids.tolist(), 3]).mean(0))


def test_targets_are_kept(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    teacher, text = MeanTeacher(folder), text_of(folder)
    first = Targets(teacher, tmp_path).of_text(text)
    read: list[Any] = []
    compute = MeanTeacher.of_sentences

    def noted(self: MeanTeacher, text: Any) -> Any:
        read.append(text)
        return compute(self, text)

    monkeypatch.setattr(MeanTeacher, "of_sentences", noted)
    again = Targets(teacher, tmp_path)
    assert np.array_equal(again.of_text(text), first)
    assert again.of_text(text) is again.of_text(text)
    assert read == []
    Targets(teacher, tmp_path).of_text(text.part(0, 2))
    Targets(MeanTeacher(folder, longest=8), tmp_path).of_text(text)
    # Passages, of which there are tens of thousands, are not kept.
    assert np.array_equal(Targets(teacher, tmp_path).of_text(replace(text, name="")), first)
    assert len(read) == 3


def test_as_sentence_transformers_saves_it(folder: Path, tmp_path: Path) -> None:
    """The folder's own settings: prompts, length and pooling."""
    made = tmp_path / "st"
    made.mkdir()
    for file in folder.iterdir():
        (made / file.name).write_bytes(file.read_bytes())
    (made / "1_Pooling").mkdir()
    name = "sentence_transformers.models"
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": f"{name}.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{name}.Pooling"},
    ]
    (made / "modules.json").write_text(json.dumps(modules))
    (made / "sentence_bert_config.json").write_text('{"max_seq_length": 10}')
    pooling = made / "1_Pooling" / "config.json"
    pooling.write_text('{"pooling_mode_mean_tokens": true, "word_embedding_dimension": 32}')
    prompts = {"prompts": {"query": "the ", "document": ""}}
    (made / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    plain, teacher = MeanTeacher(folder), MeanTeacher(made)
    assert np.array_equal(teacher.of_questions(["cat"]), plain.of_questions(["the cat"]))
    long = "cat dog tree bird river house the on mat sat cat dog"
    ids = text_of(folder, long).ids.tolist()[:8]
    (vector,) = teacher.of_sentences(text_of(folder, long))
    assert close(vector, state_of(folder, [2, *ids, 3]).mean(0))
    pooling.write_text('{"pooling_mode": "cls", "word_embedding_dimension": 32}')
    (vector,) = MeanTeacher(made).of_questions(["cat"])
    cat = [2, *text_of(folder, "the cat").ids.tolist(), 3]
    assert close(vector, state_of(folder, cat)[0])
    (made / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="cannot be read"):
        MeanTeacher(made)
