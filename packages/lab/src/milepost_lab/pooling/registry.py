"""User-defined poolings: torch modules over padded texts, by ``register`` or as entry points.

    from torch import nn

    class Gated(nn.Module):
        def __init__(self, width, hidden=64): ...
        def forward(self, states, mask): ...  # (B, N, d), (B, N) → (B, d_out) or (B, k, d_out)

    pooling.register("gated", Gated)

A package registers a pooling in its ``pyproject.toml``:

    [project.entry-points."milepost.poolings"]
    gated = "my_package.gated:Gated"

The package is not imported before its pooling is requested. The torch side, which also checks
shapes and padding, is ``milepost_lab.model.pooling.outside``.
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
from milepost_lab.pooling.operator import Batch, Need, Operator, Parameter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights

GROUP = "milepost.poolings"
"""The group of entry points."""

# Imported by name, as entry points are: this package depends on neither network nor torch.
_TORCH = "milepost_lab.model.pooling.outside"

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_GIVEN = ("query_width", "layers")
"""Arguments of ``make`` that are not settings, because the inputs decide them."""
_OF_GET = ("weights", "seed")
"""Arguments of ``pooling.get``, which settings may not be named like."""

_REGISTERED: dict[str, Operator] = {}
# Hashed when registered: a file may be edited while a comparison runs on its former code.
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
    """Make the row of the table for a user-defined torch module; see ``register``."""
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
        name: lower-case letters, digits, ``-`` and ``_``.
        make: a class of ``torch.nn.Module``, or a function that makes one: ``make(width,
            setting=default, …)``. ``width`` is d of the states; arguments with a default (a number,
            bool or string, or a tuple of whole numbers) are settings; ``query_width`` and
            ``layers`` are passed if they are arguments. The module's ``forward(states, mask)``
            takes ``(B, N, d)`` float32 and ``(B, N)`` bool, true at tokens, and returns
            ``(B, d_out)``, or ``(B, k, d_out)`` for k vectors a text, which are scored by MaxSim.
        needs: further arguments of ``forward``, by name: ``segments``, ``(B, N)`` int64, the
            number of each token's sentence; ``queries``, ``(B, d_q)``; ``layers``: states are
            ``(B, N, layers, d)``.
        title: what it does, in a few words; by default the first line of its docstring.
        paper: an arXiv number.
        equation: one line.

    Returns:
        The row of the table.

    Raises:
        InputError: the name is invalid or that of an operator of Milepost, or an argument of
            ``make`` after the first has no such default.
    """
    from milepost_lab.pooling.table import TABLE

    if name in TABLE:
        raise InputError(f"{name} is a pooling of Milepost", f"another name: my-{name}")
    row = outside(name, make, needs=needs, title=title, paper=paper, equation=equation)
    _REGISTERED[name], _SOURCES[name] = row, _source(make)
    return row


def registered() -> dict[str, Operator]:
    """Return what ``register`` added so far, by name."""
    return dict(_REGISTERED)


def others() -> list[str]:
    """List the names of all user-defined poolings; nothing is imported."""
    return list(dict.fromkeys([*_REGISTERED, *sorted(_offered())]))


def found(name: str) -> Operator | None:
    """Find a user-defined pooling by name; None if there is none.

    Raises:
        InputError: the package that offers it cannot be imported, or offers something else.
    """
    if name not in _REGISTERED and (point := _offered().get(name)) is not None:
        package = point.dist.name if point.dist else point.module
        try:
            made = point.load()
        except Exception as error:  # user code may raise anything
            raise InputError(
                f"the pooling {name} of {package} cannot be imported: {type(error).__name__}: "
                f"{first_line(error)}",
                f"pip install --upgrade {package}, or pip uninstall {package}",
            ) from error
        # The module may have registered it itself, with a title and so on.
        if name not in _REGISTERED:
            register(name, made)
    return _REGISTERED.get(name)


def source_of(operator: Operator) -> str:
    """Hash of the code of a user-defined pooling, as it was registered; empty for Milepost's.

    The code is the file that defines it, and the arguments of ``functools.partial``. Other files
    that it imports do not count.
    """
    return "" if operator.make is None else _SOURCES[operator.name]


def _source(make: Callable[..., Any]) -> str:
    """Hash the code of a pooling; see ``source_of``."""
    given = []
    while isinstance(make, partial):
        given.append(_told([make.args, *make.keywords.items()]))
        make = make.func
    make = inspect.unwrap(make)
    if not inspect.isclass(make) and not inspect.isroutine(make):
        make = type(make)  # a callable object
    try:
        code = Path(inspect.getsourcefile(make) or "").read_bytes()
    except (OSError, TypeError):  # in a notebook or an interpreter, or not written in Python
        try:
            code = inspect.getsource(make).encode()
        except (OSError, TypeError):
            code = repr(make).encode()
    return hashlib.sha256(repr((given, make.__qualname__, code)).encode()).hexdigest()[:16]


def _told(value: object) -> str:
    """Represent a value by the same text in each process; ``repr`` may contain an address."""
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_told, value))})"
    if value is None or isinstance(value, int | float | str):
        return repr(value)
    return str(getattr(value, "__qualname__", type(value).__qualname__))


def _title(make: Callable[..., Any]) -> str:
    """The first line of its own docstring, not that of ``nn.Module``; otherwise its full name."""
    while isinstance(make, partial):
        make = make.func
    own = make.__dict__.get("__doc__") if inspect.isclass(make) else make.__doc__
    place = f"{make.__module__}.{getattr(make, '__qualname__', type(make).__name__)}"
    return (own or "").strip().partition("\n")[0] or place


def _offered() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _parameters(name: str, make: Callable[..., Any]) -> dict[str, Parameter]:
    """Read the settings that a class or function takes from its arguments."""
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
        if argument.name in _OF_GET:
            raise InputError(
                f"{name}: its argument {argument.name} has the name of an argument of pooling.get",
                "another name",
            )
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
