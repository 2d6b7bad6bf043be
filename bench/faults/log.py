"""One line of JSON for each case, so that a run that is stopped goes on where it was."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class Log:
    """The lines of a file; what a stop has cut off at the end is left out.

    Args:
        path: the file, made where it is missing.
        seed: cases of another seed do not count.
    """

    def __init__(self, path: Path, seed: int) -> None:
        self.path, self.seed = path, seed
        self.records: list[Record] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = b""
        for line in path.read_bytes().splitlines(keepends=True) if path.is_file() else ():
            if not line.endswith(b"\n"):
                break
            whole += line
            if (record := json.loads(line))["seed"] == seed:
                self.records.append(record)
        path.write_bytes(whole)

    def left(self, part: str, count: int) -> Iterator[int]:
        done = {record["case"] for record in self.of(part)}
        return (number for number in range(count) if number not in done)

    def of(self, part: str) -> list[Record]:
        return [record for record in self.records if record["part"] == part]

    def add(self, part: str, case: int, **what: object) -> None:
        record = {"seed": self.seed, "part": part, "case": case, **what}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        self.records.append(record)


def counted(records: list[Record], by: str, what: str = "outcome") -> dict[str, dict[str, int]]:
    """How many records have each value of ``what``, for each value of ``by``."""
    table: dict[str, Counter[str]] = {}
    for record in records:
        table.setdefault(str(record[by]), Counter())[str(record[what])] += 1
    return {name: dict(sorted(counts.items())) for name, counts in sorted(table.items())}


def totals(records: list[Record]) -> Record:
    """How many cases there are, how they ended, and how many of them have a fault."""
    return {
        "cases": len(records),
        "outcomes": dict(Counter(record["outcome"] for record in records).most_common()),
        "faults": sum(bool(record["faults"]) for record in records),
    }


def at(values: list[float], share: float) -> float:
    """The value below which a share of the values lies (0 for no values)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
