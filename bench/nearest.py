"""The ten nearest rows by the scan of an index, and by other tools; see ``scan.py``."""

from __future__ import annotations

import importlib.util
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from milepost.store.sqlite import schema, segment, vectors

Nearest = Callable[[np.ndarray], np.ndarray]


def _index(rows: np.ndarray, folder: Path) -> vectors.View:
    """A segment file, and one run that is all of it."""
    path = folder / "vectors.seg"
    with path.open("wb") as file:
        for at in range(0, len(rows), 50_000):
            file.write(segment.pack(rows[at : at + 50_000]))
    n, d = rows.shape
    meta = schema.Meta("", d, generation=0, next_row=n, next_place=n)
    return vectors.View(folder, meta, segment.Segment(path, n, d), {0})


def _ways(rows: np.ndarray, folder: Path) -> Iterator[tuple[str, int, Nearest]]:
    """Name, bytes a row, and what finds the numbers of the ten nearest rows."""
    n, d = rows.shape

    def best(scores: np.ndarray) -> np.ndarray:
        close = np.argpartition(-scores, 10)[:10]
        return close[np.argsort(-scores[close])]

    yield "NumPy float32", 4 * d, lambda query: best(rows @ query)
    view, runs = _index(rows, folder), np.array([[0, n, 0, 0]])

    def plain(query: np.ndarray) -> np.ndarray:
        kernel, vectors.products = vectors.products, lambda: None
        try:
            return view.nearest(runs, query, 10)[0]
        finally:
            vectors.products = kernel

    yield "Milepost, int8, NumPy alone", d + 4, plain
    if importlib.util.find_spec("numkong"):
        yield "Milepost, int8, numkong", d + 4, lambda query: view.nearest(runs, query, 10)[0]
    bits = np.packbits(rows > 0, axis=1).view(np.uint64)
    for keep in (400, 4_000):

        def signs(query: np.ndarray, keep: int = keep) -> np.ndarray:
            distance = np.bitwise_count(bits ^ np.packbits(query > 0).view(np.uint64))
            near = np.argpartition(distance.sum(1, dtype=np.uint16), keep)[:keep]
            return near[best(rows[near] @ query)]

        yield f"one bit picks {keep}, then float32", 4 * d + d // 8, signs
    if importlib.util.find_spec("faiss"):
        import faiss

        faiss.omp_set_num_threads(1)
        flat = faiss.IndexFlatIP(d)
        flat.add(rows)
        yield "faiss flat, float32", 4 * d, lambda query: flat.search(query[None], 10)[1][0]
        small = faiss.IndexScalarQuantizer(
            d, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
        )
        small.train(rows[:20_000])
        small.add(rows)
        yield "faiss flat, 8 bit", d, lambda query: small.search(query[None], 10)[1][0]
    if importlib.util.find_spec("usearch"):
        from usearch.index import search

        whole = np.rint(rows * 127 / np.abs(rows).max()).astype(np.int8)

        def exact(query: np.ndarray) -> np.ndarray:
            small = np.rint(query * 127 / np.abs(query).max()).astype(np.int8)
            return np.asarray(search(whole, small, 10, metric="cos", exact=True, threads=1).keys)

        yield "usearch exact, int8", d, exact
    if importlib.util.find_spec("sqlite_vec") and importlib.util.find_spec("apsw"):
        yield "sqlite-vec, int8", d, _sqlite_vec(rows, folder)


def _sqlite_vec(rows: np.ndarray, folder: Path) -> Nearest:
    import apsw
    import sqlite_vec

    connection = apsw.Connection(str(folder / "vec.sqlite"))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute(f"CREATE VIRTUAL TABLE v USING vec0(e int8[{rows.shape[1]}])")
    connection.execute("BEGIN")
    scale = 127 / np.abs(rows).max()
    whole = np.rint(rows * scale).astype(np.int8)
    connection.executemany(
        "INSERT INTO v(rowid, e) VALUES (?, vec_int8(?))",
        ((number, row.tobytes()) for number, row in enumerate(whole)),
    )
    connection.execute("COMMIT")

    def nearest(query: np.ndarray) -> np.ndarray:
        small = np.rint(query * 127 / np.abs(query).max()).astype(np.int8)
        found = connection.execute(
            "SELECT rowid FROM v WHERE e MATCH vec_int8(?) AND k = 10 ORDER BY distance",
            (small.tobytes(),),
        )
        return np.array([number for (number,) in found])

    return nearest


def _near(rows: np.ndarray) -> np.ndarray:
    """Twenty queries, each near to a row."""
    rng = np.random.default_rng(1)
    noise = 0.05 * rng.standard_normal((20, rows.shape[1]), dtype=np.float32)
    queries = rows[rng.integers(0, len(rows), 20)] + noise
    return (queries / np.linalg.norm(queries, axis=1, keepdims=True)).astype(np.float32)


def compare_nearest(rows: np.ndarray, turns: int, queries: np.ndarray | None = None) -> None:
    """Print the median of the ways that take turns, and the share of the ten nearest found."""
    queries = _near(rows) if queries is None else queries
    due = [set(np.argpartition(-(rows @ query), 10)[:10].tolist()) for query in queries]
    with tempfile.TemporaryDirectory() as folder:
        ways = list(_ways(rows, Path(folder)))
        took: dict[str, list[float]] = {name: [] for name, _, _ in ways}
        for turn in range(turns):
            for name, _, nearest in ways:
                begun = time.perf_counter()
                nearest(queries[turn % len(queries)])
                took[name].append(1000 * (time.perf_counter() - begun))
        print(
            f"\n{f'{len(rows)} rows of {rows.shape[1]}':32}{'bytes/row':>11}{'median ms':>11}"
            f"{'x float32':>11}{'recall@10':>11}"
        )
        base = statistics.median(took["NumPy float32"])
        for name, size, nearest in ways:
            median = statistics.median(took[name])
            found = [
                len(of & set(nearest(query).tolist())) / 10
                for of, query in zip(due, queries, strict=True)
            ]
            print(
                f"{name:32}{size:11}{median:11.1f}{median / base:11.2f}"
                f"{statistics.mean(found):11.3f}"
            )
