"""Pre-training on symbols without meaning."""

import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost_lab.controls.symbol_training import pretrain, symbols, text_bytes  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("causal", [True, False])
def test_a_text_of_one_symbol_is_learned_and_the_network_moves(causal):
    table = torch.nn.Embedding(6, 8)
    before = table.weight.detach().clone()
    weights, text = list(table.parameters()), torch.full((400,), 3)
    costs = pretrain(table, weights, text, width=8, kinds=6, causal=causal, steps=200)
    assert len(costs) == 200
    assert costs[-1] < 0.5 * costs[0]
    assert not torch.equal(table.weight, before)


def test_a_causal_reader_is_not_asked_for_what_it_sees():
    """Of symbols drawn alone the next cannot be told: it costs their entropy, not less."""
    text = torch.randint(4, (20_000,), generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    table = torch.nn.Embedding(4, 8)
    costs = pretrain(table, list(table.parameters()), text, width=8, kinds=4, causal=True, steps=60)
    assert sum(costs[-10:]) / 10 == pytest.approx(torch.tensor(4.0).log().item(), abs=0.02)


@pytest.mark.parametrize("kind", ["nonsense", "hierarchical"])
def test_both_texts_fit_the_network_that_reads_them(kind):
    read, data = symbols(kind, 500, 9, seed=1), text_bytes(kind, 500, seed=1)
    assert read.shape == (500,)
    assert 0 <= int(read.min()) <= int(read.max()) < 9
    assert len(data) >= 500
    assert int(data.max()) < 128
    assert torch.equal(read, symbols(kind, 500, 9, seed=1))
