"""Poolings of others: torch modules over padded texts, by ``register`` or as entry points.

    from torch import nn

    class Gated(nn.Module):
        def __init__(self, width, hidden=64): ...
        def forward(self, states, mask): ...  # (B, N, d), (B, N) → (B, d_out) or (B, k, d_out)

    pooling.register("gated", Gated)

A package offers the same in its ``pyproject.toml``:

    [project.entry-points."milepost.poolings"]
    gated = "my_package.gated:Gated"

Nothing of another package is imported before its pooling is asked for. The torch side, which also
checks shapes and padding, is ``milepost.model.pooling.outside``.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from milepost.errors import InputError, first_line
from milepost.pooling.operator import Batch, Need, Operator, Parameter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.pooling.operator import Weights

GROUP = "milepost.poolings"
"""The group of entry points."""

# By name, as an entry point is found: this package knows neither network nor torch.
_TORCH = "milepost.model.pooling.outside"

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_GIVEN = ("query_width", "layers")
"""Arguments of ``make`` that are no settings: they are known where states are."""

_REGISTERED: dict[str, Operator] = {}
# Not read later: a file may be edited while a long comparison runs on what it held before.
_SOURCES: dict[str, str] = {}


def outside(
    name: str,
    make: Callable[..., Any],
    *,
    needs: Collection[Need] = (),
    title: str = "",
    paper: str = "",
    equation: str = "",
) -> Operator:
    """The row of the table for a torch module of somebody else; see ``register``."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name a pooling", "small letters, digits, - and _, as in gated-mean"
        )
    if not callable(make):
        raise InputError(
            f"{name}: {make!r} is not a class or function", "what makes the module: MyPooling"
        )
    unknown = sorted(set(needs) - set(get_args(Need)))
    if unknown:
        raise InputError(f"{name} needs {unknown[0]!r}", f"needs=, of {', '.join(get_args(Need))}")
    return Operator(
        name,
        title or _title(make),
        paper=paper,
        family="",
        equation=equation,
        order="kept",
        compute=partial(_compute, name),
        start=partial(_start, name),
        parameters=_parameters(name, make),
        needs=frozenset(needs),
        make=make,
    )


def register(
    name: str,
    make: Callable[..., Any],
    *,
    needs: Collection[Need] = (),
    title: str = "",
    paper: str = "",
    equation: str = "",
) -> Operator:
    """Add a pooling to the table of this process; a second one of the same name replaces it.

    Args:
        name: small letters, digits, ``-`` and ``_``.
        make: a class of ``torch.nn.Module``, or a function that makes one: ``make(width,
            setting=default, …)``. ``width`` is d of the states; arguments with a default (a number,
            bool or string, or a tuple of whole numbers) are settings; ``query_width`` and
            ``layers`` are given where they are arguments. The module's ``forward(states, mask)``
            takes ``(B, N, d)`` float32 and ``(B, N)`` bool, true at tokens, and returns
            ``(B, d_out)``, or ``(B, k, d_out)`` for k vectors a text, which are scored by MaxSim.
        needs: further arguments of ``forward``, by name: ``segments``, ``(B, N)`` int64, the
            number of each token's sentence; ``queries``, ``(B, d_q)``; ``layers``: states are
            ``(B, N, layers, d)``.
        title: what it does, in a few words; otherwise the first line of its docstring.
        paper: an arXiv number.
        equation: one line.

    Returns:
        The row of the table.

    Raises:
        InputError: the name is of an operator of Milepost or is none, or an argument of ``make``
            is neither ``width`` nor has such a default.
    """
    from milepost.pooling.table import TABLE

    if name in TABLE:
        raise InputError(f"{name} is a pooling of Milepost", f"another name: my-{name}")
    row = outside(name, make, needs=needs, title=title, paper=paper, equation=equation)
    _REGISTERED[name], _SOURCES[name] = row, _source(make)
    return row


def registered() -> dict[str, Operator]:
    """What ``register`` added so far, by name."""
    return dict(_REGISTERED)


def others() -> list[str]:
    """Names of all poolings of others; nothing is imported."""
    return list(dict.fromkeys([*_REGISTERED, *sorted(_offered())]))


