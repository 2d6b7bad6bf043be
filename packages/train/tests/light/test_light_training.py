"""Training a light model: material, steps, and the folder at the end."""

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
from milepost.encoder.engine.fake import FakeEngine
from milepost.encoder.engine.manifest import read_manifest
from milepost.testing import fake_encoder
from milepost_train.data import Question, held_out
from milepost_train.light import distil as light_distil
from milepost_train.light.distil import (
    CONFIG,
    HOLD_OUT,
    SIZES,
    TASKS,
    Reader,
    distil,
    gather,
    sources,
)
from milepost_train.light.training import (
    LightMaterial,
    LightRecipe,
    LightTrainer,
    Taught,
    _around,
    begin,
    principal_axes,
    token_vectors,
)
from milepost_train.model import LandmarkEncoder, load_checkpoint
from milepost_train.model.light import Light
from milepost_train.model.release import release
from support.small_models import LIGHT_CONFIG, random_model, write_checkpoint

VOCABULARY, WIDTH, LANDMARK = 120, 24, 3
TINY = {**LIGHT_CONFIG, "vocab_size": VOCABULARY, "num_hidden_layers": 1}
TEACHER = FakeEngine(WIDTH, VOCABULARY)


def taught(sentences: list[list[int]]) -> Taught:
    """A text as ``FakeEngine`` reads it: the normalised sum of fixed vectors."""
    targets = np.stack([TEACHER._table[sentence].sum(0) for sentence in sentences])
    targets /= np.linalg.norm(targets, axis=1, keepdims=True)
    starts = np.cumsum([0, *map(len, sentences)]).astype(np.int64)
    ids = np.array([token for sentence in sentences for token in sentence], np.int32)
    spans = [(n, n + 1) for n in range(len(sentences))]
    return Taught("", "", ids, starts, spans, targets=targets.astype(np.float16))


def material(seed: int = 1) -> LightMaterial:
    """Texts of random tokens; a question has half the tokens of its evidence."""
    random = Random(seed)
    made = LightMaterial()

    def ask(task: str, tokens: list[int], number: int, evidence: tuple[int, ...]) -> None:
        question = taught([tokens])
        made.questions.append(Question("", task, question.ids, number, evidence))
        made.targets.append(question.targets[0])

    for number in range(12):
        text = [
            [random.randrange(5, VOCABULARY) for _ in range(random.randint(4, 9))]
            for _ in range(15)
        ]
        made.texts.append(taught(text))
        for place in random.sample(range(15), 3):
            ask("trials" if number % 2 else "written", text[place][::2], number, (place,))
    for _ in range(20):
        ask("pairs", [random.randrange(5, VOCABULARY) for _ in range(4)], -1, ())
    return made


def trainer(**settings: Any) -> LightTrainer:
    torch.manual_seed(2)
    made = material()
    model = LandmarkEncoder(TINY, own_sentence=False)
    assert isinstance(model.backbone, Light)
    vectors = token_vectors(TEACHER, VOCABULARY, 2, LANDMARK)
    begin(model.backbone, vectors, made.texts)
    every = np.concatenate([text.targets for text in made.texts]).astype(np.float32)
    recipe = LightRecipe(
        **{"steps": 60, "documents": 4, "tokens": 60, "queries": 6, "warm_up": 5, **settings}
    )
    return LightTrainer(model, made, LANDMARK, principal_axes(every, 16), recipe)


def test_token_vectors_are_of_sentences_of_one_token() -> None:
    vectors = token_vectors(TEACHER, VOCABULARY, 2, LANDMARK)
    wanted = TEACHER._table[[7, LANDMARK]].sum(0)
    assert vectors.shape == (VOCABULARY, WIDTH)
    assert np.allclose(vectors[7], wanted / np.linalg.norm(wanted), atol=1e-6)
    assert np.allclose(token_vectors(TEACHER, VOCABULARY, None, LANDMARK), vectors, atol=1e-6)


def test_principal_axes() -> None:
    rows = np.random.default_rng(3).standard_normal((500, 5)).astype(np.float32)
    rows *= np.array([0.1, 3.0, 0.2, 9.0, 1.0], np.float32)
    axes = principal_axes(rows, 2)
    assert np.allclose(axes.T @ axes, np.eye(2), atol=1e-5)
    assert np.abs(axes[3, 0]) > 0.99
    assert np.abs(axes[1, 1]) > 0.99


def test_frequent_tokens_begin_short() -> None:
    model = Light(TINY)
    often, rare = [7] * 90 + [8] * 10, [9]
    begin(model, token_vectors(TEACHER, VOCABULARY, 2, LANDMARK), [taught([often, rare])], 0.1)
    lengths = model.embeddings["word_embeddings"].weight.detach().norm(dim=1)
    assert lengths[7] == pytest.approx(0.1 / (0.1 + 90 / 101), rel=1e-3)
    assert lengths[9] == pytest.approx(0.1 / (0.1 + 1 / 101), rel=1e-3)
    assert lengths[50] == pytest.approx(1.0, rel=1e-3)


def test_alignment_is_a_good_beginning() -> None:
    made = trainer()

    def near() -> float:
        landmarks, targets = made.read(0)
        return float((landmarks * targets).sum(-1).mean())

    before = near()
    made.align(texts=12)
    assert near() > before + 0.2


