"""Stages I and II: queries and passages, alone and in pseudo documents."""

import math
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.encoder.windows.plan import WindowSize, plan
from milepost_train.batches import assemble, queries_of, windows_of
from milepost_train.check import vectors_of
from milepost_train.objectives import build
from milepost_train.settings import MergedStage, PairsStage
from support.small_material import BOS, LANDMARK, Student, small_material


def any_wins(scores: Any, right: list[list[bool]]) -> Any:
    """``log(1 + sum of negatives / sum of positives)``, written out."""
    total = 0.0
    for row, mask in zip(scores / 0.05, right, strict=True):
        good = sum(row[n].exp() for n, is_right in enumerate(mask) if is_right)
        bad = sum(row[n].exp() for n, is_right in enumerate(mask) if not is_right)
        total = total + torch.log(1 + bad / good)
    return total / len(right)


def test_the_objective_of_the_shipped_model() -> None:
    """As it is set: the passage's mean of landmarks, and one of its sentences, must win."""
    material = small_material()
    student = Student()
    chosen = Random(4).sample(material.pairs, 24)
    pieces = [(n, 0, len(pair.text.spans)) for n, pair in enumerate(chosen)]
    batch = windows_of(pieces, [pair.text for pair in chosen], BOS, LANDMARK)
    landmarks = vectors_of(student.model, batch)
    queries = vectors_of(student.model, queries_of([p.ids for p in chosen], BOS, LANDMARK))
    owner = batch.owners[:, 0]
    sums = [landmarks[np.flatnonzero(owner == n)].sum(0) for n in range(24)]
    means = F.normalize(torch.stack(sums), dim=1)
    mine = [[a == b for b in range(24)] for a in range(24)]
    expected = any_wins(queries @ means.T, mine)
    expected = expected + any_wins(queries @ landmarks.T, [list(owner == a) for a in range(24)])
    student.steps_as(build(PairsStage(), material), expected, 4)


def test_one_landmark_a_passage() -> None:
    """The whole passage is one unit, closed by one landmark: plain InfoNCE, by hand."""
    material = small_material()
    student = Student()
    parts = build(PairsStage(pairs=5, landmarks="passage"), material).step(student, Random(4))
    queries, passages = student.seen
    chosen = Random(4).sample(material.pairs, 5)
    whole = assemble([[p.text.ids] for p in chosen], [(n, 0) for n in range(5)], BOS, LANDMARK)
    assert torch.equal(passages.ids, whole.ids)
    assert (passages.ids == LANDMARK).sum() == 5
    scores = vectors_of(student.model, queries) @ vectors_of(student.model, passages).T
    expected = F.cross_entropy(scores / 0.05, torch.arange(5))
    assert parts["loss"] == pytest.approx(expected.item(), abs=1e-5)
    assert parts["floor"] == pytest.approx(math.log(5), abs=1e-6)


def test_both_units_are_drawn() -> None:
    """Some passages have one landmark, some one a sentence; the same seed draws the same."""
    material = small_material()
    stage = PairsStage(pairs=20, landmarks="both")
    student = Student()
    objective = build(stage, material)
    first = objective.step(student, Random(4))
    objective.step(student, Random(5))
    assert objective.step(student, Random(4)) == first
    passages = student.seen[1]
    counts = np.bincount(passages.owners[:, 0])
    sentences = [len(pair.text.spans) for pair in Random(4).sample(material.pairs, 20)]
    several = [(count, own) for count, own in zip(counts, sentences, strict=True) if own > 1]
    assert {count == own for count, own in several} == {True, False}
    assert all(count in (1, own) for count, own in several)


def test_passages_that_are_the_same() -> None:
    """A passage that stands there twice is right for both queries, and so is a query's second."""
    material = small_material()
    first, second, third = material.pairs[:3]
    material.pairs = [first, replace(second, text=first.text), replace(third, ids=first.ids)]
    student = Student()
    parts = build(PairsStage(pairs=3, landmarks="passage"), material).step(student, Random(1))
    # First and third ask the same, answered by both passages; the second's is the first's.
    order = Random(1).sample([0, 1, 2], 3)
    right = {0: {0, 1, 2}, 1: {0, 1}, 2: {0, 1, 2}}
    counts = [len(right[asked]) for asked in order]
    assert parts["floor"] == pytest.approx(np.mean([math.log(3 / n) for n in counts]), abs=1e-6)


def test_hard_negatives_are_candidates() -> None:
    """Each query brings some of its own; what equals an answer is no negative."""
    material = small_material()
    spare = [pair.text for pair in material.pairs[20:]]
    material.pairs = [
        replace(pair, negatives=(*spare[n : n + 3], pair.text))
        for n, pair in enumerate(material.pairs[:4])
    ]
    student = Student()
    stage = PairsStage(pairs=4, negatives=4, landmarks="passage")
    parts = build(stage, material).step(student, Random(2))
    assert len(student.seen[1].ids) == 20
    # Its passage stands there twice for each query: once as its own, once as its "negative".
    assert parts["floor"] == pytest.approx(math.log(20 / 2), abs=1e-6)


SMALL = {"tokens": 160, "questions": 2, "hard": 2, "window": 40, "left": 12, "right": 8}


