"""A run whose questions have a prefix in front."""

import json
from dataclasses import replace

import pytest

from milepost.engine.tokenizer import Tokenizer
from milepost.errors import InputError
from milepost.windows.plan import WindowSize
from milepost_train.check import load_check
from milepost_train.config import CheckSettings, read_config
from milepost_train.material import load_material
from milepost_train.model import open_checkpoint
from milepost_train.model.special import load_tokenizer
from milepost_train.run import opened, train
from support.tiny_runs import CHECK, write_run

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
    bare = train(read_config(write_run(tmp_path, CHECK, stages=STAGE, out="bare")))
    weights = [(each.checkpoint / "model.safetensors").read_bytes() for each in (done, bare)]
    assert weights[0] != weights[1]
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
