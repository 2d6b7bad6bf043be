"""How the tests start Python and the command line in a process of its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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


def run(
    args: Sequence[object], *, check: bool = False, cwd: Path | None = None, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, five minutes at most; more of its environment by name."""
    return subprocess.run(
        list(map(str, args)),
        capture_output=True,
        encoding="utf-8",
        env={**environment(), **environ},
        check=check,
        cwd=cwd,
        timeout=300,
    )


def started(args: Sequence[object], *folders: Path) -> subprocess.Popen[str]:
    """A command that runs on, with pipes; modules are found in these folders, too."""
    return subprocess.Popen(
        list(map(str, args)),
        env=environment(*map(str, folders)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def python(*args: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python to its end; options as ``run`` has them."""
    return run([sys.executable, *args], **options)


def loaded(code: str) -> set[str]:
    """Names of the modules that a fresh process has loaded after some code."""
    code += "\nimport sys; print(*sys.modules, file=sys.stderr)"
    return set(python("-c", code, check=True).stderr.split())
