"""States behind every layer of a network of transformers."""

import pytest

from support.tiny_transformers import tiny_network

torch = pytest.importorskip("torch", reason="needs the train extra")
pytestmark = pytest.mark.torch

IDS = torch.tensor([[7, 30, 40, 50, 3, 60], [7, 9, 10, 3, 11, 12]])


@pytest.mark.parametrize("kind", ["bert", "modernbert", "llama"])
def test_every_layer_is_there_and_the_last_is_what_is_read_at_landmarks(kind):
    from milepost_train.model.huggingface import HuggingFace

    backbone = HuggingFace(tiny_network(kind, num_hidden_layers=3)).eval()
    valid = torch.ones_like(IDS, dtype=torch.bool)
    with torch.no_grad():
        states = backbone.layers(IDS, valid)
        last = backbone(IDS, valid, torch.arange(6).expand(2, 6), None)
    assert states.shape == (2, 6, 3, 32)
    torch.testing.assert_close(states[:, :, -1], last)
    assert not torch.allclose(states[:, :, 0], states[:, :, 1], atol=1e-2)


def test_padding_changes_no_layer():
    from milepost_train.model.huggingface import HuggingFace

    backbone = HuggingFace(tiny_network("llama"), bidirectional=True).eval()
    valid = torch.tensor([[True] * 4 + [False] * 2, [True] * 6])
    with torch.no_grad():
        padded = backbone.layers(IDS, valid)
        alone = backbone.layers(IDS[:1, :4], valid[:1, :4])
    torch.testing.assert_close(padded[:1, :4], alone, atol=1e-5, rtol=1e-4)
