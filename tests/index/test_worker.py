"""The class that clusters run: batches of files in, rows and an index out."""

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import milepost
from milepost.index.workers import IndexFiles
from milepost.index.workers.worker import COLUMNS
from support.files import write_files
from support.ray_process import finished

LIGHT = "landmark-light"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    texts = {"a.txt": "Bees make wax. They fly.", "b.txt": "Ships sail the sea."}
    folder = write_files(tmp_path / "files", texts | {"c.pdf": b"%PDF-1.4 and nothing else"})
    return [str(path) for path in sorted(folder.iterdir())]


def test_a_batch_is_indexed_and_again_is_unchanged(files: list[str], tmp_path: Path) -> None:
    worker = IndexFiles(str(tmp_path / "db"), LIGHT)
    first = worker({"path": files})
    assert tuple(first) == COLUMNS
    assert first["outcome"] == ["added", "added", "failed"]
    assert first["sentences"] == [2, 1, 0]
    assert "c.pdf" in first["reason"][2]
    Path(files[0]).write_text("Bees make honey.", encoding="utf-8")
    assert worker({"path": files})["outcome"] == ["changed", "unchanged", "failed"]
    worker.close()
    with milepost.open(tmp_path / "db", model=LIGHT) as index:
        assert [info.name for info in index.documents()] == [files[1], files[0]]
        assert index.search("honey")[0].text == "Bees make honey."


def test_a_file_that_is_gone_is_a_row(tmp_path: Path) -> None:
    worker = IndexFiles(str(tmp_path / "db"), LIGHT)
    rows = worker({"path": [str(tmp_path / "gone.txt")]})
    worker.close()
    assert rows["outcome"] == ["failed"]
    assert "gone.txt" in rows["reason"][0]


if find_spec("ray") is None:
    pytest.skip("needs the extra ray", allow_module_level=True)

START = "from milepost.index.workers.cluster import connect; connect(None)"

# Ray tries for 5, 10 and 15 seconds; here it does not wait so long.
REACH = """
from ray.util.client import worker
worker.INITIAL_TIMEOUT_SEC = worker.MAX_TIMEOUT_SEC = 1
from milepost.index.workers.cluster import connect
connect("ray://127.0.0.1:9")
"""


def test_ray_that_cannot_start(tmp_path: Path) -> None:
    """The longest path of a socket is 107 bytes: Ray's own reason is repeated."""
    result = finished([sys.executable, "-c", START], TMPDIR=str(tmp_path / ("long" * 30)))
    assert re.search(r"InputError: Ray cannot start on this machine: .*107 bytes", result.stderr)


def test_a_cluster_that_is_not_there() -> None:
    result = finished([sys.executable, "-c", REACH])
    assert "InputError: the cluster ray://127.0.0.1:9 cannot be reached" in result.stderr
