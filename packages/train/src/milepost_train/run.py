"""From a configuration to a checkpoint: what ``milepost train`` does."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer as Backend

from milepost._optional import require
from milepost.encoder.engine.folder import cache_folder
from milepost.encoder.engine.manifest import SENTENCES
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.windows.plan import WindowSize
from milepost.errors import (
    InputError,
    MilepostError,
    MissingExtra,
    ModelError,
    UnreadableFile,
    first_line,
    nearest,
)
from milepost.wording import counted
from milepost_eval.tasks.reading import is_table
from milepost_train.check import load_check
from milepost_train.config import Config, data_paths, resolved
from milepost_train.data import QUESTION_TOKENS, repeated
from milepost_train.generated import first_of
from milepost_train.loading import task_files
from milepost_train.loop import Event, Loop, LossNotFinite, OnProgress, memory
from milepost_train.material import load_material
from milepost_train.model import Checkpoint, open_checkpoint, with_lora
from milepost_train.model.card import record_of, trained
from milepost_train.model.huggingface import HuggingFace
from milepost_train.model.release import window_sizes
from milepost_train.model.special import local
from milepost_train.objectives import build
from milepost_train.objectives.base import Objective
from milepost_train.processes import Processes, chosen_device, chosen_dtype, joined
from milepost_train.record import AROUND, describe, differences, leaves, recurs
from milepost_train.run_folder import CHECKPOINT, RunFolder

_PLACES = ("step", "stage")  # of a line, no figures


def need_trackers(names: Sequence[str]) -> None:
    """Refuse trackers that are not installed."""
    if not names:
        return
    tracking = require("accelerate.tracking", extra="train")
    known = {str(name) for name in tracking.get_available_trackers()}
    for name in names:
        if name not in known:
            packages = f"accelerate {name.replace('_', '-')}"
            raise MissingExtra(
                f"log_with names {name}, which is not installed", f"pip install -U {packages}"
            )


@contextmanager
def tracked(
    names: Sequence[str],
    project: str,
    folder: Path,
    settings: Mapping[str, Any],
    on_progress: OnProgress,
    *,
    cpu: bool,
) -> Iterator[OnProgress]:
    """Open trackers by accelerate, and close them when the run ends.

    What takes the events of a run comes back. After a failure nothing more is sent to the trackers,
    and the run goes on.
    """
    if not names:
        yield on_progress
        return
    accelerate = require("accelerate", extra="train")
    tracking = accelerate.Accelerator(cpu=cpu, log_with=list(names), project_dir=str(folder))
    fails: list[Exception] = []

    def log(event: Event) -> None:
        if event.line is not None and not fails:
            figures = {
                name: value
                for name, value in _flat(event.line).items()
                if name not in _PLACES and isinstance(value, int | float)
            }
            try:
                tracking.log(figures, step=event.line["step"])
            except Exception as error:  # each tracker raises its own
                fails.append(error)
                warning = f"nothing more is sent to the trackers: {first_line(error)}"
                on_progress(Event("", event.done, event.of, warning=warning))
        on_progress(event)

    try:
        try:
            tracking.init_trackers(project, config=_flat(settings))
        except Exception as error:  # each tracker raises its own
            first = first_line(error)
            raise MilepostError(
                f"a tracker cannot be opened: {first}", "set it up, or remove log_with"
            ) from error
        yield log
    finally:
        for tracker in tracking.trackers:
            with suppress(Exception):  # the others are closed, too, and the run is what counts
                tracker.finish()


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """``{"check": {"written": 0.5}}`` as ``{"check/written": 0.5}``; lists are written out."""
    return {
        name: value if isinstance(value, str | int | float) else str(value or "")
        for name, value in leaves(values, "/").items()
    }


_READING = ("own_sentence", "context", "context_layers", "verdicts", "query_prefix")


@dataclass(frozen=True, slots=True)
class Trained:
    """Result of a run: evidence found per task, 0–1, by the steps of each check; bad lines."""

    checkpoint: Path
    steps: int
    seconds: float
    checks: dict[int, dict[str, float]]
    bad: int

    @property
    def found(self) -> dict[str, float]:
        """The last check's evidence found per task; empty without checks."""
        return self.checks[max(self.checks)] if self.checks else {}


