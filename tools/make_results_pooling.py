"""Write ``docs/results-pooling.md`` and its plots from the runs of `milepost lab compare`.

    python tools/make_results_pooling.py [bench/results/pooling.jsonl.xz]

The page is printed as well; every judgement on it follows from intervals and seeds. Needs the
extras ``train`` and ``eval``.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from milepost_eval.report.outcome import as_markdown
from milepost_lab.compare.cache import ResultCache
from milepost_lab.compare.found import Found
from milepost_lab.compare.pictures import differences, lengths
from milepost_lab.compare.recipe import CompareRecipe
from milepost_lab.compare.tables import tables

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "bench" / "results" / "pooling.jsonl.xz"
PAGE = "results-pooling.md"

HEAD = """\
# Poolings compared

Made by `python tools/make_results_pooling.py` from {source}; do not edit it here.
{made}.

    milepost lab compare --pool all --seeds 3 --no-tune --json pooling.jsonl.xz

See here which pooling finds most on the same frozen token states, with the same head, batches and
{steps} steps, {seeds}. [pooling.md](pooling.md#compare-all) explains the comparison and its
limits.

This table is not a test of the paper's claim about LMK (arXiv 2601.21525). Here `lmk` is the mean
of sentence landmarks of the shipped model, whose states are frozen and whose last layer lets a
landmark see only its own sentence, and the model was trained for these landmarks. At 8,192 tokens
`lmk` is 8.7 points ahead of `cls` here. The claim is tested in [results-lmk.md](results-lmk.md),
with an encoder that is trained with each pooling. What each paper claims beside what was found:
[pooling.md](pooling.md#what-the-papers-claim).

{tasks}

"""

PLOTS = {
    "lengths": (lengths, "What does the length of a document cost?"),
    "differences": (differences, "Each pooling minus landmarks"),
}


def main() -> None:
    """Write the page and its plots."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("result", type=Path, nargs="?", default=RESULT)
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="folder to write into")
    options = parser.parse_args()
    if not options.result.is_file():
        parser.error(f"{options.result} does not exist; make it with: milepost lab compare --json")
    book = ResultCache(options.result)
    found = Found(book)
    first, *rest = (as_markdown(table).replace("### ", "## ", 1) for table in tables(found))
    parts = [head(book, found, options.result) + first]
    for name, (draw, title) in PLOTS.items():
        drawn = draw(found)
        if drawn is not None:
            path = Path("results") / f"pooling-{name}.svg"
            (options.docs / path).parent.mkdir(parents=True, exist_ok=True)
            (options.docs / path).write_text(drawn, encoding="utf-8")
            parts.append(f"![{title}]({path.as_posix()})\n")
    if any(not run.trained for run in book.runs):
        untrained = as_markdown(tables(Found(book, trained=False))[0])
        rest.append(untrained.replace("### Ranking", "## Without training", 1))
    page = "\n".join([*parts, *rest]).rstrip() + "\n"
    (options.docs / PAGE).write_text(page, encoding="utf-8")
    print(page)


def head(book: ResultCache, found: Found, source: Path) -> str:
    """What was done, in the numbers of the runs."""
    seeds = sorted({run.seed for run in found.runs})
    made = "; ".join(made for made, _ in Counter(run.made for run in found.runs).most_common())
    tasks = [
        f"- {name}: {len(asked.names)} queries about {len(set(asked.clusters))} documents, among "
        f"{asked.texts} texts of {asked.tokens:,} tokens (median); trained on {asked.training}"
        for name, asked in book.asked.items()
        if name in found.tasks
    ]
    inside = source.is_relative_to(ROOT)
    return HEAD.format(
        source=f"`{source.relative_to(ROOT).as_posix()}`" if inside else "a file of runs",
        made=made,
        steps=CompareRecipe().steps,
        seeds=f"seeds {', '.join(map(str, seeds))}" if len(seeds) > 1 else f"seed {seeds[0]}",
        tasks="\n".join(tasks),
    )


if __name__ == "__main__":
    main()
