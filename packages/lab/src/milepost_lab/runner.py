"""The runner of all studies: a command, one table of results, and results that are kept.

A study is a function of a ``Run`` and of its own options that returns a ``Report``:

    @study("ggem", "GGeM, GeM, mean and maximum on digits.", "milepost lab ggem --seeds 5")
    @click.option("--rounds", default=20)
    def command(run: Run, rounds: int) -> Report:
        '''Train the same network with each pooling at its end.'''
        rows = [run.cached(f"mean-{seed}", lambda: train(seed, rounds)) for seed in run.seeds]
        return Report(rows)

``--out FOLDER`` keeps what ``Run.cached`` computed, see ``milepost_eval.runs``. The same command
continues from there; a run with other settings in that folder is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import partial, update_wrapper
from pathlib import Path
from typing import Any, TypeVar

import click

from milepost._optional import require
from milepost.cli.console.options import Interrupted, Settings, common, json_option
from milepost.errors import InputError
from milepost.exports.records import print_json
from milepost.exports.writing import check_output
from milepost_eval.cli.terminal import FILE, FOLDER, Counter, columns
from milepost_eval.runs import Run as Results

T = TypeVar("T")
Row = Mapping[str, Any]
"""Column → value: a string, a number, an ``Interval`` or None."""
Progress = Callable[[str, int, int], None]
"""Called with the current work, the amount done and the total."""


@dataclass(frozen=True, slots=True)
class Lines:
    """What ``--plot`` draws of a table: one line for each value of a column.

    Attributes:
        x, y: columns of the axes.
        by: column that names the lines.
        log: whether the x-axis is logarithmic.
    """

    x: str
    y: str
    by: str
    log: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a study.

    Attributes:
        rows: the table; columns are those of the first row.
        notes: sentences below it.
        record: further results, printed only with ``--json``.
        lines: the plot; None without one.
    """

    rows: Sequence[Row]
    notes: Sequence[str] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    lines: Lines | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One call of a study.

    Attributes:
        seeds: seeds of the trainings.
        results: keeps finished parts; None keeps nothing.
        progress: see ``Progress``.
    """

    seeds: Sequence[int] = (0,)
    results: Results | None = None
    progress: Progress = lambda doing, done, of: None

    def cached(self, name: str, compute: Callable[[], T]) -> T:
        """Read a part, or compute and keep it; JSON must be able to hold it."""
        if self.results is None:
            return compute()
        found: T = self.results.get_or_compute(name, compute)
        return found

    def per_seed(self, name: str, train: Callable[[int], T]) -> list[T]:
        """Results of a training with each seed, kept as ``NAME-SEED``."""
        found = []
        for done, seed in enumerate(self.seeds):
            self.progress(name, done, len(self.seeds))
            found.append(self.cached(f"{name}-{seed}", partial(train, seed)))
        return found


def study(
    name: str, short_help: str, *examples: str, seeds: int = 1, torch: bool = True
) -> Callable[[Callable[..., Report]], click.Command]:
    """Make the command ``milepost lab NAME`` of a function ``(run, **options) → Report``.

    Args:
        name: of the command.
        short_help: one line.
        examples: commands for the help page.
        seeds: default number of seeds; 0 for a study that draws nothing.
        torch: whether it needs torch.
    """

    def decorate(function: Callable[..., Report]) -> click.Command:
        def command(
            settings: Settings | None,
            out: Path | None,
            plot: Path | None,
            as_json: bool,
            seeds: int = 0,
            seed: int = 0,
            **options: Any,
        ) -> int:
            if torch:
                require("torch", extra="lab")
            if plot is not None:
                require("matplotlib", extra="lab")
                check_output(plot)
            results = Results(out, _plain({"study": name, **options})) if out else None
            settings = settings or Settings()
            with Counter(settings) as counter:
                run = Run(range(seed, seed + seeds), results, counter.steps_of())
                try:
                    report = function(run, **options)
                except KeyboardInterrupt:
                    raise Interrupted(
                        "finished parts are stored; run the same command to continue"
                        if out
                        else "with --out FOLDER a run can be continued"
                    ) from None
            if plot is not None:
                draw(report, plot)
            if as_json:
                print_json({"rows": list(map(_plain, report.rows)), **_plain(report.record)})
                return 0
            for line in table(report.rows):
                click.echo(line)
            if not settings.quiet:
                for note in report.notes:
                    click.echo(f"\n{note}")
            return 0

        update_wrapper(command, function)
        decorators = [
            click.option("--out", type=FOLDER, help="Keep finished parts here, and continue."),
            click.option("--plot", type=FILE, help="Draw the results as SVG."),
            json_option,
            common,
            click.pass_obj,
        ]
        if seeds:
            decorators[:0] = [
                click.option(
                    "--seeds",
                    type=click.IntRange(min=1),
                    default=seeds,
                    metavar="N",
                    help="Number of trainings.",
                ),
                click.option(
                    "--seed",
                    type=click.IntRange(min=0),
                    default=0,
                    metavar="N",
                    help="The first seed.",
                ),
            ]
        made: Any = command
        add: Any
        for add in reversed(decorators):
            made = add(made)
        epilog = "\b\nExamples:\n" + "\n".join(f"  {example}" for example in examples)
        return click.command(name, short_help=short_help, epilog=epilog)(made)

    return decorate


def table(rows: Sequence[Row]) -> list[str]:
    """The rows as aligned lines, the head first; nothing for no rows."""
    if not rows:
        return []
    head = list(rows[0])
    cells = [[cell(row.get(column)) for column in head] for row in rows]
    left = next((n for n, cell in enumerate(rows[0].values()) if not isinstance(cell, str)), 1)
    return list(columns(head, cells, left=max(1, left)))


def draw(report: Report, file: Path) -> None:
    """Draw the lines of a report as SVG, intervals as bars.

    Raises:
        InputError: the study has no plot.
    """
    if report.lines is None:
        raise InputError("this study has no plot", "leave --plot away")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    lines = report.lines
    for name in dict.fromkeys(row[lines.by] for row in report.rows):
        rows = [row for row in report.rows if row[lines.by] == name]
        rows = [row for row in rows if row[lines.x] is not None and row[lines.y] is not None]
        if not rows:
            continue
        values: list[Any] = [row[lines.y] for row in rows]
        means: list[float] = [getattr(value, "mean", value) for value in values]
        bounds = [
            (getattr(value, "low", mean), getattr(value, "high", mean))
            for value, mean in zip(values, means, strict=True)
        ]
        bars = [
            [max(0.0, mean - low) for mean, (low, _) in zip(means, bounds, strict=True)],
            [max(0.0, high - mean) for mean, (_, high) in zip(means, bounds, strict=True)],
        ]
        axes.errorbar(
            [row[lines.x] for row in rows], means, yerr=bars, marker="o", capsize=3, label=str(name)
        )
    axes.set(xlabel=lines.x, ylabel=lines.y, xscale="log" if lines.log else "linear")
    axes.legend()
    check_output(file)
    figure.savefig(file, format="svg")


def cell(value: Any) -> str:
    """A value as the table has it; of a single figure there is no interval."""
    if value is None:
        return "–"
    if hasattr(value, "low"):
        sign = "+" if hasattr(value, "detectable") else ""
        if not value.low < value.high:
            return f"{value.mean:{sign}.3f}"
        return f"{value.mean:{sign}.3f} ({value.low:{sign}.3f} to {value.high:{sign}.3f})"
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.4g}" if abs(value) >= 10 else f"{value:.3f}"
    return f"{value:,}" if type(value) is int else str(value)


def _plain(value: Any) -> Any:
    """The value as JSON holds it."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | range):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
