"""A signal is heard, however many engines have come and gone."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import gc, os, signal
import milepost

first, second = milepost.load(cache=False), milepost.load("landmark-light", cache=False)
del first
gc.collect()
del second
gc.collect()
# Whoever is started in the background by a shell without job control ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("heard")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_ctrl_c_after_engines_have_ended() -> None:
    """The plugin of the first engine must not leave its signal stack to that of the second."""
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, encoding="utf-8")
    assert (ran.returncode, ran.stdout) == (0, "heard\n"), ran.stderr
