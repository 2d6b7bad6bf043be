"""The search against the best set-up of each task, chosen after the fact: what no user can do.

``make_results.py`` and ``make_every_question.py`` print it. Needs the extra ``eval``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from milepost_eval.compare import Overall, against
from milepost_eval.records import Record
from milepost_eval.report.table import signed_interval

COMMON = (
    "bm25", "bm25:400", "bm25:tuned", "bm25:langchain", "bm25s:tuned", "sentence@minilm",
    "chunk:tuned@minilm", "sentence:tuned@minilm+bm25", "sentence@minilm+bm25/rank",
    "chunk:tuned@minilm+bm25", "chunk:tuned@minilm+bm25/rank", "chunk:langchain@minilm",
    "chunk:langchain@minilm+bm25/rank",
)  # fmt: skip
"""Set-ups of BM25 and MiniLM over sentences or chunks, or both fused, in common use."""
STRONG = (
    *COMMON, "sentence@e5", "chunk:tuned@e5", "sentence:tuned@e5+bm25", "sentence@e5+bm25/rank",
    "chunk:tuned@e5+bm25", "chunk:tuned@e5+bm25/rank", "splade:tuned", "splade:tuned+bm25",
    "splade:tuned+bm25/rank",
)  # fmt: skip
"""The same with multilingual-e5-small and a learned sparse model."""
METRIC = "recall@1600"
_BEST = "the best set-up of each task"


def best_of_each(records: Sequence[Record], among: Sequence[str]) -> list[Record]:
    """Of each task the record of the system that finds most."""
    tasks = dict.fromkeys(record.task for record in records)
    return [
        max((r for r in records if r.task == task and r.system in among), key=_figure)
        for task in tasks
    ]


def overall(records: Sequence[Record], ours: str, rival: str, metric: str = METRIC) -> Overall:
    """One system minus another, in the setting of the records."""
    setting = records[0].setting
    return against(records, ours, metric, setting, [rival])[0].overall[0]


def table(records: Sequence[Record], ours: str, among: Sequence[str]) -> Iterator[str]:
    """Lines of a table: each task, its best set-up, both figures and their difference.

    Args:
        records: of one setting.
        ours: the system that is compared.
        among: systems to choose from.
    """
    best = best_of_each(records, among)
    chosen = {record.task: record.system for record in best}
    joined = [*records, *(replace(record, system=_BEST) for record in best)]
    found = overall(joined, ours, _BEST)
    yield line("task", "best set-up", "search", "rival", "difference", "verdict", "p")
    yield line("---", "---", "---:", "---:", "---:", "---", "---:")
    for row in found.rows:
        own, other = 100 * row.mean_a, 100 * row.mean_b
        yield line(
            row.task, f"`{chosen[row.task]}`", f"{own:.1f}", f"{other:.1f}",
            signed_interval(row.difference), row.difference.verdict, f"{row.adjusted:.3f}",
        )  # fmt: skip
    own, other = 100 * found.mean_a, 100 * found.mean_b
    yield line(
        "**mean**", "", f"{own:.1f}", f"{other:.1f}", signed_interval(found.difference), "", ""
    )
    yield ""


def line(*cells: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def _figure(record: Record) -> float:
    return record.metrics[METRIC]
