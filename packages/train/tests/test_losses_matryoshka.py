"""Matryoshka: a loss over prefixes is the weighted mean of the loss of each, renormalised."""

import math

import pytest
import torch

from milepost_train.losses import away_from, over_prefixes, similarities


def vectors(seed: int, rows: int = 5) -> object:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(rows, 8, generator=random, dtype=torch.float64)


def contrast(queries: object, documents: object) -> object:
    own = torch.arange(len(queries))
    return torch.nn.functional.cross_entropy(similarities(queries, documents) / 0.2, own)


def longhand(queries: list, documents: list, size: int) -> float:
    """InfoNCE of the first ``size`` numbers, brought to unit length, one by one."""

    def cut(row: list) -> list:
        length = math.sqrt(sum(x * x for x in row[:size]))
        return [x / length for x in row[:size]]

    total = 0.0
    for number, query in enumerate(queries):
        sizes = [
            math.exp(sum(a * b for a, b in zip(cut(query), cut(d), strict=True)) / 0.2)
            for d in documents
        ]
        total -= math.log(sizes[number] / sum(sizes))
    return total / len(queries)


def test_it_is_the_mean_over_sizes() -> None:
    queries, documents = vectors(1), vectors(2)
    terms = [longhand(queries.tolist(), documents.tolist(), size) for size in (2, 4, 8)]
    value = over_prefixes(contrast, (queries, documents), (2, 4, 8))
    assert value.item() == pytest.approx(sum(terms) / 3)


def test_lengths_do_not_count() -> None:
    queries, documents = vectors(5), vectors(6)
    value = over_prefixes(contrast, (queries, documents), (2, 8)).item()
    longer = over_prefixes(contrast, (10 * queries, 0.1 * documents), (2, 8)).item()
    assert longer == pytest.approx(value)


def test_only_named_sizes_are_trained() -> None:
    rows = vectors(7).requires_grad_()
    over_prefixes(away_from, (rows, vectors(8)), (2, 4)).backward()
    assert rows.grad[:, :4].abs().min() > 0
    assert not rows.grad[:, 4:].any()


def test_its_gradient_is_right() -> None:
    pair = (vectors(9).requires_grad_(), vectors(10).requires_grad_())
    assert torch.autograd.gradcheck(lambda *both: over_prefixes(contrast, both, (2, 4, 8)), pair)


def test_a_prefix_of_zeros_stays_finite() -> None:
    """A vector that starts with zeros has no direction there, and harms nothing."""
    rows = vectors(11).float()
    rows[0, :2] = 0.0
    rows.requires_grad_()
    value = over_prefixes(contrast, (rows, vectors(12).float()), (2, 8))
    value.backward()
    assert math.isfinite(value.item())
    assert torch.isfinite(rows.grad).all()


@pytest.mark.parametrize("sizes", [(), (0, 8), (4, 9)])
def test_impossible_sizes_are_refused(sizes: tuple) -> None:
    with pytest.raises(ValueError, match="width 8"):
        over_prefixes(contrast, (vectors(1), vectors(2)), sizes)
