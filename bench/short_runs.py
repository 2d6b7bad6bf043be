"""Short training runs, and what their landmarks find: for ``stages.py`` and ``ablation.py``.

A run is the loop of ``milepost train`` for a minute; development questions are asked of its
landmarks alone. What is measured stands in a journal and weights stand beside it, so that a script
that was killed goes on.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer as Backend

from milepost.engine.manifest import prefixed
from milepost.engine.tokenizer import Tokenizer
from milepost.windows.plan import WindowSize
from milepost_eval.metrics import evidence_found
from milepost_eval.tasks.names import load
from milepost_eval.tasks.protocol import for_tuning, take
from milepost_eval.types import Question
from milepost_lab.landmark.model import EXTRA, WAYS, spent
from milepost_train.batches import Batch, queries_of
from milepost_train.check import landmarks_of, vectors_of
from milepost_train.choices import Dtype
from milepost_train.config import Config
from milepost_train.data import Text, tokenize, touched
from milepost_train.device import chosen_device, chosen_dtype
from milepost_train.journal import Journal
from milepost_train.loop import Event, Loop
from milepost_train.model import Checkpoint
from milepost_train.model.release import window_sizes
from milepost_train.objectives import Objective
from milepost_train.processes import Processes
from milepost_train.run import opened, reproducible
from milepost_train.run_folder import CHECKPOINT, RunFolder

TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings")
OPEN = ("covid_papers", "trials", "meetings")
"""Tasks whose evidence is not marked everywhere it stands."""


@dataclass(frozen=True)
class Asked:
    """A development document and what is asked of it."""

    task: str
    text: Text
    questions: tuple[Question, ...]
    ids: tuple[np.ndarray, ...]


def development(shared: Path, base: Checkpoint, *, documents: int, questions: int) -> list[Asked]:
    """Documents and questions of the development splits, chosen by a hash of their names."""
    tokenizer, prefix = reader_of(base), base.reading.query_prefix
    found = []
    for name in TASKS:
        task = for_tuning(load(name, "dev", shared))
        task = take(task, questions, documents)
        for document in task.documents:
            text = tokenize(tokenizer, document.name, name, document.text)
            asked = tuple(q for q in task.questions if q.document == document.name)
            ids = tuple(
                np.array(each.ids[:128], np.int32)
                for each in tokenizer.encode([prefixed(q.text, prefix) for q in asked])
            )
            found.append(Asked(name, text, asked, ids))
    return found


def figures(scores: np.ndarray, text: Text, question: Question, budget: int) -> dict[str, Any]:
    """What one question's ranking of the sentences ``(n,)`` is worth.

    Returns:
        ``front-2`` and the like: evidence found when hits are returned with that context
        (``alone``: with none). ``boundary``: share of the evidence's runs whose last sentence is
        among the hits that the budget holds, alone. ``last``: share of the runs of several
        sentences whose last one scores best of them; ``last by chance``: of a blind guess. None
        where there is no such run.
    """
    order = np.argsort(-scores, kind="stable").tolist()
    found: dict[str, Any] = {}
    for extra in EXTRA:
        for way in WAYS if extra else WAYS[:1]:
            returned = spent(order, text.spans, extra, way)
            name = f"{way}-{extra}" if extra else "alone"
            found[name] = evidence_found(returned, question.spans, budget)
    runs: list[list[int]] = []
    for number in touched(text.spans, question.spans):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    hits = set(_within(order, text, budget))
    found["boundary"] = float(np.mean([run[-1] in hits for run in runs]))
    several = [run for run in runs if len(run) > 1]
    best = [max(run, key=lambda n: scores[n]) == run[-1] for run in several]
    found["last"] = float(np.mean(best)) if best else None
    found["last by chance"] = float(np.mean([1 / len(run) for run in several])) if best else None
    return found


def _within(order: Sequence[int], text: Text, budget: int) -> Iterator[int]:
    """Sentences that are returned before the budget ends."""
    for number in order:
        if budget <= 0:
            return
        yield number
        budget -= text.spans[number][1] - text.spans[number][0]


@torch.no_grad()
def measure(
    checkpoint: Checkpoint,
    asked: Sequence[Asked],
    budget: int,
    dtype: Dtype,
    widths: Sequence[int] = (),
) -> dict[str, list[Any]]:
    """The figures of every question, in order; ``alone@64`` is ``alone`` at a width of 64."""
    model, sizes = checkpoint.model, window_sizes(checkpoint)
    shape = WindowSize(sizes["window"], sizes["left"], sizes["right"], sizes["longest"] + 1)
    tokenizer = reader_of(checkpoint)
    opening, landmark = tokenizer.bos_id, tokenizer.landmark
    device = next(model.parameters()).device
    rounded = chosen_dtype(dtype, device) == "bfloat16"

    def encode(batch: Batch) -> torch.Tensor:
        with torch.autocast(device.type, torch.bfloat16, enabled=rounded):
            return vectors_of(model, batch)

    found: dict[str, list[Any]] = {}
    for each in asked:
        vectors = landmarks_of(encode, each.text, opening, landmark, shape)
        queries = encode(queries_of(each.ids, opening, landmark)).float().cpu().numpy()
        for question, scores in zip(each.questions, queries @ vectors.T, strict=True):
            for name, value in figures(scores, each.text, question, budget).items():
                found.setdefault(name, []).append(value)
        for width in widths:
            cut = _unit(queries[:, :width]) @ _unit(vectors[:, :width]).T
            for question, scores in zip(each.questions, cut, strict=True):
                share = alone(scores, each.text, question, budget)
                found.setdefault(f"alone@{width}", []).append(share)
    return found


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def alone(scores: np.ndarray, text: Text, question: Question, budget: int) -> float:
    """Evidence found when the best sentences are returned with no context."""
    order = np.argsort(-scores, kind="stable").tolist()
    return evidence_found(spent(order, text.spans, 0, WAYS[0]), question.spans, budget)


def reader_of(checkpoint: Checkpoint) -> Tokenizer:
    """Its tokenizer for reading; the checkpoint keeps its own as it is."""
    own = Backend.from_str(checkpoint.tokenizer.to_str())
    return Tokenizer(own, checkpoint.reading.bos_token, checkpoint.reading.landmark)


def trained(config: Config, objective: Objective, place: Path) -> Path:
    """Train one stage, unless that was done before; what is kept is its checkpoint, ``place``."""
    if place.is_dir():
        return place
    draft = place.with_name(place.name + ".run")
    shutil.rmtree(draft, ignore_errors=True)  # of a run that was killed
    config = replace(config, out=draft)
    with reproducible(config):
        torch.manual_seed(config.seed)
        run = RunFolder(draft, resume=False)
        tell = partial(_say, place.name)
        alone = Processes(chosen_device(config.device))
        loop = Loop(config, opened(config), [[objective]], None, run, alone, tell)
        loop.draws = False
        loop.run(lambda: False)
    (draft / CHECKPOINT).rename(place)
    shutil.rmtree(draft)
    return place


def _say(name: str, event: Event) -> None:
    if event.line:
        loss, floor = event.line["loss"], event.line["floor"]
        alarm = event.line.get("alarm", "")
        print(f"{name}: step {event.done}, loss {loss:.3f} (blind {floor:.3f}) {alarm}", flush=True)


def measured(
    journal: Journal,
    piece: str,
    named: Mapping[str, Any],
    weights: Callable[[], Path],
    config: Config,
    asked: Sequence[Asked],
    budget: int,
    widths: Sequence[int] = (),
) -> None:
    """Get weights, measure them and write it down.

    Args:
        journal: gets the line.
        piece: name of this work, for the journal and for who looks on.
        named: what the line says besides figures and seconds.
        weights: trains; its folder is read with the settings of ``config``.
        config: how the weights are read, and in which dtype.
        asked, budget, widths: see ``measure``.
    """
    begun = time.perf_counter()
    init = weights()
    done = time.perf_counter()
    with reproducible(config):
        found = measure(
            opened(replace(config, init=str(init))), asked, budget, config.dtype, widths
        )
    seconds = [done - begun, time.perf_counter() - done]
    journal.write(piece, [{**named, "figures": found, "seconds": seconds}], {})
    means = ", ".join(
        f"{name} {100 * np.mean(found[name]):.1f}"
        for name in ("alone", "front-2", "both-sides-2", "boundary")
    )
    print(f"{piece or 'none'}: {means} ({sum(seconds):.0f} s)", flush=True)
