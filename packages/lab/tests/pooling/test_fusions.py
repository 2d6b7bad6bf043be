"""Fusions of two vectors: the page's numbers, sizes and counts."""

import numpy as np
import pytest

from milepost.errors import InputError
from milepost_lab.pooling.fusion import chunk_sizes, normal, signed_root
from milepost_lab.pooling.fusion_cores import FUSIONS
from milepost_lab.pooling.fusions import fusion

NAMES = list(FUSIONS)
MAPS = {
    "x_map": np.array([[1, 0], [0, 1], [1, 1], [1, -1]], "f4"),
    "y_map": np.array([[1, 0], [0, 1], [1, 1], [0, 2]], "f4"),
}
X, Y = np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])


def core(name, weights, x=X, y=Y, **settings):
    """What a core gives, before the last map."""
    made = fusion(name, bias=False, **settings)
    return made.row.core(x, y, made.settings, weights)[0]


def warm(name, m=6, n=5, seed=0, **settings):
    made = fusion(name, seed=seed, out=3, **settings)
    rng = np.random.default_rng(seed)
    made(rng.standard_normal((2, m)), rng.standard_normal((2, n)))
    return made


@pytest.mark.parametrize(
    ("name", "settings", "wanted"),
    [
        ("mcb", {}, 1_200_750),
        ("relu-sum", {}, 2_163_950),
        ("mlb", {}, 2_163_950),
        ("mfb", {"factor": 2}, 3_127_150),
        ("concat-mlp", {"depth": 2}, 4_723_950),
        ("block", {"chunks": 20, "rank": 15}, 6_051_950),
        ("mfh", {"factor": 2}, 6_253_550),
        ("block-tucker", {"chunks": 20}, 12_405_550),
        ("mutan", {"rank": 15}, 79_011_950),
        ("tucker", {}, 4_098_165_550),
    ],
)
def test_parameters_of_the_papers_sizes(name, settings, wanted):
    made = fusion(name, hidden=1600, out=750, **settings)
    assert made.row.parameter_count(made.settings, 300, 300) == wanted


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_those_that_are_begun_with(name):
    made = warm(name)
    sizes = [v.size for n, v in made.weights.items() if "bin" not in n and "sign" not in n]
    assert sum(sizes) == made.row.parameter_count(made.settings, 6, 5)


def test_mfb_adds_neighbours():
    np.testing.assert_allclose(
        core("mfb", MAPS, hidden=2, factor=2, normalise=False), [1, 8], atol=1e-12
    )
    rooted = signed_root(np.array([1.0, 8.0]), 1e-30)
    np.testing.assert_allclose(rooted, [1, 2.828427], atol=1e-6)
    np.testing.assert_allclose(rooted / np.linalg.norm(rooted), [0.333333, 0.942809], atol=1e-6)
    np.testing.assert_allclose(
        core("mfb", MAPS, hidden=2, factor=2), [0.333333, 0.942809], atol=2e-3
    )


def test_mutan_adds_from_stride_to_stride():
    ones = {"x_map": np.eye(2), "y_map": np.eye(2)}
    inner = {"x_core_0_map": MAPS["x_map"], "y_core_0_map": MAPS["y_map"]}
    found = core("mutan", {**ones, **inner}, hidden=2, rank=2, norm="none")
    np.testing.assert_allclose(found, [9, 0], atol=1e-12)


def test_mfh_takes_the_first_order_into_the_second():
    second = {
        "x_map_2": np.array([[0, 1], [1, 0], [1, 0], [0, 1]]),
        "y_map_2": np.array([[1, 1], [1, 0], [0, 1], [1, -1]]),
    }
    names = {"x_1_map": MAPS["x_map"], "y_1_map": MAPS["y_map"]}
    names |= {"x_2_map": second["x_map_2"], "y_2_map": second["y_map_2"]}
    found = core("mfh", names, hidden=2, factor=2, normalise=False)
    np.testing.assert_allclose(found, [1, 8, 6, 10], atol=1e-12)


def test_the_signed_root_has_a_slope_everywhere():
    np.testing.assert_allclose(
        signed_root(np.array([1.0, -1.0, 1e-4, 0.0])),
        [0.990050, -0.990050, 0.00414214, 0.0],
        atol=1e-6,
    )
    assert signed_root(np.array(1e-9)) / 1e-9 == pytest.approx(50, rel=1e-4)


def test_chunks_are_never_empty():
    assert chunk_sizes(10, 4) == [3, 3, 2, 2]
    assert chunk_sizes(6, 4) == [2, 2, 1, 1]
    assert chunk_sizes(1600, 18) == [89] * 16 + [88] * 2
    with pytest.raises(InputError, match="6 numbers cannot be cut into 7 chunks"):
        fusion("block", hidden=6, chunks=7)(np.ones((1, 4)), np.ones((1, 4)))


