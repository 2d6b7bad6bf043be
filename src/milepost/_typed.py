"""Check the arguments of public functions against their annotations."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, ParamSpec, SupportsFloat, SupportsIndex, TypeVar, Union
from typing import get_args as arguments
from typing import get_origin as origin

from milepost.errors import WrongType

P = ParamSpec("P")
R = TypeVar("R")

_EXAMPLES = {"k": "k=3", "min_score": "min_score=0.2", "question": "a question in words"}
_SEVERAL = (Iterable, Sequence, tuple)
_NAMES: dict[Any, str] = {
    float: "a number",
    os.PathLike: "path",
    **dict.fromkeys(_SEVERAL, "several of them"),
}


def typed(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse arguments of another type than annotated, before the function runs.

    NumPy's numbers count as numbers, a boolean does not. A string or bytes is no iterable. Types
    that exist for type checkers only, protocols and the signatures of functions are not checked.

    Raises:
        WrongType: in the decorated function, with the argument and the types it may have.
    """
    parameters = inspect.signature(function).parameters
    names = [name for name in parameters if name not in ("self", "cls")]
    shift = len(parameters) - len(names)

    @functools.cache  # at the first call: then the module is complete
    def kinds(name: str) -> tuple[Any, ...]:
        scope = vars(sys.modules[function.__module__])
        try:
            return tuple(_members(eval(parameters[name].annotation, scope)))
        except NameError:  # imported for type checkers only
            return ()

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        given: list[Any] = list(args)
        for place, name in enumerate(names[: len(args) - shift], shift):
            given[place] = _checked(name, given[place], kinds(name))
        more: dict[str, Any] = {
            name: _checked(name, value, kinds(name)) if name in parameters else value
            for name, value in kwargs.items()
        }
        return function(*given, **more)

    return checked


def _checked(name: str, value: Any, kinds: tuple[Any, ...]) -> Any:
    """The value; an iterator is checked as it is read, and is a list where a sequence is due."""
    fitting = [kind for kind in kinds if _fits(value, kind)]
    if kinds and not fitting:
        raise WrongType(
            f"{name} must be {_named(kinds)}, not {type(value).__name__}", _EXAMPLES.get(name, "")
        )
    several = [kind for kind in fitting if origin(kind) in _SEVERAL]
    if len(several) != 1 or len(fitting) != 1 or not arguments(several[0]):
        return value
    checked = _items(name, value, tuple(_members(arguments(several[0])[0])))
    if not isinstance(value, Iterator):
        deque(checked, 0)
        return value
    return list(checked) if origin(several[0]) is Sequence else checked


def _items(name: str, values: Iterable[Any], kinds: tuple[Any, ...]) -> Iterator[Any]:
    for value in values:
        if not any(_fits(value, kind) for kind in kinds):
            raise WrongType(f"{name} must hold {_named(kinds)}, not {type(value).__name__}")
        yield value


def _members(annotation: Any) -> Iterator[Any]:
    """Yield the types of a union or of literals."""
    if origin(annotation) in (Union, types.UnionType):
        for each in arguments(annotation):
            yield from _members(each)
    elif origin(annotation) is Literal:
        yield from {type(each) for each in arguments(annotation)}
    else:
        yield annotation


def _fits(value: object, kind: Any) -> bool:
    base = origin(kind) or kind
    if base in (int, float) and getattr(value, "ndim", None):
        return False  # an array of numbers
    if base is bool:
        return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")
    if base is int:
        return isinstance(value, SupportsIndex) and not isinstance(value, bool)
    if base is float:
        # NumPy's strings have __float__, too
        return isinstance(value, SupportsFloat) and not isinstance(value, bool | str | bytes)
    if base in _SEVERAL:
        return isinstance(value, Iterable) and not isinstance(value, str | bytes)  # NumPy's, too
    if not isinstance(base, type) or getattr(base, "_is_protocol", False):
        return True
    return isinstance(value, base)


def _named(kinds: Iterable[Any]) -> str:
    kinds = [kind for kind in kinds if kind is not type(None)]
    bases = [origin(kind) or kind for kind in kinds]
    if len(bases) == 1 and bases[0] in _SEVERAL:  # there is nothing else for "them" to mean
        return f"a list of {_named(_members(arguments(kinds[0])[0]))}"
    names = [_NAMES.get(base, base.__name__) for base in bases]
    return " or ".join(dict.fromkeys(names))
