"""A cache of runs as tables: ranking, each row minus one of them, lengths, curves, seeds, cost."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from milepost_eval.report.outcome import Cell, Outcome
from milepost_lab.compare.found import ALL, Found
from milepost_lab.compare.material import LENGTHS


def tables(found: Found, model: str = "") -> list[Outcome]:
    """All tables for which there are figures.

    Args:
        found: the runs.
        model: what read the texts, for the note of the ranking; empty leaves it out.
    """
    made = [ranking(found, model)]
    if found.against is not None:
        made.append(against(found))
    if len(_lengths(found)) > 1:
        made.append(by_length(found))
    if steps_of(found):
        made.append(curves(found))
    if any(run.flat is not None for run in found.runs):
        made.append(stops(found))
    return [*made, by_seed(found), cost(found)]


def ranking(found: Found, model: str = "") -> Outcome:
    """All rows, best first; differences where there are any. For ``model`` see ``tables``."""
    apart = found.apart([(row, ALL) for row in found.rows])
    rows: list[tuple[Cell, ...]] = []
    for place, row in enumerate(found.rows, 1):
        run = found.any(row)
        one = apart.get((row, ALL))
        rows.append(
            (
                place,
                row,
                run.reads + (", query" if run.asks else ""),
                *(found.mean(row, task) for task in found.tasks),
                found.mean(row),
                *([str(one) if one else None] if apart else ()),
            )
        )
    sure = [row for (row, _), one in apart.items() if one.sure and one.difference.mean > 0]
    tasks = "sentences and of documents, these at all lengths together"
    note = (
        "nDCG@10 (images: accuracy) in per cent, 95 % intervals over documents. *Mean*: of "
        f"{tasks if _lengths(found) else 'the tasks of text'}; images are not in it."
    )
    if apart:
        note += (
            f" *Less {found.against}*: of the mean, in bold where it is sure: by interval and "
            "corrected p, and no seed says the opposite. Surely ahead of "
            f"{found.against}: {', '.join(sure) or 'none'}."
        )
    if tested := [task for task in found.tasks if found.asked(task).split == "test"]:
        note += f" Test questions: {', '.join(tested)}."
    if model:
        note += f" Model: {model}."
    less = [f"less {found.against}"] if apart else []
    columns = ("place", "pooling", "reads", *found.tasks, "mean", *less)
    return Outcome(columns, tuple(rows), note, (), "Ranking", "Which pooling finds most?")


def against(found: Found) -> Outcome:
    """Each row minus the one that all are compared with, on each task."""
    other = found.against
    apart = found.apart([(row, task) for row in found.rows for task in found.tasks])
    rows = tuple(
        (row, *(str(apart[row, task]) if (row, task) in apart else None for task in found.tasks))
        for row in found.rows
        if row != other
    )
    told: dict[str, list[str]] = {"Surely better": [], "Surely worse": []}
    for (row, task), one in apart.items():
        if one.sure:
            told["Surely better" if one.difference.mean > 0 else "Surely worse"].append(
                f"- {row}, {task}: {one.figure} points"
            )
    lists = [
        f"{how} than {other}:\n\n" + "\n".join(some or ["- none"]) for how, some in told.items()
    ]
    note = (
        f"{len(apart)} differences, p corrected for all of them; "
        f"{len(apart) - sum(map(len, told.values()))} cannot be told from chance.\n\n"
        + "\n\n".join(lists)
    )
    question = f"By how many points does a row lead {other} on a task?"
    return Outcome(("pooling", *found.tasks), rows, note, (), f"Against {other}", question)


def _lengths(found: Found) -> list[str]:
    return [task for task in found.tasks if task in LENGTHS]


def by_length(found: Found) -> Outcome:
    """The same documents and questions at each length."""
    tasks = _lengths(found)
    whole = [row for row in found.rows if all(found.of(row, task) for task in tasks)]
    places: dict[str, list[str]] = {
        task: [row for _, row in sorted((-found.score(row, task), row) for row in whole)]
        for task in tasks
    }

    def cells(row: str) -> Iterator[str]:
        yield row
        for task in tasks:
            yield f"{places[task].index(row) + 1}: {100 * found.score(row, task):.1f}"
        yield f"{100 * (found.score(row, tasks[-1]) - found.score(row, tasks[0])):+.1f}"

    rows = tuple(tuple(cells(row)) for row in places[tasks[-1]])
    note = "Place and nDCG@10."
    other = found.against
    if other in whole:
        said = [f"{task}: {places[task].index(other) + 1} of {len(whole)}" for task in tasks]
        note += f" {other}'s place: {'; '.join(said)}."
    columns = ("pooling", *tasks, f"{tasks[-1]} less {tasks[0]}")
    question = "What does the length of a document cost?"
    return Outcome(columns, rows, note, (), "By length", question)


def steps_of(found: Found) -> list[int]:
    """The steps behind which validation was measured; none without validation."""
    curves = (run.curve for run in found.runs if run.flat is None)
    return sorted({step for curve in curves for step, _ in curve})


def curve_of(found: Found, row: str) -> dict[int, float]:
    """Step → nDCG@10 on the validation pairs, mean of all trainings of a row."""
    # Tasks that train alike share a training, and so its curve.
    made = dict.fromkeys((run.seed, run.curve) for run in found.runs if run.row == row)
    at: dict[int, list[float]] = {}
    for _, curve in made:
        for step, figure in curve:
            at.setdefault(step, []).append(figure)
    return {step: fmean(figures) for step, figures in sorted(at.items())}


def curves(found: Found) -> Outcome:
    """Validation while training, and the learning rate that it chose."""
    steps = steps_of(found)
    rows: list[tuple[Cell, ...]] = []
    for row in found.rows:
        curve = curve_of(found, row)
        rates = sorted({run.rate for run in found.runs if run.row == row and run.rate is not None})
        if curve:
            cells = (f"{100 * curve[step]:.1f}" if step in curve else None for step in steps)
            rows.append((row, *cells, " / ".join(f"{rate:g}" for rate in rates) or None))
    note = (
        "nDCG@10 in per cent of the validation pairs, a sixth of the training pairs, mean of the "
        "seeds. They chose the learning rate, with the first seed; nothing else sees them."
    )
    columns = ("pooling", *(f"{step} steps" for step in steps), "rate")
    question = "Is the training long enough?"
    return Outcome(columns, tuple(rows), note, (), "Learning curves", question)


def stops(found: Found) -> Outcome:
    """Where trainings until the validation loss is flat ended, and the rate that it chose."""
    rows: list[tuple[Cell, ...]] = []
    for row in found.rows:
        runs = [run for run in found.runs if run.row == row and run.flat is not None]
        made = {run.seed: run for run in runs}  # tasks that train alike share a training
        if not made:
            continue
        ends = [run.curve[0] for run in made.values()]
        tried = sorted({float(rate) for run in runs for rate in run.tried})
        rates = sorted({run.rate for run in runs if run.rate is not None})
        shown = (f"{rate:g}" + "*" * (rate in (tried[0], tried[-1])) for rate in rates)
        rows.append(
            (
                row,
                f"{fmean(step for step, _ in ends):,.0f}",
                f"{sum(bool(run.flat) for run in made.values())} of {len(made)}",
                f"{100 * fmean(figure for _, figure in ends):.1f}",
                " / ".join(shown),
            )
        )
    note = (
        "Steps behind the weights that are kept, those of the lowest validation loss; seeds whose "
        "loss became flat before the cap of --steps; nDCG@10 in per cent of the validation pairs, "
        "a sixth of the training pairs. `*` marks a rate at an end of those tried."
    )
    columns = ("pooling", "steps", "flat", "validation", "rate")
    question = "Is the training long enough?"
    return Outcome(columns, tuple(rows), note, (), "Ends of trainings", question)


def by_seed(found: Found) -> Outcome:
    """Each seed alone, to show the variance of training."""
    rows = tuple(
        (
            row,
            *(
                " / ".join(f"{100 * seed:.1f}" for seed in found.seeds(row, task)) or None
                for task in found.tasks
            ),
        )
        for row in found.rows
    )
    numbers = sorted({run.seed for run in found.runs})
    note = f"Seeds {', '.join(map(str, numbers))}."
    question = "How far are the seeds apart?"
    return Outcome(("pooling", *found.tasks), rows, note, (), "Each seed alone", question)


def cost(found: Found) -> Outcome:
    """Parameters, widths and seconds."""
    rows: list[tuple[Cell, ...]] = []
    for row in found.rows:
        run = found.any(row)
        runs = [one for one in found.runs if one.row == row]
        trained = dict.fromkeys((one.seed, one.seconds[0]) for one in runs)
        scored = [[one.seconds[1] for one in found.of(row, task).values()] for task in found.tasks]
        rows.append(
            (
                row,
                run.parameters,
                run.width,
                f"{fmean(seconds for _, seconds in trained):.1f}",
                *(f"{fmean(seconds):.1f}" if seconds else None for seconds in scored),
            )
        )
    seconds = sum({(r.row, r.seed, r.seconds[0]): r.seconds[0] for r in found.runs}.values())
    # A run that was stored for several seeds has the same seconds, and they passed once.
    seconds += sum({(r.row, r.task, r.seconds): r.seconds[1] for r in found.runs}.values())
    tuned = steps_of(found) or any(run.flat is not None for run in found.runs)
    note = (
        "Parameters of the pooling, without the head. Seconds of one training, and of pooling and "
        f"scoring a task; reading is not counted. All runs together: {seconds / 60:.0f} minutes."
        + (" The first seed tried all rates." if tuned else "")
    )
    columns = ("pooling", "parameters", "width", "training, s", *(f"{t}, s" for t in found.tasks))
    return Outcome(columns, tuple(rows), note, (), "Cost", "What does a pooling cost?")
