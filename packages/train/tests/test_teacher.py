"""Teachers: models of sentence-transformers, models of ours, and targets that are kept."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer as Backend

from milepost.encoder.engine.folder import SHIPPED
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.errors import InputError, ModelError
from milepost_train.batches import queries_of, windows_of
from milepost_train.check import vectors_of
from milepost_train.config import DataSettings
from milepost_train.data import tokenize
from milepost_train.material import load_material
from milepost_train.model import load_checkpoint, open_checkpoint
from milepost_train.model.landmark_encoder import Reading
from milepost_train.objectives import build
from milepost_train.settings import MarkedStage
from milepost_train.teacher import LandmarkTeacher, MeanTeacher, Targets, is_ours
from support.files import write_lines
from support.small_material import Student
from support.tiny_models import sentence_transformer, write_checkpoint

LIGHT = SHIPPED / "landmark-light"
READING = Reading(bos_token="[CLS]", landmark="[SEP]")
TEXT = "The cat sat on the mat. The dog sat by the tree. A bird sat on the house."
SMALL = {"documents": 1, "questions": 1, "hard": 1, "windows": (32,)}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("teacher") / "plain", "bert")


@pytest.fixture(scope="module")
def folder(saved: Path) -> Path:
    """A checkpoint as a run leaves it, whose sentences have ten tokens at most."""
    checkpoint = open_checkpoint(saved)
    checkpoint.reading = replace(checkpoint.reading, longest=10, window=64, left=16, right=8)
    checkpoint.save(saved.with_name("run"), torch.float32)
    return saved.with_name("run")


@pytest.fixture(scope="module")
def teacher(folder: Path) -> LandmarkTeacher:
    return LandmarkTeacher(folder)


def read_by(folder: Path, words: str = TEXT) -> Any:
    reader = Tokenizer(folder / "tokenizer.json", "[CLS]", "[SEP]")
    return tokenize(reader, "name", "task", words)


def landmarks_of(folder: Path, text: Any, last: int) -> Any:
    """The landmarks of the first sentences in one window, by the network itself."""
    with torch.no_grad():
        return vectors_of(open_checkpoint(folder).model, windows_of([(0, 0, last)], [text], 2, 3))


def test_landmarks_in_their_context_are_the_targets(folder: Path, teacher: Any) -> None:
    """As one window gives them; of a part of a text nothing else is read."""
    text = read_by(folder)
    found = teacher.of_sentences(text)
    assert (found.dtype, found.shape, teacher.width) == (np.float16, (3, 32), 32)
    assert np.allclose(found, landmarks_of(folder, text, 3), atol=2e-3)
    begun = teacher.of_sentences(text.part(0, 2))
    assert np.allclose(begun, landmarks_of(folder, text, 2), atol=2e-3)
    assert not np.allclose(begun, found[:2], atol=2e-3)


def test_a_long_sentence_is_the_mean_of_its_pieces(folder: Path, teacher: Any) -> None:
    """What is longer than the teacher reads at once is read whole all the same."""
    said = "The cat sat on the mat, " + "the cat sat on the mat, " * 3 + "the dog. "
    long = read_by(folder, f"The dog sat. {said}A bird sat.")
    read = teacher.encoder.encode(long.words, spans=long.spans)
    assert len(long.spans) == 3 < len(read.spans)
    vectors = teacher.of_sentences(long).astype(np.float32)
    mean = read.vectors[1:-1].mean(axis=0)
    assert np.allclose(vectors[1], mean / np.linalg.norm(mean), atol=2e-3)
    assert np.allclose(vectors[[0, 2]], read.vectors[[0, -1]], atol=2e-3)


def test_questions_are_one_sentence(folder: Path, teacher: Any) -> None:
    ids = teacher.encoder.tokenizer.encode(["where sat it"])[0].ids
    model = open_checkpoint(folder).model
    with torch.no_grad():
        own = vectors_of(model, queries_of([np.array(ids, np.int32)], 2, 3))
    assert np.allclose(teacher.of_questions(["where sat it"]), own, atol=2e-3)


def test_what_its_vectors_hang_on(folder: Path, teacher: Any, tmp_path: Path) -> None:
    """The same folder is the same teacher; other windows or weights are another."""
    assert LandmarkTeacher(folder).fingerprint == teacher.fingerprint
    other = open_checkpoint(folder)
    other.reading = replace(other.reading, left=8)
    other.save(tmp_path / "windows", torch.float32)
    other = open_checkpoint(folder)
    with torch.no_grad():
        next(other.model.parameters()).add_(0.5)
    other.save(tmp_path / "weights", torch.float32)
    known = {LandmarkTeacher(tmp_path / name).fingerprint for name in ("windows", "weights")}
    assert len({*known, teacher.fingerprint}) == 3
    (tmp_path / "weights" / "tokenizer.json").unlink()
    with pytest.raises(ModelError):
        LandmarkTeacher(tmp_path / "weights")


@pytest.fixture
def data(tmp_path: Path) -> DataSettings:
    rows = [
        {"id": "a", "text": TEXT},
        {"id": "q", "document": "a", "question": "where sat the cat?", "spans": [[0, 22]],
         "split": "train"},
    ]  # fmt: skip
    return DataSettings(tasks=(write_lines(tmp_path / "cats.jsonl", rows),))


@pytest.mark.parametrize("name", ["run", "plain"])
def test_a_run_is_taught_by_a_folder(
    data: DataSettings, folder: Path, tmp_path: Path, name: str
) -> None:
    """A checkpoint of a run, or a network that reads sentences alone."""
    tokenizer = Backend.from_file(str(folder / "tokenizer.json"))
    taught, cache = replace(data, teacher=folder.with_name(name)), tmp_path / "cache"
    material = load_material(taught, tokenizer, READING, width=32, cache=cache)
    parts = build(MarkedStage(**SMALL, rank=0.5), material).step(Student(), Random(1))
    assert {"distance", "rank"} <= set(parts)
    assert {sentence for _, sentence in material.hard(0)} == {1, 2}
    assert len(list(cache.iterdir())) == 1


def test_a_model_of_another_width_gives_scores_alone(data: DataSettings, folder: Path) -> None:
    """The shipped light model, 256 numbers: its ranking is learned, its vectors are refused."""
    assert is_ours(LIGHT)
    tokenizer = Backend.from_file(str(folder / "tokenizer.json"))
    material = load_material(replace(data, teacher=LIGHT), tokenizer, READING, width=32)
    wide = material.targets.of_text(material.texts[0])
    assert wide.shape == (3, 256)
    asked = material.question_target(0)
    assert np.argmax(wide.astype(np.float32) @ asked.astype(np.float32)) == 0
    with pytest.raises(InputError, match=r"to a teacher's of 256"):
        build(MarkedStage(**SMALL), material)
    stage = MarkedStage(**SMALL, distil=0, rank=1.0)
    student = Student()
    parts = build(stage, material).step(student, Random(1))
    assert parts["rank"] > 0
    assert student.gradients().abs().max() > 0


WITH_HEADINGS = (
    "Where they sat\n\nThe cat sat on the mat. The dog sat by the tree.\n\n"
    "Of birds\n\nA bird sat on the house."
)


def state_of(saved: Path, ids: list[int]) -> Any:
    """States of one row alone, by Milepost's own network."""
    row = torch.tensor([ids])
    backbone = load_checkpoint(saved).backbone
    with torch.no_grad():
        return backbone(row, torch.ones_like(row).bool(), torch.arange(len(ids))[None], None)[0]


