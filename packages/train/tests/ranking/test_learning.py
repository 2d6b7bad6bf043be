"""What a fit learns: trees as plain arrays, a passage's chance, and the fusion's weights."""

from dataclasses import replace

import numpy as np
import pytest

from milepost.search.features import FEATURES
from milepost.search.fusion import SIGNALS, Fusion
from milepost.search.trees import FILE, read_trees
from milepost_train.ranking.cases import Signals
from milepost_train.ranking.learning import (
    GATES,
    SHIFTS,
    Shown,
    arrays_of,
    calibrate,
    case_weights,
    counts_of_settings,
    figures,
    found,
    grid,
    learn_weights,
    questions,
    shown,
)
from support.ranking_cases import ranking_case

WIDTH = len(FEATURES)


def mean_below(node):
    """Mean of a node's leaves, weighed by the rows of each, and these rows."""
    if "leaf_value" in node:
        return node["leaf_value"], node["leaf_count"]
    below = [mean_below(node[side]) for side in ("left_child", "right_child")]
    rows = sum(count for _, count in below)
    return sum(value * count for value, count in below) / rows, rows


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
    means = [mean_below(tree["tree_structure"])[0] for tree in dumped["tree_info"]]
    dumped["tree_info"] += [{"tree_structure": {"leaf_value": 0.25}}]  # found nothing to ask
    trees = arrays_of(dumped)
    assert trees.value[trees.roots] == pytest.approx([*means, 0.25], abs=1e-6)
    trees.write(tmp_path)
    back = read_trees(tmp_path / FILE, tuple(FEATURES))
    asks = np.flatnonzero(trees.feature >= 0)
    border = columns[random.integers(0, 2000, 3 * len(asks))]
    for place, number in enumerate(asks):
        column, bound = trees.feature[number], trees.threshold[number]
        for step, to in enumerate((bound, np.inf, -np.inf)):
            border[3 * place + step, column] = np.nextafter(bound, np.float32(to))
    for rows in (columns[:300], border):
        said = booster.predict(rows, raw_score=True) + 0.25
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


TRUE = (-2.5, 0.4, 0.6)


def made(count, seed):
    """Inputs as ``shown`` gives them, and the probability that follows by the formula."""
    random = np.random.default_rng(seed)
    best = random.normal(0.0, 4.0, count)
    rest = random.gamma(1.0, 2.0, count)
    inputs = np.stack([np.ones(count), best, np.log1p(rest)], axis=1)
    return inputs, 1.0 / (1.0 + np.exp(-inputs @ np.array(TRUE))), random


@pytest.mark.parametrize("seed", [1, 2])
def test_known_numbers_come_back(seed):
    """From the chances themselves almost exactly; from draws of them, within their spread."""
    inputs, chance, random = made(20_000, seed)
    even = np.ones(len(inputs))
    assert calibrate(inputs, chance, even) == pytest.approx(TRUE, abs=2e-3)
    drawn = (random.random(len(inputs)) < chance).astype(float)
    assert calibrate(inputs, drawn, even) == pytest.approx(TRUE, abs=0.15)


def test_a_weight_counts_as_so_many_passages():
    """Two is twice the same passage; none is no passage."""
    inputs, chance, random = made(2000, 3)
    held = (random.random(2000) < chance).astype(float)
    weights = random.integers(0, 3, 2000)
    times = np.repeat(np.arange(2000), weights)
    weighed = calibrate(inputs, held, weights.astype(float))
    repeated = calibrate(inputs[times], held[times], np.ones(len(times)))
    assert weighed == pytest.approx(repeated, abs=2e-3)
    assert weighed != pytest.approx(calibrate(inputs, held, np.ones(2000)), abs=2e-3)


def test_a_column_that_tells_evidence_perfectly_stays_finite():
    """Separable passages: large numbers, and probabilities on the right side."""
    inputs = np.stack([np.ones(40), np.repeat([-1.0, 1.0], 20)], axis=1)
    held = np.repeat([0.0, 1.0], 20)
    offset, slope = calibrate(inputs, held, np.ones(40))
    assert abs(offset) < 1.0
    assert 5.0 < slope < 50.0


def of(held, owner, counts):
    """Passages of some cases."""
    inputs = np.ones((len(held), 3))
    return Shown(inputs, np.array(held), np.array(owner), np.array(counts))


def test_one_question_in_five_has_no_answer():
    """Tasks alike in their setting, settings alike among those with an answer and those without."""
    settings = ["document", "document", "document", "collection", "elsewhere", "absent", "absent"]
    tasks = ["a", "a", "b", "a", "a", "a", "b"]
    cases = [
        replace(ranking_case(4), task=task, setting=setting)
        for task, setting in zip(tasks, settings, strict=True)
    ]
    counts = counts_of_settings(cases)
    assert counts.tolist() == pytest.approx([0.1, 0.1, 0.2, 0.4, 0.1, 0.05, 0.05])
    answered = counts_of_settings(cases[:3])
    assert (answered / answered.sum()).tolist() == pytest.approx([0.25, 0.25, 0.5])


