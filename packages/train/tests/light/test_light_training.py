"""Training a light model: how it begins, what a step draws, and the folder at the end."""

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

import milepost
from milepost.encoder.engine import ModelFolder
from milepost.encoder.engine.manifest import read_manifest
from milepost.testing import FakeEngine, fake_encoder
from milepost_train.check import vectors_of
from milepost_train.data import Question, Text, held_out
from milepost_train.light import (
    CONFIG,
    HOLD_OUT,
    SIZES,
    TASKS,
    Distilled,
    Projected,
    align,
    begin,
    distil,
    gather,
    principal_axes,
    token_vectors,
)
from milepost_train.loading import Report
from milepost_train.loop import Event
from milepost_train.material import Material
from milepost_train.model import LandmarkEncoder, load_checkpoint
from milepost_train.model.light import Light
from milepost_train.model.release import release
from milepost_train.settings import MarkedStage
from milepost_train.teacher import Targets
from support.files import write_lines
from support.tiny_models import LIGHT_CONFIG, write_checkpoint

VOCABULARY, WIDTH, LANDMARK = 120, 24, 3
TINY = {**LIGHT_CONFIG, "vocab_size": VOCABULARY, "num_hidden_layers": 1}
ENGINE = FakeEngine(WIDTH, VOCABULARY)
STAGE = MarkedStage(
    documents=4,
    hard=0,
    windows=(60,),
    open_tasks=("trials",),
    distil=4.0,
    distil_questions=1.0,
    rank=1.0,
)


def text_of(sentences: list[list[int]], name: str = "") -> Text:
    starts = np.cumsum([0, *map(len, sentences)]).astype(np.int64)
    ids = np.array([token for sentence in sentences for token in sentence], np.int32)
    return Text(name, "", ids, starts, [(n, n + 1) for n in range(len(sentences))], words=name)


def vector(ids: Any) -> Any:
    """What ``FakeEngine`` says of a sentence: the normalised sum of fixed vectors."""
    whole = ENGINE._table[ids].sum(0)
    return whole / np.linalg.norm(whole)


class Teacher:
    """Reads as ``FakeEngine`` does; questions are their token ids, written out."""

    fingerprint, width = "fake", WIDTH

    def of_questions(self, questions: Any) -> Any:
        return np.stack([vector(json.loads(each)) for each in questions]).astype(np.float16)

    def of_sentences(self, text: Text) -> Any:
        rows = [vector(text.sentence(n)) for n in range(len(text.spans))]
        return np.stack(rows).astype(np.float16)


