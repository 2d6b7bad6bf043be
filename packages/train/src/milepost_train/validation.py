"""Checks of settings: each fault names the setting, its value and what is allowed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from milepost.errors import InputError, nearest
from milepost_eval.noise import Noise


@dataclass(frozen=True, slots=True)
class Fault:
    """One setting, or one combination of settings, that cannot be used.

    Attributes:
        problem, hint: as in ``MilepostError``.
        settings: names of the settings whose values it is about.
    """

    problem: str
    hint: str
    settings: tuple[str, ...] = ()


class WrongSettings(InputError):
    """Settings that cannot be used; the text has one line for each fault.

    Attributes:
        faults: at least one.
    """

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        if len(self.faults) == 1:
            super().__init__(self.faults[0].problem, self.faults[0].hint)
        else:
            super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """The text of each fault."""
        return [str(InputError(fault.problem, fault.hint)) for fault in self.faults]


class Checks:
    """Collects the faults of a settings object and raises all of them together.

    Numbers that are None pass: they are optional, or missing and reported as such.

    >>> try:
    ...     with Checks() as check:
    ...         check.at_least(1, steps=0)
    ...         check.fractions(floor=2.0)
    ... except WrongSettings as error:
    ...     [fault.problem for fault in error.faults]
    ['steps is 0', 'floor is 2']
    """

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def __enter__(self) -> Checks:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._faults:
            raise WrongSettings(self._faults)

    def need(self, condition: bool, problem: str, hint: str, *settings: str) -> None:
        """Record a fault unless ``condition`` holds; ``settings`` are those it depends on."""
        if not condition:
            self._faults.append(Fault(problem, hint, settings))

    def at_least(self, minimum: float, **numbers: float | None) -> None:
        """Numbers must not be below ``minimum``."""
        for name, number in numbers.items():
            if number is not None:
                self.need(number >= minimum, f"{name} is {number:g}", f"{minimum:g} or more", name)

    def above_zero(self, **numbers: float | None) -> None:
        """Numbers must be above 0."""
        for name, number in numbers.items():
            if number is not None:
                self.need(number > 0, f"{name} is {number:g}", "a number above 0", name)

    def fractions(self, **numbers: float) -> None:
        """Numbers must be 0 or more, and below 1."""
        for name, number in numbers.items():
            self.need(0 <= number < 1, f"{name} is {number:g}", "0 or more, below 1", name)

    def up_to_one(self, **numbers: float) -> None:
        """Numbers must lie in [0, 1]."""
        for name, number in numbers.items():
            self.need(0 <= number <= 1, f"{name} is {number:g}", "a number from 0 to 1", name)

    def one_of(self, choices: Any, **words: str) -> None:
        """Words must be among those of a ``Literal``."""
        known = get_args(choices)
        for name, word in words.items():
            hint = f"{nearest(word, known)}one of {', '.join(known)}"
            self.need(word in known, f"unknown {name} {word!r}", hint, name)

    def task_weights(self, tasks: Mapping[str, float]) -> None:
        """Weights of tasks must be above 0."""
        for name, weight in tasks.items():
            self.need(
                weight > 0,
                f"tasks: the weight of {name!r} is {weight:g}",
                "a number above 0, or leave the task out",
                "tasks",
            )

    def noise(self, noise: Mapping[Noise, float]) -> None:
        """Kinds of noise must be known, and their probabilities 1 together at most."""
        for name, share in noise.items():
            self.one_of(Noise, noise=name)
            self.need(0 < share <= 1, f"noise: {name} is {share:g}", "above 0, at most 1", "noise")
        total = sum(noise.values())
        self.need(total <= 1, f"noise is {total:g} in all", "at most 1 together", "noise")

    def windows(self, windows: Sequence[int]) -> None:
        """There must be window sizes, each of 8 tokens or more."""
        self.need(
            min(windows, default=0) >= 8,
            f"windows are {list(windows)}",
            "sizes of 8 or more",
            "windows",
        )

    def vectors(self, temperature: float, dimensions: Sequence[int] = ()) -> None:
        """The temperature must be above 0, widths of vectors 1 or more."""
        self.need(
            temperature > 0,
            f"temperature is {temperature:g}",
            "a number above 0, usually 0.02 to 0.1",
            "temperature",
        )
        self.need(
            all(size >= 1 for size in dimensions),
            f"dimensions are {list(dimensions)}",
            "widths of vectors, such as [64, 128, 384]",
            "dimensions",
        )


def need(condition: bool, problem: str, hint: str) -> None:
    """Raise an ``InputError`` unless ``condition`` holds."""
    if not condition:
        raise InputError(problem, hint)


def need_tasks(known: Collection[str], names: Iterable[str]) -> None:
    """Check that there are marked questions, and tasks of these names.

    Raises:
        InputError: there are none, or a name is unknown; names the nearest known task.
    """
    need(bool(known), "the data has no questions with marked evidence", "name tasks in [data]")
    for name in names:
        hint = f"{nearest(name, known)}one of {', '.join(known)}"
        need(name in known, f"unknown task {name!r}", hint)
