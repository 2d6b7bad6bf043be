"""Settings of the poolings over layers that the shared tests leave at their defaults."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost_lab import pooling  # noqa: E402
from milepost_lab.model.pooling import module, padded  # noqa: E402
from milepost_lab.model.pooling.layer_weights import sparsemax  # noqa: E402
from milepost_lab.pooling.layer_weights import sparsemax as reference  # noqa: E402

pytestmark = pytest.mark.torch

VARIANTS = [
    ("layer-mean", {"summary": "last", "normalised": True}),
    ("layer-mix", {"normalised": True}),
    ("layer-sparse", {"summary": "last"}),
    ("multilayer", {"summary": "last", "layer_table": "normal"}),
    ("multilayer", {"keys": "tokens", "latents": 16, "heads": 3}),
    ("multilayer", {"keys": "tokens", "layer_table": "none", "normalised": False}),
    ("multilayer", {"residual": False, "widen": 0, "head_width": 5, "latents": 1}),
]


@pytest.mark.parametrize(("name", "settings"), VARIANTS)
def test_every_setting_is_the_same_in_torch_and_reads_no_padding(name, settings):
    rng = np.random.default_rng(0)
    lengths = [3, 1, 6]
    states = rng.standard_normal((10, 4, 8)).astype("f4")
    built = module(name, 8, layers=4, seed=3, **settings)
    whole, counts = padded(torch.from_numpy(states).split(lengths))
    for row, length in enumerate(lengths):
        whole[row, length:] = float("nan")
    whole.requires_grad_(True)
    found = built(whole, counts)
    wanted = pooling.get(name, seed=3, **settings)(states, lengths)
    np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-4, atol=1e-5)
    found.square().sum().backward()
    inside = torch.arange(6)[None] < counts[:, None]
    assert torch.isfinite(whole.grad[inside]).all()


def test_sparsemax_and_its_gradient():
    """Against differences of the reference, away from its corners."""
    scores = torch.tensor([0.1, 0.2, 0.9, -3.0], dtype=torch.float64, requires_grad=True)
    weights = np.array([1.0, -2.0, 0.5, 4.0])
    (sparsemax(scores) * torch.from_numpy(weights)).sum().backward()
    at = scores.detach().numpy()
    np.testing.assert_allclose(sparsemax(scores).detach().numpy(), reference(at), atol=1e-12)
    steps = 1e-6 * np.eye(4)
    slopes = [(reference(at + e) - reference(at - e)) @ weights / 2e-6 for e in steps]
    np.testing.assert_allclose(scores.grad.numpy(), slopes, atol=1e-8)
