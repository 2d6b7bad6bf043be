"""A query fused with each state."""

import numpy as np
import pytest

from milepost.errors import InputError
from milepost_lab import pooling
from milepost_lab.pooling.bilinear import METHODS
from milepost_lab.pooling.fusions import fusion


def texts(seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((7, 8)).astype("f4"), rng.standard_normal((2, 6)).astype("f4")


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("over", ["mean", "max"])
def test_it_is_the_pair_s_fusion_state_by_state(name, over):
    states, queries = texts()
    pool = pooling.get(name, over=over)
    found = pool(states, [3, 4], queries=queries)
    pair = fusion(name, weights=pool.weights)
    fused = pair(np.repeat(queries, [3, 4], axis=0), states)
    wanted = [getattr(part, over)(axis=0) for part in (fused[:3], fused[3:])]
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def product(over, root=False, bias=0.0):
    """The page's example: q = (1, 2), tokens (1, 0) and (3, 2), its maps, and no last map."""
    name = "mfb" if root else "mutan"
    u, v = np.array([[1.0, 0], [1, 1]], "f4"), np.array([[2.0, 0], [0, 1]], "f4")
    one = np.eye(2, dtype="f4")
    zero = np.zeros(2, "f4")
    weights = {"x_map": u, "x_bias": zero, "y_map": v, "y_bias": zero + bias}
    weights |= {"out_map": one, "out_bias": zero}
    settings = {"hidden": 2, "out": 2, "over": over}
    if root:
        return pooling.get(name, factor=1, normalise=False, weights=weights, **settings)
    weights |= {f"{side}_core_0_map": one for side in "xy"}
    weights |= {f"{side}_core_0_bias": zero for side in "xy"}
    return pooling.get(name, rank=1, norm="none", weights=weights, **settings)


QUERY = np.array([[1.0, 2.0]], "f4")
TOKENS = np.array([[1.0, 0.0], [3.0, 2.0]], "f4")


def test_a_plain_product_and_a_mean_are_the_product_with_the_mean():
    pool = product("mean")
    of_mean = pool(TOKENS.mean(0, keepdims=True), [1], queries=QUERY)
    np.testing.assert_allclose(pool(TOKENS, [2], queries=QUERY), of_mean, rtol=1e-6)
    # x is the query here: Uq = (1, 3), V mean = (4, 1).
    np.testing.assert_allclose(of_mean, [[4, 3]], rtol=1e-6)
    greatest = product("max")(TOKENS, [2], queries=QUERY)
    assert np.abs(greatest - of_mean).max() > 0.5


def test_a_root_before_the_mean_is_not_one_after_it():
    from milepost_lab.pooling.fusion import signed_root

    products = product("mean", root=True)
    each = np.stack([products(token[None], [1], queries=QUERY)[0] for token in TOKENS])
    before, after = signed_root(each, 1e-30).mean(0), signed_root(each.mean(0), 1e-30)
    np.testing.assert_allclose(before, [1.931852, 1.224745], atol=1e-6)
    np.testing.assert_allclose(after, [2, 1.732051], atol=1e-6)


def test_with_biases_counted_padding_would_leak():
    pool = product("mean", bias=1.0)
    right = pool(TOKENS, [2], queries=QUERY)
    leaking = pool(np.concatenate([TOKENS, 0 * TOKENS]), [4], queries=QUERY)
    np.testing.assert_allclose(right, [[5, 6]], rtol=1e-6)
    np.testing.assert_allclose(leaking, [[3, 4.5]], rtol=1e-6)


def test_the_second_moment_is_not_the_square_of_the_first():
    np.testing.assert_array_equal(TOKENS.T @ TOKENS / 2, [[5, 3], [3, 2]])
    mean = TOKENS.mean(0)
    np.testing.assert_array_equal(np.outer(mean, mean), [[4, 2], [2, 1]])
    one = pooling.get("sketch-moment")
    both, alone = one(np.concatenate([TOKENS, mean[None]]), [2, 1])
    assert np.abs(both - alone).max() > 0.5


def test_a_module_must_know_how_wide_queries_are():
    with pytest.raises(InputError, match="give query_width="):
        pooling.names()["mlb"].start({}, 8, 0, np.random.default_rng(0))
