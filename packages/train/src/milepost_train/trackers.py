"""Send every line of a run's log to TensorBoard, Weights & Biases, MLflow and others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost.errors import MilepostError, MissingExtra, first_line
from milepost_train.loop import Event, OnProgress
from milepost_train.record import leaves

_PLACES = ("step", "stage")  # of a line, no figures


def need_trackers(names: Sequence[str]) -> None:
    """Refuse trackers that are not installed."""
    if not names:
        return
    tracking = require("accelerate.tracking", extra="train")
    known = {str(name) for name in tracking.get_available_trackers()}
    for name in names:
        if name not in known:
            packages = f"accelerate {name.replace('_', '-')}"
            raise MissingExtra(
                f"log_with names {name}, which is not installed", f"pip install -U {packages}"
            )


@contextmanager
def tracked(
    names: Sequence[str],
    project: str,
    folder: Path,
    settings: Mapping[str, Any],
    on_progress: OnProgress,
    *,
    cpu: bool,
) -> Iterator[OnProgress]:
    """Open trackers by accelerate, and close them when the run ends.

    What takes the events of a run comes back. After a failure nothing more is sent to the trackers,
    and the run goes on.
    """
    if not names:
        yield on_progress
        return
    accelerate = require("accelerate", extra="train")
    tracking = accelerate.Accelerator(cpu=cpu, log_with=list(names), project_dir=str(folder))
    fails: list[Exception] = []

    def log(event: Event) -> None:
        if event.line is not None and not fails:
            figures = {
                name: value
                for name, value in _flat(event.line).items()
                if name not in _PLACES and isinstance(value, int | float)
            }
            try:
                tracking.log(figures, step=event.line["step"])
            except Exception as error:  # each tracker raises its own
                fails.append(error)
                warning = f"nothing more is sent to the trackers: {first_line(error)}"
                on_progress(Event("", event.done, event.of, warning=warning))
        on_progress(event)

    try:
        try:
            tracking.init_trackers(project, config=_flat(settings))
        except Exception as error:  # each tracker raises its own
            first = first_line(error)
            raise MilepostError(
                f"a tracker cannot be opened: {first}", "set it up, or remove log_with"
            ) from error
        yield log
    finally:
        for tracker in tracking.trackers:
            with suppress(Exception):  # the others are closed, too, and the run is what counts
                tracker.finish()


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """``{"check": {"written": 0.5}}`` as ``{"check/written": 0.5}``; lists are written out."""
    return {
        name: value if isinstance(value, str | int | float) else str(value or "")
        for name, value in leaves(values, "/").items()
    }
