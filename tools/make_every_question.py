"""Write ``docs/results-every-question.md`` from records of every test question.

    python tools/make_every_question.py

``docs/results.md`` asks at most 300 questions of a task; this page asks all of them, of the systems
that matter and with the document given. Needs the extra ``eval``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from best_of_each import COMMON, METRIC, line, overall, table
from milepost.engine.manifest import read_manifest
from milepost_eval.compare import Overall, TaskDifference
from milepost_eval.records import Record, read
from milepost_eval.report.table import signed_interval

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "bench" / "results" / "eval-test-every.jsonl.xz"
TARGET = ROOT / "docs" / "results-every-question.md"

SHIPS = ROOT / "src" / "milepost" / "models" / "landmark-minilm"
"""The model that ``landmark`` is today."""
OURS = "landmark"
ALONE = {
    "landmark-only": "each sentence by its own landmark",
    "landmark-scales": "each sentence with its neighbours (±0, ±1, ±3), as BM25 at several scales",
}
"""The landmarks without words."""
ALONE_RIVALS = (
    "sentence@minilm", "sentence-scales@minilm", "sentence@landmark", "sentence-scales@landmark",
    "chunk:tuned@landmark", "late-chunk:tuned@landmark", "bm25:tuned",
)  # fmt: skip
"""The rivals of the landmarks alone."""
BUDGETS = (800, 1600, 3200)

HEAD = """\
# Every test question

Made by `python tools/make_every_question.py`; do not edit it here. {made}.
{before}
See here how the search compares with other systems on every test question, {questions:,} in all,
about {documents} documents, with the document given. [results.md](results.md) has all systems and
both settings, but at most 300 questions of a task; this page decides what those leave open, as far
as the data can. Nothing was chosen on these questions. The command, for each task; the run of
`results.md` included every question of {whole}, so their rows are from there:

    milepost eval run --tasks {task} --systems {systems} \\
        --split test --setting document --dtype bfloat16 --data ../shared/data --json

