"""The configuration of ``milepost train``; ``docs/training.md`` has every key.

Keys of a ``[[stage]]`` are those of ``Stage`` and those of its kind (``settings.STAGES``). A stage
that mixes kinds has a ``[[stage.part]]`` for each. Relative paths start from the file's folder.
Reading a configuration reports every fault of the file at once, and imports no torch.
"""

from __future__ import annotations

import dataclasses
import json
import os
import tomllib
from collections.abc import Collection
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from milepost._paths import expanded
from milepost.errors import UnreadableFile, nearest
from milepost_train.settings import (
    CHECKED,
    STAGES,
    Amount,
    Count,
    File,
    Fraction,
    Place,
    Positive,
    Weight,
    check_keys,
    fill,
)

Dtype = Literal["auto", "float32", "bfloat16"]
"""What a network computes in; ``auto``: what is fast on the device."""

Tracker = Literal[
    "tensorboard", "wandb", "mlflow", "trackio", "comet_ml", "aim", "clearml", "dvclive", "swanlab"
]
"""Experiment trackers that accelerate knows."""

Weights = Literal["float32", "bfloat16", "4bit"]
"""How the frozen weights beside LoRA are held; see ``model.checkpoint.loading``."""

Tokens = Annotated[int, Field(ge=4)]
Files = tuple[File, ...]


@dataclass(frozen=True, slots=True, config=CHECKED)
class Lora:
    """Low-rank matrices trained beside frozen linear layers; see ``model.with_lora``."""

    rank: Count = 16
    alpha: float = 32.0
    dropout: Fraction = 0.1
    targets: tuple[str, ...] | None = None
    landmark: bool = True
    weights: Weights = "float32"


@dataclass(frozen=True, slots=True, config=CHECKED)
class Windows:
    """Windows in which the checkpoint is read, in tokens; None for what fits it."""

    size: Annotated[int, Field(ge=3)] | None = None
    left: Amount | None = None
    right: Amount | None = None
    longest: Count | None = None


@dataclass(frozen=True, slots=True, config=CHECKED)
class DataSettings:
    """Files, and which parts of them are used."""

    tasks: Files = ()
    pairs: Files = ()
    negatives: Files = ()
    judged: Files = ()
    teacher: File | None = None
    allow_nc: bool = False
    hold_out: Fraction = 0.0
    longest: Tokens = 128
    passage: Tokens = 160


@dataclass(frozen=True, slots=True, config=CHECKED)
class Part:
    """One objective of a stage and its relative frequency."""

    kind: str = ""
    settings: Any = None
    weight: Positive = 1.0


@dataclass(frozen=True, slots=True, config=CHECKED)
class Stage:
    """Steps with one rate schedule and one optimizer; a part is drawn for each, by weight."""

    steps: Count
    parts: tuple[Part, ...] = ()
    rate: Positive = 1e-4
    warm_up: Amount = 100
    floor: Annotated[float, Field(ge=0, le=1)] = 0.02
    clip: Positive = 1.0
    decay: Weight = 0.01
    accumulate: Count = 1

    @property
    def kind(self) -> str:
        """``marked``, or ``marked+pairs`` of a mixture."""
        return "+".join(part.kind for part in self.parts)


@dataclass(frozen=True, slots=True, config=CHECKED)
class CheckSettings:
    """Questions that measure progress, so many of each task; they are never trained on."""

    tasks: Files = ()
    split: Literal["train", "dev"] = "dev"
    documents: Count = 10
    questions: Count = 120
    budget: Count = 1600
    every: Count = 500
    keep: bool | Literal["best"] = False