@pytest.mark.parametrize("unit", ["sentences", "passage"])
def test_a_pseudo_document_by_hand(unit: str) -> None:
    """Windows, the owned landmarks, and ``log(1 + negatives / positives)``: loss and gradient."""
    material = small_material()
    student = Student()
    objective = build(MergedStage(**SMALL, landmarks=unit), material)
    objective.step(student, Random(6))
    ((asked, order),) = objective.draw(Random(6))
    texts = [objective._passages.texts[number] for number in order]
    units = [
        (number, tokens)
        for number, text in zip(order, texts, strict=True)
        for tokens in (
            [text.ids] if unit == "passage" else [text.sentence(n) for n in range(len(text.spans))]
        )
    ]
    costs = [len(tokens) + 1 for _, tokens in units]
    assert sum(costs) <= 160
    queries, windows = student.seen
    plans = list(plan(costs, WindowSize(40, 12, 8, max(costs))))
    assert len(plans) > 2
    for row, window in zip(windows.ids, plans, strict=True):
        expected = [2]
        for _, tokens in units[window.first : window.last]:
            expected += [*tokens.tolist(), LANDMARK]
        assert row[: len(expected)].tolist() == expected
    read = iter(vectors_of(student.model, windows))
    owned = {}
    for window in plans:
        for number in range(window.first, window.last):
            vector = next(read)
            if window.own_first <= number < window.own_last:
                owned[number] = vector
    landmarks = torch.stack([owned[number] for number in range(len(units))])
    scores = vectors_of(student.model, queries) @ landmarks.T / 0.05
    total = 0.0
    for row, pair in zip(scores, asked, strict=True):
        right = torch.tensor(
            [material.pairs[0].text is None or _same(pair, objective, n) for n, _ in units]
        )
        total = total + torch.log(1 + row[~right].exp().sum() / row[right].exp().sum())
    student.steps_as(objective, total / len(asked), 6)


def _same(pair: Any, objective: Any, number: int) -> bool:
    return objective._passages.texts[number].ids.tobytes() == pair.text.ids.tobytes()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(40, 400), st.integers(0, 4))
def test_a_pseudo_document(seed: int, tokens: int, hard: int) -> None:
    objective = build(MergedStage(**SMALL | {"tokens": tokens, "hard": hard}), small_material())
    ((asked, order),) = objective.draw(Random(seed))
    assert len(asked) == 2
    assert len(set(order)) == len(order)
    assert {objective._passages.number(pair.text) for pair in asked} <= set(order)
    costs = [int((objective._passages.texts[n].lengths + 1).sum()) for n in order]
    assert 1 + sum(costs) <= tokens or len(order) == 2
    objective.draw(Random(seed + 1))
    ((again, same),) = objective.draw(Random(seed))
    assert [pair.words for pair in again] == [pair.words for pair in asked]
    assert same == order


def test_shuffled() -> None:
    objective = build(MergedStage(**SMALL | {"questions": 1}), small_material())
    places = set()
    for seed in range(40):
        ((asked, order),) = objective.draw(Random(seed))
        places.add(order.index(objective._passages.number(asked[0].text)))
    assert {0, 1, 2, 3} < places


def test_passages_that_share_rare_words() -> None:
    """Ranked by the rarity of what they share with the query; answers are not among them."""
    material = small_material()
    passages = build(MergedStage(), material)._passages
    held = [set(text.ids.tolist()) for text in passages.texts]
    often = {token: sum(token in each for each in held) for token in set().union(*held)}
    for pair in material.pairs:
        found = passages.nearest(pair, 5)
        worth = [
            sum(math.log(40 / often[t]) for t in set(pair.ids.tolist()) & each if often[t] <= 10)
            for each in held
        ]
        right = passages.right(pair)
        best = sorted((w for n, w in enumerate(worth) if w > 0 and n not in right), reverse=True)
        assert [worth[n] for n in found] == pytest.approx(best[:5], abs=1e-4)
        assert not right & set(found)


def test_own_negatives_come_first() -> None:
    material = small_material()
    extra = [pair.text for pair in material.pairs[30:]]
    material.pairs = [replace(pair, negatives=tuple(extra[:2])) for pair in material.pairs[:30]]
    objective = build(MergedStage(**SMALL | {"questions": 1}), material)
    for seed in range(5):
        ((_, order),) = objective.draw(Random(seed))
        assert {objective._passages.number(text) for text in extra[:2]} <= set(order)


def test_landmarks_of_other_documents() -> None:
    floors = {}
    for across in (True, False):
        stage = MergedStage(**SMALL, documents=2, across=across)
        floors[across] = build(stage, small_material()).step(Student(), Random(6))["floor"]
    assert floors[True] > floors[False] + 0.3


def test_a_causal_model_reads_no_context_behind() -> None:
    student = Student()
    build(MergedStage(**SMALL), small_material(causal=True)).step(student, Random(6))
    landmarks = len(student.seen[1].owners)
    other = Student()
    build(MergedStage(**SMALL | {"right": 0}), small_material()).step(other, Random(6))
    assert len(other.seen[1].owners) == landmarks
    third = Student()
    build(MergedStage(**SMALL), small_material()).step(third, Random(6))
    assert len(third.seen[1].owners) != landmarks
