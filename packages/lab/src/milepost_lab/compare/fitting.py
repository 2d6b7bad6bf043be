"""One row trained with one seed: its learning rate chosen on validation pairs, its curve measured.

Where the recipe names rates, the last sixth of the training pairs is for validation and the rest
trains. The first seed of a row is trained with each rate; the best one, by nDCG@10 of the
validation queries among the validation texts, is the row's for all seeds. What is asked in the end
is seen by none of this. Without rates all pairs train, at the recipe's rate. The same pairs tell
when the validation loss is flat, where the recipe trains until then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from milepost.errors import InputError
from milepost_lab.compare.live import LiveStates
from milepost_lab.compare.pooled import Pooled, Sides
from milepost_lab.compare.reading import Text, TokenReader
from milepost_lab.compare.recipe import CompareRecipe, train, train_until_flat
from milepost_lab.compare.rows import CompareRow
from milepost_lab.compare.scores import figures, scores
from milepost_lab.compare.states import States
from milepost_train.early_stopping import Flat

_ONE_IN = 6  # pairs that are for validation
_POINTS = 4  # of a curve, the last behind the last step

Say = Callable[[str, int, int], None]
"""Called with what is trained, the steps done and the number of steps."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A learning rate and what was measured to choose it.

    Attributes:
        rate: the best.
        tried: rate → nDCG@10 on the validation pairs; a rate at which training fails has 0.
    """

    rate: float
    tried: Mapping[float, float]


@dataclass(frozen=True, slots=True)
class Fit:
    """A trained pooling.

    Attributes:
        pooled: with heads.
        losses: of each step.
        curve: steps done, and nDCG@10 on the validation pairs; empty without validation.
        chosen: the learning rate; None where the recipe has one alone.
        reader: of the network trained with it; None where the network is frozen.
        flat: how a training until the validation loss is flat ended; None for a number of steps.
    """

    pooled: Pooled
    losses: Sequence[float]
    curve: tuple[tuple[int, float], ...]
    chosen: Chosen | None
    reader: TokenReader | None
    flat: Flat | None = None


@dataclass(frozen=True, slots=True)
class Fitter:
    """What the trainings of a row on one set of pairs share.

    Attributes:
        row: which.
        pairs: query and text of each pair.
        states: of both sides, read by the network as it is before training.
        recipe: of all rows.
        reader: of the network, to train it too.
    """

    row: CompareRow
    pairs: Sequence[tuple[Text, Text]]
    states: tuple[States, States]
    recipe: CompareRecipe
    reader: TokenReader

    def fit(self, seed: int, chosen: Chosen | None, say: Say) -> Fit:
        """Train with a seed.

        Args:
            seed: of weights and batches.
            chosen: the row's learning rate, from another seed; None chooses it where the recipe
                names several.
            say: told how far it is.

        Raises:
            InputError: the loss becomes NaN or infinite, at each of the rates where several are
                tried.
        """
        if not self.recipe.rates:
            return self._fit(seed, self.recipe.rate, None, say)
        if chosen is not None:
            return self._fit(seed, chosen.rate, chosen, say)
        fits: dict[float, Fit] = {}
        failed: list[InputError] = []
        for rate in self.recipe.rates:
            try:
                fits[rate] = self._fit(seed, rate, None, say)
            except InputError as error:
                failed.append(error)
        if not fits:
            raise failed[0]
        tried = {r: fits[r].curve[-1][1] if r in fits else 0.0 for r in self.recipe.rates}
        best = max(fits, key=lambda rate: tried[rate])
        return replace(fits[best], chosen=Chosen(best, tried))

    def _fit(self, seed: int, rate: float, chosen: Chosen | None, say: Say) -> Fit:
        recipe = replace(self.recipe, rate=rate)
        among, held = parted(len(self.pairs)) if recipe.rates else (range(len(self.pairs)), ())
        width = None if recipe.as_index else recipe.width
        pooled = Pooled(self.row, self.states[1], seed, width, as_index=recipe.as_index)
        reader: TokenReader | None = None
        queries: Sides
        texts: Sides
        queries, texts = self.states
        if recipe.network != "frozen":
            reader = self.reader.trainable(recipe.network, seed)
            queries, texts = (LiveStates(reader, side) for side in zip(*self.pairs, strict=True))
        curve: list[tuple[int, float]] = []
        points = {round(recipe.steps * part / _POINTS) for part in range(1, _POINTS + 1)}

        def done(step: int) -> None:
            say(f"training {seed}", step + 1, recipe.steps)
            if held and step + 1 in points:
                curve.append((step + 1, self._validated(pooled, held, reader)))
                pooled.train()

        network = None if reader is None else reader.model
        if held and recipe.until_flat:
            losses, flat = train_until_flat(
                pooled,
                (queries, texts),
                recipe,
                seed,
                lambda step: say(f"training {seed}", step + 1, recipe.steps),
                among=among,
                held=held,
                network=network,
            )
            point = (flat.best, self._validated(pooled, held, reader))
            return Fit(pooled, losses, (point,), chosen, reader, flat)
        losses = train(pooled, queries, texts, recipe, seed, done, among=among, network=network)
        if held and not losses:  # no weights: one figure for all rates
            curve.append((recipe.steps, self._validated(pooled, held, reader)))
        return Fit(pooled, losses, tuple(curve), chosen, reader)

    def _validated(self, pooled: Pooled, held: Sequence[int], reader: TokenReader | None) -> float:
        """Mean nDCG@10 of the validation queries among the validation texts."""
        if reader is None:
            sides = [side.part(held) for side in self.states]
        else:
            some = [self.pairs[number] for number in held]
            sides = [reader.states(side) for side in zip(*some, strict=True)]
        found = scores(pooled, sides[0], sides[1])
        return fmean(figures(found, range(len(held)))["ndcg@10"])


def parted(pairs: int) -> tuple[range, range]:
    """Numbers of the pairs that train, and of those that validate.

    >>> parted(600)
    (range(0, 500), range(500, 600))
    """
    held = max(1, pairs // _ONE_IN)
    return range(pairs - held), range(pairs - held, pairs)
