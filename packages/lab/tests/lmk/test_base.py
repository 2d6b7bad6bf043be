"""Encoders that no pooling has shaped: vocabulary, masks, pre-training, resuming."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

import numpy as np  # noqa: E402
import torch  # noqa: E402

from milepost.errors import InputError  # noqa: E402
from milepost_lab.lmk import base as module  # noqa: E402
from milepost_lab.lmk.base import (  # noqa: E402
    CLS,
    MASK,
    SEP,
    BaseSettings,
    RotaryEncoder,
    minilm,
    pretrained,
    vocabulary,
)
from milepost_train.run_folder import RunFolder  # noqa: E402

SETTINGS = BaseSettings(
    layers=2, width=32, heads=2, vocabulary=300, row=32, batch=4, steps=60, rate=3e-3
)
TEXTS = ["the cat sat on the mat and the dog lay under the tree by the river. " * 20] * 3
CPU = torch.device("cpu")


def made(folder: Path, settings: BaseSettings = SETTINGS) -> module.Base:
    return pretrained(folder, TEXTS, settings, CPU, torch.float32, lambda *_: None)


def test_masked_words_are_learned_and_the_folder_is_enough(tmp_path: Path) -> None:
    """The loss falls, the weights are read again, and other settings are refused."""
    steps: list[int] = []
    first = pretrained(
        tmp_path, TEXTS, SETTINGS, CPU, torch.float32, lambda _, done, __: steps.append(done)
    )
    assert steps[-1] == 60
    assert first.facts["loss"] < 4.5 < np.log(300)
    again = pretrained(
        tmp_path, TEXTS, SETTINGS, CPU, torch.float32, lambda *_: pytest.fail("trained again")
    )
    with RunFolder(tmp_path, resume=True).alone():
        made(tmp_path)  # beside another process, as it only reads
    one, other = (each.load().state_dict() for each in (first, again))
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert first.words.ids(["the cat"]) == again.words.ids(["the cat"])
    with pytest.raises(InputError, match="holds an encoder with another steps: 60, not 70"):
        made(tmp_path, replace(SETTINGS, steps=70))


def test_a_killed_training_goes_on_to_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(SETTINGS, steps=210)
    whole = made(tmp_path / "whole", settings).load().state_dict()
    masked = module.guessed

    def killed(rows: Any, step: int, settings: BaseSettings) -> Any:
        if step == 205:
            raise KeyboardInterrupt
        return masked(rows, step, settings)

    monkeypatch.setattr(module, "guessed", killed)
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path / "part", settings)
    monkeypatch.setattr(module, "guessed", masked)
    resumed = made(tmp_path / "part", settings).load().state_dict()
    assert all(torch.equal(resumed[name], whole[name]) for name in whole)


def test_a_folder_that_lost_its_last_file_is_completed(tmp_path: Path) -> None:
    """As it stands after a kill between two files of the checkpoint."""
    whole = made(tmp_path).load().state_dict()
    (tmp_path / "checkpoint" / "tokenizer.json").unlink()
    again = made(tmp_path).load().state_dict()
    assert all(torch.equal(again[name], whole[name]) for name in whole)


def test_texts_that_fill_no_row_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="corpus/ of --data has no training text of 998 tokens"):
        made(tmp_path, replace(SETTINGS, row=1000))


def test_no_special_token_is_masked() -> None:
    """Of the others 30 %: most as [MASK], some as another token, some as they are."""
    rows = module.rows_of([list(range(10, 250)) * 4], 32)
    assert (rows[:, 0] == CLS).all()
    assert (rows[:, -1] == SEP).all()
    settings = replace(SETTINGS, batch=16)
    shown = []
    for step in range(20):
        ids, marks, wanted = module.guessed(rows, step, settings)
        assert ids.shape == (16, 32)
        assert marks.shape == wanted.shape == (16, 9)
        assert ((marks > 0) & (marks < 31)).all()
        assert (ids[:, 0] == CLS).all()
        assert (ids[:, -1] == SEP).all()
        shown.append((ids.gather(1, marks), wanted))
    seen, wanted = (torch.cat(each) for each in zip(*shown, strict=True))
    assert 0.75 < (seen == MASK).float().mean() < 0.85
    assert 0.05 < (seen == wanted).float().mean() < 0.16
    first = rows.copy()
    module.guessed(rows, 0, settings)
    assert np.array_equal(rows, first)


def test_without_positions_order_does_not_matter() -> None:
    """And afterwards it does again."""
    torch.manual_seed(0)
    network = RotaryEncoder(replace(SETTINGS, width=32).config).eval()
    with torch.no_grad():
        for weight in network.parameters():
            if weight.dim() > 1:
                weight.normal_(0, 0.3)
    ids = torch.tensor([[1, 40, 41, 42, 43, 2], [1, 43, 41, 42, 40, 2]])
    valid, marks = torch.ones(2, 6, dtype=torch.bool), torch.zeros(2, 1, dtype=torch.int64)
    with torch.inference_mode():
        with network.without_positions():
            one, other = network(ids, valid, marks)
        assert torch.allclose(one, other, atol=1e-4)
        one, other = network(ids, valid, marks)
    assert not torch.allclose(one, other, atol=1e-2)


def test_the_last_layer_sees_everything() -> None:
    """And the others alternate."""
    assert BaseSettings().config["layer_types"] == ["sliding_attention", "full_attention"] * 2
    third = replace(BaseSettings(), layers=6, spacing=3).config["layer_types"]
    assert third == (["sliding_attention"] * 2 + ["full_attention"]) * 2


def test_the_vocabulary_spells_everything() -> None:
    tokenizer = vocabulary(TEXTS, 300)
    assert tokenizer.get_vocab_size() <= 300
    text = "a word it never saw: Ω, 東京 🙂"
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_a_folder_without_a_tokenizer_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no tokenizer\.json"):
        minilm(tmp_path)
