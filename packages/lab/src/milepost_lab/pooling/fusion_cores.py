"""Bilinear fusions and their baselines (the study is arXiv 2012.10285).

Every fusion is ``out(core(x, y))``: a core that combines two vectors, then a linear map;
``relu-sum`` has a ReLU after the map.

    concat       x and y concatenated, no core    mcb      sketch of all products
    concat-mlp   ReLU layers over x and y         mlb      tanh(Ux) · tanh(Vy)
    relu-sum     relu(Ux) + relu(Vy)              mfb      Ux · Vy, summed in groups
    hadamard     Ux · Vy                          mfh      mfb twice, multiplied
    tucker       a whole tensor                   mutan    a tensor of low rank
    block-tucker tucker, chunk by chunk           block    mutan, chunk by chunk

A plain product of two maps is a bilinear form with a matrix of rank ``hidden``; the others
approximate a tensor of m · n · out numbers in other ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost_lab.pooling.fusion import Fusion, chunk_sizes, linear, mapped, normal
from milepost_lab.pooling.operator import Parameter
from milepost_lab.pooling.sketch import MOST, product_sketch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from milepost_lab.pooling.fusion import Array, Shapes
    from milepost_lab.pooling.operator import Value, Weights

    Settings = Mapping[str, Any]


def _sides(settings: Settings, m: int, n: int, wide: int, mark: str = "") -> Shapes:
    """Shapes of the maps of x and y to one width."""
    return {
        **mapped(f"x{mark}", wide, m, settings),
        **mapped(f"y{mark}", wide, n, settings),
    }


def _both(x: Array, y: Array, weights: Weights, mark: str = "") -> tuple[Array, Array]:
    return linear(x, f"x{mark}", weights), linear(y, f"y{mark}", weights)


def _active(v: Array, name: str) -> Array:
    import numpy as np

    if name == "none":
        return v
    active: Array = np.tanh(v) if name == "tanh" else np.maximum(v, 0)
    return active


def _beside(x: Array, y: Array) -> Array:
    """Concatenate both after broadcasting."""
    import numpy as np

    ahead = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    wide = [np.broadcast_to(v, (*ahead, v.shape[-1])) for v in (x, y)]
    return np.concatenate(wide, -1)


def _concat_shapes(_: Settings, m: int, n: int) -> tuple[Shapes, int]:
    return {}, m + n


def _concat(x: Array, y: Array, _: Settings, __: Weights) -> Array:
    return _beside(x, y)


def _mlp_shapes(settings: Settings, m: int, n: int) -> tuple[Shapes, int]:
    wide = [m + n, *(settings["hidden"],) * settings["depth"]]
    shapes: Shapes = {}
    for number in range(settings["depth"]):
        shapes |= mapped(f"layer_{number}", wide[number + 1], wide[number], settings)
    return shapes, wide[-1]


def _mlp(x: Array, y: Array, settings: Settings, weights: Weights) -> Array:
    states = _beside(x, y)
    for number in range(settings["depth"]):
        states = _active(linear(states, f"layer_{number}", weights), "relu")
    return states


def _pair_shapes(settings: Settings, m: int, n: int) -> tuple[Shapes, int]:
    return _sides(settings, m, n, settings["hidden"]), settings["hidden"]


def _sum(x: Array, y: Array, _: Settings, weights: Weights) -> Array:
    left, right = _both(x, y, weights)
    return _active(left, "relu") + _active(right, "relu")


def _product(x: Array, y: Array, settings: Settings, weights: Weights) -> Array:
    """MLB (1610.04325); without an activation the plain product of two maps."""
    left, right = _both(x, y, weights)
    active = settings.get("activation", "none")
    return _active(left, active) * _active(right, active)


def _mcb_shapes(settings: Settings, m: int, n: int) -> tuple[Shapes, int]:
    shapes: Shapes = {"x_bin": (m,), "x_sign": (m,), "y_bin": (n,), "y_sign": (n,)}
    return shapes, settings["hidden"]


def _mcb(x: Array, y: Array, settings: Settings, weights: Weights) -> Array:
    sketch = product_sketch(x, y, weights, settings["hidden"])
    return normal(sketch) if settings["normalise"] else sketch


def _mfb_shapes(settings: Settings, m: int, n: int) -> tuple[Shapes, int]:
    return _sides(settings, m, n, settings["hidden"] * settings["factor"]), settings["hidden"]


def _pooled(product: Array, settings: Settings) -> Array:
    """Sum neighbours, ``factor`` at a time."""
    groups = settings["hidden"], settings["factor"]
    sums: Array = product.reshape(*product.shape[:-1], *groups).sum(-1)
    return normal(sums) if settings["normalise"] else sums


def _mfb(x: Array, y: Array, settings: Settings, weights: Weights) -> Array:
    left, right = _both(x, y, weights)
    return _pooled(left * right, settings)


def _mfh_shapes(settings: Settings, m: int, n: int) -> tuple[Shapes, int]:
    wide = settings["hidden"] * settings["factor"]
    shapes = {**_sides(settings, m, n, wide, "_1"), **_sides(settings, m, n, wide, "_2")}
    return shapes, 2 * settings["hidden"]


def _mfh(x: Array, y: Array, settings: Settings, weights: Weights) -> Array:
    """Concatenate two orders; the first multiplies the second before either is pooled."""
    (a, b), (c, d) = (_both(x, y, weights, mark) for mark in ("_1", "_2"))
    first = a * b
    return _beside(_pooled(first, settings), _pooled(c * d * first, settings))


def _block_shapes(settings: Settings, m: int, n: int) -> tuple[Shapes, int]:
    shapes, wide = _pair_shapes(settings, m, n)
    for number, size in enumerate(chunk_sizes(wide, settings.get("chunks", 1))):
        shapes |= _sides(settings, size, size, size * settings["rank"], f"_core_{number}")
    return shapes, wide


def _tucker_shapes(settings: Settings, m: int, n: int) -> tuple[Shapes, int]:
    shapes, wide = _pair_shapes(settings, m, n)
    for number, size in enumerate(chunk_sizes(wide, settings.get("chunks", 1))):
        shapes[f"core_{number}_map"] = (size, size, size)
        if settings["bias"]:
            shapes[f"core_{number}_bias"] = (size,)
    return shapes, wide


def _chunked(
    one: Callable[[Array, Array, int, Settings, Weights], Array],
) -> Callable[[Array, Array, Settings, Weights], Array]:
    """Make a core that fuses chunk by chunk; ``norm`` selects what is normalized."""

    def core(x: Array, y: Array, settings: Settings, weights: Weights) -> Array:
        import numpy as np

        left, right = _both(x, y, weights)
        sizes = chunk_sizes(settings["hidden"], settings.get("chunks", 1))
        cuts = np.cumsum(sizes)[:-1]
        parts = [
            one(a, b, number, settings, weights)
            for number, (a, b) in enumerate(
                zip(np.split(left, cuts, -1), np.split(right, cuts, -1), strict=True)
            )
        ]
        if settings["norm"] == "chunk":
            parts = [normal(part) for part in parts]
        whole: Array = np.concatenate(parts, -1)
        return normal(whole) if settings["norm"] == "whole" else whole

    return core


def _low_rank(x: Array, y: Array, number: int, settings: Settings, weights: Weights) -> Array:
    """``Σ_r (M_r x) · (N_r y)`` (MUTAN, 1705.06676)."""
    left, right = _both(x, y, weights, f"_core_{number}")
    product = left * right
    summed: Array = product.reshape(*product.shape[:-1], settings["rank"], x.shape[-1]).sum(-2)
    return summed


def _full_rank(x: Array, y: Array, number: int, _: Settings, weights: Weights) -> Array:
    import numpy as np

    core = weights[f"core_{number}_map"]
    fused: Array = np.einsum("...i,kij,...j->...k", x, core, y, optimize=True)
    return fused + weights.get(f"core_{number}_bias", 0.0)


def _settings(**more: Value | Parameter) -> dict[str, Parameter]:
    """Make the parameters of a row from their defaults, followed by those that all rows have."""
    return {
        **{
            name: value if isinstance(value, Parameter) else Parameter(value, *_SAID[name])
            for name, value in more.items()
        },
        "out": Parameter(64, "Numbers that come out.", 1),
        "bias": Parameter(True, "Give every map a bias, which adds terms that are not bilinear."),
    }


_SAID: dict[str, tuple[Any, ...]] = {
    "hidden": ("Numbers of the core.", 1),
    "depth": ("ReLU layers.", 1, 8),
    "factor": ("Products that are summed to one number.", 1),
    "rank": ("Rank of the tensor for each output number.", 1),
    "chunks": ("Chunks of the core.", 1),
    "normalise": ("Take signed roots and normalize them.",),
}
_NORM = Parameter(
    "whole",
    "Signed roots to unit length: of each chunk, of all together, or not at all.",
    choices=("none", "chunk", "whole"),
)
_ACTIVE = Parameter("tanh", "Activation of both sides.", choices=("none", "relu", "tanh"))
_BINS = Parameter(512, "Bins, at least as many as either vector has numbers.", 1, MOST)

_ROWS = (
    Fusion(
        "concat",
        "one linear map of both",
        "",
        "x beside y",
        _concat_shapes,
        _concat,
        _settings(),
    ),
    Fusion(
        "concat-mlp",
        "ReLU layers over both",
        "",
        "relu(W (x beside y) + b)",
        _mlp_shapes,
        _mlp,
        _settings(hidden=64, depth=1),
    ),
    Fusion(
        "relu-sum",
        "sum of two ReLU layers, and a third",
        "",
        "relu(Ux) + relu(Vy)",
        _pair_shapes,
        _sum,
        _settings(hidden=64),
        active=True,
    ),
    Fusion(
        "hadamard",
        "product of two maps",
        "",
        "Ux · Vy",
        _pair_shapes,
        _product,
        _settings(hidden=64),
    ),
    Fusion(
        "mcb",
        "sketch of all products",
        "1606.01847",
        "sketch(x y')",
        _mcb_shapes,
        _mcb,
        _settings(hidden=_BINS, normalise=True),
    ),
    Fusion(
        "mlb",
        "product of two activated maps",
        "1610.04325",
        "tanh(Ux) · tanh(Vy)",
        _pair_shapes,
        _product,
        _settings(hidden=64, activation=_ACTIVE),
    ),
    Fusion(
        "mfb",
        "products of two maps, summed in groups",
        "1708.01471",
        "sum by k (Ux · Vy)",
        _mfb_shapes,
        _mfb,
        _settings(hidden=64, factor=5, normalise=True),
    ),
    Fusion(
        "mfh",
        "two orders of grouped products",
        "1708.03619",
        "sum by k (e) beside sum by k (e · Sx · Ty), e = Ux · Vy",
        _mfh_shapes,
        _mfh,
        _settings(hidden=32, factor=5, normalise=True),
    ),
    Fusion(
        "mutan",
        "a tensor of low rank",
        "1705.06676",
        "Σ_r (M_r Ax) · (N_r By)",
        _block_shapes,
        _chunked(_low_rank),
        _settings(
            hidden=64,
            rank=4,
            norm=Parameter("none", _NORM.help, choices=("none", "whole")),
        ),
    ),
    Fusion(
        "block",
        "tensors of low rank, one a chunk",
        "1902.00038",
        "chunks of Σ_r (M_r Ax) · (N_r By)",
        _block_shapes,
        _chunked(_low_rank),
        _settings(hidden=64, chunks=8, rank=4, norm=_NORM),
    ),
    Fusion(
        "tucker",
        "a tensor of full rank",
        "1705.06676",
        "T(Ax, By)",
        _tucker_shapes,
        _chunked(_full_rank),
        _settings(
            hidden=16,
            norm=Parameter("none", _NORM.help, choices=("none", "whole")),
        ),
    ),
    Fusion(
        "block-tucker",
        "tensors of full rank, one a chunk",
        "1902.00038",
        "chunks of T(Ax, By)",
        _tucker_shapes,
        _chunked(_full_rank),
        _settings(hidden=64, chunks=8, norm=_NORM),
    ),
)

FUSIONS: dict[str, Fusion] = {row.name: row for row in _ROWS}
"""Every fusion by its name."""
