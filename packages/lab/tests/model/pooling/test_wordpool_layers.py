"""Settings of ``wordpool`` beyond those it begins with, in both forms."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost_lab.model.pooling import module  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(
    "settings",
    [
        {"prefixes": 3, "heads": 4, "layers": 2},
        {"prefixes": 2, "join": "concat"},
        {"layers": 3, "heads": 2},
    ],
)
def test_torch_and_numpy_agree_with_any_settings(settings):
    built = module("wordpool", 8, seed=3, **settings)
    with torch.no_grad():
        for weight in built.parameters():
            weight += 0.2 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1))
    rows = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(2))
    flat = torch.cat([rows[0, :3], rows[1]]).numpy()
    with torch.no_grad():
        got = built(rows, torch.tensor([3, 5])).numpy()
    np.testing.assert_allclose(got, built.reference()(flat, [3, 5]), rtol=1e-4, atol=1e-5)
