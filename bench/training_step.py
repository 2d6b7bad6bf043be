"""Time and memory of one training step at its largest: a long document, a batch of thousands.

    python bench/training_step.py [--only merged|pairs] [--dtype float32]

The network has the size of the shipped one (6 layers of 384, 30,522 tokens) and random weights;
texts are random tokens, for a step costs the same whatever they say. Each step runs in a process
of its own on one thread: seconds are of its processor time, so that other programs count little,
and memory is its peak, with the network, its gradients and AdamW's two averages.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray

from milepost_eval.provenance import commit, machine, today
from milepost_train.batches import Batch
from milepost_train.check import vectors_of
from milepost_train.data import Pair, Text
from milepost_train.material import Material
from milepost_train.model import LandmarkEncoder
from milepost_train.objectives import build
from milepost_train.stages import MergedStage, PairsStage, StageSettings

BOS, LANDMARK, WORDS = 101, 102, 30_522
NETWORK = Path(__file__).resolve().parents[1] / "checkpoint" / "config.json"
STEPS: dict[str, tuple[StageSettings, tuple[int, int], int]] = {
    # the stage, tokens of a passage, how many pairs there are
    "merged": (MergedStage(tokens=16_384, questions=4, hard=8, chunk=8), (60, 160), 400),
    "pairs": (PairsStage(pairs=2048, chunk=32), (16, 32), 2048),
}


def one(name: str, dtype: str) -> None:
    """Take one step and print what it cost."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    stage, passage, count = STEPS[name]
    random = Random(1)
    pairs = [Pair(_ids(random, 8), _passage(random, *passage)) for _ in range(count)]
    objective = build(stage, Material(pairs=pairs, bos_id=BOS, landmark=LANDMARK))
    model = LandmarkEncoder(json.loads(NETWORK.read_text(encoding="utf-8"))).train()
    optimiser = torch.optim.AdamW(model.parameters())
    read = [0, 0]

    def encode(batch: Batch) -> torch.Tensor:
        read[0] += int((batch.sentences >= 0).sum())
        read[1] = max(read[1], len(batch.ids))
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bfloat16"):
            return vectors_of(model, batch)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun, wall = time.process_time(), time.monotonic()
    parts = objective.step(encode, Random(1))
    optimiser.step()
    seconds, wall = time.process_time() - begun, time.monotonic() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{name}, {dtype}: {seconds:.0f} s of one core ({wall:.0f} s by the clock), peak "
        f"{peak / 2**20:.2f} GiB ({before / 2**20:.2f} before the step), "
        f"{read[0] // 2:,} tokens read twice, {read[1]} windows at once, loss {parts['loss']:.3f}",
        flush=True,
    )


def _ids(random: Random, count: int) -> NDArray[np.int32]:
    return np.array([random.randrange(1000, WORDS) for _ in range(count)], np.int32)


def _passage(random: Random, shortest: int, longest: int) -> Text:
    """Sentences of about twenty tokens."""
    count = random.randint(shortest, longest)
    starts = np.array([*range(0, count - 10, 20), count], np.int64)
    spans = [(int(a), int(b)) for a, b in pairwise(starts)]
    return Text("", "", _ids(random, count), starts, spans)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(STEPS))
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float32"])
    parser.add_argument("--one", choices=list(STEPS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one, options.dtype)
        return
    print(f"{today()}, {machine()}, commit {commit()}", flush=True)
    for name in [options.only] if options.only else STEPS:
        subprocess.run(
            [sys.executable, __file__, "--one", name, "--dtype", options.dtype], check=True
        )


if __name__ == "__main__":
    main()
