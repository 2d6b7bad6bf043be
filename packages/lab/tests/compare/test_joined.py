"""Byte controls and digits as rows and task of the comparison."""

from functools import partial

import numpy as np
import pytest

from support.small_comparison import small_pairs
from support.small_models import write_checkpoint

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra")

from milepost_lab.compare import controls  # noqa: E402
from milepost_lab.compare.controls import CONTROLS, control  # noqa: E402
from milepost_lab.compare.images import images  # noqa: E402
from milepost_lab.compare.reading import TokenReader  # noqa: E402
from milepost_lab.compare.rows import CompareRow, read_row  # noqa: E402
from milepost_lab.controls.encoders import control_encoder  # noqa: E402


def test_a_byte_control_reads_the_words_of_the_ids(tmp_path, monkeypatch):
    """A state a byte, segments that tile them, a landmark at each end; kept on disk."""
    untrained = control_encoder("random")
    monkeypatch.setattr(controls, "control_encoder", lambda kind: untrained)
    reader = TokenReader.open(str(write_checkpoint(tmp_path / "model", "bert")), tmp_path / "cache")
    texts = [text for _, text in small_pairs(20)]
    states = control("nonsense", reader).states(texts)
    assert states.lengths.tolist() == [len(reader.words.text(text)) for text in texts]
    assert states.segments.sum() == states.lengths.sum() == len(states.tokens)
    assert states.per_text.sum() == len(states.segments) == len(states.layers)
    ends = np.cumsum(states.segments) - 1
    np.testing.assert_array_equal(states.layers[:, 0], states.tokens[ends])
    monkeypatch.setattr(controls, "control_encoder", None)  # nobody calls it
    np.testing.assert_array_equal(control("nonsense", reader).states(texts).tokens, states.tokens)


def test_controls_are_rows():
    assert [read_row(f"mean@{name}").network for name in CONTROLS] == list(CONTROLS)


def test_digits_are_a_task(monkeypatch):
    """A figure an image; rows that read a query, or another network, are no rows of it."""
    digits = pytest.importorskip("milepost_lab.compare.digits")
    pytest.importorskip("sklearn", reason="needs the lab extra")
    task = images()
    assert len(task.asked.names) == 1797 - digits.TRAINED
    assert task.fits(CompareRow("mean"))
    assert not task.fits(CompareRow("mean", (), "random"))
    short = partial(digits.train_digits, recipe=digits.DigitRecipe(rounds=1))
    monkeypatch.setattr(digits, "train_digits", short)
    figures = task.measure(CompareRow("mean"), 0)
    assert len(figures) == len(task.asked.names)
    assert set(figures) == {0.0, 1.0}
