"""All poolings by name: ``names``, ``operator``, ``module``, ``register``."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import torch
from torch import Tensor, nn

from milepost.errors import InputError, MilepostError, first_line, nearest
from milepost_lab.pooling import (
    conditioned,
    fusion,
    ggem,
    hierarchy,
    late,
    layers,
    newer,
    p2at,
    plain,
    ponet,
)
from milepost_lab.pooling.base import Late, Need, Pooling, padded

GROUP = "milepost.poolings"
"""Entry points of packages that bring poolings: name → class."""

_GIVEN = ("query_width", "layers")


@dataclass(frozen=True, slots=True)
class Operator:
    """A row of the table.

    Attributes:
        name, title, paper, equation, needs, ordered, late, query_settings: see ``Pooling``.
        make: ``make(width, query_width=…, layers=…, **settings)`` gives the module.
        defaults: setting → its default.
        choices: setting → its allowed strings.
    """

    name: str
    make: Callable[..., nn.Module]
    title: str
    paper: str = ""
    equation: str = ""
    needs: frozenset[Need] = frozenset()
    ordered: bool = True
    late: Late = ""
    query_settings: Mapping[str, int | str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Check names and types of settings, and fill in defaults.

        Raises:
            InputError: an unknown setting or a value of another type.
        """
        for name, value in given.items():
            if name not in self.defaults:
                known = f"{nearest(name, tuple(self.defaults))}one of {', '.join(self.defaults)}"
                raise InputError(
                    f"{self.name} has no setting {name!r}", known if self.defaults else "none"
                )
            wanted = type(self.defaults[name])
            fits = type(value) is wanted or (wanted is float and type(value) is int)
            if not fits and not (wanted is tuple and isinstance(value, list)):
                raise InputError(
                    f"{self.name}: {name} is {value!r}, not {wanted.__name__}",
                    f"its default, {self.defaults[name]!r}",
                )
            if name in self.choices and value not in self.choices[name]:
                raise InputError(
                    f"{self.name}: {name} is {value!r}", f"one of {', '.join(self.choices[name])}"
                )
        values = {**self.defaults, **given}
        return {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }


def _operator(name: str, make: Callable[..., Any], **facts: Any) -> Operator:
    """Read the settings of a class or function from its arguments."""
    defaults: dict[str, Any] = {}
    choices: dict[str, tuple[str, ...]] = {}
    for part in _constructors(make):
        hints = get_type_hints(part.__init__ if inspect.isclass(part) else part)
        for argument in list(inspect.signature(part).parameters.values()):
            default = argument.default
            if argument.name in _GIVEN or default is inspect.Parameter.empty:
                continue
            if not isinstance(default, int | float | str | tuple):
                raise InputError(
                    f"{name}: its argument {argument.name} has no default that is a setting",
                    "a number, bool or string, or a tuple of whole numbers",
                )
            defaults[argument.name] = default
            hint = hints.get(argument.name)
            if isinstance(default, str) and get_origin(hint) is not None:
                choices[argument.name] = get_args(hint)
    return Operator(name, make, defaults=defaults, choices=choices, **facts)


def _constructors(make: Callable[..., Any]) -> list[Callable[..., Any]]:
    inner = getattr(make, "fusion", None)
    return [make] if inner is None else [make, inner]


def _of_class(kind: type[Pooling]) -> Operator:
    return _operator(
        kind.name,
        kind,
        title=kind.title,
        paper=kind.paper,
        equation=kind.equation,
        needs=kind.needs,
        ordered=kind.ordered,
        late=kind.late,
        query_settings=kind.query_settings,
    )


FAMILIES = (plain, fusion, ggem, hierarchy, layers, p2at, ponet, newer, conditioned, late)

TABLE: dict[str, Operator] = {
    kind.name: _of_class(kind) for family in FAMILIES for kind in family.POOLINGS
}
"""Every pooling of Milepost by its name."""

_REGISTERED: dict[str, Operator] = {}


def register(
    name: str,
    make: Callable[..., nn.Module],
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
            setting=default, …)``; ``query_width`` and ``layers`` are passed if they are arguments.
            Its ``forward(states, mask)`` is that of ``milepost_lab.pooling.base``; it may return
            ``(texts, k, d_out)`` for k vectors a text, which are scored by MaxSim.
        needs: further inputs of ``forward``.
        title: what it does, in a few words.
        paper: an arXiv number.
        equation: one line.

    Raises:
        InputError: the name is invalid or that of a pooling of Milepost, or an argument of
            ``make`` has a default that cannot be a setting.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name):
        raise InputError(f"{name!r} cannot name a pooling", "small letters, digits, - and _")
    if name in TABLE:
        raise InputError(f"{name} is a pooling of Milepost", f"another name: my-{name}")
    unknown = sorted(set(needs) - set(get_args(Need)))
    if unknown:
        raise InputError(f"{name} needs {unknown[0]!r}", f"needs=, of {', '.join(get_args(Need))}")
    _REGISTERED[name] = _operator(
        name, make, title=title or name, paper=paper, equation=equation, needs=frozenset(needs)
    )
    return _REGISTERED[name]


