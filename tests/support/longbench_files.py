"""Files in LongBench's form, and a reader of prompts that answers from the passages it is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NAMES = ("Zebulon", "Amarante", "Corvina", "Dunmoor", "Estrella", "Falkrath")
UNKNOWN = "nobody knows"

_FILLER = (
    "The harbour of the {n}th district was painted in the spring.",
    "A code of conduct for captains was printed {n} times.",
    "Grain is carried to the mill on day {n} of the month.",
    "Visitors of the museum counted {n} cranes along the quay.",
    "Nobody remembers who built wall number {n} of the old town.",
)


def code(number: int) -> str:
    """The answer to question ``number``."""
    return str(4000 + 37 * number)


def context(numbers: Sequence[int], filler: int = 40) -> str:
    """A long text with one fact in the middle for each number, far from both ends."""
    lines = [_FILLER[n % len(_FILLER)].format(n=n + 2) for n in range(filler)]
    for offset, number in enumerate(numbers):
        at = filler // 2 + offset
        lines.insert(at, f"The harbour code of {NAMES[number]} is {code(number)}.")
    return "\n".join(" ".join(lines[at : at + 4]) for at in range(0, len(lines), 4))


def row(number: int, text: str, **changed: Any) -> dict[str, Any]:
    """One line of a file: the question about fact ``number``."""
    return {
        "input": f"What is the harbour code of {NAMES[number]}?",
        "context": text,
        "answers": [code(number)],
        "length": len(text.split()),
        "dataset": "qasper",
        "language": "en",
        "all_classes": None,
        "_id": f"q{number}",
        **changed,
    }


def write(path: Path, *rows: dict[str, Any]) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    return path


def write_codes(path: Path, count: int = len(NAMES), filler: int = 40) -> Path:
    """A file of questions, two about each context."""
    texts = [context((number, number + 1), filler) for number in range(0, count, 2)]
    return write(path, *(row(number, texts[number // 2]) for number in range(count)))


def read_and_answer(_: int, body: dict[str, Any]) -> str:
    """What a language model would say that reads well and knows nothing else."""
    prompt = body["messages"][-1]["content"]
    passages, _, question = prompt.rpartition("Question: ")
    name = re.search(r"harbour code of (\w+)\?", question)
    assert name is not None, question
    found = re.search(rf"harbour code of {name[1]} is (\d+)\.", passages)
    return found[1] if found else UNKNOWN
