"""The folder of a run, whose files are always whole, even after a kill or on a full disk.

``docs/training.md`` lists the files. One is written under another name, made safe on the disk, and
renamed; in ``checkpoint`` one file alone changes from one save to the next, the weights.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import torch
from filelock import FileLock, Timeout

from milepost.encoder.engine.schema import check_schema
from milepost.errors import InputError, MilepostError, first_line
from milepost.exports.writing import replacing
from milepost_train.model.card import CARD, card, log_lines, record_of
from milepost_train.record import SCHEMA

CHECKPOINT, STATE, LOG = "checkpoint", "state.pt", "log.jsonl"
LOCK, HELD = "lock", ".lock"
"""The number of the process that trains here, and the file that it holds meanwhile."""
_PART = ".part"
_RESTART = "milepost train CONFIG --out ANOTHER_FOLDER"


class RunInterrupted(MilepostError):
    """A run that stopped and can be resumed once the cause is removed."""


class RunFolder:
    """The files of one run.

    ``writes``: whether this process does; of several that train together only the first writes.
    """

    def __init__(self, path: Path, *, resume: bool, writes: bool = True) -> None:
        self.path, self.writes = path, writes
        if not writes:
            return
        there = path.is_dir() and {file.name for file in path.iterdir()} - {LOCK, HELD}
        if path.exists() and not path.is_dir():
            raise InputError(f"{path} is a file", "a folder for --out")
        if resume and not (path / "config.toml").is_file():
            raise InputError(f"{path} has no run to resume", "the same command without --resume")
        if there and not resume:
            ours = (path / "config.toml").is_file()
            raise InputError(
                f"{path} holds {'a run' if ours else 'other files'} already",
                "--resume to continue it, or another --out" if ours else "another --out",
            )
        with _writing(path):
            path.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other process from training here while this lasts."""
        if not self.writes:
            yield
            return
        lock, name = FileLock(self.path / HELD, timeout=0), self.path / LOCK
        try:
            with _writing(name):
                lock.acquire()
        except Timeout as error:
            number = name.read_text() if name.is_file() else "unknown"
            raise InputError(
                f"{self.path} is being trained by process {number}",
                "another --out, or wait until that process has ended",
            ) from error
        try:
            self._put(LOCK, str(os.getpid()))
            yield
        finally:
            lock.release()

    def describe(self, facts: Mapping[str, Any]) -> None:
        """Write what the run is made from."""
        self._put("config.toml", facts["config"])
        self._put("run.json", json.dumps(facts, indent=1, ensure_ascii=False) + "\n")

    def write_card(self) -> None:
        """Write the model card of a run that is done."""
        record = record_of(self.path / CHECKPOINT)
        self._put(CARD, card(self.path.resolve().name, None, record))

    def facts(self) -> dict[str, Any] | None:
        """What the run was made from; None if it was killed before it wrote that."""
        try:
            read: dict[str, Any] = json.loads((self.path / "run.json").read_text("utf-8"))
            schema = read.get("schema", 1)  # schema 1 had no such key
        except FileNotFoundError:
            return None
        except (AttributeError, OSError, ValueError) as error:
            problem = f"{self.path / 'run.json'} is damaged: {error}"
            raise InputError(problem, _RESTART) from error
        check_schema(self.path / "run.json", schema, SCHEMA, _RESTART, InputError)
        return read

    def log(self, line: Mapping[str, Any]) -> None:
        """Add a line to the log."""
        if self.writes:
            with _writing(self.path / LOG), (self.path / LOG).open("ab") as file:
                file.write((json.dumps(line, ensure_ascii=False) + "\n").encode())

    def lines(self) -> Iterator[dict[str, Any]]:
        """The lines of the log, for the process that writes it."""
        if self.writes and (self.path / LOG).exists():
            yield from log_lines(self.path)

    def save(self, state: Mapping[str, Any]) -> None:
        """Put a state in the place of the last one, which stays until this one is whole."""
        if not self.writes:
            return
        log, length = self.path / LOG, 0
        if log.exists():
            with _writing(log):
                _make_safe(log)
            length = log.stat().st_size
        self._put(STATE, lambda file: torch.save({**state, "log": length}, file))

    def load(self) -> dict[str, Any] | None:
        """The last state, None where there is none; the log is cut back to where it was then."""
        path, log = self.path / STATE, self.path / LOG
        if not path.exists():
            if self.writes:
                log.unlink(missing_ok=True)
            return None
        try:
            state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:  # torch, zipfile and pickle raise their own
            raise InputError(f"{path} is damaged: {first_line(error)}", _RESTART) from error
        length = state.pop("log")
        if self.writes and log.exists():
            os.truncate(log, length)
        return state

    def write_checkpoint(self, save: Callable[[Path], None], *, kept_at: int | None = None) -> Path:
        """Let ``save`` write a checkpoint into a folder, then put its files in place; the place."""
        name = CHECKPOINT if kept_at is None else f"{CHECKPOINT}-{kept_at}"
        target, draft = self.path / name, self.path / (name + _PART)
        if not self.writes:
            return target
        with _writing(target):
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir()
            target.mkdir(exist_ok=True)
            try:
                save(draft)
                for file in sorted(draft.iterdir()):
                    _make_safe(file)
                    file.replace(target / file.name)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
        return target

    def _put(self, name: str, content: str | Callable[[IO[bytes]], Any]) -> None:
        """Put a file in the place of an old one, which stays until the new one is whole."""
        path = self.path / name
        if not self.writes:
            return
        with _writing(path), replacing(path, path.with_name(name + _PART)) as file:
            if isinstance(content, str):
                file.write(content.encode())
            else:
                content(file)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn what a full disk or a lost right raises into one line."""
    try:
        yield
    except Timeout:
        raise
    except Exception as error:
        reason = _of_the_system(error)
        if reason is None:
            raise
        raise RunInterrupted(
            f"{path} cannot be written: {reason}",
            "make room for it, or correct its permissions; nothing that was there is lost",
        ) from error


def _make_safe(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _of_the_system(error: BaseException | None) -> str | None:
    """What the system said, if it is behind the error; torch and safetensors raise their own."""
    while error is not None:
        if isinstance(error, OSError):
            return error.strerror or str(error)
        if "(os error " in str(error):
            return str(error).rpartition(": ")[2].partition(" (os error ")[0]
        error = error.__cause__ or error.__context__
    return None
