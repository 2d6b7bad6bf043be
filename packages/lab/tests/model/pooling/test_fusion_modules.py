"""Every torch fusion is the NumPy one, and learns."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost_lab.model.pooling.fusion import FusionModule, normal, signed_root  # noqa: E402
from milepost_lab.model.pooling.sketch import product_sketch  # noqa: E402
from milepost_lab.pooling.fusion_cores import FUSIONS  # noqa: E402
from milepost_lab.pooling.fusions import fusion  # noqa: E402

pytestmark = pytest.mark.torch
SMALL = {"hidden": 10, "rank": 3, "factor": 2, "chunks": 4, "out": 5}


def made(name, **settings):
    known = {key: value for key, value in SMALL.items() if key in FUSIONS[name].parameters}
    return FusionModule(fusion(name, **{**known, **settings}), 6, 8)


def pairs(*ahead):
    generator = torch.Generator().manual_seed(1)
    return (torch.randn(*ahead, wide, generator=generator) for wide in (6, 8))


@pytest.mark.parametrize("name", FUSIONS)
@pytest.mark.parametrize("bias", [True, False])
def test_torch_and_numpy_agree(name, bias):
    module = made(name, bias=bias)
    x, y = pairs(9)
    with torch.no_grad():
        np.testing.assert_allclose(
            module(x, y).numpy(), module.reference()(x, y), rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("block", {"norm": "chunk"}),
        ("block", {"norm": "none"}),
        ("mutan", {"norm": "whole"}),
        ("mfb", {"normalise": False}),
        ("mlb", {"activation": "relu"}),
        ("concat-mlp", {"depth": 3}),
        ("mcb", {"hidden": 9, "normalise": False}),
    ],
)
def test_they_agree_in_other_settings(name, settings):
    module = made(name, **settings)
    x, y = pairs(9)
    with torch.no_grad():
        np.testing.assert_allclose(
            module(x, y).numpy(), module.reference()(x, y), rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("name", FUSIONS)
def test_one_x_is_fused_with_many_y(name):
    module = made(name)
    (x, _), (_, y) = pairs(3, 1), pairs(3, 4)
    with torch.no_grad():
        torch.testing.assert_close(module(x, y), module(x.expand(3, 4, 6), y))


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("name", FUSIONS)
def test_gradients_are_finite_even_of_nothing(name):
    module = made(name)
    with torch.autograd.detect_anomaly(check_nan=True):
        for scale in (1.0, 0.0, 1e-20, 1e4):
            x, y = (scale * v for v in pairs(3))
            x.requires_grad_(True)
            module(x, y).square().sum().backward()
            assert torch.isfinite(x.grad).all()
    for label, weight in module.named_parameters():
        assert torch.isfinite(weight.grad).all(), label
        assert weight.grad.abs().max() > 0, label


def test_the_slope_of_the_root_is_fifty_at_nought():
    z = torch.tensor([0.0, 1.0], requires_grad=True)
    signed_root(z).sum().backward()
    torch.testing.assert_close(z.grad[0], torch.tensor(50.0))
    nothing = torch.zeros(2, 3, requires_grad=True)
    normal(nothing).sum().backward()
    assert torch.isfinite(nothing.grad).all()


def test_the_gradient_of_a_sketch_is_worked_by_hand():
    drawn = {"x_bin": [0, 1, 0], "x_sign": [1, -1, 1], "y_bin": [1, 3], "y_sign": [1, -1]}
    weights = {name: torch.tensor(values, dtype=torch.float32) for name, values in drawn.items()}
    x = torch.tensor([1.0, 2, 3], requires_grad=True)
    product_sketch(x, torch.tensor([4.0, 5]), weights, 4).backward(torch.tensor([1.0, 0, 2, -1]))
    torch.testing.assert_close(x.grad, torch.tensor([5.0, -3, 5]))


def test_bins_and_signs_are_kept_and_not_trained():
    module = made("mcb")
    kept = {"x_bin", "x_sign", "y_bin", "y_sign"}
    assert kept == {name for name, _ in module.named_buffers()}
    assert kept <= set(module.state_dict())
    assert {name for name, _ in module.named_parameters()} == {"out_map", "out_bias"}
    again, other = made("mcb", seed=0), made("mcb", seed=1)
    assert torch.equal(again.x_bin, module.x_bin)
    assert not torch.equal(other.x_sign, module.x_sign) or not torch.equal(
        other.x_bin, module.x_bin
    )
