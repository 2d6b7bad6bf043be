"""The numbers of a passage's chance are found again in data that was made with them."""

import numpy as np
import pytest

from milepost_train.ranking.learning import Shown, calibrate, figures, questions, shown
from support.ranking_cases import ranking_case

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


def of(held, owner, groups):
    """Passages of some cases."""
    inputs = np.ones((len(held), 3))
    return Shown(inputs, np.array(held), np.array(owner), np.array(groups))


def test_figures_by_hand():
    """Two groups count alike: the one case of the second as much as the two of the first.

    Gaps by bin: 0.1 said, half of the weight of group one, true 0; 0.8 said, true 0.5 of it.
    """
    passages = of([0.0, 1.0, 0.0], owner=[0, 1, 2], groups=[0, 0, 1])
    assert passages.weights.tolist() == [0.25, 0.25, 0.5]
    told = figures(passages, np.array([0.1, 0.8, 0.8]))
    gaps = 0.25 * 0.1 + abs(0.25 * (0.8 - 1.0) + 0.5 * 0.8)
    loss = -(0.25 * np.log(0.9) + 0.25 * np.log(0.8) + 0.5 * np.log(0.2))
    assert told == pytest.approx({"log loss": loss, "calibration error": gaps}, abs=1e-4)


def test_inputs_of_a_passage_by_hand():
    """Best log-odds, ln(1 + the rest), what was added, unknown words, others."""
    case = ranking_case(sentences=4, evidence=1, vocab_coverage=0.75)
    # What lies far below joins the passage, as its neighbours are shown next, and adds nothing.
    before = np.array([-40.0, 1.0, 0.0, -40.0], np.float32)
    after = before + np.array([0.0, 2.0, 3.0, 0.0], np.float32)
    first = shown([case], [after], 1.0, [before], [after - before])
    row = first.inputs[np.argmax(first.held)]
    assert row.tolist() == pytest.approx([1.0, 1.0, np.log1p(0.5), 3.0, 0.25, 0.0])
    plain = shown([case], [before], 1.0, [before])
    row = plain.inputs[np.argmax(plain.held)]
    assert row.tolist() == pytest.approx([1.0, 1.0, np.log1p(0.5), 0.0])


def test_a_question_follows_from_its_best_passage():
    passages = of([0.0, 1.0, 0.0], owner=[0, 0, 2], groups=[0, 0, 1])
    passages.inputs[:, -1] = [0.5, 0.5, 0.0]
    asked = questions(passages, np.array([0.9, 0.2, 0.5]), [None, None, 1.0])
    assert asked.owner.tolist() == [0, 2]
    assert asked.held.tolist() == [1.0, 0.0]
    # Of the second, both log-odds are 0 once the reranker's readiness is taken off.
    assert asked.inputs[:, 1].tolist() == pytest.approx([np.log(9.0), -np.log(2.0)])
    assert asked.inputs[:, 2].tolist() == [0.5, 0.0]
