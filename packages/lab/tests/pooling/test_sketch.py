"""Count sketches: the page's numbers, and the average over every drawing there is."""

from itertools import product

import numpy as np
import pytest

from milepost.errors import InputError
from milepost_lab import pooling
from milepost_lab.pooling.sketch import count_sketch, product_sketch

DRAWN = {
    "x_bin": np.array([0, 1, 0]),
    "x_sign": np.array([1, -1, 1]),
    "y_bin": np.array([1, 3]),
    "y_sign": np.array([1, -1]),
}
X, Y = np.array([1.0, 2, 3]), np.array([4.0, 5])


def of_all_products(x, y, drawn, size):
    """The same sketch made from the products themselves."""
    bins = np.add.outer(drawn["x_bin"], drawn["y_bin"]) % size
    signs = np.multiply.outer(drawn["x_sign"], drawn["y_sign"])
    return count_sketch(np.outer(x, y).ravel(), bins.ravel(), signs.ravel(), size)


def test_sketches_worked_by_hand():
    for side, vector, wanted in (("x", X, [4, -2, 0, 0]), ("y", Y, [0, 4, 0, -5])):
        found = count_sketch(vector, DRAWN[f"{side}_bin"], DRAWN[f"{side}_sign"], 4)
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_allclose(product_sketch(X, Y, DRAWN, 4), [10, 16, -8, -20], atol=1e-12)


def test_an_odd_number_of_bins_is_kept():
    found = product_sketch(X, Y, DRAWN, 5)
    np.testing.assert_allclose(found, [0, 16, -8, -20, 10], atol=1e-12)


@pytest.mark.parametrize("size", [4, 5, 7, 16])
def test_a_convolution_is_the_sketch_of_all_products(size):
    np.testing.assert_allclose(
        product_sketch(X, Y, DRAWN, size), of_all_products(X, Y, DRAWN, size), atol=1e-12
    )


@pytest.mark.parametrize(("size", "variance"), [(1, 123), (2, 61.5), (4, 41.75)])
def test_over_every_drawing_products_are_right_on_average(size, variance):
    pairs = [([1.0, 2.0], [1.0, 1.0]), ([3.0, 1.0], [2.0, -1.0])]
    bins = list(product(range(size), repeat=2))
    signs = list(product((1, -1), repeat=2))
    found = []
    for x_bin, x_sign, y_bin, y_sign in product(bins, signs, bins, signs):
        drawn = dict(zip(DRAWN, map(np.array, (x_bin, x_sign, y_bin, y_sign)), strict=True))
        one, two = (of_all_products(x, y, drawn, size) for x, y in pairs)
        found.append(one @ two)
    assert len(found) == 16 * size**4
    assert np.mean(found) == pytest.approx(5)  # <x, x'><y, y'> = 5 · 1
    assert np.var(found) == pytest.approx(variance)


def test_a_moment_compares_texts_by_the_squares_of_their_tokens_products():
    rng = np.random.default_rng(0)
    states = rng.standard_normal((7, 4)).astype("f4")
    one, two = states[:3].astype("f8"), states[3:].astype("f8")
    wanted = np.mean((one @ two.T) ** 2)
    found = []
    for seed in range(300):
        a, b = pooling.get("sketch-moment", size=64, seed=seed)(states, [3, 4]).astype("f8")
        found.append(a @ b)
    assert np.mean(found) == pytest.approx(wanted, abs=4 * np.std(found) / np.sqrt(300))
    assert np.std(found) < wanted * 2


def test_moments_of_parts_are_the_moment_of_the_whole():
    states = np.random.default_rng(0).standard_normal((9, 8)).astype("f4")
    pool = pooling.get("sketch-moment")
    parts, whole = pool(states, [2, 7]), pool(states, [9])[0]
    np.testing.assert_allclose((2 * parts[0] + 7 * parts[1]) / 9, whole, atol=1e-6)


def test_the_centre_takes_away_what_all_texts_share():
    noise = np.random.default_rng(0).standard_normal((400, 8))
    noise[:200, :4] *= 3
    noise[200:, 4:] *= 3
    alike = {}
    for centre in (0, 8):
        pool = pooling.get("sketch-moment")
        pool(noise, [200, 200])
        pool.weights["centre"] = np.full(8, centre, "f4")
        one, two = pool(noise + 8, [200, 200])
        alike[centre] = one @ two / np.linalg.norm(one) / np.linalg.norm(two)
    assert alike[0] > 0.95
    assert alike[8] < 0.5


def test_fewer_bins_than_numbers_are_refused():
    with pytest.raises(InputError, match=r"sketch-moment: 7 bins.*8 bins or more"):
        pooling.get("sketch-moment", size=7)(np.ones((2, 8), "f4"), [2])
