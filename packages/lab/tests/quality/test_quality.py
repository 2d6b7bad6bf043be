"""Indices of separation by hand (facts page 13), and the study."""

import numpy as np
import pytest
import torch

from milepost.errors import InputError
from milepost_lab.quality.model import dunn, layer_weights, permuted, probe, separation, xie_beni
from milepost_lab.quality.study import command
from support.files import write_lines

FOUR = np.array([[0, 0], [2, 0], [10, 0], [12, 0]], float)
PAIRS = np.array([0, 0, 1, 1])


def test_1_four_points():
    found = separation(FOUR, PAIRS.tolist())
    assert found["1/XBI"] == pytest.approx(100)
    assert found["CHI"] == pytest.approx(50)
    assert found["DBS"] == pytest.approx(0.2)
    assert found["Dunn"] == pytest.approx(4)
    assert 0.5 * found["1/XBI"] + 0.5 * found["CHI"] == pytest.approx(75)


def test_2_and_3_chi_grows_with_n_at_the_same_geometry():
    twice = separation(np.repeat(FOUR, 2, 0), np.repeat(PAIRS, 2).tolist())
    assert (twice["1/XBI"], twice["CHI"]) == pytest.approx((100, 150))
    uneven = separation(FOUR[[0, 1, 2, 3, 2, 3, 2, 3]], [0, 0, *[1] * 6])
    assert uneven["CHI"] == pytest.approx(112.5)
    # For two classes both indices are one number: n1 n2 (n - 2) / n² times 1/XBI.
    assert uneven["CHI"] == pytest.approx(2 * 6 * 6 / 64 * uneven["1/XBI"])


def test_5_stretching_a_dimension_changes_everything():
    points = np.array([[0, 0], [2, 1], [10, 0], [12, 1]], float)
    assert xie_beni(points, PAIRS) == pytest.approx(0.0125)
    assert dunn(points, PAIRS) == pytest.approx(3.605551275)
    points[:, 1] *= 10
    assert xie_beni(points, PAIRS) == pytest.approx(0.26)
    assert dunn(points, PAIRS) == pytest.approx(0.980580676)


def test_9_a_permutation_cannot_say_more_than_its_splits():
    null, p = permuted(FOUR, PAIRS.tolist(), 200)
    assert 0.25 < p < 0.45  # of three splits one is the true one
    assert null < 100


def test_one_class_is_refused():
    with pytest.raises(InputError, match="two labels"):
        separation(FOUR, [0, 0, 0, 0])


def test_a_probe_of_noise_is_not_significant():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 20)
    accuracy, p = probe(rng.normal(size=(40, 4)), labels, permutations=20)
    assert accuracy < 0.8
    assert p > 0.05
    told = rng.normal(size=(40, 4)) + 4 * labels[:, None]
    assert probe(told, labels, permutations=20) == (1.0, pytest.approx(1 / 21))


def test_weights_find_the_layer_that_separates():
    torch.manual_seed(0)
    states, labels = torch.randn(60, 3, 4), torch.arange(60) % 2
    states[:, 1] += 3.0 * labels[:, None]
    found = layer_weights(states, labels)
    assert found.argmax() == 1
    assert found.sum().item() == pytest.approx(1, abs=1e-5)


def test_the_study_runs(run_study, tmp_path):
    words = ("The bees build wax cells number", "Ships sail on deep water number")
    rows = [{"text": f"{words[n % 2]} {n}.", "label": n % 2} for n in range(12)]
    file = write_lines(tmp_path / "texts.jsonl", rows)
    found = run_study(command, file, "--permutations", 3)
    names = [row["vectors"] for row in found["rows"]]
    assert names == [
        *(f"layer {n}" for n in range(1, 7)),
        "mean of layers",
        "trained weights",
        "length alone",
    ]
    file.write_text('{"text": "x"}\n')
    with pytest.raises(InputError, match="without text and label"):
        run_study(command, file)
