"""Work that is kept and continued: kills, full disks, other settings, several processes."""

import json
import multiprocessing
import signal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost_eval.runs import PIECES, Run

resource = pytest.importorskip("resource", reason="limits of a process")

SETTINGS = {"model": "m", "budgets": (800, 1600)}


def test_the_same_settings_continue(tmp_path: Path) -> None:
    run = Run(tmp_path / "new", SETTINGS)
    assert run.get_or_compute("a", lambda: [1.5, None, "ü\ud800"]) == [1.5, None, "ü\ud800"]
    again = Run(tmp_path / "new", SETTINGS)
    assert again.get_or_compute("a", lambda: pytest.fail("is there")) == [1.5, None, "ü\ud800"]
    assert dict(again) == {"a": [1.5, None, "ü\ud800"]}
    assert Run(tmp_path / "new", None).settings == {"model": "m", "budgets": [800, 1600]}
    with pytest.raises(KeyError):
        again["b"]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({**SETTINGS, "model": "n"}, 'made with model "m", not "n"'),
        ({"model": "m"}, r"made with budgets \[800, 1600\], not null"),
        ({**SETTINGS, "seed": 1}, "made with seed null, not 1"),
    ],
)
def test_other_settings_are_refused(tmp_path: Path, other: dict, message: str) -> None:
    Run(tmp_path, SETTINGS).add("a", 1)
    with pytest.raises(InputError, match=message) as refused:
        Run(tmp_path, other)
    assert "\n" not in str(refused.value)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no pieces\.jsonl"):
        Run(tmp_path, None)
    (tmp_path / PIECES).write_text('{"key": "a", "value": 1}\n')
    with pytest.raises(InputError, match=r"no settings\.json"):
        Run(tmp_path, {})
    (tmp_path / "settings.json").write_text("[")
    with pytest.raises(InputError, match="is damaged"):
        Run(tmp_path, {})
    (tmp_path / "settings.json").write_text("{}")
    (tmp_path / PIECES).write_text('{"key": "a", "value": 1}\nnonsense\n')
    with pytest.raises(InputError, match="damaged after byte 25"):
        Run(tmp_path, {})


@settings(max_examples=30, deadline=None)
@given(cut=st.integers(0, 80))
def test_a_torn_line_is_removed(cut: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("run")
    run = Run(folder, {})
    for key in "abc":
        run.add(key, [key] * 3)
    data = (folder / PIECES).read_bytes()
    (folder / PIECES).write_bytes(data[:cut])
    whole = data[:cut].count(b"\n")
    again = Run(folder, {})
    assert list(again) == list("abc"[:whole])
    again.add("d", 4)
    assert dict(Run(folder, {})) == {**{key: [key] * 3 for key in "abc"[:whole]}, "d": 4}


def test_a_full_disk_loses_only_the_piece(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk; the line is cut off again."""
    run = Run(tmp_path, {})
    run.add("a", "x" * 100)
    before = (tmp_path / PIECES).read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 50, hard))
    try:
        with pytest.raises(InputError, match="cannot be used: File too large"):
            run.add("b", "x" * 100)
        with pytest.raises(InputError, match="cannot be written"):
            run.write("a.bin", b"x" * 1_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert (tmp_path / PIECES).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [PIECES, "settings.json"]
    assert run.add("b", 2) == 2


def _add(folder: Path, name: str) -> None:
    run = Run(folder, {})
    for number in range(50):
        run.add(f"{name} {number}", number)
        run.add(f"shared {number}", name)


def test_several_processes_add_at_once(tmp_path: Path) -> None:
    mine = Run(tmp_path, {})
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_add, args=(tmp_path, name)) for name in ("one", "other")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert "other 49" in mine
    assert len(mine) == 150
    keys = [json.loads(line)["key"] for line in (tmp_path / PIECES).read_text().splitlines()]
    assert len(keys) == len(set(keys)) == 150
    assert mine.add("shared 0", "third") in ("one", "other")


def test_files_are_replaced_whole(tmp_path: Path) -> None:
    run = Run(tmp_path, {})
    assert run.write("sub/a.bin", b"old").read_bytes() == b"old"
    assert run.write("sub/a.bin", b"new").read_bytes() == b"new"
    assert [path.name for path in (tmp_path / "sub").iterdir()] == ["a.bin"]
