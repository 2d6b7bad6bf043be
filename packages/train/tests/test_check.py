"""The check of a run, prefixes, and the example."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.windows.plan import WindowSize, plan
from milepost.errors import InputError
from milepost_train.batches import Batch, windows_of
from milepost_train.check import landmarks_of, load_check, vectors_of
from milepost_train.config import CheckSettings, read_config
from milepost_train.data import tokenize
from milepost_train.material import load_material
from milepost_train.model import open_checkpoint
from milepost_train.model.special import load_tokenizer
from milepost_train.run import opened, train
from support.files import write_lines
from support.tiny_models import random_model, write_tokenizer
from support.tiny_runs import CHECK, write_run, write_task

SHAPE = WindowSize(size=40, left=12, right=8, longest=20)


@pytest.fixture
def tokenizer(tmp_path: Path) -> Tokenizer:
    return Tokenizer(write_tokenizer(tmp_path / "tokenizer.json"), "[CLS]", "[SEP]")


@pytest.mark.parametrize(("kind", "bos_id"), [("bert", 2), ("bert", None), ("modernbert", 2)])
def test_every_landmark_comes_from_the_window_that_owns_it(
    tokenizer: Tokenizer, kind: str, bos_id: int | None
) -> None:
    text = tokenize(tokenizer, "a", "t", "".join(f"The cat sat {n} times. " for n in range(90)))
    model = random_model(kind)

    def encode(batch: Batch) -> Any:
        return vectors_of(model, batch)

    with torch.no_grad():
        found = landmarks_of(encode, text, bos_id, 3, SHAPE)
        for window in plan((text.lengths + 1).tolist(), SHAPE):
            batch = windows_of([(0, window.first, window.last)], [text], bos_id, 3)
            alone = encode(batch).numpy()[
                window.own_first - window.first : window.own_last - window.first
            ]
            assert np.allclose(found[window.own_first : window.own_last], alone, atol=1e-5)
    assert len(found) == len(text.spans) == 90


def test_questions_of_a_split_spread_over_documents(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """From a folder or one file, as many as asked for, the same ones every time."""
    folder = write_task(tmp_path / "mine")
    made = load_check(CheckSettings((folder,), documents=3, questions=4), tokenizer, SHAPE)
    assert made is not None
    assert len(made.texts) == 3
    assert len(made.questions) == 4
    assert {question.task for question in made.questions} == {"mine"}
    assert all(question.name.split(":")[1] in "37" for question in made.questions)
    train = load_check(CheckSettings((folder,), "train", documents=3), tokenizer, SHAPE)
    assert train is not None
    assert len(train.questions) == 18
    rows = [
        {"id": "d", "text": "A cat sat. A dog sat."},
        {"document": "d", "question": "who sat?", "spans": [[0, 5]], "split": "dev"},
    ]
    one = write_lines(tmp_path / "one.jsonl", rows)
    (question,) = load_check(CheckSettings((one,)), tokenizer, SHAPE).questions  # type: ignore[union-attr]
    assert question.evidence == (0,)
    assert load_check(CheckSettings(), tokenizer, SHAPE) is None
    with pytest.raises(InputError, match="no train question"):
        load_check(CheckSettings((one,), "train"), tokenizer, SHAPE)


PREFIX = "word7 word8: "
STAGE = '\n[[stage]]\nkind = "marked"\ndistil = 0\nsteps = 2\n'


def test_every_question_has_it_and_no_sentence(tmp_path):
    """Marked questions, queries of pairs, and the questions of the check."""
    config = read_config(write_run(tmp_path, CHECK))
    data = config.data
    base = open_checkpoint(config.init).reading
    tokenizer = load_tokenizer(tmp_path / "init")
    plain, made = (
        load_material(data, tokenizer, reading)
        for reading in (base, replace(base, query_prefix=PREFIX))
    )
    reader = Tokenizer(load_tokenizer(tmp_path / "init"), "[CLS]", "[SEP]")
    first = reader.encode([PREFIX])[0].ids
    assert len(first) == 3
    for kind in ("questions", "pairs"):
        both = list(zip(getattr(plain, kind), getattr(made, kind), strict=True))
        assert both
        for one, other in both:
            assert other.ids.tolist() == [*first, *one.ids]
            assert other.words == one.words  # which a teacher reads
    for one, other in zip(plain.texts, made.texts, strict=True):
        assert one.ids.tolist() == other.ids.tolist()
    tokenizer, shape = reader, WindowSize(64, 16, 8, 41)
    checks = [
        load_check(CheckSettings((tmp_path / "task",)), tokenizer, shape, prefix)
        for prefix in ("", PREFIX)
    ]
    for one, other in zip(*(check.questions for check in checks), strict=True):
        assert other.ids.tolist() == [*first, *one.ids]


def test_the_checkpoint_keeps_it(tmp_path):
    config = read_config(write_run(tmp_path, CHECK, stages=STAGE, query_prefix=PREFIX))
    done = train(config)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["settings"]["query_prefix"]
    assert open_checkpoint(done.checkpoint).reading.query_prefix == PREFIX
    for prefix, wanted in ((None, PREFIX), ("", ""), ("the ", "the ")):
        file = write_run(tmp_path, stages=STAGE, init="run/checkpoint", query_prefix=prefix)
        assert opened(read_config(file)).reading.query_prefix == wanted


def test_a_prefix_without_room_for_a_question(tmp_path):
    windows = "\n[windows]\nsize = 64\nlongest = 20\n"
    fits = write_run(tmp_path, windows, query_prefix="cat " * 10)
    assert opened(read_config(fits)).reading.query_prefix
    file = write_run(tmp_path, windows, query_prefix="cat " * 11)
    with pytest.raises(InputError, match="query_prefix has 11 tokens"):
        opened(read_config(file))
    with pytest.raises(InputError, match="query_prefix"):
        read_config(write_run(tmp_path, query_prefix=7))


ROOT = Path(__file__).parents[3]
SMALL = ROOT / "examples" / "train" / "small.toml"


def test_the_small_example_trains(tmp_path: Path) -> None:
    """A small step of it, with its own weights and data: nothing beside the clone is needed."""
    text = (
        SMALL.read_text("utf-8")
        .replace("../..", str(ROOT))
        .replace('"book', f'"{SMALL.parent}/book')
    )
    file = tmp_path / "small.toml"
    file.write_text(text.replace("documents = 2", "documents = 1\nquestions = 2"), "utf-8")
    config = read_config(file, out=tmp_path / "run", steps=1)
    made = train(replace(config, check=replace(config.check, every=1, documents=1, questions=6)))
    assert (made.steps, made.bad) == (1, 0)
    assert made.found["book"] > 0.3
    assert (made.checkpoint / "model.safetensors").is_file()
