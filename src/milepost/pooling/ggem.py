"""Power means with one trained exponent (GeM) or one a group of channels (GGeM, 2212.04114).

A power mean of positive numbers is the mean at p = 1 and goes to the maximum as p grows. States of
transformers have signs, so there are three forms:

    clamp      max(x, eps): the published one; what is negative counts eps
    softplus   ln(1 + e^x): everything counts, and becomes positive
    signed     sign(x)|x|^p in and its inverse out: p = 1 is the mean itself

All of it happens to logarithms: 50³ is infinite in float16, and (1e-6)⁸ is 0 in float32.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from milepost.errors import InputError
from milepost.pooling.operator import Batch, Operator, Parameter
from milepost.pooling.ragged import maxima, owners, sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from milepost.pooling.operator import Weights

Form = Literal["clamp", "softplus", "signed"]
FORMS: tuple[Form, ...] = ("clamp", "softplus", "signed")

LEAST, MOST = 1.0, 20.0
"""Between these the exponents of the operators stay."""

FLAT = 1e-3
"""Signed sums smaller than this share of their greatest term are taken as a straight line: the root
of what cancels has no end to its slope."""

_GEOMETRIC = 1e-3  # powers nearer to 0 than this are the geometric mean


def power_means(
    values: NDArray[np.floating],
    lengths: NDArray[np.int64],
    power: ArrayLike,
    *,
    form: Form = "clamp",
    eps: float = 1e-6,
    counts: NDArray[np.integer] | None = None,
) -> NDArray[np.float64]:
    """``((1/n) Σ x_i^p)^(1/p)`` of each text and channel (2212.04114, eq. 1).

    Args:
        values: ``(tokens, d)``.
        lengths: ``(texts,)``.
        power: one exponent, or ``(d,)``; any size, and for ``clamp`` and ``softplus`` any sign: at
            0 it is the geometric mean.
        form: how numbers become positive, see the module.
        eps: the least number.
        counts: ``(tokens,)``: how many tokens each value already stands for. Power means of parts,
            joined with the parts' lengths, are the power mean of the whole.

    Returns:
        ``(texts, d)`` float64.

    Raises:
        InputError: a power of 0 or less in the signed form.

    >>> import numpy as np
    >>> power_means(np.array([[1.0], [2.0], [3.0]]), np.array([3]), 2)
    array([[2.1602469]])
    """
    import numpy as np

    given = np.asarray(power, np.float64)
    if form == "signed" and not (given > 0).all():
        raise InputError("the signed power mean has no power of 0 or less", "give more than 0")
    sign, size = _magnitudes(values.astype(np.float64), form)
    logs = np.log(np.maximum(size, eps))
    share = np.ones(len(values)) if counts is None else counts.astype(np.float64)
    whole = sums(share, lengths)[:, None]
    geometric = np.abs(given) < _GEOMETRIC
    exponent = np.where(geometric, 1.0, given)
    scaled = exponent * logs + np.log(share)[:, None]
    top = maxima(scaled, lengths)
    total = sums(sign * np.exp(scaled - top[owners(lengths)]), lengths)
    size = np.log(np.maximum(np.abs(total), FLAT)) + top - np.log(whole)
    found = np.clip(total / FLAT, -1, 1) * np.exp(size / exponent)
    between = np.exp(sums(share[:, None] * logs, lengths) / whole)
    result: NDArray[np.float64] = np.where(geometric, between, found)
    return result


def middle(power: float) -> float:
    """The angle at which an exponent begins: ``exponent = 20^((1 + sin angle)/2)``."""
    return math.asin(2 * math.log(power / LEAST) / math.log(MOST / LEAST) - 1)


def exponents(settings: Mapping[str, Any], weights: Weights, width: int) -> NDArray[np.float64]:
    """The exponent of each channel, ``(width,)`` float64.

    What is trained is an angle's distance from where it begins, so the exponent stays within 1 to
    20 and there is no place from which it cannot come back: where a clamp gives no gradient and a
    sigmoid ever less, a sine turns round. Weight decay, should one be applied, pulls the exponent
    to where it began and not to 0.
    """
    import numpy as np

    groups = int(settings.get("groups", 1))
    shift = np.asarray(weights.get("shift", np.zeros(groups)), np.float64)
    angle = middle(settings["power"]) + shift
    each = LEAST * (MOST / LEAST) ** ((1 + np.sin(angle)) / 2)
    if "group" in weights:
        return each[weights["group"].astype(np.int64)]
    return np.repeat(each, width // groups)


def ggem(batch: Batch, settings: Mapping[str, Any], weights: Weights) -> NDArray[np.floating]:
    """The power mean of each channel with its group's exponent; ``gem`` where there is one."""
    power = exponents(settings, weights, batch.width)
    return power_means(
        batch.states, batch.lengths, power, form=settings["form"], eps=settings["eps"]
    )


def _magnitudes(
    values: NDArray[np.float64], form: Form
) -> tuple[NDArray[np.float64] | float, NDArray[np.float64]]:
    """Signs and positive sizes of numbers."""
    import numpy as np

    if form == "signed":
        return np.sign(values), np.abs(values)
    return 1.0, values if form == "clamp" else np.logaddexp(0.0, values)


def _start(settings: Mapping[str, Any], width: int, _: int, random: np.random.Generator) -> Weights:
    import numpy as np

    groups = int(settings.get("groups", 1))
    if width % groups:
        fitting = [n for n in range(1, width + 1) if width % n == 0]
        near = sorted(fitting, key=lambda n: abs(math.log(n / groups)))[:3]
        raise InputError(
            f"ggem: {width} channels cannot be cut into {groups} groups of one size",
            f"give groups={' or '.join(str(n) for n in sorted(near))}",
        )
    weights = {}
    if settings["learn"]:
        weights["shift"] = np.zeros(groups, np.float32)
    if settings.get("channels") == "shuffled":
        group = np.repeat(np.arange(groups), width // groups)
        weights["group"] = random.permutation(group).astype(np.float32)
    return weights


_PARAMETERS = {
    "form": Parameter("clamp", "How states become positive.", choices=FORMS),
    "power": Parameter(3.0, "The exponent, where it begins.", least=LEAST, most=MOST),
    "learn": Parameter(True, "Train the exponent; without it stays where it begins."),
    "eps": Parameter(1e-6, "The least number that a logarithm is taken of.", least=1e-12, most=1.0),
}

OPERATORS = (
    Operator(
        "gem",
        "power mean with one trained exponent",
        paper="1711.02512",
        family="ggem",
        equation="z_j = ((1/n) Σ max(x_ij, eps)^p)^(1/p)",
        order="free",
        compute=ggem,
        start=_start,
        parameters=_PARAMETERS,
    ),
    Operator(
        "ggem",
        "power mean with a trained exponent for each group of channels",
        paper="2212.04114",
        family="ggem",
        equation="z_j = ((1/n) Σ max(x_ij, eps)^p_g)^(1/p_g), g the group of j",
        order="free",
        compute=ggem,
        start=_start,
        parameters={
            "groups": Parameter(8, "Groups of channels; must divide their number.", least=1),
            "channels": Parameter(
                "neighbours",
                "Which channels make a group: neighbours, or any, drawn once.",
                choices=("neighbours", "shuffled"),
            ),
            **_PARAMETERS,
        },
        fixed=frozenset({"group"}),
    ),
)