def found(name: str) -> Operator | None:
    """A pooling of others by its name; None if there is none.

    Raises:
        InputError: the package that offers it cannot be imported, or offers something else.
    """
    if name not in _REGISTERED and (point := _offered().get(name)) is not None:
        package = point.dist.name if point.dist else point.module
        try:
            made = point.load()
        except Exception as error:  # of any code of somebody else
            raise InputError(
                f"the pooling {name} of {package} cannot be imported: {type(error).__name__}: "
                f"{first_line(error)}",
                f"pip install --upgrade {package}, or pip uninstall {package}",
            ) from error
        # A module may have registered it itself, to say more about it.
        if name not in _REGISTERED:
            register(name, made)
    return _REGISTERED.get(name)


def source_of(operator: Operator) -> str:
    """Hash of the code of a pooling of others, as it was registered; empty for Milepost's.

    The code is the file that defines it, and what ``functools.partial`` gives. Other files that it
    imports do not count.
    """
    return "" if operator.make is None else _SOURCES[operator.name]


def _source(make: Callable[..., Any]) -> str:
    """See ``source_of``."""
    given = []
    while isinstance(make, partial):
        given.append(_told([make.args, *make.keywords.items()]))
        make = make.func
    make = inspect.unwrap(make)
    if not inspect.isclass(make) and not inspect.isroutine(make):
        make = type(make)  # an object that can be called
    try:
        code = Path(inspect.getsourcefile(make) or "").read_bytes()
    except (OSError, TypeError):  # of a notebook or an interpreter, or not written in Python
        try:
            code = inspect.getsource(make).encode()
        except (OSError, TypeError):
            code = repr(make).encode()
    return hashlib.sha256(repr((given, make.__qualname__, code)).encode()).hexdigest()[:16]


def _told(value: object) -> str:
    """A value as text that is the same in each process, where ``repr`` may give an address."""
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_told, value))})"
    if value is None or isinstance(value, int | float | str):
        return repr(value)
    return str(getattr(value, "__qualname__", type(value).__qualname__))


def _title(make: Callable[..., Any]) -> str:
    """The first line of its own docstring (that of ``nn.Module`` says nothing), or where it is."""
    own = make.__dict__.get("__doc__") if inspect.isclass(make) else make.__doc__
    place = f"{make.__module__}.{getattr(make, '__qualname__', type(make).__name__)}"
    return (own or "").strip().partition("\n")[0] or place


def _offered() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _parameters(name: str, make: Callable[..., Any]) -> dict[str, Parameter]:
    """The settings that a class or function takes, by its arguments."""
    try:
        arguments = list(inspect.signature(make).parameters.values())
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name}: its arguments are not known: {error}", "a class or function of Python"
        ) from error
    if not arguments or arguments[0].kind is inspect.Parameter.KEYWORD_ONLY:
        raise InputError(f"{name} does not take the width of the states", "make(width, …)")
    settings = {}
    for argument in arguments[1:]:
        if argument.name in _GIVEN or argument.kind in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        ):
            continue
        default = argument.default
        whole = isinstance(default, tuple) and all(isinstance(each, int) for each in default)
        if not isinstance(default, int | float | bool | str) and not whole:
            raise InputError(
                f"{name}: its argument {argument.name} has no default that is a setting",
                "a number, bool or string, or a tuple of whole numbers",
            )
        settings[argument.name] = Parameter(default, f"{argument.name} of {name}")
    return settings


def _compute(
    name: str, batch: Batch, settings: Mapping[str, Any], weights: Weights
) -> NDArray[np.floating]:
    vectors: NDArray[np.floating] = importlib.import_module(_TORCH).compute(
        _REGISTERED[name], batch, settings, weights
    )
    return vectors


def _start(
    name: str,
    settings: Mapping[str, Any],
    width: int,
    query_width: int,
    rng: np.random.Generator,
    layers: int = 1,
) -> Weights:
    weights: Weights = importlib.import_module(_TORCH).start(
        _REGISTERED[name], settings, width, query_width, layers, rng
    )
    return weights
