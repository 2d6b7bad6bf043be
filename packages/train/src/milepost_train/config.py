"""The configuration of ``milepost train``: initial weights, stages and checks.

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

Reading a configuration reports every fault of the file at once, and imports no torch.
"""

from __future__ import annotations

import dataclasses
import os
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from milepost.errors import UnreadableFile, nearest
from milepost_train.choices import Dtype, Tracker, Weights
from milepost_train.data_settings import DataSettings
from milepost_train.stages import STAGES
from milepost_train.toml_settings import Place, check_keys, fill
from milepost_train.validation import Checks


@dataclass(frozen=True, slots=True)
class Lora:
    """Low-rank matrices trained beside frozen linear layers; see ``model.with_lora``.

    Attributes:
        rank, alpha, dropout: the product of the matrices is scaled by ``alpha / rank``.
        targets: names of layers; None for all linear ones.
        landmark: train the landmark's embedding as well.
        weights: how the frozen weights are held while it trains; see ``model/weights.py``.
    """

    rank: int = 16
    alpha: float = 32.0
    dropout: float = 0.1
    targets: tuple[str, ...] | None = None
    landmark: bool = True
    weights: Weights = "float32"

    def __post_init__(self) -> None:
        with Checks() as check:
            check.above_zero(rank=self.rank)
            check.fractions(dropout=self.dropout)
            check.one_of(Weights, weights=self.weights)


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows in which the checkpoint is read; None for what fits it.

    Attributes:
        size: maximum tokens of a window.
        left, right: tokens of halo before and after its own sentences.
        longest: maximum tokens of a sentence.
    """

    size: int | None = None
    left: int | None = None
    right: int | None = None
    longest: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One objective of a stage and its relative frequency."""

    kind: str
    settings: Any
    weight: float = 1.0

    def __post_init__(self) -> None:
        with Checks() as check:
            check.above_zero(weight=self.weight)


