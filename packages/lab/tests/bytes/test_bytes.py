"""Bytes, gaps and transfer by hand (facts page 09), and the study."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from milepost.errors import InputError
from milepost_lab.bytes.model import (
    byte_model,
    corrupt,
    encode,
    gaps_of,
    normalised,
    padded_ids,
    pretrain,
    random_gaps,
    states,
)
from milepost_lab.bytes.study import agreement, command, corpus, words_of


def test_4_gaps_by_hand():
    inputs, targets = corrupt(encode(b"abcdefghij", end=False), [(3, 6), (8, 10)])
    assert inputs == [100, 101, 102, 258, 106, 107, 257, 1]
    assert targets == [258, 103, 104, 105, 257, 108, 109, 1]
    with pytest.raises(InputError, match="101 gaps"):
        corrupt([3] * 300, [(2 * n, 2 * n + 1) for n in range(101)])


def test_gaps_are_drawn_apart():
    rng = np.random.default_rng(0)
    for _ in range(50):
        found = random_gaps(128, 8, rng)
        assert sum(end - start for start, end in found) == gaps_of(128, 8)[0]
        assert all(a[1] < b[0] for a, b in pairwise(found))


def test_6_normalised_transfer():
    found = normalised(np.array([[0.75, 0.65], [0.60, 0.70]]), np.array([0.40, 0.42]))
    np.testing.assert_allclose(found, [[1, 0.82143], [0.57143, 1]], atol=1e-5)


def test_languages_share_words_and_no_byte():
    one, other = words_of(0), words_of(1)
    assert [len(stem) for stem in one[0]] == [len(stem) for stem in other[0]]
    assert not set("".join(one[0] + one[1])) & set("".join(other[0] + other[1]))
    texts, labels = agreement(0, 200, 0)
    assert 0.3 < np.mean(labels) < 0.7
    assert len(set(texts)) > 100


@pytest.mark.parametrize("name", ["language 2", "nonsense", "brackets"])
def test_corpora_are_long_enough_and_depend_on_the_seed(name):
    assert len(corpus(name, 500, 0)) >= 500
    assert corpus(name, 500, 0) == corpus(name, 500, 0) != corpus(name, 500, 1)


def test_padding_changes_no_vector_and_training_lowers_the_loss():
    model = byte_model(width=16)
    rows = [encode(b"abc"), encode(b"abcdefgh")]
    both, alone = states(model, padded_ids(rows)), states(model, padded_ids(rows[:1]))
    torch.testing.assert_close(both[:1], alone, rtol=1e-4, atol=1e-5)
    losses = pretrain(model, corpus("brackets", 2000, 0), 12, 0, window=48)
    assert losses[-1] < losses[0]
    with pytest.raises(InputError, match="10 bytes"):
        pretrain(model, b"x" * 10, 1, 0)


def test_the_study_runs(run_study):
    args = ("--size", 300, "--steps", 1, "--tuning", 1, "--languages", 2, "--seeds", 1)
    rows = run_study(command, *args)["rows"]
    assert [row["pre-trained on"] for row in rows][-3:] == ["random", "nonsense", "brackets"]
    assert rows[0]["language 0"]["mean"] >= 0
