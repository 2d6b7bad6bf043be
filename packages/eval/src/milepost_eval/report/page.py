"""One file of HTML that says everything about a run and loads nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost.writing import write_text
from milepost_eval.compare import Overall
from milepost_eval.metrics import AT_BUDGET, AT_RANK, OF_DOCUMENTS
from milepost_eval.records import Record
from milepost_eval.report.arrange import SETTING_NAMES, Run, clean
from milepost_eval.report.drawing import settings, swatch
from milepost_eval.report.plots import Plot, drawn, plots
from milepost_eval.report.table import MEAN, MISSING, of_run
from milepost_eval.report.verdict import comparisons, p_value, paragraphs, signed_interval
from milepost_eval.statistics import Difference

GLOSSARY = {
    **{f"{name}@B": meaning for name, meaning in AT_BUDGET.items()},
    **AT_RANK,
    **OF_DOCUMENTS,
}
"""Metric → what it is; ``B`` is a budget of characters."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of the table of differences."""

    task: str
    difference: str
    verdict: str
    p: str
    corrected: str
    asked: str


def write_page(path: Path, records: Iterable[Record], *, ours: str, command: str) -> None:
    """Write the page to a file; see ``page``.

    Raises:
        InputError: as ``page``, or the file cannot be written.
    """
    write_text(path, page(records, ours=ours, command=command))


def page(records: Iterable[Record], *, ours: str, command: str) -> str:
    """The report of a run as self-contained HTML: the same bytes for the same records.

    Args:
        records: of one run.
        ours: the system that is compared with its best rivals.
        command: what to type to get the same figures.

    Raises:
        InputError: no records, or none of ours.
        MissingExtra: matplotlib or jinja2 is not installed.
    """
    run = Run(records)
    run.check_system(ours)
    jinja2 = require("jinja2", extra="eval")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    template = Path(__file__).with_name("page.html.j2").read_text(encoding="utf-8")
    with settings():
        sections = [_section(run, ours, setting) for setting in run.settings]
    text: str = environment.from_string(template).render(
        title=f"Milepost evaluation: {', '.join(_each(run, 'split'))} questions",
        ours=clean(ours),
        head=_head(run),
        command=clean(command),
        sections=sections,
        costs=_costs(run),
        glossary=GLOSSARY,
        missing=MISSING,
    )
    return text


def _each(run: Run, field: str) -> list[str]:
    """The different values of a field of the records, "" left out."""
    found = dict.fromkeys(str(getattr(record, field)) for record in run.records)
    return [clean(value) for value in found if value]


def _head(run: Run) -> dict[str, str]:
    """What was measured, when and on what."""
    sizes: dict[str, tuple[int, int]] = {}
    for record in run.records:
        questions, documents = sizes.get(record.task, (0, 0))
        sizes[record.task] = max(questions, record.questions), max(documents, record.documents)
    return {
        "Date": ", ".join(_each(run, "date")),
        "Milepost": ", ".join(_each(run, "version")),
        "Commit": ", ".join(_each(run, "commit")) or "outside of a checkout",
        "Machine": "; ".join(_each(run, "machine")),
        "Split": ", ".join(_each(run, "split")),
        "Questions": f"{sum(questions for questions, _ in sizes.values()):,} in all: "
        + ", ".join(f"{clean(task)} {questions:,}" for task, (questions, _) in sizes.items()),
        "Documents": f"{sum(documents for _, documents in sizes.values()):,} in all: "
        + ", ".join(f"{clean(task)} {documents:,}" for task, (_, documents) in sizes.items()),
    }


def _section(run: Run, ours: str, setting: str) -> dict[str, Any]:
    """All that the template says of one setting."""
    metric = run.headline(setting)
    found = comparisons(run, ours, metric, setting) if metric else []
    main = [f"recall@{budget}" for budget in run.budgets]
    shown = [name for name in run.metrics if run.tasks(name, setting)]
    return {
        "name": clean(setting),
        "heading": SETTING_NAMES.get(setting, clean(setting)),
        "metric": metric or "",
        "words": paragraphs(run, ours, metric, setting, found) if metric else [],
        "tables": [of_run(run, name, setting) for name in shown if name in main or name == metric],
        "more": [
            of_run(run, name, setting) for name in shown if name not in main and name != metric
        ],
        "comparisons": [{"rival": clean(one.b), **_rows(one)} for one in found],
        "plots": [
            # A prefix of ids goes into drawings as it is: nothing of it may come from a record.
            _shown(plot, f"{run.settings.index(setting)}-{plot.key}")
            for plot in (plots(run, ours, metric, setting, found) if metric else [])
        ],
    }


def _rows(found: Overall) -> dict[str, Any]:
    several = len(found.rows) > 1
    return {
        "rows": [
            _row(row.task, row.difference, p_value(row.difference.adjusted)) for row in found.rows
        ],
        "total": _row(MEAN, found.difference, MISSING) if several else None,
        "wilcoxon": p_value(found.wilcoxon) if several else "",
    }


def _row(task: str, one: Difference, corrected: str) -> _Row:
    return _Row(
        clean(task),
        signed_interval(one),
        one.verdict,
        p_value(one.p),
        corrected,
        f"{one.questions:,} / {one.clusters:,}",
    )


def _shown(plot: Plot, prefix: str) -> dict[str, Any]:
    return {
        "title": plot.title,
        "caption": plot.caption,
        "legend": [
            (name, swatch(style, f"{prefix}-key-{number}-"))
            for number, (name, style) in enumerate(plot.legend)
        ],
        "panels": [
            drawn(panel, f"{prefix}-{number}-", f"{plot.title}: {panel.title}")
            for number, panel in enumerate(plot.panels)
        ],
    }


def _costs(run: Run) -> list[tuple[str, ...]]:
    """System, fingerprint, time and tokens, summed over its tasks and settings."""
    found: list[tuple[str, ...]] = []
    for system in dict.fromkeys(record.system for record in run.records):
        of = [record for record in run.records if record.system == system]
        searching = sum(record.search_seconds for record in of)
        asked = sum(record.questions for record in of)
        kept = sum(record.cached for record in of)
        found.append(
            (
                clean(system),
                ", ".join(dict.fromkeys(clean(record.fingerprint) for record in of)) or MISSING,
                f"{sum(record.open_seconds for record in of):,.1f}",
                f"{1000 * searching / asked:,.1f}" if asked else MISSING,
                f"{sum(record.tokens for record in of):,}",
                f"{kept} of {len(of)}",
            )
        )
    return found