Evidence found, in per cent; intervals (95 %) resample documents, and the mean weights all tasks
equally.
"""


BEFORE = """
**These are figures of earlier weights**, `{model}`; those that ship, `{ships}`, were as good on
development questions ([decision 47](decisions/0047-ship-the-clean-english-model.md)) and have not
been asked every test question yet.
"""


def page(records: Sequence[Record]) -> str:
    """The whole page."""
    return "\n".join(
        [head(records), *systems(records), *search(records), *alone(records), *kinds(records)]
    )


def head(records: Sequence[Record]) -> str:
    """How the records were made."""
    mine = [record for record in records if record.system == OURS]
    commits = sorted({record.commit for record in records})
    one = mine[0]
    shown = ", ".join(f"`{commit}`" for commit in commits)
    made = (
        f"{max(record.date for record in records)}, commits {shown}, "
        f"Milepost {one.version}, {one.machine}, model `{one.fingerprint}`"
    )
    names = list(dict.fromkeys(record.system for record in records))
    ships = read_manifest(SHIPS).fingerprint
    before = (
        ""
        if one.fingerprint.startswith(ships)
        else BEFORE.format(model=one.fingerprint, ships=ships)
    )
    lines = [",".join(names[at : at + 4]) for at in range(0, len(names), 4)]
    return HEAD.format(
        made=made,
        before=before,
        questions=sum(record.questions for record in mine),
        documents=sum(record.documents for record in mine),
        whole=", ".join(record.task for record in mine if record.questions < 300),
        task="TASK",
        systems=",\\\n        ".join(lines),
    )


def systems(records: Sequence[Record]) -> Iterator[str]:
    """Every system and task, best mean first."""
    tasks = _tasks(records)
    figures = {(r.system, r.task): 100 * r.metrics[METRIC] for r in records}
    names = list(dict.fromkeys(record.system for record in records))
    mean = {name: fmean(figures[name, task] for task in tasks) for name in names}
    asked = {r.task: r.questions for r in records if r.system == OURS}
    yield "## Within 1,600 characters\n"
    yield line("system", *(f"{task} ({asked[task]:,})" for task in tasks), "mean")
    yield line("---", *["---:"] * (len(tasks) + 1))
    for name in sorted(names, key=mean.__getitem__, reverse=True):
        cells = [f"{figures[name, task]:.1f}" for task in tasks]
        shown = f"**{name}**" if name == OURS else name
        yield line(shown, *cells, f"{mean[name]:.1f}")
    yield ""


def search(records: Sequence[Record]) -> Iterator[str]:
    """The search against the best set-up of each task, chosen after the fact, and others."""
    yield "## The search against the best of each task\n"
    yield (
        "The best of the common set-ups (BM25 or MiniLM over sentences or chunks, or both fused: "
        f"{', '.join(f'`{name}`' for name in COMMON)}), chosen for each task after the fact, "
        "which a user cannot do.\n"
    )
    yield from table(records, OURS, COMMON)
    yield "The same search compared with one set-up for all tasks:\n"
    rivals = [n for n in dict.fromkeys(r.system for r in records) if n not in (OURS, *ALONE)]
    yield from _overalls([overall(records, OURS, name) for name in rivals])


def alone(records: Sequence[Record]) -> Iterator[str]:
    """The landmarks without words against other vectors and BM25."""
    yield "## The landmarks alone, without words\n"
    for name, meaning in ALONE.items():
        yield f"`{name}`: {meaning}.\n"
        yield from _overalls([overall(records, name, rival) for rival in ALONE_RIVALS])


def kinds(records: Sequence[Record]) -> Iterator[str]:
    """The kinds of ``written`` against the common set-up that finds most of them."""
    yield "## Kinds of question of `written`\n"
    yield (
        "Compared with the common set-up that finds most on the kind at the budget. *Left*: what "
        "that set-up leaves to gain, 100 minus its figure; a difference cannot be larger.\n"
    )
    yield line(
        "kind", "questions", "characters", "search", "best common set-up", "", "difference", "left"
    )
    yield line("---", "---:", "---:", "---:", "---", "---:", "---:", "---:")
    written = [record for record in records if record.task == "written"]
    mine = next(record for record in written if record.system == OURS)
    for kind in sorted(set(mine.per_question.kinds)):
        for budget in BUDGETS:
            metric = f"recall@{budget}"
            rival = max(
                (record for record in written if record.system in COMMON),
                key=lambda record: _of_kind(record, kind, metric),
            )
            own, other = (_of_kind(record, kind, metric) for record in (mine, rival))
            row = overall([mine, rival], OURS, rival.system, metric).rows[0]
            asked = row.kinds[kind].questions
            yield line(
                kind, f"{asked}", f"{budget:,}", f"{own:.1f}", f"`{rival.system}`", f"{other:.1f}",
                signed_interval(row.kinds[kind]), f"{100 - other:.1f}",
            )  # fmt: skip
    yield ""


def _overalls(all_found: Sequence[Overall]) -> Iterator[str]:
    yield line("compared with", "this", "rival", "mean difference", "behind on")
    yield line("---", "---:", "---:", "---:", "---")
    for found in sorted(all_found, key=lambda one: one.difference.mean):
        behind = ", ".join(map(_behind, (row for row in found.rows if row.difference.mean < 0)))
        yield line(
            found.b, f"{100 * found.mean_a:.1f}", f"{100 * found.mean_b:.1f}",
            signed_interval(found.difference), behind or "nothing",
        )  # fmt: skip
    yield ""


def _behind(row: TaskDifference) -> str:
    return f"{row.task} {signed_interval(row.difference)}, {row.difference.verdict}"


def _of_kind(record: Record, kind: str, metric: str) -> float:
    asked = record.per_question
    return 100 * fmean(
        value for value, its in zip(asked.figures[metric], asked.kinds, strict=True) if its == kind
    )


def _tasks(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(record.task for record in records))


def main() -> None:
    """Read the records, write the page."""
    text = page(read(RECORDS))
    TARGET.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