def test_it_learns_and_draws_by_its_seed() -> None:
    said: list[dict[str, float]] = []
    made = trainer()
    made.align(texts=12)
    made.run(lambda _, parts: said.append(parts), every=15)
    assert said[-1]["distance"] < 0.8 * said[0]["distance"]
    assert said[-1]["ranking"] < said[0]["ranking"]
    assert said[-1]["contrast"] < said[0]["contrast"]
    again = trainer()
    again.align(texts=12)
    again.run(lambda *_: None)
    pairs = zip(made.averaged.parameters(), again.averaged.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
    questions = made.ask(made.material.questions[:3])
    assert torch.allclose(questions.norm(dim=-1), torch.ones(3), atol=1e-5)


def test_windows_hold_their_sentence() -> None:
    random = Random(4)
    for _ in range(300):
        lengths = [random.randint(0, 40) for _ in range(random.randint(1, 30))]
        starts = np.cumsum([0, *lengths]).astype(np.int64)
        centre = random.randrange(len(lengths))
        first, last = _around(starts, centre, random.choice((1, 20, 100, 5000)), random)
        assert 0 <= first <= centre < last <= len(lengths)


def test_another_backbone_is_refused() -> None:
    with pytest.raises(TypeError, match="bert is not light"):
        LightTrainer(
            random_model("bert"), material(), LANDMARK, np.eye(24, 16), LightRecipe(steps=1)
        )


TEXT = "Frost came early. The bees had left the hive. Nobody knew why.\n\nIn spring they came back."


def test_only_what_may_train_is_read(shared: Path) -> None:
    encoder = fake_encoder()
    tokenizer = encoder.tokenizer
    said: list[str] = []
    material = gather(shared, Reader(encoder, tokenizer), said.append)
    allowed = [n for n in range(60) if n not in (1, 2) and not held_out(f"doc{n}", HOLD_OUT)]
    corpus = [n for n in range(0, 20, 4) if not held_out(f"c{n}", HOLD_OUT)]
    assert 0 < len(allowed) < 58
    assert len(material.texts) == len(TASKS) * len(allowed) + len(corpus)
    assert len(material.questions) == len(material.targets) == len(TASKS) * len(allowed) + 1
    assert material.questions[-1].text == -1
    assert said[-1].startswith("health")
    for question, target in zip(material.questions[:-1], material.targets, strict=False):
        (place,) = question.evidence
        own = material.texts[question.text].sentence(place).tolist()
        assert own == tokenizer.encode(["The bees had left the hive."])[0].ids
        assert np.linalg.norm(target.astype(float)) == pytest.approx(1, abs=1e-2)


def test_the_record_names_every_file_that_is_read(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: set[Path] = set()
    objects = light_distil.objects

    def noted(path: Path) -> Any:
        read.add(path)
        return objects(path)

    monkeypatch.setattr(light_distil, "objects", noted)
    encoder = fake_encoder()
    gather(shared, Reader(encoder, encoder.tokenizer), lambda _: None)
    named = sources(shared)
    assert set(named) == read
    assert len(named) == len(read) == 2 * len(TASKS) + 2
    assert not any(path.name.startswith("sentence-cloze") for path in named)


def test_texts_are_as_the_teacher_reads_them() -> None:
    encoder = fake_encoder(longest=6)
    (taught,) = Reader(encoder, encoder.tokenizer).read([TEXT])
    landmarks = encoder.encode(TEXT)
    assert taught.spans == [tuple(span) for span in landmarks.spans.tolist()]
    assert len(taught.ids) == taught.starts[-1] == landmarks.tokens_given
    assert np.allclose(taught.targets, landmarks.vectors, atol=1e-3)
    assert max(np.diff(taught.starts)) <= 6


def test_questions_have_the_teachers_prefix():
    teacher, bare = fake_encoder(query_prefix="query: "), fake_encoder()
    [(ids, target)] = Reader(teacher, teacher.tokenizer).questions(["Who left?"])
    assert ids.tolist() == bare.tokenizer.encode(["query: Who left?"])[0].ids
    wanted = teacher.encode_query("Who left?")
    assert np.allclose(target, wanted, atol=1e-3)
    assert np.array_equal(wanted, bare.encode_query("query: Who left?"))


SMALL = {**CONFIG, "table_width": 16, "hidden_size": 16, "intermediate_size": 16}


def test_from_shared_data_to_a_folder_that_searches(shared: Path, tmp_path: Path) -> None:
    """The folder has the teacher's tokens and the sizes of a light model, and finds a sentence."""
    release(write_checkpoint(tmp_path / "checkpoint", "bert"), tmp_path / "teacher")
    teacher = ModelFolder(tmp_path / "teacher", read_manifest(tmp_path / "teacher"))
    out = tmp_path / "runs" / "light"
    recipe = LightRecipe(steps=3, documents=4, warm_up=1)
    said: list[str] = []
    given = teacher, shared, out, recipe
    settings = {"name": "small", "threads": 1, "config": SMALL, "say": said.append}
    manifest = distil(*given, **settings)
    assert (manifest.dimensions, manifest.window) == (16, SIZES["window"])
    assert manifest.bos_token == ""
    assert manifest.trained["steps"] == 3
    model = milepost.load(out / "small")
    index = milepost.open(model=model)
    index.add(milepost.Document("bees", "Frost came. The bees had left the hive. Nobody knew."))
    assert "bees" in index.search("Who left the hive?", k=1)[0].text
    assert load_checkpoint(out / "checkpoint").dimensions == 16
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["settings"]["recipe"]["steps"] == 3
    assert record["hours"] >= 0
    assert said[-1].startswith("after {")
    # A second run gives the same.
    vectors = model.encode("The bees had left.").vectors
    shutil.rmtree(out)
    again = distil(*given, **settings)
    assert again.fingerprint == manifest.fingerprint
    assert np.array_equal(
        milepost.load(out / "small").encode("The bees had left.").vectors, vectors
    )
