"""Separation beside chance: permutations of whole documents, draws, probes, controls."""

import math
from dataclasses import replace

import numpy as np
import pytest

from milepost.errors import InputError
from milepost_lab.quality import probes
from milepost_lab.quality.permutation import permuted, share_as_good
from milepost_lab.quality.study import Points, draws_of, report


def points(count=60, classes=2, apart=3.0, width=6, each=1, seed=0, **others):
    """Documents of ``each`` points, their classes apart along the first axis."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % classes
    groups = np.repeat(np.arange(count), each)
    vectors = rng.standard_normal((count * each, width))
    # What points of a document have in common, which permuting points one by one would break up.
    vectors += np.repeat(3 * (each > 1) * rng.standard_normal((count, width)), each, axis=0)
    vectors[:, 0] += apart * labels[groups]
    return Points(vectors, labels[groups], groups, rng.integers(5, 50, count * each), **others)


def test_with_two_documents_of_each_label_p_is_never_under_a_third():
    """Six ways to label them, and naming the labels the other way round changes nothing."""
    ways = list(permuted(np.array([0, 0, 1, 1]), np.arange(4), 99, 0))
    assert len(ways) == 6
    assert len({tuple(way) for way in ways}) == 6
    assert ways[0].tolist() == [0, 0, 1, 1]
    found = report(points(4, apart=50.0))
    assert found[0].measures["separation"].p == pytest.approx(1 / 3)


def test_whole_documents_change_their_label():
    labels, groups = (
        np.array([0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1]),
        np.repeat(np.arange(5), [3, 2, 2, 2, 2]),
    )
    for way in permuted(labels, groups, 50, 0):
        assert all(len(set(way[groups == group])) == 1 for group in range(5))
    with pytest.raises(InputError, match="a document has two labels"):
        list(permuted(np.array([0, 1]), np.array([0, 0]), 5, 0))


def test_p_counts_the_observed_labels_and_what_is_as_good():
    assert share_as_good(np.array([3.0, 1.0, 3.0, 2.0])) == 0.5
    assert share_as_good(np.array([3.0, 1.0, 4.0, 2.0]), lower_is_better=True) == 0.75
    assert share_as_good(np.array([math.inf, 1.0])) == 0.5
    assert math.isnan(share_as_good(np.array([math.nan, 1.0])))


def test_controls_are_measured_as_they_would_be_alone():
    """A view in each form, of the same labels; the model's own stay as they are."""
    given, control = points(apart=6.0), points(apart=0.0, width=4, seed=1)
    bare = report(given, permutations=9, draws=20)
    made = report(given, controls={"noise": control}, permutations=9, draws=20)
    assert made[: len(bare)] == bare
    alone = report(control, permutations=9, draws=20)[:3]
    assert made[len(bare) :] == [replace(view, name=f"{view.name}@noise") for view in alone]
    assert made[0].measures["probe"].value > made[-1].measures["probe"].value + 0.2
    with pytest.raises(InputError, match="not finite"):
        report(given, controls={"odd": replace(control, vectors=control.vectors * np.inf)})


def test_labels_far_apart_are_found_by_every_measure_and_not_by_length():
    made = {view.name: view for view in report(points(apart=6.0))}
    for name in ("raw", "standardised"):
        measures = made[name].measures
        for measure in ("separation", "silhouette", "probe", "centre", "neighbours"):
            assert measures[measure].value > measures[measure].chance, measure
            assert measures[measure].p == 0.01, measure
        assert measures["dbs"].value < measures["dbs"].chance
        assert measures["probe"].low <= measures["probe"].value <= measures["probe"].high
        assert measures["probe"].value > 0.9
        assert math.isnan(measures["dunn"].low)
    assert made["length alone"].measures["probe"].p > 0.05


def test_noise_is_at_chance_in_any_dimension():
    """And Dunn's index, high as it is, has its permuted value beside it."""
    for width in (2, 64):
        raw = report(points(apart=0.0, width=width, seed=3), permutations=49)[0].measures
        assert raw["separation"].p > 0.05
        assert raw["probe"].low < 0.5 < raw["probe"].high + 0.05
        assert raw["dunn"].value == pytest.approx(raw["dunn"].chance, abs=0.15)


def test_landmarks_of_a_document_are_permuted_and_learned_together():
    """Documents differ more than labels do: points one by one would look separated."""
    raw = report(points(24, apart=0.0, each=8, seed=1), permutations=49, draws=2)[0].measures
    assert raw["separation"].p > 0.05
    assert raw["neighbours"].p > 0.05
    assert 0.2 < raw["neighbours"].value < 0.8


