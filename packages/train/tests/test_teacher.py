"""Teachers: means of a sentence encoder, alone or with what stands in front; and words."""

import json
import math
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from pydantic import ValidationError

from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.errors import InputError, ModelError
from milepost_train.check import vectors_of
from milepost_train.data import tokenize
from milepost_train.model import load_checkpoint
from milepost_train.objectives import build
from milepost_train.objectives.marked import candidates
from milepost_train.stages import MarkedStage
from milepost_train.teacher import LexicalTeacher, MeanTeacher, Targets
from support.small_material import Student, small_material
from support.small_models import write_checkpoint

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


SMALL = {"documents": 2, "questions": 3, "hard": 3, "windows": (20, 30), "distil": 0}


def said_of(text: Any) -> list[list[str]]:
    """Words of each sentence: the made up texts hold nothing that is stemmed or folded."""
    return [text.words[a:b].replace(".", "").split() for a, b in text.spans]


def longhand(texts: list[Any], question: str, number: int, sentence: int) -> float:
    """The formula for one sentence, without an array: box kernels of 1, 3 and 7 sentences."""
    every = [said for text in texts for said in said_of(text)]
    mean = sum(map(len, every)) / len(every)
    own = said_of(texts[number])
    asked = {word for word in question.split() if any(word in said for said in every)}
    rare = {}
    for word in asked:
        held = sum(word in said for said in every)
        rare[word] = math.log(1 + (len(every) - held + 0.5) / (held + 0.5))
    total = 0.0
    for reach in (0, 1, 3):
        near = own[max(0, sentence - reach) : sentence + reach + 1]
        length = sum(map(len, near))
        for word, weight in rare.items():
            often = sum(said.count(word) for said in near)
            norm = 1.2 * (1 - 0.75 + 0.75 * length / (mean * (2 * reach + 1)))
            total += weight * often * 2.2 / (often + norm) / 3
    return 0.5 * total / sum(rare.values())


def asked_in_words(material: Any) -> Any:
    """The questions of the material, each in the words of its evidence and one that nobody says."""
    material.questions = [
        replace(q, words=" ".join(said_of(material.texts[q.text])[q.evidence[0]]) + " unheard")
        for q in material.questions
    ]
    return material


def test_scores_are_bm25_with_its_kernels() -> None:
    """Every sentence of two texts, first and last ones too, and their order as it is asked for."""
    material = asked_in_words(small_material())
    teacher = LexicalTeacher(material.texts)
    owners = np.array([(n, i) for n in (4, 1) for i in range(12)], np.int64)
    for number in (5, 22):
        question = material.questions[number].words
        expected = [longhand(material.texts, question, *owner) for owner in owners.tolist()]
        assert teacher.scores(question, owners) == pytest.approx(expected, rel=1e-5)
        assert max(expected) > 0.1
    backwards = teacher.scores(question, owners[::-1])
    assert np.array_equal(backwards[::-1], teacher.scores(question, owners))
    assert not teacher.scores("nobody said it", owners).any()
    assert LexicalTeacher([]).scores("word75", np.zeros((0, 2), np.int64)).shape == (0,)


def test_the_ranking_of_a_step_by_hand() -> None:
    """``sum t (log t - log p)`` over the candidates; a question without any known word is none."""
    material = asked_in_words(small_material())
    asked, _ = build(MarkedStage(**SMALL), material).draw(Random(3))
    silent = asked[1]
    material.questions[silent] = replace(material.questions[silent], words="nobody said it")
    objective = build(MarkedStage(**SMALL, rank=0.5, rank_by="words"), material)
    student = Student()
    parts = objective.step(student, Random(3))
    windows, queries = student.seen
    scores = vectors_of(student.model, queries) @ vectors_of(student.model, windows).T / 0.05
    questions = [material.questions[n] for n in asked]
    positive, negative = candidates(questions, windows.owners, material.texts, objective.stage)
    terms = []
    for row, number in enumerate(asked):
        used = torch.from_numpy(positive[row] | negative[row])
        words = [
            longhand(list(material.texts), material.questions[number].words, *owner)
            for owner in windows.owners.tolist()
            if number != silent
        ]
        if words:
            truth = (torch.tensor(words) / 0.05)[used].log_softmax(0)
            terms.append((truth.exp() * (truth - scores[row][used].log_softmax(0))).sum().item())
    assert len(terms) == len(asked) - 1
    assert parts["rank"] == pytest.approx(np.mean(terms), rel=1e-4)
    assert parts["loss"] == pytest.approx(parts["contrast"] + 0.5 * parts["rank"], rel=1e-5)


def test_a_student_learns_to_rank_as_words_do() -> None:
    """Without contrast's help nearly gone: the divergence falls on the same examples."""
    material = asked_in_words(small_material())
    objective = build(MarkedStage(**SMALL, rank=20.0, rank_by="words"), material)
    student = Student()
    before = objective.step(student, Random(5))["rank"]
    student.gradients()
    student.learn(objective, 25)
    assert objective.step(student, Random(5))["rank"] < 0.7 * before


def test_it_stands_beside_a_teacher_and_without_one() -> None:
    """No teacher is asked for where words rank; a name that is not known is refused."""
    with pytest.raises(InputError, match="rank_by = 'words' needs none"):
        build(MarkedStage(**SMALL, rank=0.5), small_material())
    with pytest.raises(ValidationError, match="'words'"):
        MarkedStage(rank_by="word")
