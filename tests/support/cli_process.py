"""How the tests start the command line in a process of its own."""

import os
import sys


def command(*args: object) -> list[str]:
    """Give the arguments of a process that hears SIGINT, even where CI started us deaf to it."""
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from milepost.cli import main; main()"
    )
    return [sys.executable, "-c", code, *map(str, args)]


def environment() -> dict[str, str]:
    """Give our environment, with modules to be found where we find them."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
