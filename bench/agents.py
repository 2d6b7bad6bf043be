"""Tokens that an agent reads until it has seen the evidence: Milepost, chunks, grep and reading.

    python bench/agents.py [--questions 20] [--documents 4] [--data FOLDER] [--json FILE]

The questions are the development questions of the tasks, each about a document that the agent
knows. All tokens are counted by the model's tokenizer, in what the agent is given.

- *Milepost*: one call of the tool `search` at each budget, its whole result as JSON, with titles,
  offsets and scores; and the sentences in it alone.
- *chunks*: the texts of the best 1, 2, 3 … chunks; nothing is counted for where they are from.
- *grep*: the lines that hold the question's words, the rarest word first, each line once, until
  they are all read; then the rest of the file. The agent picks the words best first and stops as
  soon as the evidence was shown, which no agent can know: real ones read more.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import milepost
from milepost.library import Library
from milepost.mcp.tools import Tools
from milepost.terms import STOP_WORDS, terms
from milepost.types import Document
from milepost_eval.session import Session

BUDGETS = (300, 500, 800, 1200, 2000, 3000, 5000)
CHUNKS = {
    "chunks of 1,000 characters, MiniLM": "chunk:recursive:1000-200@minilm",
    "chunks of 1,000 characters, BM25": "bm25:recursive:1000-200",
    "chunks as tuned, MiniLM and BM25": "chunk:tuned@minilm+bm25",
}
MOST = 60
"""Chunks that an agent looks at, at most."""

Spans = Sequence[tuple[int, int]]
Curve = list[tuple[float, float]]
"""Tokens read so far, and the part of the evidence seen."""


def seen(evidence: Spans, read: Spans) -> float:
    """The part of the evidence's characters that was read."""
    total = sum(end - start for start, end in evidence)
    covered = {
        place
        for start, end in evidence
        for a, b in read
        for place in range(max(start, a), min(end, b))
    }
    return len(covered) / total


def by_milepost(
    tools: Tools, count, name: str, question: str, evidence: Spans
) -> tuple[Curve, Curve]:
    """One call at each budget: tokens of the whole result, and of its sentences alone."""
    whole, alone = [], []
    for budget in BUDGETS:
        result = tools.search(question, budget, documents=[name])
        part = seen(evidence, [(each.start, each.end) for each in result.passages])
        whole.append((count(result.model_dump_json(exclude_none=True)), part))
        alone.append((sum(count(each.text) for each in result.passages), part))
    return whole, alone


def by_chunks(ranking, count, text: str, evidence: Spans) -> Curve:
    """The best chunks, one after the other."""
    curve, tokens, read = [], 0, []
    for place in ranking.best(MOST):
        tokens += count(text[place.start : place.end])
        read.append((place.start, place.end))
        curve.append((tokens, seen(evidence, read)))
    return curve


def lines_of(text: str) -> list[tuple[int, int]]:
    """Start and end of each line."""
    ends = [match.end() for match in re.finditer(r"\n", text)]
    return list(zip([0, *ends], [*ends, len(text)], strict=True))


def by_grep(count, document: Document, question: str, evidence: Spans) -> Curve:
    """Lines with the rarest word first, then the rest of the file."""
    lines = lines_of(document.text)
    folded = [document.text[start:end].lower() for start, end in lines]
    words = [word for word in re.findall(r"\w+", question.lower()) if word not in STOP_WORDS]
    stems = {terms(word)[0] for word in words if terms(word)}  # what an agent would shorten, too
    hits = {stem: [n for n, line in enumerate(folded) if stem in line] for stem in stems}
    curve: Curve = [(0.0, 0.0)]
    tokens, read, shown = 0, [], set()
    order = sorted((stem for stem in hits if hits[stem]), key=lambda stem: (len(hits[stem]), stem))
    for numbers in (*(hits[stem] for stem in order), range(len(lines))):
        for number in numbers:
            if number in shown:
                continue
            shown.add(number)
            start, end = lines[number]
            tokens += count(document.text[start:end])
            read.append((start, end))
            part = seen(evidence, read)
            if part > curve[-1][1]:
                curve.append((tokens, part))
            if part == 1.0:
                return curve
    return curve


def mean_at(curves: Sequence[Curve], wanted: float) -> float:
    """Mean tokens until this part of the evidence is seen on average; NaN where it never is.

    Every question's agent stops at the same number of tokens; between two points of the mean curve
    it is a straight line.
    """
    grid = np.unique(np.concatenate([[tokens for tokens, _ in curve] for curve in curves]))
    mean = np.zeros(len(grid))
    for curve in curves:
        tokens = np.array([each[0] for each in curve])
        part = np.maximum.accumulate([each[1] for each in curve])
        place = np.searchsorted(tokens, grid, side="right") - 1
        mean += np.where(place >= 0, part[np.maximum(place, 0)], 0.0)
    mean /= len(curves)
    reached = np.flatnonzero(mean >= wanted)
    return float(grid[reached[0]]) if len(reached) else float("nan")


def measured(options: argparse.Namespace) -> Iterator[tuple[str, str, Curve]]:
    """Task, system and curve of every question."""
    session = Session(
        tasks=options.tasks.split(","),
        split="dev",
        questions=options.questions,
        documents=options.documents,
        data=options.data,
        cache=options.cache,
    )
    systems = {name: session.factory.make(spec) for name, spec in CHUNKS.items()}
    encoder = milepost.load()
    count = encoder.count_tokens
    for task, _ in session.loaded():
        documents = {document.name: document for document in task.documents}
        for name in dict.fromkeys(question.document for question in task.questions):
            document = documents[name]
            asked = [each for each in task.questions if each.document == name and each.spans]
            with milepost.open(None, model=encoder) as index:
                index.add(document)
                tools = Tools(Library(index, Path("/nowhere")))
                for question in asked:
                    both = by_milepost(tools, count, name, question.text, question.spans)
                    yield task.name, "Milepost", both[0]
                    yield task.name, "Milepost, its sentences alone", both[1]
                    curve = by_grep(count, document, question.text, question.spans)
                    yield task.name, "grep, then reading", curve
            for label, system in systems.items():
                opened = system.open([document])
                rankings = opened.search([question.text for question in asked])
                for question, ranking in zip(asked, rankings, strict=True):
                    curve = by_chunks(ranking, count, document.text, question.spans)
                    yield task.name, label, curve


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tasks", default="all")
    parser.add_argument("--questions", type=int, default=20, help="of each task")
    parser.add_argument("--documents", type=int, default=4, help="of each task")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--json", type=Path, help="write every curve here")
    options = parser.parse_args()
    curves: dict[str, list[Curve]] = {}
    rows = []
    for task, system, curve in measured(options):
        curves.setdefault(system, []).append(curve)
        rows.append({"task": task, "system": system, "curve": curve})
    if options.json:
        options.json.write_text(json.dumps(rows), encoding="utf-8")
    wanted = (0.5, 0.6, 0.7, 0.8)
    print(f"{len(curves['Milepost'])} questions\n")
    print("| evidence seen, mean |" + "".join(f" {100 * each:.0f} % |" for each in wanted))
    print("|---|" + "---:|" * len(wanted))
    for system, each in curves.items():
        cells = [mean_at(each, part) for part in wanted]
        print(f"| {system} |" + "".join(f" {cell:,.0f} |" for cell in cells))


if __name__ == "__main__":
    main()
