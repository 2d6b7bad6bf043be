"""Maps between widths: least squares, inverses, means."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from milepost.errors import InputError  # noqa: E402
from milepost_lab.model.stitch.affine import Affine, identity, least_squares, mean  # noqa: E402


def column(*values):
    return torch.tensor(values, dtype=torch.float64)[:, None]


def test_a_transpose_is_no_inverse():
    """By hand: the pseudo-inverse is exact in the row space, the transpose 3.3541 off."""
    down = Affine(torch.tensor([[2.0, 0, 0], [0, 0.5, 0]]).double(), torch.zeros(2).double())
    x = torch.tensor([[1.0, 2.0, 3.0]]).double()
    narrow = down(x)
    assert narrow.tolist() == [[2, 1]]
    assert down.transposed()(narrow).tolist() == [[4, 0.5, 0]]
    torch.testing.assert_close(down.inverted()(narrow), torch.tensor([[1.0, 2, 0]]).double())
    away = (down.transposed()(narrow) - down.inverted()(narrow)).norm()
    assert away.item() == pytest.approx(3.3541, abs=1e-4)


def test_averaging_is_not_a_joint_fit():
    """By hand: two exact fits, their mean, and the fit to both."""
    first = least_squares(column(0, 1, 2), column(1, 3, 5))
    second = least_squares(column(0, 1, 2), column(-1, 3, 7))
    told = [(m.weight.item(), m.bias.item()) for m in (first, second, mean([first, second]))]
    np.testing.assert_allclose(told, [(2, 1), (4, -1), (3, 0)], atol=1e-9)
    x, y = (column(0, 1), column(0, 3)), (column(0, 2), column(0, 12))
    apart = mean([least_squares(a, b) for a, b in zip(x, y, strict=True)])
    joint = least_squares(torch.cat(x), torch.cat(y))
    assert (apart.weight.item(), apart.bias.item()) == pytest.approx((3, 0), abs=1e-9)
    assert (joint.weight.item(), joint.bias.item()) == pytest.approx((4, -0.5), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10**6))
def test_least_squares_of_noise_free_data_is_exact(start, end, seed):
    """Whatever the widths; what comes back is the map, and composition is composition."""
    random = torch.Generator().manual_seed(seed)
    made = Affine(
        torch.randn(end, start, generator=random, dtype=torch.float64),
        torch.randn(end, generator=random, dtype=torch.float64),
    )
    x = torch.randn(start + 5, start, generator=random, dtype=torch.float64)
    found = least_squares(x, made(x))
    torch.testing.assert_close(found.weight, made.weight, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(found.bias, made.bias, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(made.then(identity(end))(x), made(x))
    if end >= start:
        torch.testing.assert_close(made.then(made.inverted())(x), x, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("x", "y"), [(column(1, 2), column(1)), (column(), column()), (column(np.nan), column(1))]
)
def test_what_cannot_be_fitted(x, y):
    """Rows that do not match, none, or NaN."""
    with pytest.raises(InputError):
        least_squares(x, y)
