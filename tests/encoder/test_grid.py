"""Landmarks on a grid: where they stand, and what they say of sentences."""

from itertools import accumulate, chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.encoder.windows.document_vector import document_vector
from milepost.encoder.windows.grid import segment_ends, segments, sentence_vectors

COUNTS = st.lists(st.integers(0, 40), min_size=1, max_size=12)
EVERY = st.integers(1, 50)


def landmarks_of(count: int, seed: int = 0) -> np.ndarray:
    """Unit vectors, ``(count, 6)`` float32."""
    rows = np.random.default_rng(seed).standard_normal((count, 6))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@given(st.integers(0, 500), EVERY)
def test_a_landmark_closes_every_n_tokens_and_the_rest(tokens: int, every: int) -> None:
    ends = segment_ends(tokens, every)
    assert len(ends) == max(1, -(-tokens // every))
    sizes = np.diff([0, *ends])
    assert (sizes[:-1] == every).all()
    assert ends[-1] == tokens
    assert min(1, tokens) <= sizes[-1] <= every


@given(COUNTS, EVERY)
def test_segments_hold_the_tokens_of_the_sentences(counts: list[int], every: int) -> None:
    numbers = iter(range(sum(counts)))
    sentences = [[next(numbers) for _ in range(count)] for count in counts]
    cut = segments(sentences, every)
    assert list(chain.from_iterable(cut)) == list(range(sum(counts)))
    assert list(accumulate(map(len, cut))) == segment_ends(sum(counts), every)


@given(COUNTS, EVERY, st.integers(0, 1000))
def test_a_sentence_is_the_mean_over_its_tokens(counts: list[int], every: int, seed: int) -> None:
    ends = segment_ends(sum(counts), every)
    landmarks = landmarks_of(len(ends), seed)
    found = sentence_vectors(landmarks, ends, counts)
    assert found.dtype == np.float32
    assert found.shape == (len(counts), 6)
    at = 0
    for vector, count in zip(found, counts, strict=True):
        if not count:
            beside = {min(max(n, 0) // every, len(ends) - 1) for n in (at - 1, at)}
            assert any((vector == landmarks[n]).all() for n in beside)
            continue
        owners = [token // every for token in range(at, at + count)]
        at += count
        if len(set(owners)) == 1:
            assert (vector == landmarks[owners[0]]).all()
            continue
        mean = landmarks[owners].astype(np.float64).mean(axis=0)
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-4)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_sentences_that_are_segments_keep_their_landmarks(counts: list[int]) -> None:
    landmarks = landmarks_of(len(counts))
    found = sentence_vectors(landmarks, list(accumulate(counts)), counts)
    assert (found == landmarks).all()


def test_worked_numbers() -> None:
    """Three of four tokens lie in the first segment: (3, 1) over its length."""
    landmarks = np.eye(2, dtype=np.float32)
    found = sentence_vectors(landmarks, [4, 8], [1, 4, 3])
    np.testing.assert_allclose(found, [[1, 0], [0.948683, 0.316228], [0, 1]], atol=1e-6)


def test_landmarks_that_cancel_out_give_zeros() -> None:
    found = sentence_vectors(np.array([[1, 0], [-1, 0]], np.float32), [2, 4], [4])
    assert found.tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize(("counts", "every"), [([0], 32), ([0, 0, 0], 1)])
def test_no_tokens(counts: list[int], every: int) -> None:
    landmarks = landmarks_of(1)
    assert segments([[] for _ in counts], every) == segments([[]], every)
    assert (sentence_vectors(landmarks, segment_ends(0, every), counts) == landmarks).all()


def test_a_document_by_hand() -> None:
    """Mean of (1, 0) and (0.6, 0.8) is (0.8, 0.4); over its length √0.8: (0.894, 0.447)."""
    vector = document_vector(np.array([[1.0, 0.0], [0.6, 0.8]], np.float32))
    np.testing.assert_allclose(vector, [0.894427, 0.447214], atol=1e-6)
    assert vector.dtype == np.float32


def test_no_landmark_and_no_direction_give_zeros() -> None:
    assert document_vector(np.zeros((0, 4), np.float32)).tolist() == [0.0] * 4
    assert document_vector(np.array([[1, 0], [-1, 0]], np.float32)).tolist() == [0.0, 0.0]


@settings(max_examples=50)
@given(st.integers(1, 40), st.integers(0, 1000))
def test_has_unit_length_and_knows_no_order(count: int, seed: int) -> None:
    rows = np.random.default_rng(seed).standard_normal((count, 16)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    vector = document_vector(rows)
    assert abs(float(np.linalg.norm(vector)) - 1.0) < 1e-5
    np.testing.assert_allclose(document_vector(rows[::-1]), vector, atol=1e-6)
    np.testing.assert_allclose(document_vector(np.repeat(rows, 3, axis=0)), vector, atol=1e-6)
