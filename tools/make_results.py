"""Write ``docs/results.md`` and its plot from the records in ``bench/results``.

    python tools/make_results.py

The records come from the commands that the page names. Needs the extra ``eval``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from best_of_each import COMMON, METRIC, STRONG, table
from milepost_eval.records import Record, read
from milepost_eval.report import as_markdown, budget_plot, rows
from milepost_eval.report.table import percent

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
TARGET = ROOT / "docs" / "results.md"
PLOTS = ROOT / "docs" / "results"
PLOT = PLOTS / "budgets.svg"

PLACES = RESULTS / "eval-test.jsonl.xz"
DOCUMENTS = RESULTS / "eval-test-documents.jsonl.xz"
EXPERIMENTS = RESULTS / "experiments-dev.md"
TUNED = RESULTS / "tuned.json"
"""Every candidate of the rivals' settings with its figure on development questions."""

WORDS = RESULTS / "results-words.md"
"""Conclusions from the figures, written by hand."""

OURS = "landmark"

HEAD = """\
# Results

Made by `python tools/make_results.py` from the records in `bench/results`; do not edit it here.
Read here what Milepost finds and what other systems find on the same questions.
[evaluation.md](evaluation.md) explains the names.
"""

SETTINGS = {"document": "The document is given", "collection": "The collection is searched"}

BEST = """\
Of each task the set-up that finds most within 1,600 characters, chosen after the fact: sentences
or chunks, words, vectors, or both fused. First with BM25 and MiniLM, then with
multilingual-e5-small and a learned sparse model (SPLADE) as well.
"""

COMMANDS = """\
## How these figures were made

{facts}

Test questions, once, after everything was chosen on development questions:

    milepost eval run --tasks all --systems all --split test --setting both \\
        --questions {questions} --dtype bfloat16 --data ../shared/data --json \\
        | xz > bench/results/eval-test.jsonl.xz
    milepost eval run --tasks articles --split test --setting collection --documents 80 \\
        --systems documents,landmark,landmark-only,bm25,bm25:tuned,bm25-scales,{chunks} \\
        --dtype bfloat16 --data ../shared/data --json \\
        | xz > bench/results/eval-test-documents.jsonl.xz

The rivals' settings were chosen on development questions by one procedure for all
(`--questions 150 --documents 14`, see [below](#what-was-tuned)). The experiments:

    milepost lab landmark all --split dev --documents 14 --questions 150 \\
        --data ../shared/data --report docs/results/experiment.html \\
        > bench/results/experiments-dev.md

Time to read and to search, first run with an empty cache: {minutes:.0f} minutes for the first
command, {minutes_documents:.0f} for the second.
"""


def main() -> None:
    """Write the page and its plot."""
    places, documents = read(PLACES), read(DOCUMENTS)
    PLOTS.mkdir(exist_ok=True)
    PLOT.write_text(budget_plot(places, OURS), encoding="utf-8")
    parts = [
        HEAD,
        WORDS.read_text(encoding="utf-8"),
        _commands(places, documents),
        "# The eight span-labelled tasks\n",
        f"![Evidence found at each budget](results/{PLOT.name})\n",
        *(as_markdown(rows(places, METRIC, setting), OURS) for setting in SETTINGS),
        "# Against the best set-up of each task\n",
        _best_of_each(places),
        "# Documents: from a title or heading to its article\n",
        as_markdown(rows(documents, "ndcg@10", "collection"), OURS),
        "# What was tuned\n",
        _tuned(json.loads(TUNED.read_text(encoding="utf-8"))),
        "# Experiments\n",
        _experiments(),
    ]
    TARGET.write_text("\n".join(part.rstrip() + "\n" for part in parts), encoding="utf-8")


def _best_of_each(records: Sequence[Record]) -> str:
    """The harshest comparison, in both settings, without and with the stronger rivals."""
    parts = [BEST]
    for setting, title in SETTINGS.items():
        some = [record for record in records if record.setting == setting]
        for among, which in ((COMMON, "BM25 and MiniLM"), (STRONG, "e5 and SPLADE included")):
            parts += [f"### {title}: {which}\n", *table(some, OURS, among)]
    return "\n".join(parts)


def _commands(places: Sequence[Record], documents: Sequence[Record]) -> str:
    one = max(places, key=lambda record: record.date)
    fingerprints = sorted({r.fingerprint for r in places if r.system == OURS})
    facts = (
        f"{one.date}, {_commits(places)}, Milepost {one.version}, {one.machine}; "
        f"Milepost's model `{', '.join(fingerprints)}`."
    )
    most = max(record.questions for record in places)
    return COMMANDS.format(
        facts=facts,
        questions=most,
        chunks="chunk:tuned@minilm,chunk:tuned@minilm+bm25",
        minutes=_minutes(places),
        minutes_documents=_minutes(documents),
    )


def _commits(records: Sequence[Record]) -> str:
    """Which commits measured how much; each record names its own."""
    rows = Counter(record.commit for record in records)
    if len(rows) == 1:
        return f"commit `{records[0].commit}`"
    shown = ", ".join(f"`{commit}` {count}" for commit, count in rows.most_common())
    return f"rows by commit: {shown} (each record names its own)"


def _minutes(records: Sequence[Record]) -> float:
    """Of the commit that measured most: later rows were measured beside other work."""
    commits = [record.commit for record in records]
    most = max(set(commits), key=commits.count)
    records = [record for record in records if record.commit == most]
    return sum(record.open_seconds + record.search_seconds for record in records) / 60


def _tuned(tuned: dict[str, Any]) -> str:
    """The choice of each family, with the runners-up."""
    asked = ", ".join(f"{name} {questions}" for name, (questions, _) in tuned["tasks"].items())
    lines = [
        f"Development questions asked ({tuned['date']}, commit `{tuned['commit']}`): {asked}. "
        "The figure is evidence recall, mean of 800, 1,600 and 3,200 characters, then of tasks; "
        "one choice for all tasks. All candidates: `bench/results/tuned.json`.\n",
        "| name | stands for | figure | next best | worst of all tried |",
        "|---|---|---|---|---|",
    ]
    for family, grid in tuned["grids"].items():
        order = sorted(grid, key=grid.__getitem__, reverse=True)
        cells = [f"`{name}` {percent(grid[name])}" for name in (order[1], order[-1])]
        best = tuned["choices"][family]
        lines.append(f"| `{family}` | `{best}` | {percent(grid[best])} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _experiments() -> str:
    """The experiments' tables, each with its plot."""
    text = EXPERIMENTS.read_text(encoding="utf-8")
    parts = []
    for section in text.split("\n### "):
        name = section.removeprefix("### ").partition("\n")[0].strip()
        plot = PLOTS / f"experiment-{name}.svg"
        picture = f"\n![{name}](results/{plot.name})\n" if plot.is_file() else ""
        parts.append(f"## {section.removeprefix('### ').strip()}\n{picture}")
    return "\n".join(parts)


if __name__ == "__main__":
    main()
