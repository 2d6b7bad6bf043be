"""Numbers worked by hand for the poolings over layers."""

import math

import numpy as np
import pytest

from milepost.errors import InputError
from milepost.windows.document_vector import unit
from milepost_lab import pooling
from milepost_lab.pooling.gelu import gelu
from milepost_lab.pooling.layer_norm import layer_norm
from milepost_lab.pooling.layer_weights import sparsemax, summaries
from milepost_lab.pooling.multilayer import shapes
from milepost_lab.pooling.operator import Batch

LOG3 = math.sqrt(2) * math.log(3)
PAGE = {"latents": 1, "heads": 1, "normalised": False, "residual": False, "widen": 0}
"""Settings that leave nothing of the operator but its attention."""


def ragged(states, lengths):
    """A checked batch, each token a segment."""
    lengths = np.array(lengths)
    return Batch(np.array(states, "f4"), lengths, None, np.ones(len(states), int), lengths)


def bare(query, width=2, **settings):
    """The operator with identity projections and norms that leave their input as it is."""
    pool = pooling.get("multilayer", **{**PAGE, **settings})
    eye = np.eye(width, dtype="f4")
    pool.weights = {
        "latents": np.atleast_2d(query).astype("f4"),
        "to_query": eye,
        "to_key_value": np.concatenate([eye, eye], 1),
        "to_out": eye,
        "layer_table": np.zeros((2, width), "f4"),
    }
    for name in ("norm_latents", "norm_keys"):
        pool.weights |= {f"{name}_scale": np.ones(width, "f4"), f"{name}_shift": np.zeros(width)}
    return pool


@pytest.fixture
def without_norms(monkeypatch):
    """The page's checks of the attention have no layer norm."""
    monkeypatch.setattr("milepost_lab.pooling.multilayer.named_norm", lambda values, *_: values)


def test_means_of_ragged_layers_count_no_padding():
    first = np.array([[1, 2], [3, 4], [5, 6]], "f4")
    batch = ragged(np.stack([first, 10 * first], 1), [2, 1])
    np.testing.assert_array_equal(
        summaries(batch, "mean"), [[[2, 3], [20, 30]], [[5, 6], [50, 60]]]
    )
    np.testing.assert_array_equal(
        summaries(batch, "last"), [[[3, 4], [30, 40]], [[5, 6], [50, 60]]]
    )


def test_one_key_is_read_alike_by_every_latent():
    """So the published last-layer baseline attends to nothing: it is a linear map."""
    for latents in ([[1, 0]], [[0, 1], [5, -3]]):
        pool = bare(latents, latents=len(latents))
        pool.weights["layer_table"] = pool.weights["layer_table"][:1]
        np.testing.assert_allclose(pool([[[3.0, 1.0]]], [1]), [[0.999995, -0.999995]], atol=1e-6)


def test_attention_over_two_layers(without_norms):
    states = np.array([[[0, 0], [LOG3, 0]]], "f4")
    np.testing.assert_allclose(bare([1, 0])(states, [1]), [[1.165254299, 0]], rtol=1e-6)


def test_the_layer_table_tells_layers_apart(without_norms):
    states = np.array([[[0, 0], [LOG3, 0]]], "f4")
    pool = bare([1, 0])
    np.testing.assert_array_equal(pool(states, [1]), pool(states[:, ::-1], [1]))
    pool.weights["layer_table"] = np.array([[0, 1], [0, 0]], "f4")
    np.testing.assert_allclose(pool(states, [1]), [[1.165254299, 0.25]], rtol=1e-6)
    np.testing.assert_allclose(pool(states[:, ::-1], [1]), [[1.165254299, 0.75]], rtol=1e-6)


def test_the_vector_is_the_mean_of_latents_and_unit_makes_its_length_one(without_norms):
    pool = bare([[3, 0], [0, 4]], latents=2, residual=True)
    mean = pool(np.zeros((1, 2, 2), "f4"), [1])
    np.testing.assert_allclose(mean, [[1.5, 2]])
    np.testing.assert_allclose(unit(mean), [[0.6, 0.8]])


