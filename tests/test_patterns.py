"""Regular expressions: none doubles its time with each of 26 repeats of what files may hold."""

import signal
from collections.abc import Iterator
from importlib import import_module
from itertools import product
from pkgutil import walk_packages
from typing import Any

import pytest

import milepost

BEGINNINGS = ["", "a", "1", "(", "|", "2020", "a: ", "+--+\n"]
REPEATED = [
    *"aA1 \n.,-*|()[\"':/$%=_<>\t&\\{#",
    *("a ", "1,", "1.", "a.", "a-", "| ", "()", "a\n", "\n ", "1 ", "](", "a=", "\r\n", "a: "),
]


def patterns() -> Iterator[tuple[Any, str]]:
    for module in walk_packages(milepost.__path__, "milepost."):
        if not module.name.endswith("__main__"):
            try:
                values = vars(import_module(module.name))
            except ImportError:  # of an extra
                continue
            for name, value in values.items():
                if hasattr(value, "fullmatch"):
                    yield value, f"{module.name}.{name}"


def is_slow(pattern: Any, text: str) -> bool:
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        pattern.fullmatch(text)
    except (KeyboardInterrupt, TypeError) as error:  # bytes and classes are not for text
        return isinstance(error, KeyboardInterrupt)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return False


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers of a process")
def test_no_pattern_takes_exponential_time() -> None:
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    texts = [f"{first}{part * 26}\0!" for first, part in product(BEGINNINGS, REPEATED)]
    slow = [name for each, name in dict(patterns()).items() if any(is_slow(each, x) for x in texts)]
    signal.signal(signal.SIGALRM, before)
    assert not slow
