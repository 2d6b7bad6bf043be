"""Ray in processes of their own: where it fails a check of its own, it aborts the whole process.

A worker of pytest-xdist would go down with it, and every test that it was to run.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from support.cli_process import environment, run

_TRIES = 3
"""How often a call is made that ends with Ray's abort: the same call does the rest."""

_SERVE = """
import json, sys
from dataclasses import asdict
from milepost.index.workers.cluster import connect, index_paths
def say(*said):
    print("\x1e" + json.dumps(said), flush=True)
connect(None, num_cpus=2, object_store_memory=1 << 28)
say()
for line in sys.stdin:
    files, place, model = json.loads(line)
    say(asdict(index_paths(files, place, model=model, progress=say)))
"""


def finished(command: Sequence[str], **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; again, if it was ended by a signal."""
    for left in reversed(range(_TRIES)):
        result = run(command, **environ)
        if result.returncode >= 0 or not left:
            break
    return result


class RayDriver:
    """A process with a Ray of two workers, which runs once this is made; it indexes files."""

    def __init__(self) -> None:
        self._process = self._started()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def index(
        self,
        files: Sequence[Path],
        place: str,
        model: str,
        progress: Callable[[str, int, int], None] = lambda name, done, of: None,
    ) -> dict[str, Any]:
        """Call ``index_paths`` there and give its report."""
        for _ in range(_TRIES):
            asked = json.dumps([[str(file) for file in files], place, model])
            try:
                self._process.stdin.write(asked + "\n")
                self._process.stdin.flush()
            except BrokenPipeError:
                pass  # it ended while Ray started
            for said in self._said(self._process):
                if len(said) == 1:
                    return said[0]
                progress(*said)
            self._process.communicate()
            ended = self._process.returncode
            self._process = self._started()
            if ended >= 0:
                break
        raise AssertionError(f"the driver ended with {ended}")

    @classmethod
    def _started(cls) -> subprocess.Popen[str]:
        """A process whose Ray runs: others can connect to it."""
        for _ in range(_TRIES):
            process = subprocess.Popen(
                [sys.executable, "-c", _SERVE],
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
            if next(cls._said(process), None) is not None:
                return process
            process.communicate()
        raise AssertionError(f"Ray did not start: {process.returncode}")

    @staticmethod
    def _said(process: subprocess.Popen[str]) -> Iterator[list[Any]]:
        """What the process says, until it ends; what Ray prints is for the reader of a failure."""
        for line in process.stdout:
            _, ours, said = line.partition("\x1e")
            if ours:
                yield json.loads(said)
            else:
                print(line, end="")
