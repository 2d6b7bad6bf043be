"""``milepost train``: from a configuration to a checkpoint."""

from __future__ import annotations

import shlex
import signal
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from milepost._optional import require
from milepost.cli.console.options import Interrupted, Settings, common, say
from milepost.cli.console.progress import Gauge
from milepost.cli.console.screen import print_line, visible, visible_name
from milepost.errors import MilepostError
from milepost.wording import counted
from milepost_eval.cli.terminal import FILE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.progress import ProgressColumn

    from milepost_train.loop import Event
    from milepost_train.run import Trained


@click.command(
    short_help="Train a landmark model.",
    epilog="""\b
Examples:
  milepost train examples/train/small.toml
  milepost train examples/train/small.toml --resume
  milepost train my.toml --init answerdotai/ModernBERT-base --out runs/modern
  milepost export runs/small/checkpoint --out models/small

\b
See docs/training.md for the keys of CONFIG.""",
)
@click.argument("config", type=FILE, required=False, metavar="CONFIG")
@click.option(
    "--resume", is_flag=True, help="Resume the run; the result is that of an uninterrupted one."
)
@click.option(
    "--init", metavar="MODEL", help="Start from this folder or model of the Hugging Face Hub."
)
@click.option("--out", metavar="FOLDER", type=click.Path(path_type=Path), help="Folder of the run.")
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda", "mps"]),
    help="Device; auto: a GPU if there is one.",
)
@click.option(
    "--steps", type=click.IntRange(min=1), metavar="N", help="Steps, where CONFIG has one stage."
)
@click.option(
    "--keep",
    type=click.Choice(["best", "all"]),
    help="best: the checkpoint is that of the best check; all: keep that of each check as well.",
)
@common
@click.pass_obj
def train(
    settings: Settings,
    config: Path | None,
    resume: bool,
    init: str | None,
    out: Path | None,
    device: str | None,
    steps: int | None,
    keep: str | None,
) -> int:
    """Train a model as CONFIG says; options override CONFIG.

    The folder of the run holds the log, its curves, a state from which --resume continues, and
    the checkpoint, which milepost export turns into a model folder.
    """
    if config is None:
        raise click.UsageError(
            "missing argument 'CONFIG', a file such as examples/train/small.toml; docs/training.md "
            "has a short one",
            click.get_current_context(),
        )
    from milepost_train.config import read_config
    from milepost_train.settings import WrongSettings

    # Before torch, which takes seconds to import.
    try:
        read = read_config(config, init=init, out=out, device=device, steps=steps, keep=keep)
    except WrongSettings as error:
        *others, last = error.faults
        for fault in others:
            say(str(fault))
        raise MilepostError(last.problem, last.hint) from error
    require("torch", extra="train")
    from milepost_train.processes import number_of, several
    from milepost_train.run import train as trained
    from milepost_train.run_folder import STATE, RunInterrupted

    first = number_of() == 0  # of several processes, of which one reports
    settings = settings if first else replace(settings, quiet=True)
    options = {"--init": init, "--out": out, "--device": device, "--steps": steps, "--keep": keep}
    named = [str(part) for pair in options.items() if pair[1] is not None for part in pair]
    again = shlex.join(["milepost", "train", str(config), *named, "--resume"])
    with Screen(settings) as screen, Stop(settings) as stop:
        try:
            done = trained(read, resume=resume, on_progress=screen, stopped=stop)
        except KeyboardInterrupt:
            resumable = (read.out / STATE).exists()
            hint = f"to resume: {again}" if resumable else "nothing was trained yet"
            raise Interrupted(hint) from None
        except RunInterrupted as error:
            raise MilepostError(error.problem, f"{error.hint}; then: {again}") from error
    if not settings.quiet:
        _print(done, read.check.budget, best=read.check.keep == "best")
    # A launcher takes every other code for a failed run, and ends the processes that still close.
    return 1 if done.bad and not several() else 0


def _print(done: Trained, budget: int, *, best: bool) -> None:
    took = timedelta(seconds=round(done.seconds))
    click.echo(f"{done.checkpoint}  ({counted(done.steps, 'step')}, {took})")
    if done.checks:
        from milepost_train.model.card import mean

        means = {step: mean(found) for step, found in done.checks.items()}
        top = max(means, key=lambda step: means[step])
        at = top if best else max(means)
        found = _percent(done.checks[at])
        click.echo(f"  evidence found by landmarks in {budget:,} characters, %: {found}")
        if at < max(means):
            click.echo(f"  the checkpoint is that of step {at:,}, the best check")
    model = done.checkpoint.parent / "model"
    click.echo(shlex.join(["milepost", "export", str(done.checkpoint), "--out", str(model)]))
    if done.checks and means[max(means)] < means[min(means)]:
        click.echo(
            f"The training made the model worse: {100 * means[min(means)]:.1f} % before, "
            f"{100 * means[max(means)]:.1f} % after, at best {100 * means[top]:.1f} % at step "
            f"{top:,}. {'' if best else '--keep best, '}fewer steps or a lower rate may help."
        )


class Stop:
    """Ctrl-C and SIGTERM: the first ends and saves the current step, the second stops at once.

    Before the first call there is nothing to save, and the first signal stops at once.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._heard = self._polled = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Stop:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __call__(self) -> bool:
        """Whether to save and stop."""
        self._polled = True
        return self._heard

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._heard or not self._polled:
            raise KeyboardInterrupt
        self._heard = True
        if not self._settings.quiet:
            say("stopping after this step; press Ctrl-C again to stop at once")


class Screen(Gauge):
    """A progress bar if stderr is a terminal, and lines for checks, notes and warnings.

    Elsewhere each work is a line when it begins, and each line of the log is one.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._quiet = settings.quiet
        self._loss = self._doing = ""

    def columns(self) -> Sequence[ProgressColumn]:
        """Steps, the loss and time left."""
        from rich.progress import MofNCompleteColumn, TextColumn
        from rich.progress import TimeRemainingColumn as TimeLeft

        return [MofNCompleteColumn(), TextColumn("{task.fields[loss]}"), TimeLeft()]

    def __call__(self, event: Event) -> None:
        """Show an event of the run."""
        line = event.line or {}
        if "loss" in line:
            self._loss = f"loss {line['loss']:.3f}"
        said = [event.warning, line.get("alarm")]
        if not self._quiet:
            said += [event.note, _checked(line)]
            if not self._wanted:
                new = event.doing != self._doing and event.doing
                logged = "loss" in line and "check" not in line
                said += [f"{event.doing} …" if new else ""]
                said += [f"step {event.done:,} of {event.of:,}: {self._loss}" if logged else ""]
                self._doing = event.doing or self._doing
        for words in filter(None, said):
            self._say(words)
        if event.doing:
            self.show(
                visible_name(event.doing)[-40:], event.done, event.of or None, loss=self._loss
            )

    def _say(self, words: str) -> None:
        if self._drawn is None:
            say(words)
        else:
            print_line(self._drawn[0].console, f"milepost: {visible(' '.join(words.split()))}")


def _checked(line: Mapping[str, Any]) -> str:
    if "check" not in line:
        return ""
    found = _percent(line["check"])
    loss = f"loss {line['loss']:.3f}; " if "loss" in line else ""
    return f"step {line['step']:,}: {loss}evidence found, %: {found}"


def _percent(found: Mapping[str, float]) -> str:
    """``written 81.8  meetings 19.2  mean 50.5``."""
    shares = dict(found)
    if len(found) > 1:
        shares["mean"] = sum(found.values()) / len(found)
    return "  ".join(f"{task} {100 * share:.1f}" for task, share in shares.items())