def test_figures_by_hand():
    """The third case counts as much as both others.

    Gaps by bin: 0.1 said, a quarter of the weight, true 0; 0.8 said, of the rest a third true.
    """
    passages = of([0.0, 1.0, 0.0], owner=[0, 1, 2], counts=[1.0, 1.0, 2.0])
    assert passages.weights.tolist() == [0.25, 0.25, 0.5]
    told = figures(passages, np.array([0.1, 0.8, 0.8]))
    gaps = 0.25 * 0.1 + abs(0.25 * (0.8 - 1.0) + 0.5 * 0.8)
    loss = -(0.25 * np.log(0.9) + 0.25 * np.log(0.8) + 0.5 * np.log(0.2))
    assert told == pytest.approx({"log loss": loss, "calibration error": gaps}, abs=1e-4)


def test_inputs_of_a_passage_by_hand():
    """Best log-odds, ln(1 + the rest), what was added, unknown words, share of scores, size."""
    case = ranking_case(sentences=4, evidence=1, vocab_coverage=0.75)
    # What lies far below joins the passage, as its neighbours are shown next, and adds nothing.
    before = np.array([-40.0, 1.0, 0.0, -40.0], np.float32)
    after = before + np.array([0.0, 2.0, 3.0, 0.0], np.float32)
    first = shown([case], [after], 1.0, [before], [after - before])
    row = first.inputs[np.argmax(first.held)]
    size = np.log(0.95 / 0.05)  # all of the document
    assert row.tolist() == pytest.approx([1.0, 1.0, np.log1p(0.5), 3.0, 0.25, 1.0, size])
    plain = shown([case], [before], 1.0, [before])
    row = plain.inputs[np.argmax(plain.held)]
    assert row.tolist() == pytest.approx([1.0, 1.0, np.log1p(0.5), 1.0, size])


def test_a_question_follows_from_its_best_passage():
    passages = of([0.0, 1.0, 0.0], owner=[0, 0, 2], counts=[1.0, 1.0, 1.0])
    asked = questions(passages, np.array([0.9, 0.2, 0.5]), [None, None, 1.0])
    assert asked.owner.tolist() == [0, 2]
    assert asked.held.tolist() == [1.0, 0.0]
    # Of the second, both log-odds are 0 once the reranker's readiness is taken off.
    assert asked.inputs[:, 1].tolist() == pytest.approx([np.log(9.0), -np.log(2.0)])


def asked(landmark, words, evidence, length=400):
    """A question whose scales all have one curve each."""
    n = len(landmark)
    gains = np.zeros(n, np.float32)
    gains[evidence] = 1.0
    return Signals(
        np.ones(len(SIGNALS)),
        np.array([landmark] * 3, np.float32),
        np.array([words] * 3, np.float32),
        np.array([landmark, words], np.float32),
        gains,
        np.full(n, length, np.int64),
    )


def test_the_grid_by_hand():
    """Twelve sentences of 400 characters; words put the evidence first, landmarks last.

    Within 800, 1,600 and 3,200 characters words alone find all; so does a low gate, not a high one.
    """
    landmark, words = np.linspace(1, -1, 12), np.linspace(-1, 1, 12)
    case = asked(landmark, words, 11)
    assert found(case, case.alone[1]) == 1.0
    assert found(case, case.alone[0]) == 0.0
    table = grid(case, Fusion())
    assert table.shape == (len(GATES), len(SHIFTS))
    assert (table[GATES < 0] == 1.0).all()
    assert (table[GATES > 0] == 0.0).all()


def test_a_signal_that_tells_which_side_finds_more_is_learned():
    random = np.random.default_rng(1)
    signals = np.zeros((200, len(SIGNALS)))
    signals[:, 0] = 1.0
    cover = list(SIGNALS).index("cover")
    signals[:, cover] = random.choice([-1.0, 1.0], 200)
    good = 1 / (1 + np.exp(-3 * signals[:, cover, None] * -GATES))  # (q, gates)
    grids = np.repeat(good[:, :, None], len(SHIFTS), axis=2)
    alone = np.stack([good[:, -1], good[:, 0]], axis=1)
    gate, shift = learn_weights(["a", "b"] * 100, signals, grids, alone)
    assert gate["cover"] < -1.0
    assert abs(gate["terms"]) < 0.01
    assert set(gate) == set(shift) == set(SIGNALS)
    assert shift["cover"] == pytest.approx(0.0, abs=0.01)  # the grid says nothing of scales
    assert learn_weights(["a", "b"] * 100, signals, grids, alone) == (gate, shift)
