"""One ancestor, two auxiliaries, and stitched encoders of many sizes: their quality and cost.

The ancestor is a landmark checkpoint, the text a book. Held-out sentences are documents, each read
in its window; the same sentences alone are questions. The neighbours that a descendant finds are
compared with those of the ancestor: this measures agreement with a teacher, not search quality.

The arm ``sn-net`` is Stitchable Neural Networks (arXiv 2302.06586, section 3; code ziplab/SN-Net).
As in the paper, two models of different width are trained separately, each on the task alone;
stitches lead from the narrow to the wide one only, are shared within a window of two blocks, and
are initialized by least squares over activations of both trained models; then all weights are
trained, one random path per step. Unlike in the paper, the anchors are not of full depth (they have
the sizes and steps of the pool's auxiliaries, so that rows of one name cost the same to train and
to run), there are only two, of equal depth, and paths that share a stitch get one joint fit, as in
the pool, not the average of separate fits. The task is to reproduce the ancestor's vectors, and the
embedding tables are the ancestor's, as in all arms: the difference from the pool is that no block
is matched with one of the ancestor's.
"""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path as FilePath

import torch
from torch import Tensor

from milepost_lab.controls.readers import ControlReader
from milepost_lab.controls.untrained import untrained
from milepost_lab.model.stitch.folder import save_pool
from milepost_lab.model.stitch.paths import Path, balanced, early_exits, visits
from milepost_lab.model.stitch.pool import EncoderPool
from milepost_lab.model.stitch.starts import STARTS, begin
from milepost_lab.stitch.controls import of_bytes
from milepost_lab.stitch.material import (
    Material,
    Plan,
    material,
    nearest,
    read_held,
    recall,
)
from milepost_lab.stitch.outcome import CONTROL, MAIN, SN_NET, Descendant, Outcome
from milepost_lab.stitch.training import Schedule, distil, inherit_tables, train_paths
from milepost_train.batches import Batch
from milepost_train.check import vectors_of
from milepost_train.model.bert import Bert
from milepost_train.model.landmark_encoder import LandmarkEncoder
from milepost_train.model.special import TOKENIZER

_BACKWARD = 3  # a step is a forward pass and a backward pass of twice its cost


def run(
    ancestor: FilePath,
    text: FilePath,
    plan: Plan | None = None,
    *,
    seeds: int = 1,
    controls: Sequence[ControlReader] = (),
    out: FilePath | None = None,
    progress: Callable[[str, int, int], object] = lambda *_: None,
) -> Outcome:
    """Run the whole experiment.

    For each seed it distils both auxiliaries, trains one pool for each initialization of the
    stitches over all paths, trains a pool from separately trained auxiliaries (``sn-net``), trains
    every size alone for the steps of both stages together, and trains the wide auxiliary with early
    exits. The arms ``pool`` and ``sn-net`` start from least squares.

    Args:
        ancestor: folder of a landmark checkpoint with a BERT.
        text: file of any format that Milepost reads.
        plan: sizes and steps; None for the default.
        seeds: number of runs, with different weights and draws.
        controls: baselines of the arm ``control``. ``random`` stands for the sizes of each seed's
            pool with random weights and tables; the others are the same for every seed.
        out: folder for the pool of the first seed and the ancestor's tokenizer.
        progress: called with the name of the stage, the steps done and their total number.

    Raises:
        ModelError: the folder is not a checkpoint.
        UnreadableFile: the text cannot be read.
        InputError: the text is too short, or the ancestor is not a BERT.
    """
    plan = plan or Plan()
    shared = material(ancestor, text, plan)
    found: list[Descendant] = []
    matrices: list[Tensor] = []
    costs: dict[str, float] = {"ancestor": _ancestor_cost(shared)}
    updates: dict[str, float] = {}
    names: tuple[str, ...] = ()
    random = any(control.name == "random" for control in controls)
    for seed in range(seeds):
        one = _Seed(shared, plan, seed)
        for number, (arm, each) in enumerate(one.arms(random)):
            found.extend(each)
            progress(f"seed {seed}, {arm}", number + 1, 2 * len(STARTS) + 8 + random)
        if out is not None and seed == 0:
            save_pool(one.pool, out)
            shared.ancestor.tokenizer.save(str(out / TOKENIZER))
            shared.ancestor.reading.write(out)
        names, matrix = one.matrix()
        matrices.append(matrix)
        for name, cost in one.costs.items():
            costs[name] = costs.get(name, 0.0) + cost / seeds
        for name, count in one.updates.items():
            updates[name] = updates.get(name, 0.0) + count / seeds
    for control in controls:
        if control.name != "random":
            progress(f"control, {control.name}", 0, 1)
            found.append(of_bytes(control, shared))
    mean = torch.stack(matrices).mean(0)
    return Outcome(
        descendants=tuple(found),
        matrix=(names, tuple(tuple(row) for row in mean.tolist())),
        costs=costs,
        updates=updates,
        sentences=len(shared.truth),
    )


