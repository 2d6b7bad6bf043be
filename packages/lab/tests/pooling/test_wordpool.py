"""What is particular to ``wordpool``."""

import numpy as np
import pytest

from milepost.errors import InputError
from milepost_lab import pooling


def states(count, width=8, seed=0):
    return np.random.default_rng(seed).standard_normal((count, width)).astype(np.float32)


def test_prefixes_are_averaged_or_all_given():
    rows = states(5)
    assert pooling.get("wordpool", prefixes=3)(rows, [5]).shape == (1, 8)
    joined = pooling.get("wordpool", prefixes=3, join="concat")(rows, [5])
    assert joined.shape == (1, 24)
    mean = joined.reshape(3, 8).mean(0)
    np.testing.assert_allclose(pooling.get("wordpool", prefixes=3)(rows, [5])[0], mean, atol=1e-6)


def test_it_begins_near_the_normalised_mean():
    """Small prefixes, values passed on: what is read is nearly the mean of the states' norms."""
    rows = states(6, 64)
    centred = rows - rows.mean(1, keepdims=True)
    mean = (centred / centred.std(1, keepdims=True)).mean(0)
    vector = pooling.get("wordpool")(rows, [6])[0]
    assert np.corrcoef(vector, mean)[0, 1] > 0.6
    assert np.corrcoef(vector, states(1, 64, 9)[0])[0, 1] < 0.4


def test_more_layers_and_heads_change_what_is_read():
    rows = states(5)
    vectors = [
        pooling.get("wordpool", layers=layers, heads=heads)(rows, [5])
        for layers, heads in ((1, 1), (2, 1), (1, 4))
    ]
    assert not np.allclose(vectors[0], vectors[1], atol=1e-3)
    assert not np.allclose(vectors[0], vectors[2], atol=1e-4)


def test_heads_that_do_not_divide_the_width_are_refused():
    with pytest.raises(InputError, match="3 heads do not divide states of width 8"):
        pooling.get("wordpool", heads=3)(states(4), [4])
