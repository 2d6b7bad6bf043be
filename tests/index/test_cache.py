"""The cache is pruned by age and size, beside other processes, and after one was killed."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from milepost.errors import InputError
from milepost.index.cache import (
    cached_items,
    keep_within,
    limit_bytes,
    parse_age,
    parse_size,
    prune,
)
from milepost.store import open_store
from support.cli_process import command, environment, plain, run, started

DAY_S = 86400.0


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MILEPOST_CACHE_LIMIT", raising=False)
    return tmp_path / "cache"


def filled(folder: Path, files: int = 2, size: int = 500, days: float = 0.0) -> Path:
    folder.mkdir(parents=True)
    for number in range(files):
        (folder / str(number)).write_bytes(b"x" * size)
        os.utime(folder / str(number), (time.time() - days * DAY_S,) * 2)
    return folder


def index(folder: Path, days: float = 0.0) -> Path:
    open_store(folder, fingerprint="f", dimensions=4).close()
    for file in folder.iterdir():
        os.utime(file, (time.time() - days * DAY_S,) * 2)
    return folder


def names(cache: Path) -> set[str]:
    return {str(path.relative_to(cache)) for path in cache.rglob("*") if not path.is_dir()}


def test_items_are_things_that_go_as_a_whole(cache: Path) -> None:
    assert cached_items() == []
    filled(cache / "indexes" / "a", days=2)
    filled(cache / "models" / "m", files=1, days=3)
    filled(cache / "eval", days=1)
    (cache / "graph.blob").write_bytes(b"123")
    sizes = {"model": 500, "index": 1000, "vectors of eval": 1000, "compiled model": 3}
    assert [(item.kind, item.size_bytes) for item in cached_items()] == list(sizes.items())


def test_age_and_size(cache: Path) -> None:
    for days in (1, 2, 3, 40):
        filled(cache / "indexes" / str(days), days=days)
    assert [item.path.name for item in prune(cached_items(), older_s=30 * DAY_S).removed] == ["40"]
    assert prune(cached_items(), size_bytes=3000).removed == []
    done = prune(cached_items(), size_bytes=2999)
    assert [item.path.name for item in done.removed] == ["3"]
    prune(cached_items(), size_bytes=0)
    assert names(cache) == set()


def test_the_limit_is_for_indexes(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Models, which are slower to make and few, stay."""
    filled(cache / "models" / "m", days=9)
    filled(cache / "indexes" / "old", days=2)
    filled(cache / "indexes" / "new", days=1)
    keep_within(1000)
    assert {item.path.name for item in cached_items()} == {"m", "new"}
    assert limit_bytes() == 10**10
    monkeypatch.setenv("MILEPOST_CACHE_LIMIT", "1.5 MB")
    assert limit_bytes() == 1_500_000
    monkeypatch.setenv("MILEPOST_CACHE_LIMIT", "a lot")
    with pytest.raises(InputError, match="MILEPOST_CACHE_LIMIT 'a lot' is not a size"):
        limit_bytes()


def test_sizes_and_ages() -> None:
    sizes = {"0": 0, "12B": 12, "500MB": 500 * 10**6, "2 gb": 2 * 10**9, "1T": 10**12}
    assert {each: parse_size(each, "x") for each in sizes} == sizes
    ages = {"12h": 43200.0, "30d": 2592000.0, "4w": 2419200.0}
    assert {each: parse_age(each, "x") for each in ages} == ages
    for wrong in ("-1", "1.2.3", "MB", "", "5", "1BB"):
        with pytest.raises(InputError):
            parse_size(wrong, "--to")
        with pytest.raises(InputError):
            parse_age(wrong, "--older")


def test_an_index_with_uploaded_files_stays(cache: Path) -> None:
    folder = index(cache / "indexes" / "a", days=9)
    (folder / "uploads").mkdir()
    (folder / "uploads" / "only.txt").write_text("The only copy.")
    prune(cached_items(), older_s=1.0, size_bytes=0)
    assert (folder / "uploads" / "only.txt").read_text() == "The only copy."
    (folder / "uploads" / "only.txt").unlink()
    assert [item.path for item in prune(cached_items(), size_bytes=0).removed] == [folder]


def test_an_open_index_stays(cache: Path) -> None:
    """Here or in another process; once it is closed, or the process is dead, it goes."""
    folder = index(cache / "indexes" / "a", days=9)
    store = open_store(folder, fingerprint="f", dimensions=4, read_only=True)
    assert [item.path for item in prune(cached_items(), size_bytes=0).in_use] == [folder]
    with store.snapshot() as state:
        assert state.documents() == []
    store.close()
    code = (
        "import sys, time; from milepost.store import open_store\n"
        "store = open_store(sys.argv[1], fingerprint='f', dimensions=4)\n"
        "print('open', flush=True); time.sleep(60)"
    )
    with started([sys.executable, "-c", code, folder]) as other:
        other.stdout.readline()
        assert prune(cached_items(), size_bytes=0).removed == []
        other.kill()
    assert [item.path for item in prune(cached_items(), size_bytes=0).removed] == [folder]
    assert not folder.exists()


@pytest.mark.skipif(os.name != "posix", reason="kills as Unix does")
def test_a_killed_prune_leaves_no_half(cache: Path) -> None:
    for number in range(6):
        filled(cache / "indexes" / str(number), files=2000, size=1, days=9 - number)
    with subprocess.Popen(command("cache", "prune", "--to", "0"), env=environment()) as process:
        while process.poll() is None and not list((cache / "indexes").glob(".gone-*")):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL, "it was done before it was killed"
    left = [item for item in cached_items() if item.path.is_dir()]
    assert left
    assert {item.size_bytes for item in left} == {2000}
    shutil.rmtree(cache / "indexes" / "5", ignore_errors=True)
    prune(cached_items(), size_bytes=0)
    prune([])
    assert list((cache / "indexes").iterdir()) == []


def test_two_at_once(cache: Path) -> None:
    for number in range(40):
        filled(cache / "indexes" / str(number), files=20, days=1)
    both = [started(command("cache", "prune", "--to", "0")) for _ in range(2)]
    said = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sum(int(out.split()[0]) for out, _ in said) == 40
    assert list((cache / "indexes").iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of Unix")
def test_a_cache_that_may_not_be_changed(cache: Path) -> None:
    """One line says what is refused, exit code 2, and nothing is lost."""
    filled(cache / "indexes" / "a", days=2)
    (cache / "indexes").chmod(0o555)
    done = run(plain(command("cache", "prune", "--to", "0")))
    (cache / "indexes").chmod(0o755)
    assert done.returncode == 2
    assert done.stderr.startswith(f"milepost: {cache / 'indexes' / 'a'} cannot be removed")
    assert len(done.stderr.splitlines()) == 1
    assert names(cache) == {"indexes/a/0", "indexes/a/1"}
