"""The document's vector: the normalised mean of its landmarks."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.windows.document_vector import document_vector


def test_worked_numbers() -> None:
    """Mean of (1, 0) and (0.6, 0.8) is (0.8, 0.4); over its length √0.8: (0.894, 0.447)."""
    vector = document_vector(np.array([[1.0, 0.0], [0.6, 0.8]], np.float32))
    np.testing.assert_allclose(vector, [0.894427, 0.447214], atol=1e-6)
    assert vector.dtype == np.float32


def test_no_landmark_and_no_direction_give_zeros() -> None:
    assert document_vector(np.zeros((0, 4), np.float32)).tolist() == [0.0] * 4
    assert document_vector(np.array([[1, 0], [-1, 0]], np.float32)).tolist() == [0.0, 0.0]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40), st.integers(0, 1000))
def test_has_unit_length_and_knows_no_order(count: int, seed: int) -> None:
    rows = np.random.default_rng(seed).standard_normal((count, 16)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    vector = document_vector(rows)
    assert abs(float(np.linalg.norm(vector)) - 1.0) < 1e-5
    np.testing.assert_allclose(document_vector(rows[::-1]), vector, atol=1e-6)
    np.testing.assert_allclose(document_vector(np.repeat(rows, 3, axis=0)), vector, atol=1e-6)
