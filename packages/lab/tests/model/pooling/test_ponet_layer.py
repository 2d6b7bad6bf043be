"""PoNet as a layer: shapes, padding, texts that change their batch, what cannot be."""

import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab.model.pooling.ponet_layer import PoNetMixer, ponet_layer  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return ponet_layer(8, heads=2, window=5, inner=16)


def test_states_go_in_and_as_many_come_out(layer):
    states = torch.randn(2, 7, 8)
    mask = torch.arange(7)[None] < torch.tensor([7, 4])[:, None]
    segments = torch.tensor([[0, 0, 1, 1, 1, 2, 2]] * 2)
    found = layer(states, mask, segments)
    assert found.shape == states.shape
    assert (found[1, 4:] == 0).all()
    found.square().sum().backward()
    for name, weight in layer.named_parameters():
        assert torch.isfinite(weight.grad).all(), name
        assert weight.grad.abs().max() > 0, name


def test_a_text_is_the_same_alone_and_beside_a_longer_one_padded_with_anything(layer):
    states, segments = torch.randn(1, 4, 8), torch.tensor([[0, 0, 1, 1]])
    alone = layer(states, torch.ones(1, 4, dtype=torch.bool), segments)
    wide = torch.cat([states, torch.full((1, 3, 8), float("nan"))], 1)
    both = torch.cat([wide, torch.randn(1, 7, 8)])
    mask = torch.arange(7)[None] < torch.tensor([4, 7])[:, None]
    cuts = torch.tensor([[0, 0, 1, 1, 77, 77, 77], [0, 1, 1, 1, 2, 2, 3]])
    torch.testing.assert_close(layer(both, mask, cuts)[:1, :4], alone)


def test_a_token_far_away_is_heard_through_the_text_and_the_segment(layer):
    states = torch.randn(1, 40, 8, requires_grad=True)
    mask = torch.ones(1, 40, dtype=torch.bool)
    layer(states, mask, torch.arange(40)[None] // 8)[0, 0, 0].backward()
    assert states.grad[0, 39].abs().max() > 0


def test_dropout_is_of_training_alone():
    layer = ponet_layer(8, dropout=0.5)
    given = torch.randn(1, 5, 8), torch.ones(1, 5, dtype=torch.bool), torch.zeros(1, 5).long()
    torch.manual_seed(0)
    assert not torch.equal(layer(*given), layer(*given))
    layer.eval()
    torch.testing.assert_close(layer(*given), layer(*given))


def test_half_precision_sums_in_full():
    mixer = PoNetMixer(4).to(torch.bfloat16)
    states = torch.full((1, 4096, 4), 16.0, dtype=torch.bfloat16)
    mask = torch.ones(1, 4096, dtype=torch.bool)
    found = mixer(states, mask, torch.arange(4096)[None] // 64)
    assert found.dtype == torch.bfloat16
    assert torch.isfinite(found).all()


def test_what_cannot_be_is_named():
    with pytest.raises(InputError, match="3 heads of 8 channels and a window of 3"):
        ponet_layer(8, heads=3)
    with pytest.raises(InputError, match="window of 4 cannot be"):
        ponet_layer(8, window=4)
