"""PoNet in torch: by hand, padding, who gets the gradient of equal values."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost_lab.model.pooling import module  # noqa: E402
from milepost_lab.model.pooling.ponet import local_max, mixed, segment_max  # noqa: E402

pytestmark = pytest.mark.torch


def row(*numbers):
    return torch.tensor(numbers, dtype=torch.float32)[None, :, None]


def test_the_whole_block_of_check_9_also_behind_padding():
    states = torch.tensor([[[1.0, 0], [0, 2], [3, -1], [0, 0], [0, 0]]])
    mask = torch.tensor([[True, True, True, False, False]])
    segments = torch.tensor([[0, 0, 1, 77, 77]])
    found = mixed([states] * 5, mask, segments, heads=1, window=3)
    wanted = [[4.433089712, 2], [3, 4.841023384], [19.299269135, 3.579488308], [0, 0], [0, 0]]
    np.testing.assert_allclose(found[0].numpy(), wanted, atol=1e-5)


def test_zeros_of_padding_are_no_neighbours_as_in_check_3():
    found = local_max(row(-3, -1, -2, 0), torch.tensor([[True, True, True, False]]), 3)
    assert found[0, :3, 0].tolist() == [-1, -1, -1]


def test_equal_greatest_values_share_the_gradient_evenly():
    values = row(2, 2, 1).requires_grad_(True)
    mask = torch.ones(1, 3, dtype=torch.bool)
    segment_max(values, mask, torch.tensor([[0, 0, 0]]))[0, 0, 0].backward()
    assert values.grad[0, :, 0].tolist() == [0.5, 0.5, 0]
    values.grad = None
    local_max(values, mask, 3)[0, 1, 0].backward()
    assert values.grad[0, :, 0].tolist() == [0.5, 0.5, 0]


@pytest.mark.parametrize(
    "settings", [{"heads": 4}, {"window": 7}, {"readout": "mean"}, {"heads": 2, "window": 1}]
)
def test_every_setting_agrees_with_the_reference(settings):
    draw = torch.Generator().manual_seed(1)
    made = module("ponet", 8, **settings)
    with torch.no_grad():
        for weight in made.parameters():
            weight += 0.1 * torch.randn(weight.shape, generator=draw)
    states, lengths = torch.randn(2, 9, 8, generator=draw), torch.tensor([9, 4])
    segments = torch.tensor([[0, 0, 1, 1, 1, 2, 3, 3, 3], [0, 0, 0, 1, 5, 5, 5, 5, 5]])
    with torch.no_grad():
        found = made(states, lengths, segments=segments).numpy()
    flat = np.concatenate([states[0], states[1, :4]])
    wanted = made.reference()(flat, [9, 4], segments=[2, 3, 1, 3, 3, 1])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
