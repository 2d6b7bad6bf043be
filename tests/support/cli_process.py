"""How the tests start the command line in a process of its own."""

import os
import shutil
import sys

import pytest


def command(*args: object) -> list[str]:
    """Give the arguments of a process that hears SIGINT, even where CI started us deaf to it."""
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from milepost.cli import main; main()"
    )
    return [sys.executable, "-c", code, *map(str, args)]


def plain(command: list[str]) -> list[str]:
    """Give the command as one that a locked door stops: root passes all until it gives that up."""
    if os.geteuid() != 0:
        return command
    if shutil.which("setpriv") is None:
        pytest.skip("root needs setpriv to be refused anything")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]


def environment(*folders: str) -> dict[str, str]:
    """Give our environment, with modules to be found where we find them, and in these folders."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [*folders, *sys.path]))}
