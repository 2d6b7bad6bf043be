"""Progress bars on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Self

from milepost.cli.console.options import Settings, say
from milepost.cli.console.screen import console, is_terminal, visible_name
from milepost.wording import counted

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID

    from milepost.index.intake import Step


class Gauge:
    """A progress bar on stderr, drawn at the first call of ``show`` if stderr is a terminal.

    Nothing is imported or drawn before that, so that a run with nothing to do costs nothing.
    """

    def __init__(self, settings: Settings, *, wanted: bool = True) -> None:
        self._colour = settings.colour
        self._wanted = wanted and not settings.quiet and is_terminal(sys.stderr)
        self._drawn: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove the bar, so that something else can be printed; ``show`` draws a new one."""
        if self._drawn is not None:
            self._drawn[0].stop()
            self._drawn = None

    def columns(self) -> Sequence[ProgressColumn]:
        """The columns to the right of the bar; none if not overridden."""
        return ()

    def show(self, doing: str, done: float, of: float | None, **fields: Any) -> None:
        """Draw the bar, with ``doing`` to its left, and values of the fields that the columns use.

        A new total restarts the bar and its time left; None stands for an unknown one.
        """
        if not self._wanted:
            return
        bar, task = self._drawn or self._start(doing, of, fields)
        if bar.tasks[0].total != of:
            bar.reset(task, total=of, description=doing, **fields)
        bar.update(task, description=doing, completed=done, **fields)

    def _start(
        self, doing: str, of: float | None, fields: dict[str, Any]
    ) -> tuple[Progress, TaskID]:
        from rich.progress import BarColumn, Progress, TextColumn

        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            *self.columns(),
            console=console(self._colour, sys.stderr),
            transient=True,
        )
        self._drawn = bar, bar.add_task(doing, total=of, **fields)
        bar.start()
        return self._drawn


class Bar(Gauge):
    """Progress of reading and encoding.

    All documents count the same, because their length is unknown before they are read; the
    current one counts by its sentences.
    """

    def __init__(self, settings: Settings, *, as_json: bool = False) -> None:
        super().__init__(settings, wanted=not as_json)
        self._said: set[str] = set()
        self._says = not settings.quiet and not is_terminal(sys.stderr)
        self._begin()

    def _begin(self) -> None:
        self._begun_s = 0.0  # when the first step came
        self._last: Step | None = None
        self._finished = 0  # sentences of the documents before the last one

    def clear(self) -> None:
        """Remove the bar; the next step begins a new one, with a speed of its own."""
        super().clear()
        self._said.clear()
        self._begin()

    def columns(self) -> Sequence[ProgressColumn]:
        """Share, speed and time left."""
        from rich.progress import TextColumn, TimeRemainingColumn

        texts = ("{task.percentage:>3.0f}%", "{task.fields[speed]}")
        return [*(TextColumn(text) for text in texts), TimeRemainingColumn()]

    def __call__(self, step: Step) -> None:
        """Show a step of ``Index.add``."""
        part = step.done / step.sentences if step.sentences else 0.0
        share = (step.number - 1 + part) / max(1, step.documents)
        if step.pages:
            self._recognising(step, share)
            return
        place = f"{step.number}/{step.documents} " if step.documents > 1 else ""
        speed = self._speed(step)
        self.show(
            place + visible_name(PurePath(step.name).name)[-30:],
            share,
            1.0,
            speed=f"{speed:,.0f} sentences/s" if speed else "reading",
        )

    def _speed(self, step: Step) -> float:
        """Sentences per second since the first step."""
        now_s = time.monotonic()
        if self._last is None:
            self._begun_s = now_s
        elif self._last.number != step.number:
            self._finished += self._last.done
        self._last = step
        passed_s = now_s - self._begun_s
        return (self._finished + step.done) / passed_s if passed_s > 0 else 0.0

    def _recognising(self, step: Step, share: float) -> None:
        """Show what recognising text costs: on a terminal page by page, else in one line."""
        from milepost.documents.recognition import cost

        name = visible_name(PurePath(step.name).name)
        left = cost(step.pages - step.pages_done)
        page = f"recognising page {step.pages_done + 1} of {step.pages}"
        self.show(name[-30:], share, 1.0, speed=f"{page}, about {left} left in this file")
        if self._says and step.name not in self._said:
            self._said.add(step.name)
            pages = counted(step.pages, "page")
            say(f"{name}: recognising the text of {pages}, about {left}")
