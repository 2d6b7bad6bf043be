"""What is trained of GeM and GGeM: gradients, forms, and exponents that find their groups."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost_lab.model.pooling import module  # noqa: E402
from milepost_lab.model.pooling.export import write  # noqa: E402

pytestmark = pytest.mark.torch
LENGTHS = torch.tensor([4, 1, 7])


def states(seed=0, width=8):
    return torch.randn(3, 7, width, generator=torch.Generator().manual_seed(seed))


def ragged(padded):
    return np.concatenate([padded[row, :n].numpy() for row, n in enumerate(LENGTHS)])


def test_gradients_of_exponent_and_states_are_those_worked_by_hand():
    pool = module("gem", 1, power=2.0)
    x = torch.tensor([[[1.0], [3.0]]], requires_grad=True)
    out = pool(x, torch.tensor([2]))
    out.backward()
    torch.testing.assert_close(out.detach(), torch.tensor([[2.236067977]]))
    torch.testing.assert_close(x.grad[0, :, 0], torch.tensor([0.223606798, 0.670820393]))
    shift = pool.shift.detach().clone().requires_grad_(True)
    (slope,) = torch.autograd.grad(exponent_of(pool, shift), shift)
    torch.testing.assert_close(pool.shift.grad / slope, torch.tensor([0.205754147]))


def exponent_of(pool, shift):
    """The exponent as a function of what is trained."""
    return torch.func.functional_call(Exponents(pool), {"pool.shift": shift}, ())


class Exponents(torch.nn.Module):
    def __init__(self, pool):
        super().__init__()
        self.pool = pool

    def forward(self):
        return self.pool.exponents()


def moved(**settings):
    """A module whose exponents are four different ones."""
    pool = module("ggem", 8, groups=4, **settings)
    with torch.no_grad():
        pool.shift.copy_(torch.tensor([-0.9, 0.0, 0.5, 1.6]))
    return pool


@pytest.mark.parametrize("form", ["clamp", "softplus", "signed"])
@pytest.mark.parametrize("channels", ["neighbours", "shuffled"])
def test_every_form_is_the_reference(form, channels):
    pool, x = moved(form=form, channels=channels), states()
    with torch.no_grad():
        np.testing.assert_allclose(
            pool(x, LENGTHS).numpy(),
            pool.reference()(ragged(x), LENGTHS.numpy()),
            rtol=2e-5,
            atol=1e-6,
        )


@pytest.mark.parametrize(("form", "channels"), [("softplus", "neighbours"), ("signed", "shuffled")])
def test_other_forms_run_in_openvino(form, channels, tmp_path):
    import openvino

    pool = moved(form=form, channels=channels)
    write(pool, tmp_path)
    compiled = openvino.Core().compile_model(
        tmp_path / "pooling.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    text = states()[0, :4].numpy()
    wanted = pool.reference()(text, [4])[0]
    np.testing.assert_allclose(compiled({"states": text})["vector"], wanted, rtol=2e-4, atol=2e-5)


def test_halves_and_tiny_states_have_finite_gradients():
    for value, power in ((50.0, 3.0), (0.001, 3.0), (1e-6, 20.0), (6e4, 20.0)):
        pool = module("gem", 2, power=power)
        x = torch.full((1, 3, 2), value, dtype=torch.float16, requires_grad=True)
        out = pool(x, torch.tensor([3]))
        out.sum().backward()
        torch.testing.assert_close(out, torch.full((1, 2), x[0, 0, 0].item()), rtol=1e-3, atol=0)
        assert torch.isfinite(x.grad).all()
        assert torch.isfinite(pool.shift.grad).all()


def test_a_channel_below_nought_teaches_nothing_through_the_clamp_alone():
    for form, teaches in (("clamp", False), ("softplus", True), ("signed", True)):
        x = (-1 - states().abs()).requires_grad_(True)
        module("gem", 8, form=form)(x, LENGTHS).sum().backward()
        assert bool(x.grad.abs().max() > 1e-4) == teaches


def test_what_cancels_has_a_finite_gradient():
    x = torch.tensor([[[-1.0], [1.0], [0.0]]], requires_grad=True)
    out = module("gem", 1, form="signed", power=5.0)(x, torch.tensor([3]))
    out.backward()
    assert out.item() == 0
    assert torch.isfinite(x.grad).all()
    assert x.grad[0, 0, 0] > 0


@pytest.mark.parametrize("bound", [1.0, 20.0])
def test_an_exponent_comes_back_from_its_bounds(bound):
    pool = module("gem", 1, power=bound)
    with torch.no_grad():
        pool.shift.add_(0.05 if bound == 1.0 else -0.05)
    begun = pool.exponents().item()
    optimizer = torch.optim.Adam(pool.parameters(), lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        (pool.exponents().log() - np.log(5)).square().sum().backward()
        optimizer.step()
    assert abs(np.log(begun / bound)) < 0.01
    assert pool.exponents().item() == pytest.approx(5, rel=0.1)


def planted(number, tokens=12, seed=0):
    """Texts whose topic is in all tokens of channels 0-3, with a spike in one token of 4-7.

    A topic is a little more of one channel in every token, under noise of twice its height: only a
    mean finds it. A spike is one token that stands out in one channel: only a maximum finds it.
    """
    rng = np.random.default_rng(seed)
    topic, spike = rng.integers(0, 4, (2, number))
    texts = 1 + np.abs(rng.standard_normal((number, tokens, 8)))
    texts[np.arange(number), :, topic] += 0.5
    texts[np.arange(number), rng.integers(0, tokens, number), 4 + spike] += 2.5
    kinds = torch.from_numpy(topic * 4 + spike)
    return torch.from_numpy(texts.astype("f4")), torch.full((number,), tokens), kinds


def learned(name, seed, **settings):
    """(share of unseen texts told right, the exponents)."""
    torch.manual_seed(seed)
    texts, lengths, kinds = planted(1000, seed=seed)
    pool, head = module(name, 8, **settings), torch.nn.Linear(8, 16)
    groups = [{"params": head.parameters(), "lr": 0.05}, {"params": pool.parameters(), "lr": 0.03}]
    optimizer = torch.optim.Adam(groups)
    for _ in range(250):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(head(pool(texts, lengths)), kinds)
        loss.backward()
        optimizer.step()
    texts, lengths, kinds = planted(2000, seed=seed + 100)
    with torch.no_grad():
        right = (head(pool(texts, lengths)).argmax(1) == kinds).float().mean().item()
        return right, pool.exponents().tolist()


def test_exponents_of_two_groups_part_where_one_must_compromise():
    alone, (p,) = learned("gem", 0)
    grouped, (common, rare) = learned("ggem", 0, groups=2)
    assert common < 1.5
    assert rare > 6
    assert common < p < rare
    assert grouped > alone + 0.1
