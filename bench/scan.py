"""Which type should stored vectors have, and how should they be scanned? Times and errors.

    python bench/scan.py [--rows 100000 400000] [--dimensions 384] [--vectors FILE.npy] [--nearest]

Every way finds the dot product of one query with all rows, in one run on one machine, the ways
taking turns; the table gives the median, the slowest turn and the ratio to float32. NumPy only.
With ``--nearest`` the ways are others: the ten nearest rows by the scan of an index, with and
without numkong, and by whole other tools, as far as they are installed (faiss-cpu, usearch,
sqlite-vec with apsw), each on one thread; twenty queries say how many of the ten each finds.
Errors and overlap of the best ten are those of the first 100,000 rows, or of real sentence
vectors (``--vectors``: a float32 array of unit rows), against float64.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from milepost.store.sqlite import segment
from nearest import compare_nearest


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def sample(rows: int, dimensions: int, seed: int) -> np.ndarray:
    """Random unit rows, made in blocks."""
    rng = np.random.default_rng(seed)
    out = np.empty((rows, dimensions), dtype=np.float32)
    for at in range(0, rows, 20_000):
        block = rng.standard_normal((min(20_000, rows - at), dimensions), dtype=np.float32)
        out[at : at + len(block)] = unit(block)
    return out


def widened(
    values: np.ndarray, query: np.ndarray, product: Callable[..., object], block: int
) -> np.ndarray:
    """Dot products of rows that are widened to float32 block by block."""
    out = np.empty(len(values), dtype=np.float32)
    wide = np.empty((block, len(query)), dtype=np.float32)
    for at in range(0, len(values), block):
        n = min(block, len(values) - at)
        np.copyto(wide[:n], values[at : at + n])
        product(wide[:n], query, out[at : at + n])
    return out


def einsum(rows: np.ndarray, query: np.ndarray, out: np.ndarray) -> None:
    np.einsum("ij,j->i", rows, query, out=out)


def blas(rows: np.ndarray, query: np.ndarray, out: np.ndarray) -> None:
    np.dot(rows, query, out=out)


def signs(bits: np.ndarray, rows: np.ndarray, query: np.ndarray, keep: int = 400) -> np.ndarray:
    """One bit a dimension picks ``keep`` rows, float32 scores those; misses some of the best."""
    distance = np.bitwise_count(bits ^ np.packbits(query > 0).view(np.uint64)).sum(
        1, dtype=np.uint16
    )
    close = np.argpartition(distance, keep)[:keep]
    out = np.full(len(rows), -2, dtype=np.float32)
    out[close] = rows[close] @ query
    return out


def ways(rows: np.ndarray, query: np.ndarray) -> dict[str, tuple[int, Callable[[], np.ndarray]]]:
    """Name → bytes a row, and the scan."""
    n, d = rows.shape
    packed = np.frombuffer(segment.pack(rows), np.uint8).reshape(n, -1)
    scales = np.ascontiguousarray(packed[:, :4]).view("<f4")[:, 0]
    values = packed[:, 4:].view(np.int8)
    half = rows.astype(np.float16)
    bits = np.packbits(rows > 0, axis=1).view(np.uint64)
    return {
        "float32, matrix product": (4 * d, lambda: rows @ query),
        "float32, einsum": (4 * d, lambda: np.einsum("ij,j->i", rows, query)),
        "float16, einsum in blocks of 2048": (2 * d, lambda: widened(half, query, einsum, 2048)),
        "int8, matrix product, 2048": (
            d + 4,
            lambda: widened(values, query, blas, 2048) * scales,
        ),
        **{
            f"int8, einsum, {block}": (
                d + 4,
                lambda block=block: widened(values, query, einsum, block) * scales,
            )
            for block in (256, 2048, 16384)
        },
        "signs pick 400, float32 scores": (4 * d + d // 8, lambda: signs(bits, rows, query)),
    }


def timed(scans: dict[str, Callable[[], np.ndarray]], turns: int) -> dict[str, list[float]]:
    took: dict[str, list[float]] = {name: [] for name in scans}
    for _ in range(turns):
        for name, scan in scans.items():
            start = time.perf_counter()
            scan()
            took[name].append((time.perf_counter() - start) * 1e3)
    return took


def errors(rows: np.ndarray, queries: np.ndarray) -> None:
    """Print what rounding does to dot products and to the ten best."""
    exact = queries.astype(np.float64) @ rows.T.astype(np.float64)
    stored = np.frombuffer(segment.pack(rows), np.uint8).reshape(len(rows), -1)
    own = stored[:, 4:].view(np.int8) * np.ascontiguousarray(stored[:, :4]).view("<f4")
    largest = np.abs(rows).max()
    kinds = {
        "float16": rows.astype(np.float16),
        "int8, one scale for all": np.rint(rows / largest * 127) / 127 * largest,
        "int8, a scale a row": own,
    }
    best = np.argsort(-exact, axis=1)[:, :10]
    print(
        f"\n{f'rounding of {len(rows)} rows':36}"
        f"{'rms error':>11}{'largest':>10}{'same 10 best':>14}"
    )
    for name, kind in kinds.items():
        scores = queries.astype(np.float64) @ kind.T.astype(np.float64)
        off = scores - exact
        top = np.argsort(-scores, axis=1)[:, :10]
        same = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(best, top, strict=True)])
        print(f"{name:36}{np.sqrt((off**2).mean()):11.6f}{np.abs(off).max():10.6f}{same:14.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare types and scans of stored vectors.")
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 400_000])
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--nearest", action="store_true", help="ten nearest, beside other tools")
    parser.add_argument("--vectors", type=Path, help="float32 .npy of unit rows, for the errors")
    parser.add_argument("--queries", type=Path, help="float32 .npy of unit rows, for --nearest")
    options = parser.parse_args()
    query = sample(1, options.dimensions, 1)[0]
    print(f"numpy {np.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    if options.nearest and options.vectors:
        queries = np.load(options.queries) if options.queries else None
        compare_nearest(np.load(options.vectors), options.turns, queries)
    elif options.nearest:
        for count in options.rows:
            compare_nearest(sample(count, options.dimensions, 0), options.turns)
    if options.nearest:
        return
    for count in options.rows:
        rows = sample(count, options.dimensions, 0)
        table = ways(rows, query)
        took = timed({name: scan for name, (_, scan) in table.items()}, options.turns)
        base = statistics.median(took["float32, matrix product"])
        print(
            f"\n{f'{count} rows':36}"
            f"{'bytes/row':>11}{'median ms':>10}{'slowest':>9}{'x float32':>11}"
        )
        for name, (size, _) in table.items():
            median = statistics.median(took[name])
            print(f"{name:36}{size:11}{median:10.1f}{max(took[name]):9.1f}{median / base:11.2f}")
    if options.vectors:
        real = np.load(options.vectors)
        errors(real, real[::16])
    else:
        errors(rows[:20_000], sample(100, options.dimensions, 2))


if __name__ == "__main__":
    main()
