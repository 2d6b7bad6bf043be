"""How many machines for how many sentences? A simulation of shards, replicas and queues.

    python bench/shards.py --times scale.json [--store PostgreSQL] [--rate 20] [--price 0.05]

Service times are measured ones: those of ``bench/scale.py`` with one client, at its largest size,
are the time of a question on a shard of that size (``--shard`` sentences: a straight line through
the two largest sizes). Their tail is a lognormal distribution through the measured p50 and p99.

A question goes to all shards at once; of each shard it takes the replica with the shorter queue of
two that are drawn; the slowest shard ends it, and ``--merge`` milliseconds follow for putting the
answers together and reranking. Questions arrive as a Poisson process. Nothing here was run on so
many machines: it is arithmetic with measured times, and says so wherever it is printed.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Z99 = 2.326  # a normal distribution's 99th percentile


def service(records: list[dict[str, Any]], store: str, shard: int) -> tuple[float, float]:
    """p50 and p99 in milliseconds of a question on a shard of that many sentences."""
    mine = sorted(
        (record for record in records if record["store"] == store),
        key=lambda record: record["sentences"],
    )[-2:]
    if not mine:
        raise SystemExit(f"no record of {store}")
    if len(mine) == 1:
        mine *= 2
    sizes = [record["sentences"] for record in mine]
    found = []
    for key in ("p50", "p99"):
        low, high = (record["one"][key] for record in mine)
        slope = (high - low) / (sizes[1] - sizes[0]) if sizes[1] > sizes[0] else high / sizes[1]
        found.append(max(1.0, high + slope * (shard - sizes[1])))
    return found[0], max(found)


def one_shard(
    arrivals: NDArray[np.float64],
    replicas: int,
    times: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Milliseconds until a shard has answered each question, waiting included."""
    free = [0.0] * replicas
    out = np.empty(len(arrivals))
    drawn = rng.integers(0, replicas, (len(arrivals), 2)).tolist()
    for number, (at, took, (one, two)) in enumerate(
        zip(arrivals.tolist(), times.tolist(), drawn, strict=True)
    ):
        chosen = one if free[one] <= free[two] else two
        free[chosen] = max(at, free[chosen]) + took
        out[number] = free[chosen] - at
    return out


def simulate(
    shards: int, replicas: int, rate: float, times: tuple[float, float], questions: int
) -> tuple[float, float, float]:
    """p50 and p99 in milliseconds, and the share of time that a replica works.

    Of many shards, 64 are simulated, and each question's slowest of all is drawn from them: shards
    are alike and wait independently, so the slowest of n has the distribution to the power n.
    """
    rng = np.random.default_rng(0)
    arrivals = np.cumsum(rng.exponential(1000 / rate, questions))
    spread = math.log(times[1] / times[0]) / Z99
    inside = min(shards, 64)
    slowest = np.zeros(questions)
    seen = []
    work = 0.0
    for _ in range(inside):
        took = rng.lognormal(math.log(times[0]), spread, questions)
        work += took.sum()
        out = one_shard(arrivals, replicas, took, rng)
        seen.append(out)
        np.maximum(slowest, out, out=slowest)
    if shards > inside:
        pool = np.sort(np.concatenate(seen))
        slowest = pool[(len(pool) * rng.random(questions) ** (1 / shards)).astype(int)]
    busy = work / inside / replicas / arrivals[-1]
    return float(np.median(slowest)), float(np.percentile(slowest, 99)), float(busy)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=Path, required=True, help="what bench/scale.py wrote")
    parser.add_argument("--store", default="PostgreSQL")
    parser.add_argument("--sentences", default="100e6,1e9,10e9")
    parser.add_argument("--shard", type=float, default=5e6, help="sentences of a shard")
    parser.add_argument("--rate", type=float, default=20, help="questions a second")
    parser.add_argument("--merge", type=float, default=150, help="milliseconds after the shards")
    parser.add_argument("--price", type=float, default=0.05, help="of a core for an hour")
    parser.add_argument("--cores", type=int, default=1, help="of a replica: a question uses one")
    parser.add_argument("--questions", type=int, default=5_000)
    options = parser.parse_args()
    records = json.loads(options.times.read_text(encoding="utf-8"))
    times = service(records, options.store, int(options.shard))
    print(
        f"{options.store}, shards of {options.shard:.0f} sentences: p50 {times[0]:.0f} ms, "
        f"p99 {times[1]:.0f} ms a question (computed from measured times); "
        f"{options.rate:g} questions a second\n"
    )
    print("| sentences | shards | replicas | busy | p50 ms | p99 ms | cores | 1,000 questions |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for sentences in map(float, options.sentences.split(",")):
        shards = math.ceil(sentences / options.shard)
        least = max(1, math.ceil(options.rate * times[0] / 1000 / 0.8))
        for replicas in sorted({least, least + 1, 2 * least, 4 * least}):
            p50, p99, busy = simulate(shards, replicas, options.rate, times, options.questions)
            cores = shards * replicas * options.cores
            cost = cores * options.price / 3600 / options.rate * 1000
            print(
                f"| {sentences:.0e} | {shards} | {replicas} | {busy:.0%} | "
                f"{p50 + options.merge:.0f} | {p99 + options.merge:.0f} | {cores} | {cost:.2f} |"
            )


if __name__ == "__main__":
    main()