@pytest.fixture
def material() -> Material:
    """Texts of random tokens, of which every second is asked about in half of a sentence's tokens.

    And questions of no text.
    """
    random = Random(1)
    texts, questions = [], []

    def ask(task: str, tokens: list[int], text: int, evidence: tuple[int, ...]) -> None:
        ids = np.array(tokens, np.int32)
        questions.append(Question("", task, ids, text, evidence, json.dumps(tokens)))

    for number in range(12):
        said = [
            [random.randrange(5, VOCABULARY) for _ in range(random.randint(4, 9))]
            for _ in range(15)
        ]
        texts.append(text_of(said, f"text {number}"))
        for place in random.sample(range(15), 3 * (number % 2)):
            ask("trials" if number % 4 == 1 else "written", said[place][::2], number, (place,))
    for place in range(40):
        tokens = [random.randrange(5, VOCABULARY) for _ in range(4)]
        ask("pairs", tokens, -1 - place // 16, ())
    every = np.concatenate([Teacher().of_sentences(text) for text in texts]).astype(np.float32)
    targets = Targets(Projected(Teacher(), principal_axes(every, 16)))
    return Material(texts, questions, landmark=LANDMARK, width=16, targets=targets)


def model_of(material: Material) -> LandmarkEncoder:
    torch.manual_seed(2)
    model = LandmarkEncoder(TINY, own_sentence=False)
    assert isinstance(model.backbone, Light)
    begin(model.backbone, token_vectors(ENGINE, VOCABULARY, 2, LANDMARK), material.texts)
    return model


def test_frequent_tokens_begin_short() -> None:
    model = Light(TINY)
    often, rare = [7] * 90 + [8] * 10, [9]
    begin(model, token_vectors(ENGINE, VOCABULARY, 2, LANDMARK), [text_of([often, rare])], 0.1)
    lengths = model.embeddings["word_embeddings"].weight.detach().norm(dim=1)
    assert lengths[7] == pytest.approx(0.1 / (0.1 + 90 / 101), rel=1e-3)
    assert lengths[9] == pytest.approx(0.1 / (0.1 + 1 / 101), rel=1e-3)
    assert lengths[50] == pytest.approx(1.0, rel=1e-3)


def test_it_begins_well_and_learns(material: Material) -> None:
    """The linear map alone brings landmarks nearer to their targets; then every part falls."""
    model = model_of(material)
    objective = Distilled(STAGE, material)

    def parts() -> dict[str, float]:
        found = objective.step(lambda batch: vectors_of(model, batch), Random(3))
        model.zero_grad()
        return found

    begun = parts()
    align(model.backbone, material, texts=12)
    first = parts()
    assert first["distance"] < begun["distance"] - 0.2
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for seed in range(60):
        objective.step(lambda batch: vectors_of(model, batch), Random(seed))
        optimiser.step()
        optimiser.zero_grad()
    last = parts()
    for name in ("distance", "question_distance", "rank", "contrast"):
        assert last[name] < 0.9 * first[name], name


TEXT = "Frost came early. The bees had left the hive. Nobody knew why.\n\nIn spring they came back."


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder of shared data, small and made here."""
    names = [f"doc{n}" for n in range(60)]
    for task in TASKS:
        documents, questions = [], []
        for n, name in enumerate(names):
            text, licence = f"Of {task} and {name}. {TEXT}", "CC BY-NC" if n == 1 else "CC0"
            documents.append({"id": name, "text": text, "meta": {"licence": licence}})
            at = text.index("The bees")
            asked = {"id": f"{name}-q", "document": name, "question": f"Who left {name}?"}
            split = "dev" if n == 2 else "train"
            questions.append({**asked, "spans": [[at, at + 8]], "split": split})
        write_lines(tmp_path / "tasks" / task / "documents.jsonl.gz", documents)
        write_lines(tmp_path / "tasks" / task / "questions.jsonl.gz", questions)
    kinds = [("CC0", "train"), ("CC-BY-NC-4.0", "train"), ("CC0", "dev"), ("CC0", "test")] * 5
    rows = [
        {"id": f"c{n}", "licence": licence, "split": part, "text": f"Kept{n}. {TEXT}"}
        for n, (licence, part) in enumerate(kinds)
    ]
    write_lines(tmp_path / "corpus" / "health.jsonl.gz", rows)
    for name, query in (("definitions", "What is wax?"), ("sentence-cloze", "No.")):
        write_lines(tmp_path / "pairs" / f"{name}.jsonl.gz", [{"query": query, "passage": "x"}])
    return tmp_path


def test_only_what_may_train_is_read(shared: Path) -> None:
    tokenizer = fake_encoder().tokenizer
    texts, questions = gather(shared, tokenizer, "query: ", Report())
    allowed = [n for n in range(60) if n not in (1, 2) and not held_out(f"doc{n}", HOLD_OUT)]
    corpus = [n for n in range(0, 20, 4) if not held_out(f"c{n}", HOLD_OUT)]
    assert 0 < len(allowed) < 58
    assert len(texts) == len(TASKS) * len(allowed) + len(corpus)
    *asked, last = questions
    assert len(asked) == len(TASKS) * len(allowed)
    assert (last.text, last.evidence) == (-1, ())
    assert last.ids.tolist() == tokenizer.encode(["query: What is wax?"])[0].ids
    for question in asked:
        (place,) = question.evidence
        own = texts[question.text].sentence(place).tolist()
        assert own == tokenizer.encode(["The bees had left the hive."])[0].ids


SMALL = {**CONFIG, "table_width": 16, "hidden_size": 16, "intermediate_size": 16}


def test_from_shared_data_to_a_folder_that_searches(shared: Path, tmp_path: Path) -> None:
    """The folder has the teacher's tokens and the sizes of a light model, and finds a sentence."""
    release(write_checkpoint(tmp_path / "checkpoint", "bert"), tmp_path / "teacher")
    teacher = ModelFolder(tmp_path / "teacher", read_manifest(tmp_path / "teacher"))
    out = tmp_path / "runs" / "light"
    told: list[Event] = []
    settings: dict[str, Any] = {"name": "small", "steps": 3, "threads": 1, "config": SMALL}
    manifest = distil(teacher, shared, out, **settings, on_progress=told.append)
    assert (manifest.dimensions, manifest.window) == (16, SIZES["window"])
    assert manifest.bos_token == ""
    assert manifest.trained["steps"] == 3
    model = milepost.load(out / "small")
    index = milepost.open(model=model)
    index.add(milepost.Document("bees", "Frost came. The bees had left the hive. Nobody knew."))
    assert "bees" in index.search("Who left the hive?", k=1)[0].text
    assert load_checkpoint(out / "checkpoint").dimensions == 16
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["settings"]["stages"][0]["steps"] == 3
    assert record["hours"] >= 0
    checks = [event.line for event in told if event.line and "check" in event.line]
    assert [line["check"].keys() for line in checks] == [TASKS.keys()] * 2
    # A second run gives the same.
    vectors = model.encode("The bees had left.").vectors
    shutil.rmtree(out)
    again = distil(teacher, shared, out, **settings)
    assert again.fingerprint == manifest.fingerprint
    assert np.array_equal(
        milepost.load(out / "small").encode("The bees had left.").vectors, vectors
    )
