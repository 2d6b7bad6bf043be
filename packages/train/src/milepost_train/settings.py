"""Settings as frozen dataclasses that pydantic checks, TOML tables that fill them, kinds of stage.

Every fault of a file is collected, none hides another. Needs no torch, so that a configuration is
checked in milliseconds. ``docs/training.md`` says what each kind of stage is for; ``objectives``
has the training steps.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_type_hints

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic import ValidationInfo as Info
from pydantic.dataclasses import dataclass as checked

from milepost._paths import expanded
from milepost.errors import InputError, nearest
from milepost_eval.noise import Noise

Kind = TypeVar("Kind")

CHECKED = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""Of every dataclass of settings: ``pydantic.dataclasses.dataclass(config=CHECKED)``."""


def _beside(path: Path, info: Info) -> Path:
    if info.context is None:
        return path
    return Path(os.path.normpath(info.context / expanded(path)))


File = Annotated[Path, AfterValidator(_beside)]
Fraction = Annotated[float, Field(ge=0, lt=1)]
Share = Annotated[float, Field(gt=0, le=1)]
_MOST = 1e38  # what float32 holds: torch ends with an error of its own where one is larger
Positive = Annotated[float, Field(gt=0, le=_MOST)]
Weight = Annotated[float, Field(ge=0, le=_MOST)]
Count = Annotated[int, Field(ge=1)]
Amount = Annotated[int, Field(ge=0)]


class WrongSettings(InputError):
    """Settings that cannot be used; the text has one line for each of ``faults``, at least one."""

    def __init__(self, faults: Sequence[InputError]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(map(str, faults)))
        self.args = ("\n".join(map(str, faults)),)


@dataclass(frozen=True, slots=True)
class Place:
    """A table of a file, ``[[stage]] 1`` or "" for its top, and the faults of the whole file."""

    file: Path
    table: str = ""
    faults: list[InputError] = field(default_factory=list, compare=False)

    def at(self, table: str) -> Place:
        """The place of another table of the same file."""
        return Place(self.file, table, self.faults)

    def report(self, problem: str, hint: str) -> None:
        """Add a fault, with file and table before the problem."""
        where = f"{self.file}: {self.table}" if self.table else str(self.file)
        self.faults.append(InputError(f"{where}: {problem}", hint))

    def check(self) -> None:
        """Raise ``WrongSettings`` if the file has faults."""
        if self.faults:
            raise WrongSettings(self.faults)


def fill(kind: type[Kind], table: Mapping[str, Any], place: Place, /, **made: Any) -> Kind | None:
    """A dataclass from a table; what the table leaves out has its default.

    ``place`` gets the faults: unknown keys (with the nearest known one), missing ones, values that
    do not fit; None where the table, or one inside it, has one. ``made`` are values of fields that
    the table may not name, and that have a default.
    """
    known = [each.name for each in fields(kind) if each.name not in made]  # type: ignore[arg-type]
    check_keys(table, known, place)
    usable = {name: value for name, value in table.items() if name in known}
    # As JSON: there a list may be a tuple and a string a path, but a string is never a number.
    text = json.dumps(usable, default=str)
    try:
        filled = TypeAdapter(kind).validate_json(text, context=place.file.parent)
    except ValidationError as error:
        for problem, hint in dict(_faults(error, kind)).items():
            place.report(problem, hint)
        return None
    return replace(filled, **made) if len(usable) == len(table) else None  # type: ignore[type-var]


def check_keys(table: Collection[str], known: Collection[str], place: Place) -> None:
    """Report keys that are not known, each with the nearest known one."""
    for name in table:
        if name not in known:
            hint = f"{nearest(name, known)}one of {', '.join(sorted(known))}"
            place.report(f"unknown key {name!r}", hint)


def _faults(error: ValidationError, kind: type) -> Iterable[tuple[str, str]]:
    """Problems of pydantic and what it wants, with the names of tables before their keys."""
    for each in error.errors(include_url=False):
        table, names = kind, list(each["loc"])
        path = [names.pop(0)] if names else []
        while names and (inner := _table(table, str(path[-1]))) is not None:
            table = inner
            path.append(names.pop(0))
        name = ".".join(map(str, path))
        if each["type"] in ("unexpected_keyword_argument", "missing"):
            known = [one.name for one in fields(table)]
            said = "missing" if each["type"] == "missing" else "unknown"
            hint = f"{nearest(str(path[-1]), known)}one of {', '.join(sorted(known))}"
            yield f"{said} key {name!r}", f"add {path[-1]}" if said == "missing" else hint
        else:
            words = json.dumps(each["input"], ensure_ascii=False, default=str)
            shown = words if len(words) <= 60 else words[:59] + "…"
            wanted = each["msg"].removeprefix("Input should be ")
            if each["type"] == "less_than_equal":  # the message writes 1e38 in 39 digits
                wanted = f"less than or equal to {each['ctx']['le']:g}"
            yield f"{name or 'the table'} is {shown}", wanted


