"""Write ``docs/results-passages.md`` from what the benches left.

    python tools/make_passages.py

Reads ``growth.json`` (``bench/growth.py --report``) and ``diversity.json``
(``bench/diversity.py --report``) under ``bench/results``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"

HEAD = """\
# From sentences to passages

Made by `python tools/make_passages.py`; do not edit it here.

See here why passages grow as far as they do, and why similar sentences are not penalised.
Development questions, without reranking.
"""

GROWTH = """\
## How far a hit grows

{date}, `python bench/growth.py --model FOLDER` ({model}): {questions} questions asked of their
document without a budget. F1 in characters between the first passage and the sentences that
contain evidence (%, mean of tasks), by how far below the hit a neighbour's score may lie
(`growth_threshold`) and by the maximum length of a passage (`LONG`); **{drop:g} and 1,200
characters are the defaults**. Longer passages would gain a point on `meetings`, whose evidence is
long, but are tedious to read.
"""

DIVERSITY = """\
## Whether diverse sentences find more

{date}, `python bench/diversity.py --model FOLDER` ({model}). Within a budget, sentences are
selected by their length-adjusted score minus a weight times their similarity to the most similar
sentence already selected: by the cosine of their landmarks (`vectors`; maximal marginal relevance)
or by proximity in the document (`places`; a weight below 0 prefers neighbours). Evidence found
within 1,600 characters, %; `scattered` are the {scattered} questions of `written` whose evidence
is in two or three places (also part of `written`).

{verdict}
"""


def growth(report: dict[str, Any]) -> Iterator[str]:
    """F1 by length and growth threshold."""
    fields = {name: report[name] for name in ("date", "model", "questions")}
    yield GROWTH.format(**fields, drop=report["ships"]["drop"])
    drops = list(dict.fromkeys(row["drop"] for row in report["rows"]))
    yield f"| longest passage | {' | '.join(f'threshold {drop:g}' for drop in drops)} |"
    yield "|---:" * (len(drops) + 1) + "|"
    for length in dict.fromkeys(row["length"] for row in report["rows"]):
        cells = [row["mean"] for row in report["rows"] if row["length"] == length]
        yield f"| {length:,} | {' | '.join(f'{100 * mean:.1f}' for mean in cells)} |"
    yield ""


def diversity(report: dict[str, Any]) -> Iterator[str]:
    """Evidence found by similarity and weight."""
    budget = report["budgets"].index(1600)
    rows = report["rows"]
    plain = {row["setting"]: row["mean"][budget] for row in rows if not row["weight"]}
    best = max(rows, key=lambda row: row["mean"][budget] - plain[row["setting"]])
    gain = best["mean"][budget] - plain[best["setting"]]
    verdict = (
        f"The largest gain of any row on the mean is {gain:.1f} points, too little to be "
        "sure of, so the search\ndoes none of this."
    )
    fields = {name: report[name] for name in ("date", "model")}
    yield DIVERSITY.format(**fields, scattered=report["questions"]["scattered"], verdict=verdict)
    for setting, title in (
        ("document", "the document given"),
        ("collection", "a collection searched"),
    ):
        groups = list(rows[0]["found"])
        yield f"| {title}: similarity, weight | {' | '.join(groups)} | mean of tasks |"
        yield "|---" + "|---:" * (len(groups) + 1) + "|"
        for row in rows:
            if row["setting"] != setting:
                continue
            cells = [f"{row['found'][group][budget]:.1f}" for group in groups]
            name = f"{row['likeness']}, {row['weight']:g}" if row["weight"] else "the search"
            yield f"| {name} | {' | '.join(cells)} | {row['mean'][budget]:.1f} |"
        yield ""


def page(grown: dict[str, Any], alike: dict[str, Any]) -> str:
    """The whole page."""
    return "\n".join([HEAD, *growth(grown), *diversity(alike)])


def measured() -> tuple[dict[str, Any], dict[str, Any]]:
    """What the benches left."""

    def read(name: str) -> dict[str, Any]:
        held: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
        return held

    return read("growth.json"), read("diversity.json")


def main() -> None:
    """Read the figures, write the page."""
    text = page(*measured())
    (ROOT / "docs" / "results-passages.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
