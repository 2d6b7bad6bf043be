"""The light model beside the default one: speed of encoding, start, size; one run, same text.

    python bench/light.py [--book FILE] [--characters N] [--rounds 5]

Everything is timed: sentences, tokens, windows, network. Rounds are interleaved and the fastest of
each counts, by the clock and by the CPU time of all threads (which a busy machine troubles less).
The start is a whole process that loads a model and answers a question's vector, with an empty cache
of compiled graphs and with a filled one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import milepost
from milepost.engine.folder import find_model
from milepost.engine.openvino import usable_cpus

START = "import sys, milepost; milepost.load(sys.argv[1]).encode_query('Who paid for it?')"


def fastest(names: list[str], text: str, rounds: int) -> tuple[dict[str, list[float]], int]:
    """Seconds by the clock and of CPU for each model, and the text's tokens."""
    models = {name: milepost.load(name) for name in names}
    best = {name: [float("inf")] * 2 for name in names}
    tokens = 0
    for number in range(rounds + 1):  # the first warms up
        for name, model in models.items():
            clock, cpu = time.perf_counter(), time.process_time()
            tokens = model.encode(text).tokens_read
            took = time.perf_counter() - clock, time.process_time() - cpu
            if number:
                best[name] = [min(pair) for pair in zip(best[name], took, strict=True)]
    return best, tokens


def start(name: str, rounds: int = 3) -> tuple[float, float]:
    """Seconds of a process that loads the model: the first time, and the fastest later one."""
    with tempfile.TemporaryDirectory() as cache:
        took = []
        for _ in range(rounds + 1):
            begun = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", START, name],
                env={**os.environ, "MILEPOST_CACHE": cache},
                check=True,
            )
            took.append(time.perf_counter() - begun)
    return took[0], min(took[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs=2, default=["landmark-minilm", "landmark-light"])
    parser.add_argument("--book", type=Path, default=Path("examples/origin-of-species.txt"))
    parser.add_argument("--characters", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    text = options.book.read_text(encoding="utf-8")[: options.characters]
    best, tokens = fastest(options.models, text, options.rounds)
    print(f"{tokens:,} tokens, {usable_cpus()} CPUs, load {os.getloadavg()[0]:.1f}")
    print("| model | bytes | k tokens/s | k tokens/s of CPU | first start | later start |")
    for name, (clock, cpu) in best.items():
        folder = find_model(name).path
        size = sum(file.stat().st_size for file in folder.iterdir())
        first, later = start(name)
        print(
            f"| {name} | {size:,} | {tokens / clock / 1000:.1f} | {tokens / cpu / 1000:.1f} "
            f"| {first:.2f} s | {later:.2f} s |"
        )
    big, light = (best[name] for name in options.models)
    print(f"ratio: {big[0] / light[0]:.1f} by the clock, {big[1] / light[1]:.1f} by CPU time")


if __name__ == "__main__":
    main()
