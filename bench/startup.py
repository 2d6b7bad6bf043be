"""How long a user waits: imports, help, a second search; as ratios to ``python -c pass``.

    python bench/startup.py [--book examples/origin-of-species.txt]

Every row is a whole process, run in turn with the others; the minimum of the rounds counts. The
book is cut to 100,000 words.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--book", type=Path, default=Path("examples/origin-of-species.txt"))
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    words = options.book.read_text(encoding="utf-8").split(" ")
    (folder / "book.txt").write_text(" ".join(words[:100_000]), encoding="utf-8")
    question = "How do bees make the cells of the honeycomb?"
    run = [sys.executable, "-m", "milepost"]
    search = [*run, "search", question, str(folder / "book.txt")]
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import numpy": [sys.executable, "-c", "import numpy"],
        "import milepost": [sys.executable, "-c", "import milepost"],
        "milepost --help": [*run, "--help"],
        "second milepost search, 100,000 words": search,
    }
    environment = {**os.environ, "MILEPOST_CACHE": str(folder / "cache")}
    print(f"first search, indexing included: {seconds(search, environment):.2f} s")
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(options.rounds):
        for name, command in commands.items():
            best[name] = min(best[name], seconds(command, environment))
    bare = best["python -c pass"]
    for name, spent in best.items():
        print(f"| {name} | {spent * 1000:.0f} ms | {spent / bare:.1f} |")


def seconds(command: list[str], environment: dict[str, str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
