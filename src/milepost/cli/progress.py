"""The bar that shows how far reading and encoding have come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import PurePath
from types import TracebackType
from typing import TYPE_CHECKING

from milepost.cli.options import Settings
from milepost.cli.screen import console, is_terminal, visible_name, width

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from milepost.index import Step


class Bar:
    """Draws on stderr from the first step on, if somebody looks at it.

    Nothing is imported or drawn until there is something to encode, so a run that finds
    everything unchanged pays nothing.
    """

    def __init__(self, settings: Settings, *, as_json: bool = False) -> None:
        self._colour = settings.colour
        self._wanted = not settings.quiet and not as_json and is_terminal(sys.stderr)
        self._drawn: tuple[Progress, TaskID] | None = None
        self._pace = Pace()

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn is not None:
            self._drawn[0].stop()

    def __call__(self, step: Step) -> None:
        """Show a step of ``Index.add``."""
        if not self._wanted:
            return
        share, speed, left = self._pace.after(step, time.monotonic())
        bar, task = self._drawn or self._start()
        place = f"{step.number}/{step.documents} " if step.documents > 1 else ""
        bar.update(
            task,
            completed=share,
            description=place + visible_name(PurePath(step.name).name)[-30:],
            speed=f"{speed:,.0f} sentences/s" if speed else "reading",
            left=f"{clock(left)} left" if left is not None else "",
        )

    def _start(self) -> tuple[Progress, TaskID]:
        from rich.progress import BarColumn, Progress, TextColumn

        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[speed]}"),
            TextColumn("{task.fields[left]}"),
            console=console(self._colour, sys.stderr),
            transient=True,
        )
        self._drawn = bar, bar.add_task("", total=1.0, speed="", left="")
        bar.start()
        return self._drawn


class Counter:
    """One line on stderr that says what is being asked, if somebody looks at it."""

    def __init__(self, settings: Settings) -> None:
        self._wanted = not settings.quiet and is_terminal(sys.stderr)
        self._drawn = 0.0

    def __enter__(self) -> Counter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the line away, so that something else can be printed."""
        if self._drawn:
            self._drawn = 0.0
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def steps_of(self, task: str = "") -> Callable[[str, int, int], None]:
        """What is called with what is being done, how much of it is done, and of how much."""
        return lambda doing, done, of: self(doing, task, done, of)

    def __call__(self, system: str, task: str, done: int, of: int) -> None:
        """Show that a system has been asked ``done`` of a task's questions."""
        now = time.monotonic()
        if self._wanted and (done == 0 or now - self._drawn > 0.1):
            self._drawn = now
            line = visible_name(f"{task}  {done}/{of}  {system}")
            # A line that the terminal folds could not be taken back.
            sys.stderr.write(f"\r\x1b[K{line[: (width(sys.stderr) or 80) - 1]}")
            sys.stderr.flush()


class Pace:
    """From steps to the share that is done, sentences a second and seconds left.

    Documents count alike, for nobody knows how long one is before it is read; the sentences of
    the one at hand say how far it has come.
    """

    def __init__(self) -> None:
        self._begun: float | None = None
        self._skipped = 0  # documents before the first that had to be read
        self._before = 0  # sentences of the documents that are done
        self._last: Step | None = None

    def after(self, step: Step, now: float) -> tuple[float, float, float | None]:
        """Take a step at a time in seconds; returns share (0–1), sentences/s, seconds left."""
        if self._begun is None:
            self._begun, self._skipped = now, step.number - 1
        if self._last is not None and self._last.number != step.number:
            self._before += self._last.done
        self._last = step
        part = step.done / step.sentences if step.sentences else 0.0
        share = (step.number - 1 - self._skipped + part) / max(1, step.documents - self._skipped)
        passed = now - self._begun
        speed = (self._before + step.done) / passed if passed > 0 else 0.0
        return share, speed, passed * (1 - share) / share if share > 0.01 else None


def clock(seconds: float) -> str:
    """Write a time for people.

    >>> clock(75), clock(7265)
    ('1:15', '2:01:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
