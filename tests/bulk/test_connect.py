"""Ray that cannot start, and clusters that do not answer."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.ray_process import finished

if find_spec("ray") is None:
    pytest.skip("needs the extra ray", allow_module_level=True)

START = "from milepost.bulk.cluster import connect; connect(None)"

# Ray tries for 5, 10 and 15 seconds; here it does not wait so long.
REACH = """
from ray.util.client import worker
worker.INITIAL_TIMEOUT_SEC = worker.MAX_TIMEOUT_SEC = 1
from milepost.bulk.cluster import connect
connect("ray://127.0.0.1:9")
"""


def test_ray_that_cannot_start(tmp_path: Path) -> None:
    """The longest path of a socket is 107 bytes: Ray's own reason is repeated."""
    result = finished([sys.executable, "-c", START], TMPDIR=str(tmp_path / ("long" * 30)))
    assert re.search(r"InputError: Ray cannot start on this machine: .*107 bytes", result.stderr)


def test_a_cluster_that_is_not_there() -> None:
    result = finished([sys.executable, "-c", REACH])
    assert "InputError: the cluster ray://127.0.0.1:9 cannot be reached" in result.stderr