@dataclass(frozen=True, slots=True)
class Stage:
    """Steps with one learning rate schedule and one optimizer.

    Attributes:
        parts: one of them is drawn for each step, by weight.
        steps: of the optimizer.
        rate: peak learning rate.
        warm_up: steps of linear warm-up.
        floor: fraction of ``rate`` at the end of the cosine.
        clip: maximum norm of the gradient.
        decay: weight decay of matrices (AdamW).
        accumulate: batches whose gradients are averaged in a step.
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
        with Checks() as check:
            check.above_zero(steps=self.steps, rate=self.rate)
            check.above_zero(clip=self.clip, accumulate=self.accumulate)
            check.at_least(0, warm_up=self.warm_up, decay=self.decay)
            check.up_to_one(floor=self.floor)

    @property
    def kind(self) -> str:
        """``marked``, or ``marked+pairs`` of a mixture."""
        return "+".join(part.kind for part in self.parts)


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """Questions that measure progress; they are never trained on.

    Attributes:
        tasks: folders or files, as ``milepost eval run --tasks``.
        split: of the questions. ``test`` is for one final ``milepost eval``: looking at it during
            training would select by it.
        documents, questions: maximum of each task.
        budget: characters that must contain the evidence.
        every: steps between checks; the end of a stage is checked too.
        keep: keep the averaged weights of every check in a folder of their own, named by the step;
            ``best``: the checkpoint is that of the best check, by the mean of tasks.
    """

    tasks: tuple[Path, ...] = ()
    split: Literal["train", "dev", "test"] = "dev"
    documents: int = 10
    questions: int = 120
    budget: int = 1600
    every: int = 500
    keep: bool | Literal["best"] = False

    def __post_init__(self) -> None:
        with Checks() as check:
            check.need(
                self.split != "test",
                "split is test, whose questions are for the final evaluation only",
                'split = "dev"; then, once: milepost eval run --split test',
                "split",
            )
            check.above_zero(documents=self.documents, questions=self.questions)
            check.above_zero(budget=self.budget, every=self.every)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings of a run.

    Attributes:
        file: the configuration.
        init: a folder, or a model of the hub by name.
        out: the run's folder.
        stages: in their order; each starts from the averaged weights of the one before.
        seed: of all random numbers.
        device: ``auto`` uses a GPU if there is one.
        dtype: of the network's computation, and of a mean-pooled teacher's; losses and weights are
            float32. ``auto``: bfloat16 where the device supports it in hardware.
        threads: of the CPU; None for the default of torch.
        landmark, bos_token, bidirectional, transformers: see ``model.open_checkpoint``.
        query_prefix: prefix of every question, in training and in use; None for that of the
            checkpoint, "" for none.
        attention: implementation that ``transformers`` uses.
        own_sentence: in the last layer a landmark attends to its own sentence only; None for
            the checkpoint's setting.
        context: numbers of a landmark's context vector, from other last layers; 0 for none, None
            for the checkpoint's setting.
        context_layers: how many; None for the checkpoint's setting.
        others: see ``LandmarkEncoder``.
        frozen: patterns of parameters that are not trained, such as ``*embeddings*``.
        gradient_checkpointing: layers run again in the backward pass, which saves memory.
        average: decay of the moving average of the weights, such as 0.998; 0 for none.
        base_share: fraction of the weights of ``init`` that is mixed into the checkpoint.
        log_every, save_every: interval in steps.
        on_collapse: what happens besides a warning.
        log_with: trackers that get the lines of the log.
        project: the name under which they keep the run.
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
    dtype: Dtype = "auto"
    threads: int | None = None
    landmark: str | None = None
    bos_token: str | None = None
    query_prefix: str | None = None
    bidirectional: bool | None = None
    transformers: bool | None = None
    attention: Literal["eager", "sdpa"] = "sdpa"
    own_sentence: bool | None = None
    context: int | None = None
    context_layers: int | None = None
    others: Literal["", "learned", "half"] = ""
    frozen: tuple[str, ...] = ()
    gradient_checkpointing: bool = False
    average: float = 0.998
    base_share: float = 0.0
    log_every: int = 50
    save_every: int = 500
    on_collapse: Literal["warn", "stop"] = "warn"
    log_with: tuple[Tracker, ...] = ()
    project: str = "milepost"

    def __post_init__(self) -> None:
        with Checks() as check:
            check.need(bool(self.stages), "missing [[stage]]", "add one: kind and steps", "stages")
            check.above_zero(threads=self.threads, log_every=self.log_every)
            check.above_zero(save_every=self.save_every)
            check.fractions(average=self.average, base_share=self.base_share)


def read_config(
    file: Path,
    *,
    init: str | None = None,
    out: Path | None = None,
    device: str | None = None,
    steps: int | None = None,
    keep: str | None = None,
) -> Config:
    """Read a configuration; the arguments override what the file says.

    Args:
        file: TOML.
        init: as on the command line: a path from the current folder, or a model of the hub.
        out: a path from the current folder.
        device: ``auto``, ``cpu`` …
        steps: of the only stage.
        keep: ``all`` or ``best``, see ``CheckSettings``.

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
        beside = file.parent / Path(table["init"]).expanduser()
        init = os.path.normpath(beside) if beside.is_dir() else table["init"]
    arguments = {"init": init, "out": out, "device": device}
    values: dict[str, Any] = {key: value for key, value in arguments.items() if value is not None}
    for name, option in (("init", "--init MODEL"), ("out", "--out FOLDER")):
        if name not in values and name not in table:
            place.report(f"missing key {name!r}", f"add it, or {option}")
            values[name] = None
    stages = table.pop("stage", [])
    if not isinstance(stages, list) or not all(isinstance(each, dict) for each in stages):
        place.report("stage is not a list of tables", "begin each stage with [[stage]]")
        stages = [{"kind": "pairs", "steps": 1}]  # not to be reported as missing as well
    if steps is not None and len(stages) == 1:
        stages[0]["steps"] = steps
    elif steps is not None:
        place.report(f"--steps is for one stage, and there are {len(stages)}", "set steps in each")
    if keep is not None and isinstance(table.setdefault("check", {}), dict):
        table["check"]["keep"] = True if keep == "all" else keep
    rest = {name: value for name, value in table.items() if name not in values}
    unread = tuple(Stage(parts=(), steps=1) for _ in stages)
    config = fill(Config, rest, place, file=file, stages=unread, **values)
    read = [_stage(each, place, number) for number, each in enumerate(stages, 1)]
    place.check()
    assert config is not None
    return dataclasses.replace(config, stages=tuple(each for each in read if each is not None))


def _stage(table: dict[str, Any], top: Place, number: int) -> Stage | None:
    """A stage of one kind, with its keys in the same table, or of several parts."""
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
    return fill(Stage, table, place, parts=tuple(made))


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
    return fill(Part, weight, place, kind=kind, settings=made)


def resolved(config: Config) -> dict[str, Any]:
    """The settings that a run depends on, as JSON can hold them.

    Paths are as seen from the configuration's folder, and ``out`` is left out, so that a run that
    was moved with its data has the same settings.
    """
    home = config.file.parent
    settings: dict[str, Any] = _plain(config, home)
    if Path(config.init).is_dir():
        settings["init"] = _plain(Path(config.init), home)
    for name in ("file", "out", "log_with", "project"):
        del settings[name]
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
