"""Stage I: queries and passages."""

import math
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from milepost_train.batches import assemble, queries_of, windows_of
from milepost_train.check import vectors_of
from milepost_train.objectives import build
from milepost_train.settings import PairsStage
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
    expected.backward()
    longhand = student.gradients()
    parts = build(PairsStage(), material).step(student, Random(4))
    assert parts["loss"] == pytest.approx(expected.item(), abs=1e-5)
    assert torch.allclose(student.gradients(), longhand, atol=1e-5)
    assert longhand.abs().max() > 0.01


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
