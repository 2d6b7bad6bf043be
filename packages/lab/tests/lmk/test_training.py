"""Networks trained alike but for the pooling, and what they make of texts."""

from __future__ import annotations

from array import array
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

import torch  # noqa: E402

from milepost_lab.lmk import reader as reading  # noqa: E402
from milepost_lab.lmk import training as module  # noqa: E402
from milepost_lab.lmk.arms import POOLINGS, Pooling  # noqa: E402
from milepost_lab.lmk.base import BaseSettings, RotaryEncoder  # noqa: E402
from milepost_lab.lmk.measuring import attribution, ranks_of  # noqa: E402
from milepost_lab.lmk.pairs import Pair  # noqa: E402
from milepost_lab.lmk.reader import Reader  # noqa: E402
from milepost_lab.lmk.training import Recipe, train, train_until_flat  # noqa: E402
from milepost_train import early_stopping  # noqa: E402
from milepost_train.early_stopping import Patience  # noqa: E402
from milepost_train.whole_files import RunInterrupted  # noqa: E402

RECIPE = Recipe(steps=40, batch=8, passage=(10, 20), temperature=0.1, granularities=(2, 3, 5))


def reader(pooling: Pooling) -> Reader:
    """A tiny network in float32."""
    torch.manual_seed(1)
    config = BaseSettings(layers=2, width=32, heads=2, vocabulary=200).config
    return Reader(
        RotaryEncoder(config),
        pooling,
        opening=1,
        closing=2,
        device=torch.device("cpu"),
        dtype=torch.float32,
    )


def pairs(count: int = 16) -> list[Pair]:
    """A query is a token that its passage has often, and no other passage."""
    random = Random(5)
    return [
        Pair(
            array("i", [topic]),
            array(
                "i", [random.choice([topic, topic, random.randrange(50, 200)]) for _ in range(15)]
            ),
            f"query {topic}",
            "x",
        )
        for topic in range(10, 10 + count)
    ]


@pytest.mark.parametrize("pooling", POOLINGS)
def test_training_lowers_the_loss(pooling: Pooling) -> None:
    losses = train(reader(pooling), pairs(), RECIPE, 3e-3, seed=0)
    assert len(losses) == RECIPE.steps
    assert sum(losses[-5:]) < 0.7 * sum(losses[:5])


def test_one_seed_one_result() -> None:
    """The same seed gives the same losses, another one others."""
    recipe = Recipe(steps=3, batch=8, passage=(10, 20))
    first, again = (train(reader("lmk"), pairs(), recipe, 1e-3, seed=4) for _ in range(2))
    assert first == again
    assert first != train(reader("lmk"), pairs(), recipe, 1e-3, seed=5)


def test_training_ends_when_the_held_out_loss_is_flat() -> None:
    """The weights with the lowest are kept; a cap ends what would fall for longer."""
    held = pairs(24)[16:]
    subject = reader("mean")
    patience = Patience(every=5, checks=2, most=400)
    losses, ended = train_until_flat(subject, pairs(), held, RECIPE, patience, 3e-3, seed=0)
    assert ended.flat
    assert 0 < ended.best <= ended.steps == len(losses) < 400
    assert ended.loss == min(loss for _, loss in ended.curve) < ended.curve[0][1]
    stopped = replace(patience, most=ended.best)
    again = reader("mean")
    _, cut = train_until_flat(again, pairs(), held, RECIPE, stopped, 3e-3, seed=0)
    assert not cut.flat
    for name, value in again.network.state_dict().items():
        assert torch.equal(value, subject.network.state_dict()[name])


