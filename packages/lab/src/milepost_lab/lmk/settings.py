"""Settings of the study of landmark pooling, and its sizes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from milepost_lab.lmk.arms import POOLINGS, Pooling
from milepost_lab.lmk.base import BaseSettings
from milepost_lab.lmk.material import Amounts
from milepost_lab.lmk.training import Recipe
from milepost_lab.lmk.verdict import CLAIMED
from milepost_train.early_stopping import Patience

CONTROLS = tuple(pooling for pooling in POOLINGS if pooling not in CLAIMED)
"""Poolings that are not part of the claim, trained with the first seed only."""


@dataclass(frozen=True, slots=True)
class LmkSettings:
    """Everything that the figures depend on, besides code, data and machine.

    Attributes:
        base: size and pre-training of the encoder.
        recipe: training with a pooling.
        amounts: how much data is read.
        rates: learning rates to choose from.
        tuning_steps: steps at each of these rates, with the first seed.
        seeds: seeds of the three poolings of the claim; the others use the first one.
        controls: whether to train the others too; the gate is about all of them in any case.
        probes: whether the networks of the first seed are also read in other ways.
        attributed: number of documents for attribution, 0 for none.
        patience: for the control with absolute positions, which trains until the loss on held-out
            pairs is flat; 2,000 steps are one epoch.
    """

    base: BaseSettings = field(default_factory=BaseSettings)
    recipe: Recipe = field(default_factory=Recipe)
    amounts: Amounts = field(default_factory=Amounts)
    rates: tuple[float, ...] = (1e-4, 3e-4, 1e-3)
    tuning_steps: int = 150
    seeds: tuple[int, ...] = (0, 1, 2, 3)
    controls: bool = True
    probes: bool = True
    attributed: int = 40
    patience: Patience = field(default_factory=lambda: Patience(checks=6, most=2000))

    @property
    def arms(self) -> list[tuple[Pooling, int]]:
        """Each pooling with each of its seeds, those that decide the claim first."""
        every = [(pooling, seed) for seed in self.seeds for pooling in CLAIMED]
        others = CONTROLS if self.controls else ()
        return [*every, *((pooling, self.seeds[0]) for pooling in others)]

    @property
    def poolings(self) -> list[Pooling]:
        """Each pooling once."""
        return list(dict.fromkeys(pooling for pooling, _ in self.arms))


SIZES = {
    "quick": LmkSettings(
        BaseSettings(layers=2, width=64, heads=2, vocabulary=1024, row=128, batch=4, steps=5),
        Recipe(steps=3, batch=8, passage=(48, 128), granularities=(16, 32)),
        Amounts((512, 1024), 2000, 40, hosts=6, documents=4, questions=2, tuning=16, short=16),
        rates=(1e-3,),
        tuning_steps=2,
        seeds=(0,),
        attributed=2,
        patience=Patience(every=1, checks=2, most=4),
    ),
    "small": LmkSettings(),
    "large": LmkSettings(
        BaseSettings(
            layers=12,
            width=384,
            heads=6,
            vocabulary=16_384,
            spacing=3,
            batch=64,
            steps=2400,
            rate=6e-4,
        ),
        Recipe(steps=600, batch=256),
        Amounts((512, 2048, 8192, 16_384), hosts=200),
        tuning_steps=100,
        seeds=(0, 1, 2),
    ),
}
"""``small`` takes hours on two cores, ``large`` half an hour on an H200."""


def chosen_settings(
    size: str,
    *,
    minilm: bool = False,
    seeds: int | None = None,
    controls: bool = True,
    steps: int | None = None,
    rate: float | None = None,
) -> tuple[str, LmkSettings]:
    """The settings of a study and the name of its folder.

    Args:
        size: one of ``SIZES``.
        minilm: whether this is the control with absolute positions, whose networks train until the
            loss is flat. Its passages have at most 256 tokens, as those that all-MiniLM-L6-v2 was
            made with. Its rate was the best for LMK, mean and CLS alike in trials of 150 steps
            with passages of up to 512 tokens; see docs/lmk-study.md.
        seeds: number of seeds; None for those of the size.
        controls: see ``LmkSettings``.
        steps: steps of each network; None for those of the size. Such a study has its own folder.
        rate: the only learning rate, so that none has to be chosen by trials.
    """
    settings, name = replace(SIZES[size], controls=controls), size
    if minilm:
        least, most = settings.recipe.passage
        recipe = replace(settings.recipe, passage=(least, min(most, 256)))
        settings, name = replace(settings, recipe=recipe, rates=(1e-4,)), f"{size}-minilm"
    if seeds is not None:
        settings = replace(settings, seeds=tuple(range(seeds)))
    if steps is not None:
        settings = replace(settings, recipe=replace(settings.recipe, steps=steps))
        name += f"-{steps}-steps"
    if rate is not None:
        settings = replace(settings, rates=(rate,))
    return name, settings
