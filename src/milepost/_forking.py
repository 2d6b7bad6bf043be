"""Locks that a child process finds free: a fork copies a lock, but not the thread that holds it."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock
from typing import Protocol, TypeVar
from weakref import WeakMethod, ref


class _Lock(Protocol):
    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...

    def release(self) -> None: ...


L = TypeVar("L", bound=_Lock)

_PATIENCE_S = 10.0  # of a fork for one lock: its thread may wait for the one that forks

_one = Lock()  # held by the thread that forks
_known: set[ref[_Lock]] = set()
_taken: list[_Lock] = []
_methods: set[ref[Callable[[], None]]] = set()


def free_in_child(lock: L) -> L:
    """Let every fork wait until no other thread holds a lock."""
    _known.add(ref(lock, _known.discard))
    return lock


def run_in_child(method: Callable[[], None]) -> None:
    """Call a method in each child, where no other thread is, while this one holds the locks."""
    _methods.add(WeakMethod(method, _methods.discard))


def _take() -> None:
    _one.acquire()
    for each in _known.copy():
        lock = each()
        if lock is not None and lock.acquire(timeout=_PATIENCE_S):
            _taken.append(lock)


def _release() -> None:
    while _taken:
        _taken.pop().release()
    _one.release()


def _begin() -> None:
    for each in _methods.copy():
        if (method := each()) is not None:
            method()
    _release()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(before=_take, after_in_parent=_release, after_in_child=_begin)
