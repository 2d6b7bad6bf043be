"""The folder of a run, whose files are always whole, even after a kill or on a full disk.

    config.toml    as given
    run.json       what the run is made from
    log.jsonl      a line every so many steps
    state.pt       what the run resumes from: weights, optimiser, random numbers, position
    checkpoint/    the averaged weights, for ``milepost export``
    checkpoint-N/  those of the check after N steps, where the settings say to keep them
    curves.png     the log as a picture
    README.md      a model card, when the run is done
    lock           the number of the process that trains here

A file is written under another name, made safe on the disk, and renamed; in ``checkpoint`` one file
alone changes from one save to the next, the weights.
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

from milepost.engine.schema import check_schema
from milepost.errors import InputError, first_line
from milepost_train.lock import held
from milepost_train.model.card import CARD, card, record_of
from milepost_train.record import SCHEMA
from milepost_train.whole_files import PART, make_safe, put, writing

CHECKPOINT, STATE, LOG, LOCK = "checkpoint", "state.pt", "log.jsonl", "lock"
_RESTART = "milepost train CONFIG --out ANOTHER_FOLDER"


class RunFolder:
    """The files of one run.

    Args:
        path: created if missing.
        resume: whether to resume a run.
        writes: whether this process writes; of several that train together only the first does.
        restart: what helps where the folder is damaged.

    Raises:
        InputError: the folder has a run already, has none to resume, or holds something else.
        RunInterrupted: it cannot be written.
    """

    def __init__(
        self, path: Path, *, resume: bool, writes: bool = True, restart: str = _RESTART
    ) -> None:
        self.path, self.writes, self._restart = path, writes, restart
        if not writes:
            return
        there = path.is_dir() and any(file.name != LOCK for file in path.iterdir())
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
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other process from training here while this lasts.

        Raises:
            InputError: one does already.
            RunInterrupted: the folder cannot be written.
        """
        if not self.writes:
            yield
            return
        with writing(self.path / LOCK) as path:
            file = path.open("a+b", buffering=0)
        with file, held(file.fileno()) as ours:
            if not ours:
                file.seek(0)
                raise InputError(
                    f"{self.path} is being trained by process {file.read().decode() or 'unknown'}",
                    "another --out, or wait until that process has ended",
                )
            with writing(path):
                file.truncate(0)
                file.write(str(os.getpid()).encode())
            yield

    def begin(self, config: str, facts: Mapping[str, Any]) -> None:
        """Write what the run is made from."""
        self._put("config.toml", lambda file: file.write(config.encode()))
        self.describe(facts)

    def describe(self, facts: Mapping[str, Any]) -> None:
        """Write ``run.json``."""
        text = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
        self._put("run.json", lambda file: file.write(text.encode()))

    def write_card(self) -> None:
        """Write the model card of a run that is done."""
        text = card(self.path.resolve().name, None, record_of(self.path / CHECKPOINT))
        self._put(CARD, lambda file: file.write(text.encode()))

    def facts(self) -> dict[str, Any] | None:
        """What the run was made from; None if it was killed before it wrote that.

        Raises:
            InputError: ``run.json`` is damaged or of another schema.
        """
        try:
            read: dict[str, Any] = json.loads((self.path / "run.json").read_text("utf-8"))
            schema = read.get("schema", 1)  # schema 1 had no such key
        except FileNotFoundError:
            return None
        except (AttributeError, OSError, ValueError) as error:
            problem = f"{self.path / 'run.json'} is damaged: {error}"
            raise InputError(problem, self._restart) from error
        check_schema(self.path / "run.json", schema, SCHEMA, self._restart, InputError)
        return read

    def log(self, line: Mapping[str, Any]) -> None:
        """Add a line to the log."""
        if not self.writes:
            return
        with writing(self.path / LOG) as path, path.open("ab") as file:
            file.write((json.dumps(line, ensure_ascii=False) + "\n").encode())

    def lines(self) -> Iterator[dict[str, Any]]:
        """The lines of the log, for the process that writes it."""
        path = self.path / LOG
        if self.writes and path.exists():
            for line in path.read_bytes().splitlines():
                yield json.loads(line)

    def save(self, state: Mapping[str, Any]) -> None:
        """Put a state in the place of the last one, which stays until this one is whole.

        Args:
            state: tensors, numbers, strings, and lists, tuples and dicts of these.
        """
        if not self.writes:
            return
        log, length = self.path / LOG, 0
        if log.exists():
            with writing(log):
                make_safe(log)
            length = log.stat().st_size
        self._put(STATE, lambda file: torch.save({**state, "log": length}, file))

    def load(self) -> dict[str, Any] | None:
        """The last state; the log is cut back to where it was then. None where there is none yet.

        Raises:
            InputError: it is damaged.
        """
        path, log = self.path / STATE, self.path / LOG
        if not path.exists():
            if self.writes:
                log.unlink(missing_ok=True)
            return None
        try:
            state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:  # torch, zipfile and pickle raise their own
            first = first_line(error)
            raise InputError(f"{path} is damaged: {first}", self._restart) from error
        length = state.pop("log")
        if self.writes and log.exists():
            os.truncate(log, length)
        return state

    def write_checkpoint(self, save: Callable[[Path], None], *, kept_at: int | None = None) -> Path:
        """Let ``save`` write a checkpoint into a folder, then put its files in place; the place.

        Args:
            save: is given the folder.
            kept_at: the step whose weights get a folder of their own; None for ``checkpoint``,
                which the next check overwrites.
        """
        name = CHECKPOINT if kept_at is None else f"{CHECKPOINT}-{kept_at}"
        target = self.path / name
        if not self.writes:
            return target
        draft = self.path / (name + PART)
        with writing(target):
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir()
            target.mkdir(exist_ok=True)
            try:
                save(draft)
                for file in sorted(draft.iterdir()):
                    make_safe(file)
                    file.replace(target / file.name)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
            make_safe(target)
        return target

    def _put(self, name: str, write: Callable[[IO[bytes]], Any]) -> None:
        if self.writes:
            put(self.path / name, write)
