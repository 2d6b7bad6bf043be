"""Experiments on the spacing of landmarks and the size of windows, with the same weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from milepost.encoder import Encoder
from milepost.errors import InputError
from milepost.types import Document
from milepost_eval.metrics import BUDGETS, at_budget, at_rank
from milepost_eval.report.outcome import Cell, Outcome, Panel, Series, in_words
from milepost_eval.report.tally import Tally
from milepost_eval.systems.units import Scored
from milepost_eval.types import Task
from milepost_eval.vectors import Vectors
from milepost_lab.landmark.experiment import USUAL, Experiment
from milepost_lab.landmark.reading import POSITIONS, Reader, Reading, Sizes, asked

TOKENS = (32, 64, 128, 256)
"""Tokens per landmark: the sizes of Doshi et al. 2026 (arXiv 2601.21525)."""

WINDOWS: tuple[Sizes, ...] = (
    (256, 0, 0),
    (256, 64, 32),
    (320, 0, 0),
    (320, 48, 16),
    (512, 0, 0),
    (512, 64, 32),
)
"""Window, left halo, right halo in tokens."""

_RECALLS = tuple(f"recall@{budget}" for budget in BUDGETS)
_MIDDLE = _RECALLS[1]

Read = Callable[[Document], Reading]


def note_readings(
    tally: Tally, name: str, tasks: Sequence[Task], reader: Reader, read: Read
) -> None:
    """Rank by landmarks alone for every question; tally the figures and the size of the units."""
    for task in tasks:
        for document, questions in asked(task):
            reading = read(document)
            given = sum(reading.costs) - len(reading.costs)
            sizes = {
                "characters": len(document.text) / max(1, len(reading.units)),
                "run": reading.run / max(1, given),
            }
            tally.add((name,), task.name, document.name, sizes)
            for question, query in zip(questions, reader.ask(questions), strict=True):
                ranking = Scored(reading.units, reading.vectors @ query)
                figures = {
                    f"recall@{budget}": at_budget(ranking.spend(budget), question, budget)["recall"]
                    for budget in BUDGETS
                }
                figures["mrr@10"] = at_rank(ranking.best(10), question)["mrr@10"]
                tally.add((name,), task.name, document.name, figures)


def _granularity(encoder: Encoder, tasks: Sequence[Task], vectors: Vectors) -> Outcome:
    tally = Tally()
    longest = encoder.manifest.longest
    if longest + 2 > POSITIONS:
        raise InputError(
            f"{encoder.manifest.name} reads sentences of up to {longest} tokens, too many for "
            f"windows of {POSITIONS}",
            "another --model",
        )
    for tokens in TOKENS:
        # A halo consists of whole units, so it must have room for one.
        sizes = (POSITIONS, max(64, tokens + 1), 32)
        reader = Reader.like(encoder, vectors, sizes, max(longest, tokens))

        def read(document: Document, reader: Reader = reader, tokens: int = tokens) -> Reading:
            return reader.read(document, reader.every(document.text, tokens))

        note_readings(tally, f"every {tokens} tokens", tasks, reader, read)
    reader = Reader.like(encoder, vectors, (POSITIONS, 64, 32))
    note_readings(tally, "sentences", tasks, reader, reader.read)
    names = [f"every {tokens} tokens" for tokens in TOKENS] + ["sentences"]
    best = {
        budget: max(names, key=lambda name: _value(tally, name, f"recall@{budget}"))
        for budget in BUDGETS
    }
    against = max(names[:-1], key=lambda name: _value(tally, name, _MIDDLE))
    gain = tally.gain((("sentences",), _MIDDLE), ((against,), _MIDDLE))
    note = (
        "Most evidence comes back with landmarks at: "
        + "; ".join(f"{name} ({budget:,} characters)" for budget, name in best.items())
        + f". Against the best fixed size at {BUDGETS[1]:,} ({against}) a landmark a sentence "
        f"{in_words(gain)}. Landmarks alone, windows of {POSITIONS} tokens with a halo of at least "
        "one unit where two fit (at 256 none does). The weights were trained with a landmark a "
        "sentence, so other sizes are new to them; they are tried at evaluation only."
    )
    columns = ("a landmark", "characters each", *(f"found in {b:,}" for b in BUDGETS), "mrr@10")
    rows = tuple(
        (name, tally.mean((name,), "characters", "number"), *_found(tally, name)) for name in names
    )
    return Outcome(columns, rows, note, (_panel(tally, names, "a landmark"),))


def _halo(encoder: Encoder, tasks: Sequence[Task], vectors: Vectors) -> Outcome:
    tally = Tally()
    manifest = encoder.manifest
    shipped: Sizes = (manifest.window, manifest.left, manifest.right)
    usable = [size for size in WINDOWS if manifest.longest + 2 <= size[0] <= POSITIONS]
    names = {"/".join(map(str, size)): size for size in sorted({*usable, shipped})}
    own = "/".join(map(str, shipped))
    for name, size in names.items():
        reader = Reader.like(encoder, vectors, size)
        note_readings(tally, name, tasks, reader, reader.read)
    gains = tally.gains(
        {name: (((name,), _MIDDLE), ((own,), _MIDDLE)) for name in names if name != own}
    )
    other = [f"{name} {in_words(gain)}" for name, gain in gains.items() if gain and gain.sure]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            f"{name} (the model's)" if name == own else name,
            tally.mean((name,), "run", "number"),
            *_found(tally, name),
            gains.get(name),
        )
        for name in names
    )
    note = (
        f"Against the model's own {own}, at {BUDGETS[1]:,} characters: "
        + ("; ".join(other) if other else "no size makes a difference that is sure")
        + ". Landmarks alone. Tokens run is what the network reads for one token of the text, "
        "landmarks and halo included: time grows with it."
    )
    columns = (
        "window/left/right",
        "tokens run",
        *(f"found in {b:,}" for b in BUDGETS),
        "mrr@10",
        f"against the model's, {BUDGETS[1]:,}",
    )
    return Outcome(columns, rows, note, (_panel(tally, list(names), "window/left/right"),))


def _value(tally: Tally, name: str, metric: str) -> float:
    figure = tally.mean((name,), metric)
    return figure.mean if figure else 0.0


def _found(tally: Tally, name: str) -> tuple[Cell, ...]:
    return tuple(tally.mean((name,), metric) for metric in (*_RECALLS, "mrr@10"))


def _panel(tally: Tally, names: Sequence[str], across: str) -> Panel:
    return Panel(
        "Evidence found, landmarks alone",
        across,
        "% of the evidence's characters",
        tuple(name.removeprefix("every ").removesuffix(" tokens") for name in names),
        tuple(
            Series(
                f"{budget:,} characters",
                tuple(tally.mean((name,), f"recall@{budget}") for name in names),
            )
            for budget in BUDGETS
        ),
        ordered=False,
    )


GRANULARITY = Experiment(
    "granularity",
    "How often is a landmark best: every 32 to 256 tokens, or at the end of each sentence?",
    USUAL,
    _granularity,
)
HALO = Experiment("halo", "How large should windows and their halo be?", USUAL, _halo)