def test_a_stopped_training_resumes_as_if_it_had_not_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the losses, curve and weights of one that ran through, and repeats three steps."""
    held, patience = pairs(24)[16:], Patience(every=3, checks=2, most=12)
    whole, stopped, again = (reader("lmk") for _ in range(3))
    given = (pairs(), held, RECIPE, patience, 1e-3, 0)
    expected = train_until_flat(whole, *given)

    def kill(step: int, loss: float) -> None:
        if step == 7:
            raise KeyboardInterrupt

    state = tmp_path / "lmk-0.state"
    with pytest.raises(KeyboardInterrupt):
        train_until_flat(stopped, *given, kill, (state, "key"))
    trained: list[int] = []
    take = early_stopping.take_step
    monkeypatch.setattr(early_stopping, "take_step", lambda *each: trained.append(take(*each) or 1))
    assert train_until_flat(again, *given, stored=(state, "key")) == expected
    assert len(trained) == expected[1].steps - 6
    for name, value in again.network.state_dict().items():
        assert torch.equal(value, whole.network.state_dict()[name])


@pytest.mark.parametrize("spoiled", ["another key", "cut short"])
def test_a_state_that_cannot_be_used_is_made_again(spoiled: str, tmp_path: Path) -> None:
    state, patience = tmp_path / "mean-0.state", Patience(every=2, checks=2, most=4)
    given = (pairs(), pairs(24)[16:], RECIPE, patience, 1e-3, 0)
    expected = train_until_flat(reader("mean"), *given, stored=(state, "key"))
    if spoiled == "cut short":
        state.write_bytes(state.read_bytes()[:500])
    key = "other" if spoiled == "another key" else "key"
    assert train_until_flat(reader("mean"), *given, stored=(state, key)) == expected


def test_a_state_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file where the folder should be")
    state = tmp_path / "runs" / "mean-0.state"
    given = (pairs(), pairs(24)[16:], RECIPE, Patience(every=1, checks=1, most=2), 1e-3, 0)
    with pytest.raises(RunInterrupted, match=r"mean-0\.state cannot be written: [^\n]+$"):
        train_until_flat(reader("mean"), *given, stored=(state, "key"))


def test_all_poolings_see_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts of every step are the same whatever the pooling."""
    seen: list[Any] = []
    whole = Reader.train_vectors

    def noting(self: Reader, texts: Any, granularities: Any) -> torch.Tensor:
        seen.append((self.pooling, [list(text) for text in texts]))
        return whole(self, texts, granularities)

    monkeypatch.setattr(Reader, "train_vectors", noting)
    for pooling in POOLINGS:
        train(reader(pooling), pairs(), Recipe(steps=3, batch=8, passage=(10, 20)), 1e-3, seed=2)
    by_pooling = [[texts for each, texts in seen if each == pooling] for pooling in POOLINGS]
    assert len(by_pooling[0]) == 6
    assert all(others == by_pooling[0] for others in by_pooling)


def test_passages_of_one_query_are_no_negatives(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[torch.Tensor] = []
    loss = module.info_nce

    def noting(*args: Any, ignored: torch.Tensor, **more: Any) -> torch.Tensor:
        given.append(ignored)
        return loss(*args, ignored=ignored, **more)

    monkeypatch.setattr(module, "info_nce", noting)
    some = [
        Pair(each.query, each.passage, f"query {n // 2}", "x") for n, each in enumerate(pairs(4))
    ]
    train(reader("cls"), some, Recipe(steps=1, batch=4, passage=(10, 20)), 1e-3, seed=0)
    assert given[0].sum() == 8  # each pair's own and its twin's


@pytest.mark.parametrize("pooling", POOLINGS)
def test_texts_are_trained_in_parts(pooling: Pooling, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch that is read in parts of like length gives the same vectors in the same order."""
    some = reader(pooling)
    texts = [list(range(10, 10 + size)) for size in (12, 3, 30, 7, 21, 3)]
    whole = some.train_vectors(texts, [2, 3, 5, 2, 3, 5])
    monkeypatch.setattr(reading, "_TRAINED", 32)
    parts = some.train_vectors(texts, [2, 3, 5, 2, 3, 5])
    torch.testing.assert_close(parts, whole, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_vectors_do_not_hang_on_their_batch(pooling: Pooling) -> None:
    """Alone or padded beside others, in the order given, unit length."""
    subject = reader(pooling)
    texts = [each.passage[: 3 + n] for n, each in enumerate(pairs(6))]
    together = subject.vectors(texts, 3)
    alone = torch.cat([subject.vectors([text], 3) for text in texts])
    assert torch.allclose(together, alone, atol=1e-5)
    assert torch.allclose(together, subject.vectors(texts, 3, tokens=1), atol=1e-5)
    assert torch.allclose(together.norm(dim=1), torch.ones(len(texts)), atol=1e-5)


@pytest.mark.parametrize("pooling", ["lmk", "mean"])
def test_one_window_is_the_text_itself(pooling: Pooling) -> None:
    """A window that holds the whole text gives its vector."""
    subject = reader(pooling)
    text = pairs(1)[0].passage
    assert torch.allclose(subject.windowed(text, 64, 2), subject.vectors([text], 2)[0], atol=1e-5)
    assert not torch.allclose(
        subject.windowed(text, 5, 2), subject.vectors([text], 2)[0], atol=1e-3
    )


def test_of_equal_scores_the_right_one_is_last() -> None:
    """A network that gives all documents one vector finds nothing."""
    same = torch.ones(5, 4) / 2
    assert ranks_of(same[:2] @ same.T, [0, 3]) == [5, 5]
    assert ranks_of(torch.eye(3), [0, 1, 2]) == [1, 1, 1]
    assert ranks_of(torch.eye(3)[:1], [1]) == [3]


def test_attribution_finds_what_moves_the_vector() -> None:
    """With ``cls`` and no layers between, nothing does; a mean is moved by all parts alike."""
    texts = [list(range(10, 60)), list(range(60, 110)), list(range(110, 160))]
    shares = attribution(reader("mean"), texts, 40, parts=4)
    assert all(sum(row) == pytest.approx(1, abs=1e-4) for row in shares)
    assert all(0.1 < share < 0.5 for row in shares for share in row)
    same = attribution(reader("mean"), [texts[0], texts[0]], 40, parts=4)
    assert same == [[0.0] * 4] * 2