def run_code(file: Path) -> None:
    """Run a Python file that registers poolings, for ``--code``.

    Raises:
        InputError: the file fails, or registers nothing.
    """
    before = dict(_REGISTERED)
    name = f"milepost_code_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(sys.modules[name])
    except MilepostError:
        raise
    except (Exception, SystemExit) as error:  # user code may raise anything
        raise InputError(
            f"{file} fails: {type(error).__name__}: {first_line(error)}", f"python {file}"
        ) from error
    if all(row is before.get(each) for each, row in _REGISTERED.items()):
        raise InputError(f"{file} registers no pooling", "milepost_lab.pooling.register in it")


def names() -> dict[str, Operator]:
    """Every pooling by name, those of other packages last."""
    others = sorted({point.name for point in entry_points(group=GROUP)} - _REGISTERED.keys())
    return {**TABLE, **_REGISTERED, **{name: operator(name) for name in others}}


def operator(name: str) -> Operator:
    """Find a pooling by name.

    Raises:
        InputError: it is unknown, or its package cannot be imported.
    """
    if name not in TABLE and name not in _REGISTERED:
        for point in entry_points(group=GROUP, name=name):
            try:
                register(name, point.load())
            except Exception as error:  # user code may raise anything
                raise InputError(
                    f"the pooling {name} cannot be imported: {first_line(error)}", point.value
                ) from error
    row = TABLE.get(name) or _REGISTERED.get(name)
    if row is None:
        known = (*TABLE, *_REGISTERED)
        raise InputError(
            f"unknown pooling {name!r}", f"{nearest(name, known)}one of {', '.join(known)}"
        )
    return row


def module(
    name: str,
    /,
    width: int,
    *,
    query_width: int = 0,
    layers: int = 1,
    seed: int = 0,
    **settings: Any,
) -> nn.Module:
    """Make the torch module of a pooling; its initial weights depend on the seed alone.

    Args:
        name: see ``names``.
        width: d of the states.
        query_width: d of the queries, if it needs them; 0 for the width of the states.
        layers: number of layers, if it needs them.
        seed: of the initial weights.
        settings: see ``Operator.defaults``.

    Raises:
        InputError: an unknown pooling or setting, or a value out of its bounds; a pooling of others
            that gives NaN, or reads padding.
    """
    row = operator(name)
    checked = row.settings(settings)
    takes = inspect.signature(row.make).parameters
    more: dict[str, Any] = {"query_width": query_width or width, "layers": layers}
    more = {each: value for each, value in more.items() if each in takes}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = row.make(width, **more, **checked)
        if name in _REGISTERED:
            _try(row, made, width, more.get("query_width", width), layers)
    return made


def pool(
    made: nn.Module,
    needs: Collection[Need],
    states: Tensor,
    mask: Tensor,
    queries: Tensor | None = None,
    segments: Tensor | None = None,
) -> Tensor:
    """Call a module with the inputs that it needs; states beyond the mask are not read."""
    shape = (*mask.shape, *(1,) * (states.ndim - 2))
    clean = torch.where(mask.view(shape), states, torch.zeros_like(states)).float()
    given = {"queries": queries, "segments": segments}
    vectors: Tensor = made(clean, mask, **{name: given[name] for name in needs if name in given})
    return vectors


@torch.no_grad()
def _try(row: Operator, made: nn.Module, width: int, query_width: int, layers: int) -> None:
    """Pool two random texts, together and alone."""
    shape = (layers, width) if "layers" in row.needs else (width,)
    states, mask = padded([torch.randn(5, *shape), torch.randn(3, *shape)])
    queries, segments = torch.randn(2, query_width), torch.arange(5).expand(2, -1) // 2
    training = made.training
    made.eval()
    try:
        both = pool(made, row.needs, states, mask, queries, segments)
        alone = pool(made, row.needs, states[1:, :3], mask[1:, :3], queries[1:], segments[1:, :3])
    except Exception as error:  # user code may raise anything
        raise InputError(
            f"{row.name} fails on states of the shape {tuple(states.shape)}: {first_line(error)}",
            "forward(states (B, N, d), mask (B, N)) that returns (B, d_out) or (B, k, d_out)",
        ) from error
    made.train(training)
    if not isinstance(both, Tensor) or both.ndim not in (2, 3) or len(both) != 2:
        raise InputError(f"{row.name} does not return (B, d_out) or (B, k, d_out)")
    if not torch.isfinite(both).all():
        raise InputError(f"{row.name} gives NaN or infinity for a text with padding")
    if both[1:].shape != alone.shape or not torch.allclose(both[1:], alone, 1e-3, 1e-4):
        raise InputError(
            f"{row.name} reads padding: a text has another vector beside a longer one",
            "mask.sum(1) for the number of tokens",
        )
