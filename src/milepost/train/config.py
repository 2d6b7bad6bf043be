"""The file that ``milepost train`` reads: what to start from, what to learn, how it is checked.

    init = "models/all-MiniLM-L6-v2"
    out = "runs/first"

    [data]
    tasks = ["tasks/written"]

    [[stage]]
    kind = "marked"
    steps = 2400

    [check]
    tasks = ["tasks/written"]

Keys of a ``[[stage]]`` are those of ``Stage`` and those of its kind (``objectives.STAGES``). A
stage that mixes kinds has a ``[[stage.part]]`` for each. Relative paths start from the file's
folder.

The kinds bring torch, which takes seconds: they are asked for only where all else in the file is
right.
"""

from __future__ import annotations

import dataclasses
import os
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from milepost._optional import require
from milepost.errors import UnreadableFile, nearest
from milepost.train.data_settings import DataSettings
from milepost.train.needs import need, need_least, need_shares
from milepost.train.tables import Place, check_keys, fill


def _above_zero(settings: Any, *names: str) -> None:
    for name in names:
        value = getattr(settings, name)
        need(value is None or value > 0, f"{name} is {value}", "above 0")


@dataclass(frozen=True, slots=True)
class Lora:
    """Small trainable matrices beside the frozen linear layers; see ``model.with_lora``.

    Attributes:
        rank, alpha, dropout: the matrices' product is scaled by ``alpha / rank``.
        targets: names of layers; None for all linear ones.
        landmark: train the landmark's embedding as well.
    """

    rank: int = 16
    alpha: float = 32.0
    dropout: float = 0.1
    targets: tuple[str, ...] | None = None
    landmark: bool = True

    def __post_init__(self) -> None:
        _above_zero(self, "rank")
        need_shares(dropout=self.dropout)


@dataclass(frozen=True, slots=True)
class Windows:
    """Tokens of the windows that the checkpoint is to be read by; None for what fits it.

    Attributes:
        size: most tokens of a window.
        left, right: tokens of halo before and behind its own sentences.
        longest: most tokens of a sentence.
    """

    size: int | None = None
    left: int | None = None
    right: int | None = None
    longest: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One objective of a stage and its share of the steps."""

    kind: str
    settings: Any
    weight: float = 1.0

    def __post_init__(self) -> None:
        _above_zero(self, "weight")


@dataclass(frozen=True, slots=True)
class Stage:
    """Steps of one learning rate schedule with an optimiser of their own.

    Attributes:
        parts: one is drawn for each step, by weight.
        steps: of the optimiser.
        rate: highest learning rate.
        warm_up: steps in which the rate rises.
        floor: share of ``rate`` that the cosine ends at.
        clip: most length of the gradient.
        decay: weight decay of matrices (AdamW).
        accumulate: batches whose gradients are averaged for a step.
    """

    parts: tuple[Part, ...]
    steps: int
    rate: float = 1e-4
    warm_up: int = 100
    floor: float = 0.02
    clip: float = 1.0
    decay: float = 0.01
    accumulate: int = 1

    def __post_init__(self) -> None:
        _above_zero(self, "steps", "rate", "clip", "accumulate")
        need_least(0, warm_up=self.warm_up, decay=self.decay)
        need(0 <= self.floor <= 1, f"floor is {self.floor}", "a share of the rate: 0 to 1")

    @property
    def kind(self) -> str:
        """``marked``, or ``marked+documents`` of a mixture."""
        return "+".join(part.kind for part in self.parts)


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """Questions that tell how well it goes; the weights never see them.

    Attributes:
        tasks: folders or files, as ``milepost eval --tasks``.
        split: whose questions. ``test`` is for ``milepost eval``, once: who looks at it while
            training has chosen by it.
        documents, questions: of each task, at most.
        budget: characters in which the evidence is to be found.
        every: steps from one check to the next; there is one at the end of a stage, too.
    """

    tasks: tuple[Path, ...] = ()
    split: Literal["train", "dev", "test"] = "dev"
    documents: int = 10
    questions: int = 120
    budget: int = 1600
    every: int = 500

    def __post_init__(self) -> None:
        need(
            self.split != "test",
            "split is test, which reports and never tunes",
            "check on dev; milepost eval --split test asks those questions, once",
        )
        _above_zero(self, "documents", "questions", "budget", "every")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything that a run depends on.

    Attributes:
        file: where the configuration stands.
        init: a folder, or a model of the hub by name.
        out: the run's folder.
        stages: in their order; each goes on from the averaged weights of the one before.
        seed: of everything that is drawn.
        device: ``auto`` takes a GPU where there is one.
        dtype: what the network counts in; the losses and the weights are float32.
        threads: of the CPU; None for what torch takes.
        landmark, opening, bidirectional, transformers: see ``model.open_checkpoint``.
        query_prefix: what stands in front of every question, here and when the model is asked;
            None for what the checkpoint says, "" for nothing.
        attention: what ``transformers`` computes attention by.
        own_sentence: whether a landmark sees its own sentence only in the last layer; None for
            what the checkpoint says.
        frozen: patterns of parameters that are not trained, ``*embeddings*``.
        average: how slowly the averaged weights follow, 0.998; 0 for no average.
        base_share: share of the weights of ``init`` that is mixed into what is written.
        log_every, save_every: steps.
        on_collapse: what the alarm does besides saying so.
    """

    file: Path
    init: str
    out: Path
    stages: tuple[Stage, ...]
    data: DataSettings
    check: CheckSettings = field(default_factory=CheckSettings)
    lora: Lora | None = None
    windows: Windows = field(default_factory=Windows)
    seed: int = 1
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    dtype: Literal["float32", "bfloat16"] = "bfloat16"
    threads: int | None = None
    landmark: str | None = None
    opening: str | None = None
    query_prefix: str | None = None
    bidirectional: bool | None = None
    transformers: bool | None = None
    attention: Literal["eager", "sdpa"] = "sdpa"
    own_sentence: bool | None = None
    frozen: tuple[str, ...] = ()
    average: float = 0.998
    base_share: float = 0.0
    log_every: int = 50
    save_every: int = 500
    on_collapse: Literal["warn", "stop"] = "warn"

    def __post_init__(self) -> None:
        need(bool(self.stages), "there is no [[stage]]", "add one: kind and steps")
        _above_zero(self, "threads", "log_every", "save_every")
        need_shares(average=self.average, base_share=self.base_share)


