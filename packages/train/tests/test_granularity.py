"""Granularity drawn per text; sentence and document vectors from one forward pass."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

import torch  # noqa: E402

from milepost_train.batches import windows_of  # noqa: E402
from milepost_train.check import vectors_of  # noqa: E402
from milepost_train.data import Text  # noqa: E402
from milepost_train.granularity import (  # noqa: E402
    document_vectors,
    drawn_windows,
    units_of,
    windows_in,
)
from milepost_train.losses import info_nce, listwise  # noqa: E402
from milepost_train.model.lmk import pool  # noqa: E402
from milepost_train.needs import WrongSettings  # noqa: E402
from milepost_train.stages import Granularities  # noqa: E402
from support.small_models import random_model  # noqa: E402

BOS, LANDMARK = 2, 3


def text(lengths: list[int], first: int = 11) -> Text:
    """A text whose token ids count upwards."""
    starts = np.cumsum([0, *lengths], dtype=np.int64)
    ids = np.arange(first, first + int(starts[-1]), dtype=np.int32)
    return Text("t", "task", ids, starts, [(n * 10, n * 10 + 10) for n in range(len(lengths))])


def test_every_choice_is_drawn_alike() -> None:
    """Each text has its own granularity, all four about equally often."""
    drawn = Granularities().draw(Random(7), 4000)
    counts = Counter(drawn)
    assert set(counts) == {32, 64, 128, 256}
    assert all(900 < count < 1100 for count in counts.values())


def test_one_seed_draws_the_same_again() -> None:
    """One seed gives the same sequence in every run, another seed another one."""
    choices = Granularities(choices=(32, 64, "sentences"))
    first = choices.draw(Random(7), 50)
    assert first == choices.draw(Random(7), 50)
    assert first != choices.draw(Random(8), 50)


def test_other_generators_are_left_alone() -> None:
    """Neither Python's global generator nor torch's moves, as it does in PR 3642."""
    import random

    before, torch_before = random.getstate(), torch.get_rng_state()
    Granularities().draw(Random(1), 10)
    assert random.getstate() == before
    assert torch.equal(torch.get_rng_state(), torch_before)


@pytest.mark.parametrize("choices", [(), (0,), ("words",), (True,), (32, -1)])
def test_refused_choices(choices: tuple[object, ...]) -> None:
    """A granularity is a positive number or sentences."""
    with pytest.raises(WrongSettings, match="granularit"):
        Granularities(choices=choices)  # type: ignore[arg-type]


def test_windows_worked_by_hand() -> None:
    """The first text by threes, the second in sentences, the first's other window by threes.

    Chunks go over sentences' ends, and over the end of a window's last sentence.
    """
    texts = [text([2, 5, 1]), text([2, 1], 30)]
    drawn = drawn_windows([(0, 0, 2), (1, 0, 2), (0, 2, 3)], texts, [3, "sentences"], 2, 3)
    assert drawn.batch.ids.tolist() == [
        [2, 11, 12, 13, 3, 14, 15, 16, 3],
        [2, 30, 31, 3, 32, 3, 0, 0, 0],
        [2, 17, 18, 3, 0, 0, 0, 0, 0],
    ]
    assert drawn.batch.owners.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [0, 2]]
    assert drawn.of_sentences.tolist() == [False] * 2 + [True] * 2 + [False]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 12), st.data())
def test_nothing_is_lost(lengths: list[int], g: int, data: st.DataObject) -> None:
    """Whatever the granularity, a text's content is the same tokens in the same order."""
    first = data.draw(st.integers(0, len(lengths) - 1))
    texts = [text(lengths).part(first, data.draw(st.integers(first + 1, len(lengths))))]
    piece = (0, 0, len(texts[0].spans))
    whole = windows_of([piece], texts, BOS, LANDMARK)
    sentences = drawn_windows([piece], texts, ["sentences"], BOS, LANDMARK)
    assert torch.equal(sentences.batch.ids, whole.ids)
    assert sentences.batch.owners.tolist() == whole.owners.tolist()
    units = len(units_of(texts[0], g))
    pieces = drawn_windows([(0, 0, units)], texts, [g], BOS, LANDMARK).batch
    content = [i for i in whole.ids[0].tolist() if i > LANDMARK]
    assert [i for i in pieces.ids[0].tolist() if i > LANDMARK] == content
    assert len(pieces.owners) == -(-len(content) // g)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=12),
    st.sampled_from([4, 32, 64, 128, 256]),
    st.integers(258, 600),
)
def test_as_many_landmarks_as_the_paper_has(lengths: list[int], g: int, size: int) -> None:
    """``K = ceil(n / g)``, all but the last of g tokens, in however many windows; none too long."""
    texts = [text(lengths)]
    units = units_of(texts[0], g)
    n = sum(lengths)
    assert len(units) == -(-n // g)
    assert [len(unit) for unit in units] == [g] * (n // g) + [n % g] * (n % g > 0)
    pieces = windows_in(0, units, size)
    assert [first for _, first, _ in pieces] == [0, *(last for *_, last in pieces[:-1])]
    batch = drawn_windows(pieces, texts, [g], BOS, LANDMARK).batch
    assert batch.owners.tolist() == [[0, k] for k in range(len(units))]
    assert batch.ids.shape[1] <= size


def test_numbers_of_the_facts_page() -> None:
    """Check N: of 300 tokens 10, 5, 3, 2 landmarks and rows of 311, 306, 304, 303 ids."""
    texts = [text([7] * 42 + [6])]
    for g, landmarks, ids in ((32, 10, 311), (64, 5, 306), (128, 3, 304), (256, 2, 303)):
        (piece,) = windows_in(0, units_of(texts[0], g), 512)
        batch = drawn_windows([piece], texts, [g], BOS, LANDMARK).batch
        assert (len(batch.owners), batch.ids.shape[1]) == (landmarks, ids)


def test_a_text_without_tokens_has_one_landmark() -> None:
    """Check C: the BOS token and a landmark."""
    for g in (3, "sentences"):
        batch = drawn_windows([(0, 0, 1)], [text([0])], [g], BOS, LANDMARK).batch  # type: ignore[list-item]
        assert batch.ids.tolist() == [[BOS, LANDMARK]]


def test_a_unit_too_long_for_a_window_stands_alone() -> None:
    """Windows are full of whole units; a longer one is read by itself."""
    units = units_of(text([3, 3, 9, 2]), "sentences")
    assert windows_in(7, units, 9) == [(7, 0, 2), (7, 2, 3), (7, 3, 4)]


def test_documents_over_windows() -> None:
    """A text's vector is the mean over all its windows' landmarks, in the order of texts."""
    landmarks = torch.eye(3)
    owners = np.array([[5, 0], [2, 0], [5, 1]], np.int64)
    texts, vectors = document_vectors(landmarks, owners)
    assert texts.tolist() == [2, 5]
    half = 0.5**0.5
    assert vectors.tolist() == pytest.approx(np.array([[0, 1, 0], [half, 0, half]]))


def test_the_same_as_pooling_a_row() -> None:
    """A document of one window has the vector ``lmk.pool`` gives with unit landmarks."""
    model = random_model("bert", own_sentence=False)
    drawn = drawn_windows([(0, 0, 4)], [text([4, 9, 2])], [4], BOS, LANDMARK)
    with torch.no_grad():
        landmarks = vectors_of(model, drawn.batch)
        _, vectors = document_vectors(landmarks, drawn.batch.owners)
        length = drawn.batch.ids.shape[1]
        everywhere = torch.arange(length)[None]
        mask = torch.ones(1, length, dtype=torch.bool)
        states = model.backbone(drawn.batch.ids, mask, everywhere, None)
        at = torch.zeros(1, length, dtype=torch.bool)
        at[0, drawn.batch.marks[0]] = True
    assert (vectors - pool(states, mask, at, unit_landmarks=True)).abs().max() < 1e-6


def test_both_objectives_from_one_pass() -> None:
    """One forward gives a sentence loss and a document loss, and one backward serves both."""
    model = random_model("bert")
    texts = [text([3, 4, 2], 11), text([5, 6], 40), text([4, 4], 90), text([3, 9], 120)]
    granularities = ["sentences", 4, "sentences", 3]
    units = [units_of(*each) for each in zip(texts, granularities, strict=True)]
    pieces = [piece for n, each in enumerate(units) for piece in windows_in(n, each, 64)]
    drawn = drawn_windows(pieces, texts, granularities, BOS, LANDMARK)
    landmarks = vectors_of(model, drawn.batch)
    queries = torch.nn.functional.normalize(landmarks.detach()[:4] + 0.1, dim=-1)
    sentences = landmarks[torch.from_numpy(drawn.of_sentences)]
    assert len(sentences) == 5
    numbers, documents = document_vectors(landmarks, drawn.batch.owners)
    assert numbers.tolist() == [0, 1, 2, 3]

    def loss_of(vectors: torch.Tensor) -> torch.Tensor:
        return info_nce(queries, vectors, 0.1)

    def gradient(loss: torch.Tensor) -> torch.Tensor:
        (found,) = torch.autograd.grad(loss, weight, retain_graph=True)
        return found

    weight = model.backbone.embeddings["word_embeddings"].weight
    parts = gradient(loss_of(sentences)), gradient(loss_of(documents))
    both = gradient(loss_of(sentences) + loss_of(documents))
    assert torch.allclose(both, parts[0] + parts[1], atol=1e-5)
    # Token 40 stands in a text without sentence vectors: only its document teaches it.
    assert parts[0][40].abs().sum() == 0 < parts[1][40].abs().sum()
    assert parts[0][11].abs().sum() > 0


def test_distillation_of_document_scores() -> None:
    """Two passages scored 2 and 1 of (2, 1, 0.5, -1), teacher (1, 0), t = 0.5: 0.213521."""
    scores = torch.tensor([[2.0, 1.0, 0.5, -1.0]])
    first, second = torch.softmax(torch.tensor([1.0, 0.0]), 0).tolist()
    assert (first, second) == pytest.approx((0.731059, 0.268941), abs=1e-6)
    loss = listwise(scores, torch.tensor([[0, 1]]), torch.tensor([[1.0, 0.0]]), 0.5)
    assert loss.item() == pytest.approx(0.213521, abs=1e-6)
    assert first * 0.171935 + second * 0.326563 == pytest.approx(0.213521, abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 30))
def test_evaluation_is_never_drawn(seed: int, texts: int) -> None:
    """Whatever is drawn, it is one of the choices; ``test_document_check`` reads at the other."""
    granularities = Granularities(choices=(5, "sentences"), evaluation=7)
    assert set(granularities.draw(Random(seed), texts)) <= {5, "sentences"}
