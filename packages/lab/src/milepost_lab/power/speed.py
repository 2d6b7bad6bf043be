"""How fast the real engine works here: seconds a question and a token, kept in a small record."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.errors import InputError, UnreadableFile
from milepost.writing import write_text
from milepost_eval.provenance import machine, today

if TYPE_CHECKING:
    from milepost.encoder import Encoder

_NOUNS = ("house", "tower", "bridge", "market", "harbour", "garden", "river", "winter")
_TIMES = 3  # the least of these counts: other load only adds


@dataclass(frozen=True, slots=True)
class Speed:
    """What was measured.

    Attributes:
        question: seconds to embed one question.
        token: seconds a token of a long document.
        model: whose fingerprint it is.
        engine: engine, graph and threads.
        machine: processor and system.
        date: of the measurement.
    """

    question: float
    token: float
    model: str
    engine: str
    machine: str
    date: str

    def write(self, file: Path) -> None:
        """Keep it as JSON."""
        write_text(file, json.dumps(asdict(self), indent=1) + "\n")

    @classmethod
    def read(cls, file: Path) -> Speed:
        """The record of a file.

        Raises:
            UnreadableFile: it is missing, or holds something else.
        """
        hint = f"milepost lab power --speed {file} --measure"
        try:
            given = json.loads(file.read_text(encoding="utf-8"))
            speed = cls(**{field.name: given[field.name] for field in fields(cls)})
            possible = speed.question > 0 and speed.token > 0
        except OSError as error:
            raise UnreadableFile(f"{file} cannot be read ({error.strerror})", hint) from None
        except (ValueError, KeyError, TypeError) as error:
            raise UnreadableFile(f"{file} is not a record of speed ({error})", hint) from None
        if not possible:
            raise UnreadableFile(f"{file} is not a record of speed (times of 0)", hint)
        return speed


def recorded(file: Path, model: str | None = None, *, again: bool = False) -> Speed:
    """The record of a file, which is measured and written where there is none.

    Args:
        file: where the record is kept.
        model: a shipped model or a folder; None for the default.
        again: measure though there is one.

    Raises:
        UnreadableFile: the file holds something else.
        InputError: it was measured with another model.
    """
    import milepost
    from milepost.engine import find_model

    if file.exists() and not again:
        speed = Speed.read(file)
        if speed.model != find_model(model).manifest.fingerprint:
            raise InputError(
                f"{file} was measured with another model",
                "measure with this one: --measure, or name another file: --speed",
            )
        return speed
    speed = measure(milepost.load(model))
    speed.write(file)
    return speed


def measure(encoder: Encoder) -> Speed:
    """Time the engine on made text; some seconds.

    Args:
        encoder: a real one; its threads are those of a server's.
    """
    document = text(80)
    questions = [f"why was the {noun} built of stone" for noun in _NOUNS]
    encoder.encode_query(questions[0])  # kernels for new shapes are compiled once
    tokens = encoder.encode(document).tokens_read

    def ask() -> None:
        for question in questions:
            encoder.encode_query(question)

    return Speed(
        question=_least(ask) / len(questions),
        token=_least(lambda: encoder.encode(document)) / tokens,
        model=encoder.fingerprint,
        engine=encoder.engine,
        machine=machine(),
        date=today(),
    )


def text(sentences: int) -> str:
    """Made English of so many sentences, some 18 tokens each: for timing, it says nothing."""
    return " ".join(
        f"The {_NOUNS[n % len(_NOUNS)]} of number {n} stands beside an old wall, and nobody knows "
        "when it was built."
        for n in range(sentences)
    )


def _least(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(_TIMES):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return min(taken)