def test_the_gate_is_the_exact_gelu():
    assert 2 * gelu(1.0) == pytest.approx(1.682689492)
    assert 2 * gelu(-1.0) == pytest.approx(-0.317310508)


def test_layer_norm_of_a_pair():
    found = layer_norm(np.array([3.0, 1.0]), np.ones(2), np.zeros(2))
    np.testing.assert_allclose(found, [0.999995, -0.999995], atol=1e-9)


def test_parameters_at_the_published_size():
    settings = pooling.names()["multilayer"].settings(
        {"latents": 768, "heads": 32, "head_width": 2048}
    )
    assert sum(math.prod(shape) for shape in shapes(settings, 4096, 32).values()) == 1278406656


@pytest.mark.parametrize(
    ("scores", "wanted"),
    [
        ([0, 0.5], [0.25, 0.75]),
        ([0, 1.5], [0, 1]),
        ([0.1, 0.2, 0.9], [0.033333333, 0.133333333, 0.833333333]),
    ],
)
def test_sparsemax_by_hand(scores, wanted):
    np.testing.assert_allclose(sparsemax(np.array(scores)), wanted, atol=1e-8)


def test_sparsemax_is_the_nearest_point_of_the_simplex():
    """No point that is drawn lies nearer."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores = 2 * rng.standard_normal(5)
        found = sparsemax(scores)
        others = rng.dirichlet(np.full(5, 0.4), 2000)
        assert found.sum() == pytest.approx(1)
        assert ((others - scores) ** 2).sum(1).min() >= ((found - scores) ** 2).sum() - 1e-12


def test_layer_mix_by_hand():
    pool = pooling.get("layer-mix")
    states = np.array([[[4, 0], [0, 8]]], "f4")
    np.testing.assert_allclose(pool(states, [1]), [[2, 4]])
    pool.weights = {"scores": np.array([0, math.log(3)], "f4"), "scale": np.array([2], "f4")}
    np.testing.assert_allclose(pool(states, [1]), [[2, 12]], rtol=1e-6)


def test_layer_sparse_leaves_a_layer_out():
    pool = pooling.get("layer-sparse", weights={"scores": np.array([0, 1.5], "f4")})
    np.testing.assert_array_equal(pool(np.array([[[4, 9], [0, 8]]], "f4"), [1]), [[0, 8]])


def test_layers_of_unlike_scale_weigh_alike_once_normalised():
    states = np.array([[[0.002, 0], [0, 300]]], "f4")
    found = pooling.get("layer-mean", normalised=True)(states, [1])
    np.testing.assert_allclose(found, [[0.5**0.5 * 0.8164, 0.5**0.5]], rtol=2e-4)
    assert not pooling.get("layer-mean", normalised=True)(0 * states, [1]).any()


def test_the_order_of_tokens_counts_where_the_last_one_is_read():
    states = np.random.default_rng(0).standard_normal((4, 3, 8)).astype("f4")
    for name in ("layer-mean", "layer-mix", "layer-sparse", "multilayer"):
        pool = pooling.get(name, summary="last")
        assert not np.allclose(pool(states, [4]), pool(states[::-1], [4]))
        np.testing.assert_array_equal(pool(states, [4]), pool(states[[2, 1, 0, 3]], [4]))


def test_states_without_layers_are_refused_with_the_shape_that_is_expected():
    with pytest.raises(InputError, match=r"shape \(4, 8\), not \(tokens, layers, d\)") as error:
        pooling.get("multilayer")(np.ones((4, 8), "f4"), [3, 1])
    assert "states[:, None]" in error.value.hint


def test_weights_of_another_number_of_layers_are_refused():
    pool = pooling.get("layer-mix", weights={"scores": np.zeros(3), "scale": np.ones(1)})
    with pytest.raises(InputError, match=r"width 8 and 4 layers need \(4,\)"):
        pool(np.ones((2, 4, 8), "f4"), [2])
