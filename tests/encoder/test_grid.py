"""Landmarks on a grid: where they stand, what they say of sentences, and texts read with them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.encoder.windows.document_vector import document_vector
from milepost.encoder.windows.grid import segment_ends, sentence_vectors
from milepost.testing import fake_encoder, fake_index

COUNTS = st.lists(st.integers(0, 40), min_size=1, max_size=12)
EVERY = st.integers(1, 50)


def landmarks_of(count: int, seed: int = 0) -> np.ndarray:
    """Unit vectors, ``(count, 6)`` float32."""
    rows = np.random.default_rng(seed).standard_normal((count, 6))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


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


def test_landmarks_that_cancel_out_give_zeros() -> None:
    found = sentence_vectors(np.array([[1, 0], [-1, 0]], np.float32), [2, 4], [4])
    assert found.tolist() == [[0.0, 0.0]]


def test_no_landmark_and_no_direction_give_zeros() -> None:
    assert document_vector(np.zeros((0, 4), np.float32)).tolist() == [0.0] * 4
    assert document_vector(np.array([[1, 0], [-1, 0]], np.float32)).tolist() == [0.0, 0.0]


PROSE = (
    "The whale is a mammal, and it breathes air. It dives for an hour at most. "
    "Sailors saw it off the coast in 1851; nobody believed them. "
)
GRID = fake_encoder(granularity=8, window=40, left=10, right=5, longest=30)
LETTERS = st.text("abc XYZ.!?,\n\t", max_size=120)


def by_hand(text: str, every: int = 8) -> np.ndarray:
    """The fake engine's landmarks of a text: of each N tokens of the text, a sum of unit length."""
    found = GRID.tokenizer.count([text])[0][0]
    parts = [found[at : at + every] for at in range(0, len(found), every)]
    table = GRID._engine._table  # type: ignore[attr-defined]
    close = table[GRID.tokenizer.landmark]
    sums = np.array([table[list(part)].sum(0) + close for part in parts], np.float64)
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


@pytest.mark.parametrize("repeats", [1, 3, 60])
def test_landmarks_lie_on_one_grid_in_all_windows(repeats: int) -> None:
    """The document is the mean of a landmark every eight tokens, sentences of those they share."""
    text = PROSE * repeats
    marks = GRID.encode(text)
    landmarks = by_hand(text)
    np.testing.assert_allclose(marks.document, document_vector(landmarks), atol=1e-5)
    assert marks.tokens_read == marks.tokens_given == GRID.count_tokens(text)
    at = 0
    for vector, (start, end) in zip(marks.vectors, marks.spans.tolist(), strict=True):
        count = GRID.count_tokens(text[start:end])
        mean = landmarks[[token // 8 for token in range(at, at + count)]].mean(0)
        at += count
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-4)


@settings(max_examples=15)
@given(LETTERS, st.sampled_from([1, 3, 8, 38]))
def test_any_text(text: str, every: int) -> None:
    encoder = fake_encoder(granularity=every, window=40, left=10, right=5, longest=30)
    marks = encoder.encode(text)
    plain = fake_encoder(window=40, left=10, right=5, longest=30).encode(text)
    assert marks.spans.tolist() == plain.spans.tolist()
    assert marks.vocab_coverage.tolist() == plain.vocab_coverage.tolist()
    assert marks.vectors.shape == plain.vectors.shape
    assert marks.tokens_read == marks.tokens_given == plain.tokens_given
    np.testing.assert_allclose(np.linalg.norm(marks.vectors, axis=1), 1, atol=1e-5)
    together = encoder.encode_texts([PROSE, text, PROSE])
    np.testing.assert_allclose(together[1].vectors, marks.vectors, atol=1e-5)
    np.testing.assert_allclose(together[1].document, marks.document, atol=1e-5)
    assert together[1].tokens_read == marks.tokens_read


def test_nothing_and_one_token() -> None:
    empty = GRID.encode("")
    assert len(empty.vectors) == 0
    assert not empty.document.any()
    for text in ("whale", "   "):
        marks = GRID.encode(text)
        assert len(marks.vectors) == 1
        np.testing.assert_allclose(marks.document, marks.vectors[0], atol=1e-6)


def test_questions_are_means_of_their_landmarks() -> None:
    questions = ["Who saw it?", PROSE.strip(), PROSE.strip() * 9]
    alone = np.array([GRID.encode_query(each) for each in questions])
    for vector, question in zip(alone, questions, strict=True):
        np.testing.assert_allclose(vector, document_vector(by_hand(question)), atol=1e-5)
    np.testing.assert_allclose(GRID.encode_queries(questions), alone, atol=1e-5)
    fine = fake_encoder(granularity=1, window=40, left=0, right=0, longest=30)
    many = "a whale " * 14  # 28 tokens and 28 landmarks are more than a window of 40
    np.testing.assert_allclose(
        fine.encode_queries([many])[0], document_vector(by_hand(many, 1)), atol=1e-5
    )


def test_every_token_has_a_state_once() -> None:
    text = PROSE * 20
    found = {}
    for encoder in (GRID, fake_encoder(window=40, left=10, right=5, longest=30)):
        places = [starts for starts, _ in encoder.token_states(text)]
        found[encoder.manifest.granularity] = np.sort(np.concatenate(places)).tolist()
    assert found[8] == found["sentences"]
    assert list(GRID.token_states("")) == []


def test_spans_of_the_caller_and_progress_in_sentences() -> None:
    text = PROSE * 5
    spans = [(0, 43), (74, 134)]
    marks = GRID.encode(text, spans=spans)
    assert marks.spans.tolist() == [list(span) for span in spans]
    covered = " ".join(text[start:end] for start, end in spans)
    np.testing.assert_allclose(marks.document, document_vector(by_hand(covered)), atol=1e-5)
    seen: list[tuple[int, int]] = []
    sentences = len(GRID.encode(PROSE * 100, progress=lambda *said: seen.append(said)).spans)
    assert len(seen) > 1
    assert seen[-1] == (sentences, sentences)
    assert all(a <= b for (a, _), (b, _) in pairwise(seen))


def test_an_index_finds_the_place() -> None:
    texts = {"sea": PROSE, "bees": "Bees build cells of wax. The queen lays the eggs."}
    passages = fake_index(texts, granularity=8).search("wax cells", k=1)
    assert passages[0].document == "bees"
    assert "wax" in passages[0].text
