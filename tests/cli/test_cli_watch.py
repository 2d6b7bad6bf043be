"""``milepost index --watch``: a real process follows real files."""

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import milepost
from support.cli_process import command, environment
from support.pdf_writer import pdf_of

pytest.importorskip("watchfiles", reason="needs the extra watch")
posix = pytest.mark.skipif(sys.platform == "win32", reason="SIGINT to one process")


class Process:
    def __init__(self, *args: object) -> None:
        self.lines: queue.Queue[str] = queue.Queue()
        self.seen: list[str] = []
        self.process = subprocess.Popen(
            command(*args), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment()
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with self.process.stdout as lines:
            for line in lines:
                self.lines.put(line.decode("utf-8", "replace").rstrip("\n"))

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()

    def wait_for(self, words: str, seconds: float = 30.0) -> str:
        end = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"no line with {words!r} in {self.seen}")
            self.seen.append(line)
            if words in line:
                return line

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=30)


@pytest.fixture
def watched(notes: Path, tmp_path: Path, model: list[str]) -> Iterator[Process]:
    process = Process("index", notes, "--db", tmp_path / "db", "--watch", *model)
    process.wait_for("watching")
    yield process
    process.close()


def _texts(db: Path, model: list[str]) -> dict[str, str]:
    with milepost.open(
        db, model=model[-1] if model else None, create=False, read_only=True
    ) as index:
        infos = index.documents()
        return {Path(info.name).name: index.document(info.name).text for info in infos}


@posix
def test_changes_are_indexed_and_ctrl_c_ends_it(watched, notes, tmp_path, model):
    db = tmp_path / "db"
    (notes / "new.txt").write_text("Otters hold hands while they sleep.\n", encoding="utf-8")
    watched.wait_for("added")
    (notes / "gold.txt").write_text("Gold was worth nothing that year.\n", encoding="utf-8")
    assert "gold.txt" in watched.wait_for("changed")
    (notes / "bees.txt").unlink()
    assert "bees.txt" in watched.wait_for("removed")
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "inside.txt").write_text("Moles are nearly blind.\n", encoding="utf-8")
    folder.rename(notes / "more")
    assert "inside.txt" in watched.wait_for("added")
    with (notes / "slow.txt").open("w", encoding="utf-8") as slow:
        for number in range(6):
            slow.write(f"This is sentence number {number}.\n")
            slow.flush()
            time.sleep(0.25)
    watched.wait_for("slow.txt")
    (notes / ".milepostignore").write_text("new.txt\n", encoding="utf-8")
    assert "new.txt" in watched.wait_for("removed")
    texts = _texts(db, model)
    assert sorted(texts) == ["gold.txt", "inside.txt", "ships.md", "slow.txt"]
    assert texts["slow.txt"].count("sentence number") == 6
    assert "worth nothing" in texts["gold.txt"]
    assert watched.interrupt() == 130
    assert watched.wait_for("interrupted").endswith("run the same command to continue")
    assert not [line for line in watched.seen if "Traceback" in line]


@posix
def test_a_bad_file_is_reported_once_and_read_when_complete(watched, notes, tmp_path, model):
    whole = pdf_of(["Badgers dig deep setts under the oak."])
    path = notes / "paper.pdf"
    path.write_bytes(whole[:200])
    assert "paper.pdf" in watched.wait_for("not read:")
    (notes / "new.txt").write_text("Otters hold hands.\n", encoding="utf-8")
    assert "new.txt" in watched.wait_for("added")
    with path.open("ab") as rest:
        rest.write(whole[200:])
    assert "paper.pdf" in watched.wait_for("added")
    assert sum("not read:" in line for line in watched.seen) == 1
    assert "deep setts" in _texts(tmp_path / "db", model)["paper.pdf"]


@posix
def test_a_file_by_name_a_folder_that_comes_back_and_json(notes, tmp_path, model):
    single, folder = tmp_path / "single.txt", tmp_path / "folder"
    single.write_text("One fish swims here.\n", encoding="utf-8")
    folder.mkdir()
    arguments = "index", single, folder, notes, "--db", notes / "db", "--watch", "--json", *model
    process = Process(*arguments)
    try:
        process.wait_for("watching")
        other = tmp_path / "other.txt"
        other.write_text("Two fishes swim here now.\n", encoding="utf-8")
        other.replace(single)
        record = json.loads(process.wait_for('"changed": ["'))
        assert record["changed"] == [str(single)]
        folder.rmdir()
        process.wait_for(f"{folder} does not exist")
        folder.mkdir()
        (folder / "a.txt").write_text("Frogs croak at night.\n", encoding="utf-8")
        assert json.loads(process.wait_for('"added": ["'))["added"] == [str(folder / "a.txt")]
        assert process.interrupt() == 130
    finally:
        process.close()


def test_what_cannot_be_watched_is_refused(refusal, model, notes, tmp_path, monkeypatch):
    db = tmp_path / "db"
    said = refusal("index", "-", "--watch", "--db", db, *model, input="text")
    assert "stdin cannot be watched" in said
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    said = refusal("index", notes, "--watch", "--db", db, *model)
    assert "pip install 'milepost[watch]'" in said
    assert not db.exists()