def test_a_source_that_looks_like_a_label_is_seen_by_asking_across_sources():
    """The probe is perfect out of fold and wrong about another source."""
    rng = np.random.default_rng(0)
    labels = np.arange(80) % 2
    sources = (np.arange(80) // 2) % 2
    vectors = 0.3 * rng.standard_normal((80, 4))
    vectors[:, 0] += 5 * np.where(sources == 0, labels, 1 - labels) + 20 * sources
    vectors[:, 1] += 5 * (sources * labels)
    given = Points(vectors, labels, np.arange(80), np.full(80, 9), sources)
    raw = report(given, permutations=1, draws=2)[0].measures
    assert raw["neighbours"].value > 0.95
    assert raw["other sources"].value < 0.6


def test_a_source_alone_is_measured_where_it_is_known():
    """Labels that are sources are told perfectly by them, and labels dealt evenly not at all."""
    given = points(40, apart=0.0)
    assert "source alone" not in {view.name for view in report(given, permutations=9, draws=9)}
    for sources, told in ((given.labels, True), ((np.arange(40) // 2) % 2, False)):
        made = report(replace(given, sources=sources), permutations=19, draws=9)
        alone = {view.name: view.measures for view in made}["source alone"]
        assert (alone["probe"].value == 1.0) == (alone["probe"].value > 0.6) == told
        assert (alone["probe"].p <= 0.05) == told
        assert math.isinf(alone["separation"].value) == told


def test_an_interval_of_many_documents_holds_what_is_true():
    """One axis, two normal classes with centres 2 apart: n D2 / W is 4, probe right in 84 %."""
    held = np.zeros(2)
    for seed in range(10):
        given = points(100, apart=2.0, width=1, seed=seed)
        raw = report(given, permutations=1, draws=100, seed=seed)[0].measures
        held += [
            raw[measure].low <= truth <= raw[measure].high
            for measure, truth in (("separation", 4), ("probe", 0.841))
        ]
    assert held.min() >= 8


def test_draws_have_as_many_documents_of_each_label():
    labels, groups = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 2, 3])
    for weights in draws_of(labels, groups, 30, 0):
        assert weights[0] == weights[1]
        assert weights[1] + weights[2] == 2
        assert weights[3] + weights[4] == 2


def test_what_cannot_be_measured_is_named():
    with pytest.raises(InputError, match="all texts have the same label"):
        report(points(classes=1))
    with pytest.raises(InputError, match="a label has only one document"):
        report(points(3, classes=2))
    for wrong in (math.nan, math.inf):
        given = points()
        given.vectors[7, 2] = wrong
        with pytest.raises(InputError, match="a vector is not finite"):
            report(given)


def test_the_probe_is_ridge_regression_out_of_fold():
    given = points(40, apart=1.0)
    fold = probes.folds(given.groups, given.labels, 5, 0)
    matrix = probes.probe(given.vectors, fold)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    assert not matrix[fold[:, None] == fold].any()
    linear = pytest.importorskip("sklearn.linear_model", reason="needs the lab extra")
    train, test = fold != 2, fold == 2
    middle = given.vectors[train] - given.vectors[train].mean(axis=0)
    alpha = 0.01 * (middle**2).sum() / train.sum()
    model = linear.Ridge(alpha=alpha).fit(given.vectors[train], np.eye(2)[given.labels[train]])
    np.testing.assert_allclose(
        (matrix @ np.eye(2)[given.labels])[test], model.predict(given.vectors[test]), atol=1e-8
    )


def test_folds_hold_whole_documents_and_some_of_each_label():
    given = points(20, classes=3, each=3)
    fold = probes.folds(given.groups, given.labels, 4, 0)
    for group in range(20):
        assert len(set(fold[given.groups == group])) == 1
    for number in range(4):
        assert set(given.labels[fold == number]) == {0, 1, 2}


def test_centres_and_neighbours_read_other_folds_alone():
    """Points whose class is that of their own fold's points alone are guessed wrong."""
    vectors = np.array([[0.0], [0.1], [10.0], [10.1], [0.2], [10.2]])
    labels, fold = np.array([0, 0, 1, 1, 1, 0]), np.array([0, 0, 0, 0, 1, 1])
    near = probes.nearest_beyond(np.abs(vectors - vectors.T), fold, 1)
    assert probes.by_neighbours(near, labels).tolist() == [1, 1, 0, 0, 0, 1]
    assert probes.by_centre(vectors, labels, fold).tolist() == [1, 1, 0, 0, 0, 1]


def test_accuracy_is_balanced():
    right, labels = np.array([True] * 8 + [False] * 2), np.array([0] * 8 + [1] * 2)
    assert probes.balanced(right, labels) == 0.5
    assert probes.balanced(right, labels, np.array([1.0] * 8 + [0.0] * 2)) == 1.0
