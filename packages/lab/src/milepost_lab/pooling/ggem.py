"""Power means with one trained exponent (GeM) or one for each group of channels (GGeM, 2212.04114).

A power mean of positive numbers is the mean at p = 1 and approaches the maximum as p grows. States
of transformers can be negative, so there are three forms:

    clamp      max(x, eps): the published form; negative numbers count as eps
    softplus   ln(1 + e^x): all numbers become positive
    signed     sign(x)|x|^p in and its inverse out: p = 1 is the mean itself

All sums are computed in logarithms: 50³ is infinite in float16, and (1e-6)⁸ is 0 in float32.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from milepost.errors import InputError
from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.ragged import maxima, owners, sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from milepost_lab.pooling.operator import Weights

Form = Literal["clamp", "softplus", "signed"]
FORMS: tuple[Form, ...] = ("clamp", "softplus", "signed")

LEAST, MOST = 1.0, 20.0
"""Bounds of the operators' exponents."""

FLAT = 1e-3
"""Below this share of the greatest term of a signed sum, its root is replaced by a straight line,
since the slope of a root is unbounded at 0."""

_GEOMETRIC = 1e-3  # powers closer to 0 than this give the geometric mean


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
        power: one exponent, or ``(d,)``: positive for ``signed``, any number for ``clamp`` and
            ``softplus``; 0 gives the geometric mean.
        form: how numbers become positive, see above.
        eps: lower bound of the numbers.
        counts: ``(tokens,)``: number of tokens that each value already stands for. Power means of
            parts, weighted by the lengths of the parts, give the power mean of the whole.

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
    """Compute the angle of an initial exponent: ``exponent = 20^((1 + sin angle)/2)``."""
    return math.asin(2 * math.log(power / LEAST) / math.log(MOST / LEAST) - 1)


def exponents(settings: Mapping[str, Any], weights: Weights, width: int) -> NDArray[np.float64]:
    """Compute the exponent of each channel, ``(width,)`` float64.

    The trained weight shifts an angle, so the exponent stays within 1 to 20 and training can always
    move it back: a clamp has a gradient of 0 and a sigmoid saturates, but a sine turns back. Weight
    decay pulls the exponent to its initial value, not to 0.
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
    """The power mean of each channel with its group's exponent; ``gem`` has a single group."""
    power = exponents(settings, weights, batch.width)
    return power_means(
        batch.states, batch.lengths, power, form=settings["form"], eps=settings["eps"]
    )


def _magnitudes(
    values: NDArray[np.float64], form: Form
) -> tuple[NDArray[np.float64] | float, NDArray[np.float64]]:
    """Signs and positive magnitudes of numbers."""
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
    "power": Parameter(3.0, "The initial exponent.", least=LEAST, most=MOST),
    "learn": Parameter(True, "Train the exponent, or keep its initial value."),
    "eps": Parameter(1e-6, "Lower bound of the numbers, for logarithms.", least=1e-12, most=1.0),
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
                "How channels are grouped: neighbours, or at random, drawn once.",
                choices=("neighbours", "shuffled"),
            ),
            **_PARAMETERS,
        },
        fixed=frozenset({"group"}),
    ),
)