def _ancestor_cost(shared: Material) -> float:
    """Floating-point operations of reading all lessons once with the ancestor."""
    config = shared.ancestor.model.config
    with torch.device("meta"):  # only for its formula, which holds for any BERT
        whole = EncoderPool(config, config)
    return float(sum(_cost(whole, whole.paths[-1], each.batch) for each in shared.lessons))


def _cost(pool: EncoderPool, path: Path, batch: Batch) -> int:
    """Floating-point operations of a forward pass over a batch, padding included."""
    rows, tokens = batch.ids.shape
    cost: int = rows * pool.operations_of(path, tokens, batch.marks.shape[1])
    return cost


class _Seed:
    """The arms of one seed."""

    def __init__(self, shared: Material, plan: Plan, seed: int) -> None:
        self._shared, self._plan, self._seed = shared, plan, seed
        self.costs: dict[str, float] = {}
        self.updates: dict[str, float] = {}
        self.pool = self._fresh()

    def arms(self, control: bool) -> Iterator[tuple[str, list[Descendant]]]:
        """Train and yield each arm and its descendants.

        Args:
            control: whether to add the sizes of the pool with random weights.
        """
        shared, plan = self._shared, self._plan
        lessons, space = shared.lessons, shared.space
        maps = {}
        for which in ("narrow", "wide"):
            maps[which] = distil(
                self.pool, which, lessons, space, Schedule(plan.distilling, seed=self._seed)
            )
            path = self.pool.path(which)
            self._count("auxiliaries", path, plan.distilling)
        yield "auxiliaries", []
        distilled = self.pool
        for start in STARTS:
            pool = copy.deepcopy(distilled)
            begin(pool, start, **maps, windows=self._windows())
            yield start, self._measured(f"start:{start}", pool, pool.paths)
            drawn = self._stitch(pool, f"stitching, {start}")
            chosen = start == MAIN
            if chosen:
                self.pool, self.updates = pool, visits(drawn)
            yield start, self._measured("pool" if chosen else start, pool, pool.paths)
        pool = self._fresh()
        for path in (pool.path("narrow"), pool.path("wide")):
            train_paths(pool, [path], lessons, space, Schedule(plan.distilling, seed=self._seed))
            self._count(f"{SN_NET}, apart", path, plan.distilling)
        yield SN_NET, []
        begin(pool, MAIN, windows=self._windows())
        yield SN_NET, self._measured(f"start:{SN_NET}", pool, pool.paths)
        self._stitch(pool, f"{SN_NET}, stitching")
        yield SN_NET, self._measured(SN_NET, pool, pool.paths)
        for size in self.pool.sizes.values():
            pool = self._fresh()
            steps = plan.distilling + plan.stitching
            train_paths(pool, [size], lessons, space, Schedule(steps, seed=self._seed))
            self._count(f"alone, {size.name}", size, steps)
            yield "alone", self._measured("alone", pool, [size])
        pool = copy.deepcopy(distilled)
        exits = early_exits(plan.depth)
        schedule = Schedule(plan.stitching, rate=1e-3, seed=self._seed)
        for path in train_paths(pool, exits, lessons, space, schedule):
            self._count("early exit", path, 1)
        yield "early exit", self._measured("early exit", pool, exits)
        if control:
            pool = untrained(self._fresh(), self._seed)
            rows = self._measured(CONTROL, pool, list(pool.sizes.values()))
            yield CONTROL, [replace(row, name=f"{row.name}@random") for row in rows]

    def matrix(self) -> tuple[tuple[str, ...], Tensor]:
        """Compute the recall of every pair of the pool's descendants; rows encode the documents."""
        shared, pool = self._shared, self.pool
        read = [read_held(pool.encoder(path), shared.held) for path in pool.paths]
        rows = [
            [recall(nearest(documents, asked), shared.truth) for _, asked in read]
            for documents, _ in read
        ]
        return tuple(path.name for path in pool.paths), torch.tensor(rows)

    def _windows(self) -> list[tuple[Tensor, Tensor]]:
        """Windows that least squares is fitted to."""
        return [(each.batch.ids, each.valid) for each in self._shared.lessons[:10]]

    def _stitch(self, pool: EncoderPool, cost: str) -> list[Path]:
        """Train all paths of a pool together, count the cost, and return the paths drawn."""
        shared, plan = self._shared, self._plan
        torch.manual_seed(self._seed)
        chances = balanced(pool.paths) if plan.sampling == "balanced" else None
        schedule = Schedule(plan.stitching, rate=1e-3, seed=self._seed)
        drawn = train_paths(pool, pool.paths, shared.lessons, shared.space, schedule, chances)
        for path in drawn:
            self._count(cost, path, 1)
        return drawn

    def _fresh(self) -> EncoderPool:
        plan = self._plan
        old = self._shared.ancestor.model
        assert isinstance(old.backbone, Bert)  # checked when it read the lessons
        narrow, wide = (
            {
                **old.config,
                "hidden_size": width,
                "intermediate_size": 4 * width,
                "num_attention_heads": width // 16,
                "num_hidden_layers": plan.depth,
            }
            for width in (plan.narrow, plan.wide)
        )
        torch.manual_seed(self._seed)
        pool = EncoderPool(narrow, wide, kernel=plan.kernel, own_sentence=old.own_sentence)
        for part in (pool.narrow, pool.wide):
            inherit_tables(part, old.backbone)
        return pool

    def _count(self, arm: str, path: Path, steps: int) -> None:
        """Add the cost of some training steps on an average lesson to an arm."""
        lessons = self._shared.lessons
        mean = sum(_cost(self.pool, path, each.batch) for each in lessons) / len(lessons)
        self.costs[arm] = self.costs.get(arm, 0.0) + _BACKWARD * steps * mean

    def _measured(self, arm: str, pool: EncoderPool, paths: Sequence[Path]) -> list[Descendant]:
        shared = self._shared
        found = []
        for path in paths:
            encoder = pool.encoder(path)
            documents, questions = read_held(encoder, shared.held)
            window = _one_window(shared.held[0][0])
            found.append(
                Descendant(
                    arm=arm,
                    name=path.name,
                    seed=self._seed,
                    parameters=pool.parameters_of(path),
                    operations=_cost(pool, path, window),
                    milliseconds=_milliseconds(encoder, window),
                    agreement=float((documents * shared.wanted).sum(1).mean()),
                    recall=recall(nearest(documents, questions), shared.truth),
                )
            )
        return found


def _one_window(batch: Batch) -> Batch:
    """Take the first window of a batch."""
    return Batch(
        ids=batch.ids[:1],
        sentences=batch.sentences[:1],
        marks=batch.marks[:1],
        used=batch.used[:1],
        owners=batch.owners[: int(batch.used[0].sum())],
    )


@torch.no_grad()
def _milliseconds(encoder: LandmarkEncoder, window: Batch, times: int = 9) -> float:
    """Median time of encoding one window, after two warm-up runs."""
    taken = []
    for _ in range(times + 2):
        begun = time.perf_counter()
        vectors_of(encoder, window)
        taken.append(1000 * (time.perf_counter() - begun))
    return statistics.median(taken[2:])
