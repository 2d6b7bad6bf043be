"""Training until the validation loss is flat."""

import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost_train.early_stopping import Patience, fit_with_early_stopping  # noqa: E402

pytestmark = pytest.mark.torch


def fitted(patience, *, target=1.0, rate=0.1, held=None, loss=None):
    """A number moved to a target; ``held`` gives the validation loss of it."""
    weight = torch.nn.Parameter(torch.zeros(1))
    adam = torch.optim.SGD([weight], lr=rate)
    held = held or (lambda value: (value - target) ** 2)
    loss = loss or (lambda step: ((weight - target) ** 2).sum())
    return weight, fit_with_early_stopping(adam, loss, lambda: held(weight.item()), patience)


def test_it_ends_when_the_loss_is_flat_and_not_before():
    weight, found = fitted(Patience(every=5, checks=3, least=0.01, most=10_000))
    assert found.flat
    assert found.steps < 10_000
    assert weight.item() == pytest.approx(1, abs=1e-6)
    losses = [value for _, value in found.curve]
    assert [step for step, _ in found.curve] == [5 * n for n in range(len(losses))]
    assert found.loss == min(losses)


def test_the_weights_of_the_lowest_validation_loss_are_kept():
    """The training pulls to 1, the held-out rows want 0.3: later steps are worse."""
    weight, found = fitted(
        Patience(every=1, checks=4, most=500), rate=0.02, held=lambda value: abs(value - 0.3)
    )
    assert found.flat
    assert found.steps == found.best + 4
    assert weight.item() == pytest.approx(0.3, abs=0.03)
    assert abs(weight.item() - 0.3) == pytest.approx(found.loss)


def test_a_training_that_only_harms_keeps_the_initial_weights():
    weight, found = fitted(Patience(every=2, checks=2), held=abs)
    assert (weight.item(), found.best, found.steps) == (0, 0, 4)


def test_the_cap_is_told_from_a_flat_loss():
    _, found = fitted(Patience(every=10, checks=50, least=0.0, most=25), rate=1e-3)
    assert (found.steps, found.best, found.flat) == (25, 25, False)
    assert found.curve[-1][0] == 25


def test_small_gains_add_up_from_the_last_that_counted():
    """Each check gains 0.4 %: three of them are more than 1 %, one alone is not."""
    values = iter(0.996**n for n in range(10_000))
    _, found = fitted(Patience(1, 4, 0.01, 60), held=lambda _: next(values))
    assert not found.flat


def test_a_loss_that_is_not_finite_ends_the_training_with_the_best_weights():
    torch.manual_seed(0)
    weight = torch.nn.Parameter(torch.zeros(1))

    def loss(step):
        return (weight - 1).square().sum() * (float("nan") if step == 7 else 1.0)

    adam = torch.optim.SGD([weight], lr=0.1)
    found = fit_with_early_stopping(adam, loss, lambda: (weight.item() - 1) ** 2, Patience(every=1))
    assert (found.steps, found.best) == (7, 7)
    assert weight.isfinite().all()


def test_a_patience_without_checks_is_refused():
    with pytest.raises(ValueError, match="1 or more"):
        Patience(checks=0)