def close(found: Any, expected: Any) -> bool:
    target = F.normalize(expected, dim=-1)
    return float((torch.from_numpy(found).float() * target).sum()) > 0.999


def test_a_sentence_alone(saved: Path) -> None:
    """The mean over all tokens, special ones too: as sentence-transformers counts it."""
    teacher = MeanTeacher(saved)
    text = read_by(saved, WITH_HEADINGS)
    vectors = teacher.of_sentences(text)
    assert vectors.dtype == np.float16
    for number in range(len(text.spans)):
        ids = [2, *text.sentence(number).tolist(), 3]
        assert close(vectors[number], state_of(saved, ids).mean(0))
    (question,) = teacher.of_questions(["where sat the cat"])
    alone = read_by(saved, "where sat the cat")
    assert close(question, state_of(saved, [2, *alone.ids.tolist(), 3]).mean(0))


def test_targets_are_kept(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    teacher, text = MeanTeacher(saved), read_by(saved, WITH_HEADINGS)
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
    Targets(MeanTeacher(saved, longest=8), tmp_path).of_text(text)
    # Passages, of which there are tens of thousands, are not kept.
    assert np.array_equal(Targets(teacher, tmp_path).of_text(replace(text, name="")), first)
    assert len(read) == 3


def test_as_sentence_transformers_saves_it(tmp_path: Path) -> None:
    """The folder's own settings: prompts, length and pooling."""
    made = sentence_transformer(tmp_path / "st", prompts={"query": "the ", "document": ""})
    (made / "sentence_bert_config.json").write_text('{"max_seq_length": 10}')
    teacher = MeanTeacher(made)
    asked = state_of(made, [2, *read_by(made, "the cat").ids.tolist(), 3])
    (vector,) = teacher.of_questions(["cat"])
    assert close(vector, asked.mean(0))
    long = "cat dog tree bird river house the on mat sat cat dog"
    ids = read_by(made, long).ids.tolist()[:8]
    (vector,) = teacher.of_sentences(read_by(made, long))
    assert close(vector, state_of(made, [2, *ids, 3]).mean(0))
    pooling = '{"pooling_mode": "cls", "word_embedding_dimension": 16}'
    (made / "1_Pooling" / "config.json").write_text(pooling)
    (vector,) = MeanTeacher(made).of_questions(["cat"])
    assert close(vector, asked[0])
    (made / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="cannot be read"):
        MeanTeacher(made)
