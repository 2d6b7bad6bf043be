"""Networks trained alike but for the pooling."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra: pip install 'milepost[train]'")

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from milepost.lab.lmk.long_bert import LongBert  # noqa: E402
from milepost.lab.lmk.readouts import POOLINGS, Pooling  # noqa: E402
from milepost.lab.lmk.training import LmkRecipe, PooledReader, train, windows_of  # noqa: E402
from milepost.model.bert import Bert  # noqa: E402
from support.small_models import CONFIGS  # noqa: E402

RECIPE = LmkRecipe(steps=40, batch=8, rate=3e-3, temperature=0.1, granularities=(2, 3, 5))


def reader(pooling: Pooling) -> PooledReader:
    """A tiny network in float32; its blocks of 8 make texts of 12 tokens long ones."""
    torch.manual_seed(1)
    model = LongBert(Bert({**CONFIGS["bert"], "num_hidden_layers": 2}), 8)
    table: Any = model.bert.embeddings
    with torch.no_grad():  # what a token is says more than where it stands
        table["position_embeddings"].weight.mul_(0.1)
    return PooledReader(model, pooling, opening=2, closing=3, dtype=torch.float32)


def pairs(count: int = 16) -> list[tuple[list[list[int]], list[list[int]]]]:
    """A query is a token that each sentence of its passage has, and no other passage."""
    random = Random(5)
    return [
        ([[topic]], [[random.randrange(40, 200), topic, topic, topic] for _ in range(3)])
        for topic in range(10, 10 + count)
    ]


@pytest.mark.parametrize("pooling", POOLINGS)
def test_training_lowers_the_loss(pooling: Pooling) -> None:
    """Each pooling learns; the token table stays."""
    subject = reader(pooling)
    table: Any = subject.model.bert.embeddings
    before = table["word_embeddings"].weight.clone()
    losses = train(subject, pairs(), RECIPE, seed=0)
    assert len(losses) == RECIPE.steps
    assert sum(losses[-5:]) < 0.7 * sum(losses[:5])
    assert torch.equal(table["word_embeddings"].weight, before)


def test_one_seed_one_result() -> None:
    """The same seed gives the same losses, another one others."""
    recipe = LmkRecipe(steps=3, batch=8)
    first, again = (train(reader("lmk"), pairs(), recipe, seed=4) for _ in range(2))
    assert first == again
    assert first != train(reader("lmk"), pairs(), recipe, seed=5)


def test_all_poolings_see_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts and positions of every step are the same whatever the pooling."""
    seen: list[Any] = []
    whole = PooledReader.train_vectors

    def noting(self: PooledReader, texts: Any, granularities: Any, offsets: Any) -> torch.Tensor:
        seen.append((self.pooling, list(texts), list(offsets)))
        return whole(self, texts, granularities, offsets)

    monkeypatch.setattr(PooledReader, "train_vectors", noting)
    for pooling in POOLINGS:
        train(reader(pooling), pairs(), LmkRecipe(steps=5, batch=8), seed=2)
    by_pooling = [[each[1:] for each in seen if each[0] == pooling] for pooling in POOLINGS]
    assert len(by_pooling[0]) == 10
    assert all(others == by_pooling[0] for others in by_pooling)


def test_too_few_pairs() -> None:
    """A batch has no pair twice."""
    with pytest.raises(ValueError, match="fewer than a batch"):
        train(reader("cls"), pairs(4), LmkRecipe(steps=1, batch=8), seed=0)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_vectors_do_not_hang_on_their_batch(pooling: Pooling) -> None:
    """Alone or padded beside others, in the order given, unit length."""
    subject = reader(pooling)
    texts = [text for pair in pairs(6) for text in pair]
    together = subject.vectors(texts, 3)
    alone = torch.cat([subject.vectors([text], 3) for text in texts])
    assert torch.allclose(together, alone, atol=1e-5)
    assert torch.allclose(together, subject.vectors(texts, 3, tokens=1), atol=1e-5)
    assert torch.allclose(together.norm(dim=1), torch.ones(len(texts)), atol=1e-5)


@pytest.mark.parametrize("pooling", ["lmk", "mean"])
def test_one_window_is_the_text_itself(pooling: Pooling) -> None:
    """A window that holds the whole text gives its vector; several are their states' mean."""
    subject = reader(pooling)
    text = pairs(1)[0][1]
    one = F.normalize(subject.windowed(text, 64, 2).sum(0), dim=0)
    assert torch.allclose(one, subject.vectors([text], 2)[0], atol=1e-5)
    sums = subject.windowed(text, 5, 2)
    parts = [subject.windowed(window, 64, 2)[0] for window in windows_of(text, 5)]
    assert sums.shape == (3, 32)
    assert torch.allclose(sums, torch.stack(parts), atol=1e-4)


@given(
    text=st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=9), min_size=1, max_size=9),
    size=st.integers(1, 12),
)
def test_windows_are_full_and_lose_nothing(text: list[list[int]], size: int) -> None:
    """All have ``size`` tokens but the last; joined they are the text."""
    windows = windows_of(text, size)
    lengths = [sum(map(len, window)) for window in windows]
    assert all(length == size for length in lengths[:-1])
    assert 0 < lengths[-1] <= size
    flat = [token for window in windows for sentence in window for token in sentence]
    assert flat == [token for sentence in text for token in sentence]


def test_bfloat16_stays_near() -> None:
    """The type that the experiment runs in changes vectors by little."""
    exact = reader("lmk")
    low = PooledReader(exact.model, "lmk", opening=2, closing=3)
    texts = [passage for _, passage in pairs(4)]
    assert ((exact.vectors(texts, 3) * low.vectors(texts, 3)).sum(1) > 0.999).all()
