"""The lab's poolings as functions that ``milepost.chunks`` calls."""

from __future__ import annotations

import numpy as np
import pytest

import milepost
from milepost.errors import InputError
from milepost.testing import fake_encoder
from milepost.types import Chunk, Document
from milepost_lab import pooling
from milepost_lab.pooling import of_landmarks

ENCODER = fake_encoder()
LONG = "Bees build cells of wax. The queen lays the eggs. Honey is kept for the winter. " * 5


def cut(name: object = None) -> list[Chunk]:
    """Chunks of a text, by an encoder without a network; None for the mean."""
    how = "lmk" if name is None else of_landmarks(name)
    return milepost.chunks(Document("d", LONG), size=120, model=ENCODER, pooling=how)


@pytest.mark.parametrize(
    "name",
    [n for n, o in pooling.names().items() if not o.needs - {"segments"} and not o.late],
)
def test_every_pooling_of_landmarks_gives_unit_vectors(name: str) -> None:
    """All operators that need no question and no layers."""
    found = cut(name)
    assert len(found) > 3
    for chunk in found:
        assert np.linalg.norm(chunk.vector) == pytest.approx(1, abs=1e-5)


def test_a_pooling_with_settings_and_weights_is_used_as_it_is() -> None:
    """The vectors are those of the pooling itself, normalised."""
    weights = {"query": np.linspace(-1, 1, 32).astype(np.float32)}
    pool = pooling.get("attention", weights=weights, temperature=0.1)
    found = cut(pool)
    landmarks = ENCODER.encode(LONG)
    first = [row for row, (_, end) in enumerate(landmarks.spans) if end <= found[0].end]
    expected = pool(landmarks.vectors[first], [len(first)])[0]
    np.testing.assert_allclose(found[0].vector, expected / np.linalg.norm(expected), atol=1e-5)
    assert not np.allclose(found[0].vector, cut()[0].vector, atol=1e-3)


@pytest.mark.parametrize("name", ["query-top-k", "layer-mean", "xpool"])
def test_a_pooling_that_needs_more_is_refused(name: str) -> None:
    """Landmarks have neither a question nor layers."""
    with pytest.raises(InputError, match=f"{name} needs (queries|layers)"):
        of_landmarks(name)


@pytest.mark.parametrize("name", ["tokens", "token-pool", "fixed-encoding"])
def test_a_pooling_of_late_interaction_is_refused(name: str) -> None:
    """Its vectors are compared with several of a question, or with another encoding of it."""
    with pytest.raises(InputError, match=f"{name} is for late interaction"):
        of_landmarks(name)


def test_an_unknown_pooling_is_named() -> None:
    """With the nearest one."""
    with pytest.raises(InputError, match="unknown pooling 'meen'"):
        of_landmarks("meen")
