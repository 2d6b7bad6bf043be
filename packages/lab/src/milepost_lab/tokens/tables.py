"""The tables that ``milepost lab tokens`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.console.columns import columns
from milepost_lab.differences import difference_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


def _show_words(found: Mapping[str, Any]) -> Iterator[str]:
    from milepost_lab.tokens.lm_study import RIGHT
    from milepost_lab.tokens.units import BUCKETS

    rows = found["rows"]
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        here = [row for row in rows if row["corpus"] == corpus]
        buckets = [name for name in (*BUCKETS, "all") if any(name in r["right"] for r in here)]
        sizes = here[0]["right"]
        head = [f"{name} ({sizes[name][3]})" for name in buckets]
        shown = (corpus, "parameters", "bits a byte", "ends", "cells", "s a step", *head)
        lines = [
            (
                row["arm"],
                f"{row['parameters']:,}",
                f"{row['bits']:.3f} [{row['low']:.3f}, {row['high']:.3f}]",
                f"{row['end_bits']:.3f}",
                f"{row['places']:,.0f}",
                f"{row['seconds']:.2f}",
                *(_share(row["right"][name]) for name in buckets),
            )
            for row in here
        ]
        yield from columns(shown, lines)
        ceiling = here[0]["ceiling"]
        known = f" No guess can be right more than {ceiling:.0%} of the time." if ceiling else ""
        yield (
            "Correct words in percent by their frequency in the training text (number of words "
            f"asked).{known}\n"
        )
        for measure, gains in found["gains"][corpus].items():
            yield f"{measure}:"
            right = measure.startswith(RIGHT)
            yield from difference_lines(gains, scale=100 if right else 1, digits=1 if right else 3)
            yield ""


def _show_typos(found: Mapping[str, Any]) -> Iterator[str]:
    rows = found["rows"]
    rates = list(dict.fromkeys(row["rate"] for row in rows))
    head = ("finder", *(f"{rate:.0%} errors" for rate in rates))
    lines = []
    for finder in dict.fromkeys(row["finder"] for row in rows):
        here = [row["found"] for row in rows if row["finder"] == finder]
        lines.append((finder, *map(_recall, here)))
    yield from columns(head, lines)
    yield _about_recall(rows[0]["found"]["questions"])


def _show_pool(found: Mapping[str, Any]) -> Iterator[str]:
    rows = found["rows"]
    targets = list(dict.fromkeys(row["target"] for row in rows))
    head = ("pre-trained on", *(part for name in targets for part in (name, "transfer")))
    lines: list[tuple[str, ...]] = []
    for source in dict.fromkeys(row["source"] for row in rows):
        here = [row for row in rows if row["source"] == source]
        parts = []
        for row in here:
            share = row["transfer"]
            parts.append(f"{row['score']:.3f} [{row['low']:.3f}, {row['high']:.3f}]")
            parts.append("-" if share is None else f"{share:.2f}")
        lines.append((source, *parts))
    yield from columns(head, lines)
    yield (
        "Transfer: 0 is random weights, 1 the language's own encoder; - if that is no better. "
        + _about_recipe(found["protocol"]["recipe"])
    )


def _show_transfer(found: Mapping[str, Any]) -> Iterator[str]:
    rows = found["rows"]
    targets = {row["target"]: row["language"] for row in rows}
    lines = [
        (source, *(_recall(row["found"]) for row in rows if row["source"] == source))
        for source in dict.fromkeys(row["source"] for row in rows)
    ]
    texts = targets.values()
    lines += [
        ("bytes a character", *(f"{each['size'] / each['characters']:.2f}" for each in texts)),
        *((part, *(f"{each[part]:,}" for each in texts)) for part in ("characters", "documents")),
    ]
    yield from columns(("tuned on", *targets), lines)
    yield _about_recall(min(row["found"]["questions"] for row in rows))
    sources = found["sources"]
    read = ", ".join(f"{each['name']} from {each['documents']}" for each in sources)
    yield (
        f"Text of each source: {sources[0]['characters']:,} characters (documents: {read}). "
        + _about_recipe(found["budget"]["recipe"])
    )


def _about_recipe(recipe: Mapping[str, Any]) -> str:
    return (
        f"Pre-training: {recipe['steps']} steps of {recipe['batch']} windows of "
        f"{recipe['window']} bytes with gaps of {recipe['gap']:g}."
    )


def _about_recall(questions: int) -> str:
    return (
        "Percent of questions whose best sentence is evidence [95 %, documents resampled], and "
        f"one of the best five sentences; {questions} questions."
    )


def _share(right: Sequence[float]) -> str:
    return f"{100 * right[0]:.1f} [{100 * right[1]:.1f}, {100 * right[2]:.1f}]"


def _recall(found: Mapping[str, float]) -> str:
    share = _share((found["first"], found["low"], found["high"]))
    return f"{share}, {100 * found['five']:.1f}"


SHOWN: dict[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "words": _show_words,
    "typos": _show_typos,
    "pool": _show_pool,
    "transfer": _show_transfer,
}
"""The lines of each experiment, from what its JSON holds."""