def read_config(
    file: Path,
    *,
    init: str | None = None,
    out: Path | None = None,
    device: str | None = None,
) -> Config:
    """Read a configuration; what is given here stands in the place of what the file says.

    Args:
        file: TOML.
        init: as on the command line: a path from the current folder, or a name of the hub.
        out: a path from the current folder.
        device: ``auto``, ``cpu`` …

    Raises:
        UnreadableFile: no such file, or no TOML.
        InputError: a key that is not known, a value of the wrong type or out of range.
        MissingExtra: torch is not installed, and there is nothing else to complain of.
    """
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(
            f"{file} cannot be read: {error.strerror}", "check the path"
        ) from error
    except ValueError as error:  # of TOML and of UTF-8
        raise UnreadableFile(f"{file} is no TOML: {error}", "mend that line") from error
    place = Place(file)
    if init is None and isinstance(table.get("init"), str):
        beside = file.parent / Path(table["init"]).expanduser()
        init = os.path.normpath(beside) if beside.is_dir() else table["init"]
    given = {"init": init, "out": out, "device": device}
    made: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    for name, option in (("init", "--init MODEL"), ("out", "--out FOLDER")):
        if name not in made and name not in table:
            raise place.wrong(f"no {name!r}", f"add it, or give {option}")
    stages = table.pop("stage", [])
    if not isinstance(stages, list) or not all(isinstance(each, dict) for each in stages):
        raise place.wrong("stage is no list of tables", "begin each stage with [[stage]]")
    rest = {name: value for name, value in table.items() if name not in made}
    unread = tuple(Stage(parts=(), steps=1) for _ in stages)
    config = fill(Config, rest, place, file=file, stages=unread, **made)
    read = tuple(_stage(each, file, number) for number, each in enumerate(stages, 1))
    return dataclasses.replace(config, stages=read)


def _stage(table: dict[str, Any], file: Path, number: int) -> Stage:
    """A stage of one kind, whose keys stand in its own table, or of several parts."""
    place = Place(file, f"[[stage]] {number}")
    own = {each.name for each in dataclasses.fields(Stage)} - {"parts"}
    parts = table.pop("part", None)
    if parts is None:
        inner = {name: table.pop(name) for name in list(table) if name not in own}
        made: tuple[Part, ...] = (_part(inner, place, own),)
    elif isinstance(parts, list) and parts and all(isinstance(each, dict) for each in parts):
        made = tuple(
            _part(each, Place(file, f"[[stage.part]] {at} of stage {number}"), set())
            for at, each in enumerate(parts, 1)
        )
    else:
        raise place.wrong("part is no list of tables", "begin each part with [[stage.part]]")
    return fill(Stage, table, place, parts=made)


def _part(table: dict[str, Any], place: Place, beside: Collection[str]) -> Part:
    """A part from its table; ``beside`` are the stage's keys, which stand in the same table."""
    require("torch", extra="train")
    from milepost.train.objectives import STAGES

    kind = table.pop("kind", None)
    if kind not in STAGES:
        problem = "no 'kind'" if kind is None else f"there is no kind {kind!r} of stage"
        near = nearest(kind, STAGES) if isinstance(kind, str) else ""
        raise place.wrong(problem, f"{near}one of {', '.join(STAGES)}")
    known = [each.name for each in dataclasses.fields(STAGES[kind])]
    made = {"weight": table.pop("weight")} if "weight" in table and not beside else {}
    check_keys(table, {*known, *beside, *([] if beside else ["weight"])}, place)
    return fill(Part, made, place, kind=kind, settings=fill(STAGES[kind], table, place))


def resolved(config: Config) -> dict[str, Any]:
    """The settings as JSON can hold them.

    Paths are as seen from the configuration's folder, and ``out`` is left out, so that a run that
    was moved with its data has the same settings.
    """
    home = config.file.parent
    settings: dict[str, Any] = _plain(config, home)
    if Path(config.init).is_dir():
        settings["init"] = _plain(Path(config.init), home)
    del settings["file"], settings["out"]
    if config.query_prefix is None:
        del settings["query_prefix"]  # which runs begun without this setting can then go on
    return settings


def _plain(value: Any, home: Path) -> Any:
    if isinstance(value, Path):
        return os.path.relpath(value, home)
    if dataclasses.is_dataclass(value):
        return {
            each.name: _plain(getattr(value, each.name), home) for each in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {key: _plain(each, home) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each, home) for each in value]
    return value


def data_paths(config: Config) -> list[Path]:
    """Every file and folder that the settings name, once each."""
    return sorted(
        {path for part in (config.data, config.check, config.stages) for path in _paths(part)}
    )


def _paths(value: Any) -> Iterator[Path]:
    if isinstance(value, Path):
        yield value
    elif dataclasses.is_dataclass(value):
        for each in dataclasses.fields(value):
            yield from _paths(getattr(value, each.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from _paths(item)
