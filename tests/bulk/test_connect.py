"""Ray that cannot start, and clusters that do not answer."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("ray.data", reason="needs the extra ray")

from milepost.bulk.cluster import connect
from milepost.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


@pytest.fixture(autouse=True)
def no_cluster() -> None:
    """Let go of the one that another test has started."""
    import ray

    ray.shutdown()


def test_ray_that_cannot_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The longest path of a socket is 107 bytes: Ray's own reason is repeated."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / ("long" * 30)))
    with pytest.raises(InputError, match=r"^Ray cannot start on this machine: .*107 bytes"):
        connect(None)


def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its address is named. Ray tries for 5, 10 and 15 seconds; here it does not wait so long."""
    monkeypatch.setattr("ray.util.client.worker.INITIAL_TIMEOUT_SEC", 1)
    monkeypatch.setattr("ray.util.client.worker.MAX_TIMEOUT_SEC", 1)
    with pytest.raises(InputError, match=r"^the cluster ray://127\.0\.0\.1:9 cannot be reached"):
        connect("ray://127.0.0.1:9")