def train(
    config: Config,
    *,
    resume: bool = False,
    on_progress: OnProgress = lambda event: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Trained:
    """Train, or resume a run.

    Raises:
        UnreadableFile: a file of the data is not there.
        InputError: no such device, or not one for each process; data that cannot be used; a run
            that is there, was made with other settings or data, or is trained elsewhere.
        ModelError: ``init`` cannot be opened or trained so.
        RunInterrupted: the disk is full or there is too little memory; call again with ``resume``.
        KeyboardInterrupt: ``stopped`` said so.
        MissingExtra: peft, accelerate or a tracker is needed and not installed.
    """
    _need_data(config)
    need_trackers(config.log_with)
    with joined(chosen_device(config.device)) as processes:
        folder = RunFolder(config.out, resume=resume, writes=processes.first)
        with folder.alone():
            shown = on_progress if processes.first else lambda event: None
            return _train(config, folder, processes, shown, stopped)


def _train(
    config: Config,
    folder: RunFolder,
    processes: Processes,
    on_progress: OnProgress,
    stopped: Callable[[], bool],
) -> Trained:
    with reproducible(config), memory("to begin"):
        on_progress(Event(f"opening {config.init}", 0, 0))
        device = processes.device
        checkpoint = opened(config)
        config = replace(config, dtype=chosen_dtype(config.dtype, device))
        facts = _facts(config, processes, folder, on_progress)
        reading = checkpoint.reading
        material = load_material(
            config.data,
            _copy(checkpoint.tokenizer),
            reading,
            causal=checkpoint.model.causal,
            width=checkpoint.model.backbone.width,
            cache=cache_folder() / "train",
            device=device.type,
            dtype=config.dtype,
            progress=lambda doing, done, of: on_progress(Event(doing, done, of)),
        )
        material.verdicts = checkpoint.model.verdicts
        bad = material.report.bad
        for note in material.report.lines():
            on_progress(Event("", 0, 0, note=note))
        for warning in first_of(bad):
            on_progress(Event("", 0, 0, warning=warning))
        objectives: list[list[Objective]] = []
        for number, stage in enumerate(config.stages, 1):
            if stage.warm_up > stage.steps:
                long = f"[[stage]] {number}: warm_up is {stage.warm_up:,}, more than its steps"
                on_progress(Event("", 0, 0, note=f"{long}; taken as {stage.steps:,}"))
            try:
                objectives.append([build(part.settings, material) for part in stage.parts])
            except InputError as error:
                raise InputError(f"[[stage]] {number}, {error.problem}", error.hint) from error
        sizes = window_sizes(checkpoint)
        shape = WindowSize(sizes["window"], sizes["left"], sizes["right"], sizes["longest"] + 1)
        tokenizer = Tokenizer(_copy(checkpoint.tokenizer), reading.bos_token, reading.landmark)
        check = load_check(config.check, tokenizer, shape, reading.query_prefix)
        asked = {each.words for each in check.questions} if check else set()
        if same := repeated(asked, (each.words for each in material.questions)):
            said = f"{len(same):,} of {counted(len(asked), 'question')} of the check are trained on"
            said += " in the same words, which may flatter its figures"
            on_progress(Event("", 0, 0, warning=said))
        # Whatever was drawn above (a teacher's vectors may come from the cache) counts no more.
        torch.manual_seed(config.seed + processes.number)  # a dropout of its own
    # Only now, so that a run whose data cannot be used leaves nothing behind.
    folder.describe(facts)
    names, cpu = config.log_with if processes.first else (), processes.device.type == "cpu"
    reports = tracked(names, config.project, config.out, facts["settings"], on_progress, cpu=cpu)
    with reproducible(config), memory("to train"), reports as report:
        loop = Loop(config, checkpoint, objectives, check, folder, processes, report)
        try:
            loop.run(stopped)
        except LossNotFinite as error:
            folder.describe({**facts, "failed": error.problem})
            raise
    folder.describe({**facts, "hours": round(loop.seconds / 3600, 3)})
    folder.write_card()
    checks = {line["step"]: line["check"] for line in folder.lines() if "check" in line}
    return Trained(folder.path / CHECKPOINT, loop.done, loop.seconds, checks, len(bad))


def _need_data(config: Config) -> None:
    for path in data_paths(config):
        if not path.exists():
            beside = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
            raise UnreadableFile(
                f"{config.file} names {path}, which does not exist",
                f"{nearest(path.name, beside)}a path from the folder of that file",
            )
    for task in config.data.tasks:
        for path in task_files(task):
            if not (path.is_file() or is_table(path)):
                raise UnreadableFile(
                    f"{config.file} names {task}, which is not a task: it has no {path.name}",
                    "a folder of a task has documents and questions; or name one file of both",
                )


def _facts(
    config: Config, processes: Processes, folder: RunFolder, on_progress: OnProgress
) -> dict[str, Any]:
    """What the run is made from, compared with what it was made from when it resumes."""
    settings = resolved(config)
    settings |= {
        "device": processes.device.type,
        "threads": torch.get_num_threads(),
        "processes": processes.count,
    }
    text = config.file.read_text(encoding="utf-8")
    facts = describe(
        config=text,
        settings=settings,
        seeds={"the run": settings.pop("seed")},
        data=data_paths(config),
        init=local(config.init),
        device=str(processes.device),
    )
    earlier = record_of(config.init)
    facts["trained"] = trained(earlier) if earlier else {}
    facts["base_model"] = "" if Path(config.init).is_dir() else config.init
    home = config.file.parent
    facts["data"] = {os.path.relpath(name, home): each for name, each in facts["data"].items()}
    before = folder.facts()
    if before is None:
        if earlier and recurs(earlier, facts):
            said = f"{config.init} learned from such data with the same seed: batches may recur"
            on_progress(Event("", 0, 0, warning=f"{said}; try: seed = {config.seed + 1}"))
        return facts
    before.pop("failed", None)
    other = differences(before, facts)
    if other:
        raise InputError(
            f"{folder.path} cannot be resumed: {'; '.join(other[:3])}",
            "the settings it began with, or another --out",
        )
    around = differences(before, facts, AROUND)
    if around:
        warning = f"{'; '.join(around)}: the last digits of the weights may differ"
        on_progress(Event("", 0, 0, warning=warning))
    return before


def _copy(tokenizer: Backend) -> Backend:
    """Readers switch truncation off; the checkpoint keeps what it had."""
    made: Backend = Backend.from_str(tokenizer.to_str())
    return made


def opened(config: Config) -> Checkpoint:
    """The checkpoint a run starts from, on its device, with LoRA where it is asked for."""
    device = chosen_device(config.device)
    checkpoint = open_checkpoint(
        config.init,
        landmark=config.landmark,
        bos_token=config.bos_token,
        bidirectional=config.bidirectional,
        transformers=config.transformers,
        attention=config.attention,
        trainable=True,
        weights=config.lora.weights if config.lora else "float32",
        device=str(device),
    )
    model, said = checkpoint.model, checkpoint.reading
    wanted = {name: getattr(config, name) for name in _READING}
    wanted |= {"others": config.others or None, "window": config.windows.size}
    wanted |= {name: getattr(config.windows, name) for name in ("left", "right", "longest")}
    changes = {name: value for name, value in wanted.items() if value is not None}
    checkpoint.reading = replace(said, granularity=SENTENCES, **changes)
    _need_room(checkpoint)
    if checkpoint.reading.own_sentence and isinstance(model.backbone, HuggingFace):
        raise ModelError(
            f"{config.init} is read by transformers, whose last layer sees the whole window",
            "leave own_sentence out",
        )
    torch.manual_seed(config.seed)
    model.read_as(checkpoint.reading)
    if config.lora is not None:
        if model.verdicts is not None:
            raise ModelError(
                "verdicts that are learned beside LoRA are not saved with it",
                "leave [lora] out, or verdicts",
            )
        landmark = checkpoint.tokenizer.token_to_id(said.landmark)
        with_lora(
            model,
            config.lora.rank,
            config.lora.alpha,
            config.lora.dropout,
            config.lora.targets,
            tokens=(landmark,) if config.lora.landmark and landmark is not None else (),
        )
    if config.gradient_checkpointing:
        model.recompute_activations()
    _freeze(checkpoint, config.frozen)
    # Of several GPUs this is the one that ``joined`` has made current.
    model.to(device)
    return checkpoint


def _need_room(checkpoint: Checkpoint) -> None:
    """Refuse a prefix that takes more than half of what is read of a question."""
    reading = checkpoint.reading
    tokenizer = Tokenizer(_copy(checkpoint.tokenizer), reading.bos_token, reading.landmark)
    tokens = len(tokenizer.encode([reading.query_prefix])[0].ids)
    room = min(QUESTION_TOKENS, window_sizes(checkpoint)["longest"])
    if 2 * tokens > room:
        raise InputError(
            f"query_prefix has {tokens} tokens; with a question, only {room} are read", "shorten it"
        )


def _freeze(checkpoint: Checkpoint, patterns: tuple[str, ...]) -> None:
    weights = dict(checkpoint.model.named_parameters())
    for pattern in patterns:
        named = [name for name in weights if fnmatchcase(name, pattern)]
        if not named:
            raise ModelError(
                f"no weight matches {pattern!r}",
                f"{nearest(pattern, weights)}write * for any part of a name",
            )
        for name in named:
            weights[name].requires_grad_(False)
    if not any(weight.requires_grad for weight in weights.values()):
        raise ModelError("no weight is left to train", "take some patterns out of frozen")


@contextmanager
def reproducible(config: Config) -> Iterator[None]:
    """While this lasts, torch counts the same way every time, where it has one that does."""
    threads, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    fill = torch.utils.deterministic.fill_uninitialized_memory
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # CUDA is not reproducible without
    if config.threads:
        torch.set_num_threads(config.threads)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*deterministic")
            yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(strict)
        torch.utils.deterministic.fill_uninitialized_memory = fill
