"""Calls in another process: results, errors, crashes, time and memory."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

from milepost.documents.isolated import Isolated
from milepost.documents.reader_process import read_inside, read_plain
from milepost.errors import UnreadableFile
from milepost.types import READ_DEFAULTS
from support.files import write_files


@pytest.fixture
def isolated() -> Iterator[Isolated]:
    made = Isolated(seconds=20)
    yield made
    made.close()


def test_results_and_errors_come_back(isolated: Isolated, tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# Head\n\nA line.", encoding="utf-8")
    document = isolated.call(read_plain, file, READ_DEFAULTS)
    assert (document.text, document.heading(8)) == ("# Head\n\nA line.", "Head")
    with pytest.raises(UnreadableFile, match="not exist"):
        isolated.call(read_plain, tmp_path / "b.md", READ_DEFAULTS)
    with pytest.raises(UnreadableFile, match="ZeroDivisionError"):
        isolated.call(divmod, 1, 0)
    assert isolated.call(divmod, 7, 2) == (3, 1)


def test_a_process_that_dies_is_replaced(isolated: Isolated, monkeypatch) -> None:
    full = OSError("too many processes")
    mine = isolated.call(os.getpid)
    with pytest.raises(UnreadableFile, match="crashed its reader"):
        isolated.call(os.kill, mine, signal.SIGSEGV)
    with monkeypatch.context() as patched:
        patched.setattr("multiprocessing.util.spawnv_passfds", Mock(side_effect=full))
        for _ in range(2):
            with pytest.raises(OSError, match="processes"):
                isolated.call(os.getpid)
    assert isolated.call(os.getpid) not in (mine, os.getpid())


def test_a_call_that_takes_too_long_is_ended() -> None:
    isolated = Isolated(seconds=0.5)
    isolated.call(os.getpid)  # the start of the process does not count
    begun = time.monotonic()
    with pytest.raises(UnreadableFile, match=r"more than 0\.5 s"):
        isolated.call(time.sleep, 60)
    assert time.monotonic() - begun < 20
    isolated.close()


def test_memory_is_limited() -> None:
    isolated = Isolated(memory=4 << 30)
    with pytest.raises(UnreadableFile, match="memory"):
        isolated.call(bytearray, 5 << 30)
    isolated.close()


def test_close_ends_a_call(isolated: Isolated) -> None:
    isolated.call(os.getpid)
    with ThreadPoolExecutor() as pool:
        call = pool.submit(isolated.call, time.sleep, 60)
        time.sleep(0.3)
        isolated.close()
        assert isinstance(call.exception(20), UnreadableFile)


def test_what_a_library_says_is_one_short_line(isolated: Isolated) -> None:
    with pytest.raises(UnreadableFile) as caught:
        isolated.call(bytes.decode, b"a" * 10, "no\ncodec" * 1000)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 300


def test_an_error_without_words_says_which_file(isolated: Isolated, tmp_path: Path) -> None:
    """The error of a library may say nothing of what is wrong."""
    with pytest.raises(UnreadableFile) as caught:
        isolated.call(Path.rename, tmp_path / "a.pdf", "")
    assert str(caught.value).startswith("a.pdf cannot be read: ")
    with pytest.raises(UnreadableFile) as caught:
        isolated.call(next, iter(()))
    assert "StopIteration" in caught.value.problem
    assert str(caught.value).count("StopIteration") == 1


ORPHANED = """
import os, signal, threading, time
from milepost.documents.isolated import Isolated
isolated = Isolated()
if __name__ == "__main__":
    print(isolated.call(os.getpid), flush=True)
    threading.Thread(target=isolated.call, args=(time.sleep, 600)).start()
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_reader_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """A file that takes for ever does not go on when the server was killed."""
    if not Path("/proc/self/stat").is_file():
        pytest.skip("needs /proc")
    script = tmp_path / "server.py"
    script.write_text(ORPHANED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script], capture_output=True, encoding="utf-8", timeout=60
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    reader = int(done.stdout)
    until = time.monotonic() + 20
    while _runs(reader):
        assert time.monotonic() < until, "the reader goes on without its server"
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").split()[2] != "Z"
    except OSError:
        return False


def test_links_do_not_leave_the_folder(tmp_path: Path) -> None:
    write_files(tmp_path, {"secret.txt": "A secret.", "secret.json": '{"secret": "x"}'})
    inside = write_files(tmp_path / "in", {"plain.txt": "Plain."})
    (inside / "link.txt").symlink_to(tmp_path / "secret.txt")
    (inside / "own.txt").symlink_to(inside / "plain.txt")
    assert read_inside(inside / "own.txt", READ_DEFAULTS, (inside,)).text == "Plain."
    with pytest.raises(UnreadableFile, match="leaves the folder"):
        read_inside(inside / "link.txt", READ_DEFAULTS, (inside,))
    (inside / "own.txt.meta.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(UnreadableFile, match="is a link that leaves"):
        read_inside(inside / "own.txt", READ_DEFAULTS, (inside,))
