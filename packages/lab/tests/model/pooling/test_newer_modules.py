"""Settings of the newer poolings that the shared tests leave at their defaults."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost_lab import pooling  # noqa: E402
from milepost_lab.model.pooling import module, padded  # noqa: E402

pytestmark = pytest.mark.torch

VARIANTS = [
    ("pma", {"seeds": 3, "heads": 1}),
    ("pma", {"norms": False, "feed_states": False, "heads": 8}),
    ("latent-attention", {"residual": False, "norms": False, "heads": 1}),
    ("latent-attention", {"residual": False, "hidden": 3, "latents": 1}),
    ("adapool", {"query": "first", "heads": 4}),
    ("adapool", {"query": "last", "residual": True}),
    ("top-k", {"k": 1}),
    ("top-k", {"k": 2}),
    ("splade", {"join": "sum", "terms": 5}),
]


@pytest.mark.parametrize(("name", "settings"), VARIANTS)
def test_every_setting_is_the_same_in_torch_and_reads_no_padding(name, settings):
    rng = np.random.default_rng(0)
    lengths = [3, 1, 6]
    states = rng.standard_normal((10, 8)).astype("f4")
    built = module(name, 8, seed=3, **settings)
    # Biases and shifts begin at 0, where padding would give nothing.
    with torch.no_grad():
        for weight in built.parameters():
            weight += 0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1))
    whole, counts = padded(torch.from_numpy(states).split(lengths))
    for row, length in enumerate(lengths):
        whole[row, length:] = float("nan")
    whole.requires_grad_(True)
    found = built(whole, counts)
    wanted = built.reference()(states, lengths)
    np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-4, atol=1e-5)
    found.square().sum().backward()
    inside = torch.arange(6)[None] < counts[:, None]
    assert torch.isfinite(whole.grad[inside]).all()


def test_both_begin_with_the_same_weights():
    for name in ("pma", "latent-attention", "adapool", "splade"):
        pool = pooling.get(name, seed=3)
        pool(np.ones((1, 8), "f4"), [1])
        for label, weight in module(name, 8, seed=3).named_parameters():
            np.testing.assert_array_equal(weight.detach().numpy(), pool.weights[label])


def test_no_text_reads_more_than_its_own_greatest_values():
    """A text of two tokens beside one of nine, whose places a sort must not mix."""
    texts = torch.arange(-9.0, 0).reshape(9, 1), torch.tensor([[-100.0], [-50.0]])
    found = module("top-k", 1, k=3)(*padded(list(texts)))
    assert found.tolist() == [[-2.0], [-75.0]]
