"""The study of landmark pooling in several processes, which is faster than one with many threads.

    OMP_NUM_THREADS=1 taskset -c 0 python bench/lmk_lanes.py --out bench/lmk &
    OMP_NUM_THREADS=1 taskset -c 1 python bench/lmk_lanes.py --out bench/lmk

With jemalloc the trainings of 2026-11-23 took 1.3 seconds a step in place of 2.2: set
``LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=dirty_decay_ms:-1,muzzy_decay_ms:-1``. A process then
never returns memory (2 GB here); without ``MALLOC_CONF`` it does.

Each takes the next piece that is neither there nor taken. Files in ``OUT/taken`` say what is taken:
remove the folder after a kill. In the end ``milepost lab lmk --out OUT`` makes the result of them.
Pre-train the encoder before, with ``milepost lab lmk --out OUT --base-only``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import torch

from milepost_eval.embedders.choose import minilm_folder
from milepost_lab.lmk.settings import SIZES, chosen_settings
from milepost_lab.lmk.study import Study
from milepost_train.device import chosen_device, chosen_dtype


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--minilm", action="store_true", help="the control with absolute positions")
    parser.add_argument("--dtype", choices=["auto", "bfloat16", "float32"], default="auto")
    parser.add_argument("--no-controls", action="store_true")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--rate", type=float)
    options = parser.parse_args()
    study_name, settings = chosen_settings(
        options.size,
        minilm=options.minilm,
        seeds=options.seeds,
        controls=not options.no_controls,
        steps=options.steps,
        rate=options.rate,
    )
    device = chosen_device("cpu")
    dtype = getattr(torch, chosen_dtype(options.dtype, device))
    folder = options.out / study_name
    taken = options.out / "taken" / study_name
    taken.mkdir(parents=True, exist_ok=True)
    minilm = minilm_folder() if options.minilm else None
    encoder = options.out / options.size / "base"
    study = Study(folder, options.data, settings, device, dtype, said(), minilm, encoder)
    jobs = [*study.jobs()]
    for name, do in jobs:
        if (folder / f"{name}.json").is_file() or not take(taken / name):
            continue
        pooling = name.rpartition("-")[0]
        rates = [folder / f"{job}.json" for job, _ in jobs if job.startswith(f"rate-{pooling}-")]
        while not name.startswith(("rate-", "gate-")) and not all(map(Path.is_file, rates)):
            time.sleep(5)  # another process is at one of them
        begun = time.perf_counter()
        do()
        print(
            f"{time.strftime('%H:%M:%S')} {name}: {time.perf_counter() - begun:.0f} s", flush=True
        )


def take(file: Path) -> bool:
    """Whether this process was the first to take a piece."""
    try:
        file.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def said() -> Callable[[str, int, int], None]:
    """Prints a line in half a minute at most."""
    last = 0.0

    def say(what: str, at: int, of: int) -> None:
        nonlocal last
        if time.monotonic() - last > 30:
            last = time.monotonic()
            print(f"{time.strftime('%H:%M:%S')} {what}, {at} of {of}", flush=True)

    return say


if __name__ == "__main__":
    main()
