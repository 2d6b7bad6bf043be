"""LightGBM's trees as plain arrays give what LightGBM gives, and its leaves' means inside."""

import numpy as np
import pytest

from milepost.search.features import FEATURES
from milepost.search.trees import FILE, read_trees
from milepost_train.ranking.learning import arrays_of, case_weights
from support.ranking_cases import ranking_case

WIDTH = len(FEATURES)
INEXACT = 0.1  # float32(0.1) lies above it


def leaf(value, count):
    return {"leaf_value": value, "leaf_count": count}


def node(feature, threshold, left, right):
    return {
        "split_feature": feature,
        "threshold": threshold,
        "left_child": left,
        "right_child": right,
    }


DUMPED = {
    "tree_info": [
        {
            "tree_structure": node(
                2, 0.5, node(0, INEXACT, leaf(1.0, 10), leaf(3.0, 30)), leaf(-4.0, 60)
            )
        },
        {"tree_structure": {"leaf_value": 0.25}},  # a tree that found nothing to ask
        {"tree_structure": node(1, -2.0, leaf(0.5, 1), leaf(-0.5, 3))},
    ]
}


def row(**values):
    columns = np.zeros(WIDTH, np.float32)
    for name, value in values.items():
        columns[int(name[1:])] = value
    return columns


def test_inner_nodes_are_the_means_of_what_was_learned_there():
    """Weighed by the rows of each leaf: 2.5 = (10·1 + 30·3) / 40, -1.4 = (40·2.5 - 60·4) / 100."""
    trees = arrays_of(DUMPED)
    asks = trees.feature >= 0
    by_column = dict(zip(trees.feature[asks].tolist(), trees.value[asks].tolist(), strict=True))
    assert by_column == pytest.approx({2: -1.4, 0: 2.5, 1: -0.25})
    parts = trees.parts(row(c0=1.0, c1=0.0, c2=0.0))
    names = list(FEATURES)
    assert parts[""] == pytest.approx(-1.4 + 0.25 - 0.25, abs=1e-6)
    moved = {name: parts[name] for name in (names[2], names[0], names[1])}
    assert list(moved.values()) == pytest.approx([3.9, 0.5, -0.25], abs=1e-6)


@pytest.mark.parametrize("seed", [1, 2])
def test_lightgbm_itself_says_the_same(tmp_path, seed):
    """On random rows, and on rows that stand on thresholds and one step of float32 to each side."""
    lightgbm = pytest.importorskip("lightgbm", reason="needs the fit extra")
    random = np.random.default_rng(seed)
    columns = random.standard_normal((2000, WIDTH)).astype(np.float32)
    columns[:, 1] = random.integers(0, 3, 2000)  # thresholds between whole numbers, and zero
    columns[:, 2] = np.round(columns[:, 2], 1)  # many ties
    wanted = columns[:, 0] * columns[:, 1] + columns[:, 2] + random.standard_normal(2000) > 0
    booster = lightgbm.train(
        {
            "objective": "binary",
            "num_leaves": 8,
            "min_data_in_leaf": 20,
            "num_threads": 1,
            "seed": seed,
            "verbose": -1,
        },
        lightgbm.Dataset(columns, wanted.astype(float)),
        40,
    )
    dumped = booster.dump_model()
    trees = arrays_of(dumped)
    trees.write(tmp_path)
    back = read_trees(tmp_path / FILE, tuple(FEATURES))
    asks = np.flatnonzero(trees.feature >= 0)
    border = columns[random.integers(0, 2000, 3 * len(asks))]
    for place, number in enumerate(asks):
        column, bound = trees.feature[number], trees.threshold[number]
        for step, to in enumerate((bound, np.inf, -np.inf)):
            border[3 * place + step, column] = np.nextafter(bound, np.float32(to))
    for rows in (columns[:300], border):
        said = booster.predict(rows, raw_score=True)
        np.testing.assert_allclose(trees.predict(rows), said, rtol=0, atol=1e-5)
        np.testing.assert_allclose(back.predict(rows), said, rtol=0, atol=1e-5)
    # The steps over a threshold are seen: not every row of the border says the same.
    at, above = trees.predict(border[0::3]), trees.predict(border[1::3])
    assert len(asks) > 100
    assert (np.abs(at - above) > 1e-4).any()


def test_tasks_count_alike_and_settings_by_their_weight():
    """Whatever the number of questions; ``elsewhere`` half of ``document``."""
    settings = ["document", "document", "elsewhere"]
    cases = [ranking_case(task="a", setting=each) for each in settings]
    cases += [ranking_case(task="b")]
    assert case_weights(cases).tolist() == [0.5, 0.5, 0.5, 1.0]
