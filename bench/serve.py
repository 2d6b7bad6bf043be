"""A server under load: clients, batching, searches while files are indexed.

    python bench/serve.py [--seconds 60] [--clients 50] [--model landmark-minilm]

Each part starts ``milepost serve`` as a process of its own, with the shipped book in its index. The
rows of a table were measured in turn, in one run.
"""

import argparse
import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx2
import numpy as np

BOOK = Path(__file__).parents[1] / "examples" / "origin-of-species.txt"
QUESTIONS = [
    "How do bees make the cells of the honeycomb?",
    "Why are the animals of islands peculiar?",
    "What does selection do to useless organs?",
    "How long have pigeons been bred?",
    "Which plants grow on mountains far apart?",
    "Do hybrids have offspring?",
    "What do fossils say of change?",
    "Who makes slaves of other ants?",
]


@contextmanager
def served(cache: Path, *args: str) -> Iterator[str]:
    """The address of a server."""
    command = [sys.executable, "-m", "milepost", "serve", "--port", "0", *args]
    environment = {**os.environ, "MILEPOST_CACHE": str(cache)}
    with (cache / "log").open("wb") as log:
        process = subprocess.Popen(command, stderr=log, env=environment)
    try:
        while not (found := re.search(r"serving (http://\S+?)/ ", (cache / "log").read_text())):
            if process.poll() is not None:
                raise RuntimeError((cache / "log").read_text())
            time.sleep(0.01)
        httpx2.get(found[1]).raise_for_status()
        yield found[1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def indexed(url: str) -> None:
    while not httpx2.get(f"{url}/indexing", timeout=60).json()["idle"]:
        time.sleep(0.2)


@asynccontextmanager
async def client(url: str, clients: int) -> AsyncIterator[httpx2.AsyncClient]:
    """A client with as many connections as there are clients."""
    limits = httpx2.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx2.AsyncClient(base_url=url, timeout=120, limits=limits) as made:
        yield made


async def load(url: str, path: str, bodies: list, clients: int, seconds: float) -> np.ndarray:
    """Seconds of each request of so many clients that ask one after the other; None is a GET."""
    took: list[float] = []
    errors: list[str] = []
    until = time.perf_counter() + seconds

    async def one(made: httpx2.AsyncClient, number: int) -> None:
        turn = number
        while time.perf_counter() < until:
            begun = time.perf_counter()
            body = bodies[turn % len(bodies)]
            got = await (made.get(path) if body is None else made.post(path, json=body))
            took.append(time.perf_counter() - begun)
            if got.status_code != 200:
                errors.append(f"{got.status_code} {got.text[:100]}")
            turn += clients + 1

    async with client(url, clients) as made:
        await asyncio.gather(*(one(made, number) for number in range(clients)))
    if errors:
        print(f"{len(errors)} errors, the first: {errors[0]}")
    return np.array(took)


def row(name: str, took: np.ndarray, seconds: float) -> None:
    p50, p99 = 1000 * np.percentile(took, [50, 99])
    each = len(took) / seconds
    print(f"| {name} | {len(took)} | {each:.1f} | {p50:.1f} | {p99:.1f} |", flush=True)


def sentences() -> list[str]:
    """Texts of some sentences each."""
    text = " ".join(BOOK.read_text(encoding="utf-8").split())
    return [text[at : at + 300] for at in range(50_000, 350_000, 300)]


async def clients(url: str, options: argparse.Namespace) -> None:
    """Many clients beside one."""
    print("| requests | answered | per second | p50 ms | p99 ms |\n|---|---:|---:|---:|---:|")
    texts = [{"input": text} for text in sentences()]
    questions = [{"question": question} for question in QUESTIONS]
    plain = [{**body, "rerank": False} for body in questions]
    seconds = options.seconds
    for name, path, bodies in (
        ("health", "/health", [None]),
        ("embeddings", "/v1/embeddings", texts),
        ("searches", "/search", questions),
        ("searches without reranking", "/search", plain),
    ):
        for many in (1, options.clients) if re.search(options.rows, name) else ():
            took = await load(url, path, bodies, many, seconds)
            row(f"{name}, {many} at a time", took, seconds)


async def while_indexing(url: str, folder: Path, seconds: float) -> tuple[np.ndarray, bool]:
    """Searches while files are uploaded; whether there was work to the end."""
    text = BOOK.read_text(encoding="utf-8")
    for number in range(4):
        file = folder / f"part{number}.txt"
        file.write_text(text[number * 1000 :], encoding="utf-8")
        with file.open("rb") as data:
            httpx2.post(f"{url}/documents", files={"file": (file.name, data)}, timeout=60)
    await asyncio.sleep(2)
    took = await load(url, "/search", [{"question": each} for each in QUESTIONS], 1, seconds)
    return took, not httpx2.get(f"{url}/indexing").json()["idle"]


def indexing(cache: Path, model: str) -> None:
    """One search at a time beside idle and busy indexing."""
    print("\n| one search at a time | answered | per second | p50 ms | p99 ms |")
    print("|---|---:|---:|---:|---:|")
    for extra in ("--govern", "--no-govern"):
        folder = cache / extra
        folder.mkdir()
        with served(cache, "--db", str(folder / "db"), "--model", model, extra) as url:
            with BOOK.open("rb") as data:
                httpx2.post(f"{url}/documents", files={"file": ("b.txt", data)}, timeout=60)
            indexed(url)
            body = [{"question": each} for each in QUESTIONS]
            row(f"idle {extra}", asyncio.run(load(url, "/search", body, 1, 15)), 15)
            took, busy = asyncio.run(while_indexing(url, folder, 30))
            row(f"while indexing {extra}{'' if busy else ' (it ended)'}", took, 30)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--model", default="landmark-minilm")
    parser.add_argument("--rows", default="", help="requests of the part clients: a pattern")
    parser.add_argument("--parts", default="clients,indexing")
    options = parser.parse_args()
    parts = options.parts.split(",")
    with tempfile.TemporaryDirectory() as home:
        cache = Path(home)
        if "clients" in parts:
            with served(cache, str(BOOK), "--model", options.model) as url:
                indexed(url)
                asyncio.run(clients(url, options))
        if "indexing" in parts:
            indexing(cache, options.model)


if __name__ == "__main__":
    main()
