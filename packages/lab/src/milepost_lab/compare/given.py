"""What the command is given: the recipe, the row to compare with, and what must not change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict

from milepost.errors import InputError, nearest
from milepost_lab.compare.material import Sizes
from milepost_lab.compare.recipe import CompareRecipe, Network

RATES = (2e-4, 1e-3, 5e-3)
"""Learning rates of which one is chosen for each pooling."""

WIDE, MOST = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2), 3000
"""Learning rates, and the most steps, of a training until the validation loss is flat."""


def recipe_of(
    steps: int | None,
    rates: str | None,
    *,
    tune: bool,
    network: Network,
    as_index: bool,
    until_flat: bool = False,
) -> CompareRecipe:
    """The recipe of the options.

    Args:
        steps: None for the recipe's; ``MOST`` if trained until flat.
        rates: numbers, separated by commas; None for ``RATES``, ``WIDE`` if trained until flat, or
            the recipe's without ``tune``.
        tune: choose among the rates.
        network: what is trained below the pooling.
        as_index: see ``CompareRecipe``.
        until_flat: see ``CompareRecipe``.

    Raises:
        InputError: a rate is not in (0, 1], there are several without ``tune``, or training until
            flat without ``tune``, and so without validation pairs.
    """
    usual = CompareRecipe()
    try:
        listed = tuple(float(rate) for rate in rates.split(",")) if rates else ()
    except ValueError:
        listed = (0.0,)
    if not all(0 < rate <= 1 for rate in listed):
        raise InputError(f"--rate {rates}", "numbers above 0 and up to 1: --rate 1e-4,1e-3")
    if len(listed) > 1 and not tune:
        raise InputError(f"--rate {rates} with --no-tune", "one rate, or --tune")
    if until_flat and not tune:
        raise InputError("--until-flat with --no-tune: nothing validates", "--tune")
    return CompareRecipe(
        steps=steps or (MOST if until_flat else usual.steps),
        rate=usual.rate if tune or not listed else listed[0],
        rates=(listed or (WIDE if until_flat else RATES)) if tune else (),
        network=network,
        as_index=as_index,
        until_flat=until_flat,
    )


def check_against(against: str | None, rows: Iterable[str]) -> None:
    """Refuse to compare with a row that there will not be.

    Args:
        against: the row that the others are compared with; None leaves the choice.
        rows: names of those that are asked for, and of those in the file of runs.

    Raises:
        InputError: it is none of them.
    """
    known = list(dict.fromkeys(rows))
    if against is not None and against not in known:
        raise InputError(
            f"--against {against} is not a row of this comparison",
            f"{nearest(against, known)}one of {', '.join(known)}",
        )


def settings_of(identity: str, sizes: Sizes, recipe: CompareRecipe) -> dict[str, str]:
    """What must not change while a file of runs grows: runs could not be compared.

    Args:
        identity: of the reader.
        sizes: of the tasks.
        recipe: of the trainings.

    Returns:
        Name → how to ask for it.
    """
    rates = ",".join(f"{rate:g}" for rate in recipe.rates or (recipe.rate,))
    model = hashlib.sha256(identity.encode()).hexdigest()[:8]
    return {
        "model": f"the --model of fingerprint {model}",
        **{name: f"--{name} {number}" for name, number in asdict(sizes).items()},
        "steps": f"--steps {recipe.steps}" + " --until-flat" * recipe.until_flat,
        "tune": "--tune" if recipe.rates else "--no-tune",
        "rate": f"--rate {rates}",
        "network": f"--network {recipe.network}",
        "index": "--as-index" if recipe.as_index else "no --as-index",
    }
