"""The tables and the plain words of a report as Markdown, for the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable

from milepost_eval.compare import Overall
from milepost_eval.metrics import OF_DOCUMENTS
from milepost_eval.records import Record
from milepost_eval.report.arrange import SETTING_NAMES, Run, clean
from milepost_eval.report.table import MEAN, Table, of_run
from milepost_eval.report.verdict import comparisons, p_value, paragraphs, signed_interval

# Characters that Markdown would interpret; brackets of intervals and the underscores inside of
# names mean nothing to Markdown and stay legible in the source.
_SPECIAL = re.compile(r"[\\`*<>|&#~]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])")


def tables(records: Iterable[Record], *, ours: str) -> str:
    """Every system, task and budget with intervals, settings apart, in GitHub's Markdown.

    Each setting opens with what is better, worse and unknown, in words.

    Args:
        records: of one run.
        ours: the system that is compared with its best rivals; its rows are in bold.

    Raises:
        InputError: no records, or none of ours.
    """
    run = Run(records)
    run.check_system(ours)
    parts = []
    for setting in run.settings:
        parts.append(f"## {escape(SETTING_NAMES.get(setting, clean(setting)))}")
        metric = run.headline(setting)
        if metric is None:
            parts.append("Nothing was measured.")
            continue
        found = comparisons(run, ours, metric, setting)
        parts += map(escape, paragraphs(run, ours, metric, setting, found))
        parts += [_differences(metric, one) for one in found]
        # Documents are a question of their own: they are named beside what is read of them.
        shown = {metric, *(f"recall@{b}" for b in run.budgets), *OF_DOCUMENTS}
        parts += [
            _table(of_run(run, name, setting), ours)
            for name in run.metrics
            if name in shown and run.tasks(name, setting)
        ]
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    r"""Text as Markdown that shows it as it is, also inside a table.

    >>> print(escape("a|b*"))
    a\|b\*
    """
    return _SPECIAL.sub(r"\\\g<0>", text)


def _table(table: Table, ours: str) -> str:
    lines = [
        [f"**{escape(name)}**" if name == clean(ours) else escape(name), *cells]
        for name, *cells in table.rows
    ]
    notes = "".join(f"\n- {escape(note)}" for note in table.notes)
    body = _grid([*map(escape, table.headers)], lines)
    return f"### {escape(table.title)}\n\n{body}" + (f"\n{notes}" if notes else "")


def _differences(metric: str, found: Overall) -> str:
    named = [(escape(clean(row.task)), row.difference) for row in found.rows]
    lines = [
        [
            name,
            signed_interval(one),
            one.verdict,
            p_value(one.adjusted),
            f"{one.questions:,} / {one.clusters:,}",
        ]
        for name, one in (*named, *([(MEAN, found.difference)] if len(named) > 1 else []))
    ]
    title = f"### {escape(clean(found.a))} minus {escape(clean(found.b))}, {escape(metric)}, points"
    headers = ["task", "difference", "ours is", "p (Holm)", "questions / documents"]
    return f"{title}\n\n{_grid(headers, lines)}"


def _grid(headers: list[str], lines: list[list[str]]) -> str:
    marks = ["---", *["---:"] * (len(headers) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [headers, marks, *lines])
