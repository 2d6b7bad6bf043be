"""What settings refuse: each check names the setting, what it is and what it may be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from milepost.errors import InputError, nearest


def need(true: bool, problem: str, hint: str) -> None:
    """Refuse a setting.

    Raises:
        InputError: it is not ``true``.
    """
    if not true:
        raise InputError(problem, hint)


def need_least(least: float, **numbers: float) -> None:
    """Refuse numbers below the ``least``.

    Raises:
        InputError: with the setting's name.
    """
    for name, number in numbers.items():
        need(number >= least, f"{name} is {number:g}", f"at least {least:g}")


def need_shares(**shares: float) -> None:
    """Refuse shares outside of 0 to 1, 1 itself too.

    Raises:
        InputError: with the setting's name.
    """
    for name, share in shares.items():
        need(0 <= share < 1, f"{name} is {share:g}", "a share: 0 or more, below 1")


def need_weights(tasks: Mapping[str, float]) -> None:
    """Refuse a task's weight that is not above 0.

    Raises:
        InputError: with the task's name.
    """
    for name, weight in tasks.items():
        need(
            weight > 0,
            f"tasks: the weight of {name!r} is {weight:g}",
            "above 0; leave out what is not to be drawn",
        )


def need_tasks(known: Collection[str], names: Iterable[str]) -> None:
    """Refuse material without marked questions, and names of tasks that it has not.

    Raises:
        InputError: with the nearest that it has.
    """
    need(bool(known), "there are no questions with marked evidence", "name tasks in [data]")
    for name in names:
        hint = f"{nearest(name, known)}one of {', '.join(known)}"
        need(name in known, f"there is no task {name!r}", hint)


def need_common(temperature: float, dimensions: Sequence[int]) -> None:
    """Refuse a temperature or sizes of vectors that cannot be.

    Raises:
        InputError: with what is wrong.
    """
    need(temperature > 0, f"temperature is {temperature:g}", "above 0, usually 0.02 to 0.1")
    need(
        all(size >= 1 for size in dimensions),
        f"dimensions are {list(dimensions)}",
        "widths of vectors, such as [64, 128, 384]",
    )