def _table(kind: type, name: str) -> Any:
    hint = get_type_hints(kind).get(name)
    return next((each for each in (hint, *get_args(hint)) if is_dataclass(each)), None)


def _together(shares: dict[Noise, float]) -> dict[Noise, float]:
    if sum(shares.values()) > 1:
        raise ValueError("at most 1 together")
    return shares


TaskWeights = dict[str, Positive]
Window = Annotated[int, Field(ge=8)]
Windows = Annotated[tuple[Window, ...], Field(min_length=1)]
Noises = Annotated[dict[Noise, Share], AfterValidator(_together)]
"""How often a question is read with each kind of noise, see ``milepost_eval.noise``."""

Dimensions = tuple[Count, ...]
"""Widths at which vectors are trained (Matryoshka); empty: the full width."""


@checked(frozen=True, slots=True, config=CHECKED)
class QuestionStage:
    """What all kinds but ``judge`` have."""

    temperature: Positive = 0.05
    question_dropout: Fraction = 0.0


@checked(frozen=True, slots=True, config=CHECKED)
class PairsStage(QuestionStage):
    """Stage I: queries and their passages.

    With a landmark for each of the ``sentences`` both their mean and one of them have to win; with
    ``both``, one or the other is drawn for each passage.
    """

    pairs: Annotated[int, Field(ge=2)] = 24
    negatives: Amount = 4
    landmarks: Literal["passage", "sentences", "both"] = "sentences"
    chunk: Amount = 0
    noise: Noises = field(default_factory=dict)
    dimensions: Dimensions = ()


@checked(frozen=True, slots=True, config=CHECKED)
class MergedStage(QuestionStage):
    """Stage II: noisy long documents made of passages.

    ``hard`` passages of a query are its own negatives, then those that share its rarest words. One
    landmark of the right passage has to win. With ``across``, landmarks of the step's other
    documents are negatives as well.
    """

    documents: Count = 1
    questions: Count = 4
    tokens: Count = 4096
    hard: Amount = 8
    landmarks: Literal["passage", "sentences"] = "sentences"
    window: Window = 256
    left: Amount = 64
    right: Amount = 32
    across: bool = True
    chunk: Amount = 0
    dimensions: Dimensions = ()


@checked(frozen=True, slots=True, config=CHECKED)
class MarkedStage(QuestionStage):
    """Stage III: long documents with marked evidence, by default as the shipped model learned.

    ``open_tasks`` do not mark every sentence that answers. ``alpha``: weights ``exp(-alpha i)``, i
    sentences before the evidence's last; None: every evidence sentence is compared with the
    negatives on its own. ``context``: where the own vectors decide most questions, context vectors
    would learn little from the sum. ``distil_questions`` is a fraction of ``distil``.
    """

    documents: Count = 4
    questions: Count = 4
    hard: Amount = 5
    windows: Windows = (160, 224, 224, 320)
    tasks: TaskWeights = field(default_factory=dict)
    open_tasks: tuple[str, ...] = ()
    near: Amount = 0
    context: Weight = 0.0
    across: bool = True
    alpha: Weight | None = None
    distil: Weight = 0.7
    distil_questions: Weight = 0.5
    rank: Weight = 0.0
    noise: Noises = field(default_factory=dict)
    dimensions: Dimensions = ()


@checked(frozen=True, slots=True, config=CHECKED)
class RerankStage(QuestionStage):
    """A reranker.

    ``windows`` are without the question. ``steep``: the rank of a hard sentence that is drawn is
    ``u ** steep`` of their number, u uniform in 0 … 1.
    """

    questions: Count = 8
    hard: Count = 2
    elsewhere: Annotated[float, Field(ge=0, le=1)] = 0.5
    windows: Windows = (96, 144, 192, 240)
    steep: Positive = 1.7
    tasks: TaskWeights = field(default_factory=dict)
    open_tasks: tuple[str, ...] = ()
    answers: Weight = 0.0
    noise: Noises = field(default_factory=dict)


@checked(frozen=True, slots=True, config=CHECKED)
class JudgeStage:
    """What sentences say of a claim or question that stands in front of them."""

    question_dropout: Fraction = 0.0
    rows: Count = 32
    window: Window = 224
    beside: Fraction = 0.2
    sources: TaskWeights = field(default_factory=dict)


StageSettings = PairsStage | MergedStage | MarkedStage | RerankStage | JudgeStage

STAGES: dict[str, type[StageSettings]] = {
    "pairs": PairsStage,
    "merged": MergedStage,
    "marked": MarkedStage,
    "rerank": RerankStage,
    "judge": JudgeStage,
}
"""Settings of each kind of stage, by its name in a configuration."""
