"""The lab's training loop takes the steps of a loop written out by hand, to the last digit."""

import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost_train.fit_steps import fit_steps, linear_share, take_step  # noqa: E402
from milepost_train.schedule import rate_share  # noqa: E402

pytestmark = pytest.mark.torch


def problem():
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 1)
    inputs = 10 * torch.randn(12, 5, 4)
    return net, lambda step: (net(inputs[step]) - inputs[step].sum(1, True)).square().mean()


def test_the_steps_are_those_of_a_loop_by_hand():
    net, loss = problem()
    weights = list(net.parameters())
    adam = torch.optim.AdamW(weights, lr=0.1)
    wanted = []
    for step in range(12):
        adam.param_groups[0]["lr"] = 0.1 * rate_share(step, 12)
        value = loss(step)
        adam.zero_grad()
        value.backward()
        assert torch.nn.utils.clip_grad_norm_(weights, 1.0) > 1  # it matters
        adam.step()
        wanted.append(value.item())

    other, loss = problem()
    adam = torch.optim.AdamW(other.parameters(), lr=0.1)
    seen = []
    losses = fit_steps(
        adam,
        12,
        loss,
        share=rate_share,
        clipped=list(other.parameters()),
        on_step=lambda *each: seen.append(each),
    )
    assert losses == wanted
    assert seen == list(enumerate(losses))
    assert torch.equal(net.weight, other.weight)


def test_each_group_keeps_its_own_rate():
    one, other = (torch.nn.Parameter(torch.zeros(1)) for _ in range(2))
    plain = torch.optim.SGD([{"params": [one], "lr": 1.0}, {"params": [other], "lr": 0.1}])
    for share in (0.5, 0.25):
        take_step(plain, (one + other).sum(), share)
    assert one.item() == pytest.approx(-0.75)
    assert other.item() == pytest.approx(-0.075)


def test_gradients_are_clipped_together_and_only_where_asked():
    for clipped, wanted in ((True, -1.0), (False, -30.0)):
        weight = torch.nn.Parameter(torch.zeros(1))
        take_step(torch.optim.SGD([weight], lr=1.0), 30 * weight.sum(), 1.0, [weight] * clipped)
        assert weight.item() == pytest.approx(wanted, rel=1e-5)


def test_the_linear_share_ends_one_step_before_zero():
    assert [linear_share(step, 4) for step in range(4)] == [1, 0.75, 0.5, 0.25]