@dataclass(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Config:
    """All settings of a run; ``docs/training.md`` has them. None is what the checkpoint says."""

    file: Path = Path()
    init: str = ""
    out: File = Path()
    stages: tuple[Stage, ...] = ()
    data: DataSettings = field(default_factory=DataSettings)
    check: CheckSettings = field(default_factory=CheckSettings)
    lora: Lora | None = None
    windows: Windows = field(default_factory=Windows)
    seed: int = 1
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    dtype: Dtype = "auto"
    threads: Count | None = None
    landmark: str | None = None
    bos_token: str | None = None
    query_prefix: str | None = None
    bidirectional: bool | None = None
    transformers: bool | None = None
    attention: Literal["eager", "sdpa"] = "sdpa"
    own_sentence: bool | None = None
    context: Amount | None = None
    context_layers: Count | None = None
    others: Literal["", "half"] = ""
    verdicts: bool | None = None
    frozen: tuple[str, ...] = ()
    gradient_checkpointing: bool = False
    average: Fraction = 0.998
    base_share: Fraction = 0.0
    log_every: Count = 50
    save_every: Count = 500
    on_collapse: Literal["warn", "stop"] = "warn"
    log_with: tuple[Tracker, ...] = ()
    project: str = "milepost"


def read_config(
    file: Path,
    *,
    init: str | None = None,
    out: Path | None = None,
    device: str | None = None,
    steps: int | None = None,
    keep: str | None = None,
) -> Config:
    """Read a configuration; the arguments, as on the command line, override what the file says.

    Raises:
        UnreadableFile: there is no such file, or it is not TOML.
        WrongSettings: the file has unknown or missing keys, or values of the wrong type or out of
            range; the text has one line for each fault.
    """
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(
            f"{file} cannot be read: {error.strerror}", "check the path"
        ) from error
    except ValueError as error:  # of TOML and of UTF-8
        raise UnreadableFile(f"{file} is not TOML: {error}", "correct that line") from error
    place = Place(file)
    if init is None and isinstance(table.get("init"), str):
        beside = file.parent / expanded(table["init"])
        init = os.path.normpath(beside) if beside.is_dir() else table["init"]
    arguments = {"init": init, "out": out, "device": device}
    values: dict[str, Any] = {key: value for key, value in arguments.items() if value is not None}
    for name, option in (("init", "--init MODEL"), ("out", "--out FOLDER")):
        if name not in values and name not in table:
            place.report(f"missing key {name!r}", f"add it, or {option}")
    stages = table.pop("stage", [])
    if not isinstance(stages, list) or not all(isinstance(each, dict) for each in stages):
        place.report("stage is not a list of tables", "begin each stage with [[stage]]")
        stages = []
    elif not stages:
        place.report("missing [[stage]]", "add one: kind and steps")
    if steps is not None and len(stages) == 1:
        stages[0]["steps"] = steps
    elif steps is not None:
        place.report(f"--steps is for one stage, and there are {len(stages)}", "set steps in each")
    if keep is not None and isinstance(table.setdefault("check", {}), dict):
        table["check"]["keep"] = True if keep == "all" else keep
    rest = {name: value for name, value in table.items() if name not in values}
    config = fill(Config, rest, place, file=file, stages=(), **values)
    read = [_stage(each, place, number) for number, each in enumerate(stages, 1)]
    if config is not None and not (config.data.tasks or config.data.pairs or config.data.judged):
        place.report("data has no tasks, pairs or judged rows", "name some files")
    place.check()
    assert config is not None
    return dataclasses.replace(config, stages=tuple(each for each in read if each is not None))


def _stage(table: dict[str, Any], top: Place, number: int) -> Stage | None:
    place = top.at(f"[[stage]] {number}")
    own = {each.name for each in dataclasses.fields(Stage)} - {"parts"}
    parts = table.pop("part", None)
    made: list[Part | None] = []
    if parts is None:
        inner = {name: table.pop(name) for name in list(table) if name not in own}
        made = [_part(inner, place, own)]
    elif isinstance(parts, list) and parts and all(isinstance(each, dict) for each in parts):
        places = [top.at(f"[[stage.part]] {n} of stage {number}") for n in range(1, 1 + len(parts))]
        made = [_part(each, at, ()) for each, at in zip(parts, places, strict=True)]
    else:
        place.report("part is not a list of tables", "begin each part with [[stage.part]]")
    return fill(Stage, table, place, parts=tuple(each for each in made if each is not None))


def _part(table: dict[str, Any], place: Place, beside: Collection[str]) -> Part | None:
    """A part from its table; ``beside`` are the keys of its stage, if they share the table."""
    kind = table.pop("kind", None)
    weight = {"weight": table.pop("weight")} if "weight" in table and not beside else {}
    settings = STAGES.get(kind) if isinstance(kind, str) else None
    kinds = STAGES.values() if settings is None else [settings]
    known = {each.name for one in kinds for each in dataclasses.fields(one)}
    if settings is None:
        problem = "missing key 'kind'" if kind is None else f"unknown kind {kind!r}"
        near = nearest(kind, STAGES) if isinstance(kind, str) else ""
        place.report(problem, f"{near}one of {', '.join(STAGES)}")
    check_keys(table, {*known, *beside, *([] if beside else ["kind", "weight"])}, place)
    usable = {name: value for name, value in table.items() if name in known}
    made = None if settings is None else fill(settings, usable, place)
    return None if made is None else fill(Part, weight, place, kind=kind, settings=made)


def resolved(config: Config) -> dict[str, Any]:
    """The settings that a run depends on, as JSON can hold them.

    Paths are as seen from the configuration's folder, and ``out`` is left out, so that a run that
    was moved with its data has the same settings.
    """
    home = config.file.parent
    written = json.dumps(
        dataclasses.asdict(config), default=lambda path: os.path.relpath(path, home)
    )
    settings: dict[str, Any] = json.loads(written)
    if Path(config.init).is_dir():
        settings["init"] = os.path.relpath(config.init, home)
    for name in ("file", "out", "log_with", "project"):
        del settings[name]
    return settings


def data_paths(config: Config) -> list[Path]:
    """Every file and folder that the settings name, once each."""
    data = config.data
    teacher = () if data.teacher is None else (data.teacher,)
    files = (*data.tasks, *data.pairs, *data.negatives, *data.judged)
    return sorted({*files, *teacher, *config.check.tasks})