def test_chunks_of_one_number_keep_their_sign_alone():
    weights = {"x_map": np.eye(2), "y_map": np.eye(2)}
    weights |= {f"{side}_core_{n}_map": np.ones((1, 1)) for side in "xy" for n in (0, 1)}
    x, y = np.array([[10.0, -3.0]]), np.array([[1.0, 1.0]])
    settings = {"hidden": 2, "chunks": 2, "rank": 1}
    np.testing.assert_allclose(
        core("block", weights, x, y, norm="chunk", **settings), [1, -1], atol=1e-6
    )
    whole = core("block", weights, x, y, norm="whole", **settings)
    np.testing.assert_allclose(whole, [0.877058, -0.480384], atol=2e-3)


@pytest.mark.parametrize("rank", [1, 3])
def test_a_tensor_of_low_rank_is_the_whole_tensor_that_it_makes(rank):
    made = warm("mutan", hidden=4, rank=rank, bias=False)
    size = made.settings["hidden"]
    left, right = (made.weights[f"{side}_core_0_map"].reshape(rank, size, size) for side in "xy")
    whole = dict(made.weights)
    whole["core_0_map"] = np.einsum("rki,rkj->kij", left, right)
    same = fusion("tucker", hidden=4, out=3, bias=False, weights=whole)
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((7, 6)), rng.standard_normal((7, 5))
    np.testing.assert_allclose(same(x, y), made(x, y), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("chunked", ["block", "block-tucker"])
def test_one_chunk_is_the_fusion_without_chunks(chunked):
    plain = {"block": "mutan", "block-tucker": "tucker"}[chunked]
    made = warm(chunked, hidden=8, chunks=1, norm="whole")
    same = fusion(plain, hidden=8, out=3, norm="whole", weights=made.weights)
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((4, 6)), rng.standard_normal((4, 5))
    np.testing.assert_array_equal(same(x, y), made(x, y))


@pytest.mark.parametrize("name", ["hadamard", "tucker", "mutan"])
def test_without_biases_products_are_linear_in_each_vector(name):
    made = warm(name, bias=False)
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((3, 6)), rng.standard_normal((3, 5))
    np.testing.assert_allclose(made(3 * x, y), 3 * made(x, y), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(made(x, -y), -made(x, y), rtol=1e-5, atol=1e-6)
    assert not made(0 * x, y).any()
    assert warm(name)(0 * x, y).any()  # biases make something of nothing


@pytest.mark.parametrize("name", ["mcb", "mfb", "mfh", "block"])
def test_length_is_that_of_a_vector_and_not_of_a_batch(name):
    made = warm(name, bias=False)
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((3, 6)), rng.standard_normal((3, 5))
    fused = made.row.core(x, y, made.settings, made.weights)
    np.testing.assert_allclose(
        np.linalg.norm(fused, axis=-1), np.sqrt(2 if name == "mfh" else 1), rtol=1e-5
    )
    again = made.row.core(x[:1], y[:1], made.settings, made.weights)
    np.testing.assert_allclose(again, fused[:1], atol=1e-12)


def test_nothing_has_no_length():
    np.testing.assert_array_equal(normal(np.zeros((2, 3))), np.zeros((2, 3)))


@pytest.mark.parametrize("name", NAMES)
def test_vectors_broadcast(name):
    made = warm(name)
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 1, 6)), rng.standard_normal((2, 4, 5))
    fused = made.row.fuse(x, y, made.settings, made.weights)
    assert fused.shape == (2, 4, 3)
    np.testing.assert_allclose(fused[1, 2], made(x[1], y[1, 2:3])[0], rtol=1e-5, atol=1e-6)


def test_what_does_not_fit_is_named():
    with pytest.raises(InputError, match=r"unknown fusion 'blok'.*'block'"):
        fusion("blok")
    with pytest.raises(InputError, match="mlb has no parameter 'rank'"):
        fusion("mlb", rank=3)
    with pytest.raises(InputError, match="2 vectors x and 3 vectors y"):
        fusion("mlb")(np.ones((2, 3)), np.ones((3, 3)))
    with pytest.raises(InputError, match=r"x_map has the shape \(64, 6\), but x of width 5"):
        warm("mlb")(np.ones((2, 5)), np.ones((2, 5)))
    with pytest.raises(InputError, match=r"mcb: 5 bins.*6 bins or more"):
        warm("mcb", hidden=5)
    large = np.full((2, 4), 1e30)
    large[0] = 1
    with pytest.raises(InputError, match="hadamard gives NaN or infinity for pair 1"):
        fusion("hadamard")(large, large)


def test_a_sum_of_two_sides_says_more_than_each_through_its_last_relu():
    made = warm("relu-sum")
    assert (made(np.ones((1, 6)), np.ones((1, 5))) >= 0).all()
    rng = np.random.default_rng(1)
    a, b = 3 * rng.standard_normal((2, 9, 6))
    c, d = 3 * rng.standard_normal((2, 9, 5))
    both = made(a, c) - made(b, c) - made(a, d) + made(b, d)
    assert np.abs(both).max() > 0.01  # 0 for every sum of what each says alone
