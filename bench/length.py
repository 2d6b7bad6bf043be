"""Time and memory against length: 1k, 10k, 100k and 1M tokens of real text.

    python bench/length.py [--model FOLDER] [--most 1000000]

Each length runs in a process of its own; memory is the peak over that of an empty run, beside what
the vectors themselves take.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path


def one(model: str | None, book: Path, tokens: int) -> None:
    import milepost

    encoder = milepost.load(model)
    encoder.encode("Warm up. The engine is ready.")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = book.read_text(encoding="utf-8")
    characters = int(tokens * 4.75)
    text = (text * (characters // len(text) + 1))[:characters]
    begun = time.perf_counter()
    marks = encoder.encode(text)
    seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert marks.tokens_read == marks.tokens_given
    print(
        f"| {marks.tokens_given:,} | {len(marks.spans):,} | {seconds:.2f} "
        f"| {marks.tokens_given / seconds / 1000:.1f} | {(peak - before) / 1024:.0f} "
        f"| {marks.vectors.nbytes / 2**20:.0f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=None)
    parser.add_argument("--book", type=Path, default=Path("examples/origin-of-species.txt"))
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.model, options.book, options.one)
        return
    print("| tokens | sentences | seconds | k tokens/s | MiB over the empty run | MiB of vectors |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    for tokens in (1_000, 10_000, 100_000, 1_000_000):
        if tokens <= options.most:
            command = [sys.executable, __file__, "--one", str(tokens), "--book", str(options.book)]
            subprocess.run(
                command + (["--model", options.model] if options.model else []), check=True
            )


if __name__ == "__main__":
    main()
