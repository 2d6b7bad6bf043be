"""A small ranker on frozen vectors, trained with weighted negatives (CET, arXiv 2209.05072).

The paper fine-tunes BERT to score a question and a document read together. Here the score is a
network of one hidden layer on the product and the difference of their frozen vectors and on the
scores of two retrievers, so that a training takes seconds and many can be compared. What is
compared is as published: pairs of a marked sentence and a mined one, the cross-entropy of each pair
weighted by its negative, AdamW, clipped gradients, dropout before the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from milepost_lab.cet.material import Lists, Taught
from milepost_lab.cet.published import coupled_pairs, weighted_pairs
from milepost_train.fit_steps import take_step
from milepost_train.schedule import order_of, rate_share

PUBLISHED = {"published": 2.0, "published, T = 10": 10.0}
"""Arms with a selection model → temperature ("debias ratio"): that of the paper's parser, and that
of its script."""

ARMS = ("none", *PUBLISHED, "posterior", "mined", "oracle", "random")
"""No weights; those of the published method; those of ``material.WEIGHTS``; no weights and
negatives drawn at random from the document."""

_TOGETHER = 256  # questions scored at once


@dataclass(frozen=True, slots=True)
class RankerRecipe:
    """How every arm is trained.

    Attributes:
        hidden: width of the hidden layer.
        dropout: of it, in training.
        rounds: how often each pair is seen.
        batch: pairs a step.
        rate: highest learning rate, after a warm-up over a tenth of the steps; then a cosine to 0.
        decay: weight decay of matrices.
    """

    hidden: int = 64
    dropout: float = 0.2
    rounds: int = 2
    batch: int = 32
    rate: float = 3e-4
    decay: float = 0.01


class Ranker(nn.Module):
    """Scores of candidates; it begins near the order of the vectors' cosine.

    Args:
        width: of the vectors.
        recipe: hidden width and dropout.
    """

    def __init__(self, width: int, recipe: RankerRecipe) -> None:
        super().__init__()
        self.hidden = nn.Linear(2 * width + 2, recipe.hidden)
        self.dropout = nn.Dropout(recipe.dropout)
        self.head = nn.Linear(recipe.hidden, 1)
        self.retrievers = nn.Parameter(torch.tensor([1.0, 0.0]))
        self._width = width

    def forward(self, queries: Tensor, sentences: Tensor, scores: Tensor) -> Tensor:
        """``(…, d)``, ``(…, d)`` and ``(…, 2)`` → ``(…,)``, without bounds."""
        # All inputs are of the size 1: numbers of a unit vector are of the size 1 / sqrt(width).
        product = queries * sentences * self._width
        apart = (queries - sentences).abs() * self._width**0.5
        read = torch.cat((product, apart, scores), -1)
        inner = self.dropout(torch.relu(self.hidden(read)))
        found: Tensor = self.head(inner)[..., 0] + scores @ self.retrievers
        return found


def train(arm: str, data: Taught, recipe: RankerRecipe, seed: int) -> tuple[Ranker, Ranker | None]:
    """Train one arm.

    Of one seed all arms begin with the same weights and see the same pairs in the same order;
    ``random`` sees other negatives in their place.

    Args:
        arm: of ``ARMS``.
        data: training questions.
        recipe: how.
        seed: of initial weights, order and dropout.

    Returns:
        The ranker, and the selection model of the published arms; in evaluation mode.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _trained(arm, data, recipe, seed)


def _trained(
    arm: str, data: Taught, recipe: RankerRecipe, seed: int
) -> tuple[Ranker, Ranker | None]:
    lists, depth = data.lists, data.depth
    width = lists.queries.shape[1]
    ranker = Ranker(width, recipe)
    # As published the selection model is another of the same form, on the same input.
    selection = Ranker(width, recipe) if arm in PUBLISHED else None
    optimizers = [_adam(each, recipe) for each in (ranker, selection) if each is not None]
    known = data.weights.get(arm, data.weights["none"])
    pairs = len(lists.queries) * depth
    batch = min(recipe.batch, pairs)
    steps = max(1, recipe.rounds * pairs // batch)
    for step, numbers in enumerate(order_of(pairs, batch, steps, seed)):
        chosen = torch.tensor(numbers)
        rows, places = chosen // depth, chosen % depth
        columns = 1 + places + (depth if arm == "random" else 0)
        share = rate_share(step, steps)
        if selection is None:
            ranker.train()
            loss = weighted_pairs(*_scores(ranker, lists, rows, columns), known[rows, places])
            take_step(optimizers[0], loss, share, list(ranker.parameters()))
            continue
        models = ranker, selection
        # Weights come from the scores without dropout, before either model moves.
        with torch.no_grad():
            quiet = [_scores(each.eval(), lists, rows, columns)[1] for each in models]
        both = [_scores(each.train(), lists, rows, columns) for each in models]
        losses = coupled_pairs(both[0], both[1], (quiet[0], quiet[1]), PUBLISHED[arm])
        for model, optimizer, own in zip(models, optimizers, losses, strict=True):
            take_step(optimizer, own, share, list(model.parameters()))
    return ranker.eval(), None if selection is None else selection.eval()


def scores(model: Ranker, lists: Lists) -> Tensor:
    """Scores of all candidates, ``(q, m)``; minus infinity where a row is filled up."""
    parts = []
    with torch.no_grad():
        for start in range(0, len(lists.queries), _TOGETHER):
            own = slice(start, start + _TOGETHER)
            sentences = lists.sentences[own]
            queries = lists.queries[own, None].expand_as(sentences)
            parts.append(model(queries, sentences, lists.scores[own]))
    return torch.cat(parts).masked_fill(~lists.real, -torch.inf)


def _scores(model: Ranker, lists: Lists, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    """Scores of the marked sentences of questions, and of a negative of each: both ``(b,)``."""
    queries = lists.queries[rows]
    marked = model(queries, lists.sentences[rows, 0], lists.scores[rows, 0])
    return marked, model(queries, lists.sentences[rows, columns], lists.scores[rows, columns])


def _adam(model: Ranker, recipe: RankerRecipe) -> torch.optim.Optimizer:
    """AdamW; biases and the retrievers' shares do not decay."""

    def of(kept: Sequence[nn.Parameter], decay: float) -> dict[str, object]:
        return {"params": list(kept), "weight_decay": decay}

    matrices = [each for each in model.parameters() if each.dim() > 1]
    others = [each for each in model.parameters() if each.dim() <= 1]
    made: torch.optim.Optimizer = torch.optim.AdamW(
        [of(matrices, recipe.decay), of(others, 0.0)], lr=recipe.rate
    )
    return made
