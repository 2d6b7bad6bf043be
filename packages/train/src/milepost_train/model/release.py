"""Export a checkpoint to a model folder and check it, as ``milepost export`` does; upload it."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from milepost._optional import require
from milepost.cli.packages import function
from milepost.encoder import Encoder
from milepost.encoder.engine import Manifest, verdict_head
from milepost.encoder.engine.folder import TOKENIZER, ModelFolder, Precision
from milepost.encoder.engine.hub import NAME
from milepost.encoder.engine.manifest import SENTENCES, read_manifest
from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost.errors import InputError, MilepostError, ModelError, first_line, nearest
from milepost_train.model.card import CARD, card, is_reranker, record_of, trained
from milepost_train.model.checkpoint import Checkpoint, merge_lora, open_checkpoint
from milepost_train.model.export import GRAPH, Feed, export, export_onnx, with_packed_table
from milepost_train.model.landmark_encoder import Ids, LandmarkEncoder, TorchEngine
from milepost_train.model.layouts import check_exportable
from milepost_train.model.special import local
from milepost_train.record import add_sums

LEAST: dict[Precision, float] = {"f32": 0.9999, "bf16": 0.99, "int8": 0.9, "int4": 0.8}
"""Minimum cosine of a graph's vector and torch's that every sentence must reach."""

MEAN: dict[Precision, float] = {"f32": 0.99999, "bf16": 0.998, "int8": 0.97, "int4": 0.95}
"""Minimum of the mean cosine."""

SAMPLE = Path(__file__).with_name("sample.txt").read_text(encoding="utf-8").splitlines()
"""Texts of several kinds and languages, used if there is no calibration text."""


@dataclass(frozen=True, slots=True)
class Parity:
    """Cosines of one graph with torch: minimum and mean, with those that are required."""

    precision: Precision
    sentences: int
    least: float
    mean: float
    least_wanted: float
    mean_wanted: float

    @property
    def holds(self) -> bool:
        """Whether the graph is close enough to torch."""
        return self.least >= self.least_wanted and self.mean >= self.mean_wanted


def compare(
    model: LandmarkEncoder,
    folder: ModelFolder,
    texts: Sequence[str],
    graphs: Mapping[Precision, Path] | None = None,
) -> list[Parity]:
    """Encode texts with torch and with every graph of the folder, and compare the vectors.

    ``graphs`` are files that OpenVINO reads (its own or ONNX); None for the folder's.
    """
    if graphs is None:
        graphs = {precision: folder.graph(precision) for precision in folder.precisions}
    wanted = _vectors(Encoder(folder, TorchEngine(model)), texts)
    found = []
    for precision, graph in graphs.items():
        engine = OpenVinoEngine(graph, cache=None)
        cosines = (_vectors(Encoder(folder, engine), texts) * wanted).sum(-1)
        # A NaN makes the check fail, because comparisons with NaN are false.
        least, mean = float(cosines.min()), float(cosines.mean())
        limits = LEAST[precision], MEAN[precision]
        found.append(Parity(precision, len(cosines), least, mean, *limits))
    return found


def _vectors(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float64]:
    return np.concatenate([encoder.encode(text).vectors for text in texts]).astype(np.float64)


Format = Literal["openvino", "onnx"]

_ALSO: dict[str, Precision] = {"fp32": "f32", "float32": "f32", "bfloat16": "bf16"}
CHECKPOINT = "checkpoint"
_USUAL = 512  # default maximum of a window, if the network reads that many tokens
_TEXTS = 40  # maximum number of calibration texts in the parity report
_LETTERS = 4000  # characters of each of these texts
_BATCHES = 120  # maximum number of calibration batches


@dataclass(frozen=True, slots=True)
class Released:
    """The exported folder, and how close each graph is to torch.

    ``reranker``: whether ``milepost train`` recorded one, which has no ranking to fit. ``notes``
    are guesses about the checkpoint and differences from it, as sentences for users.
    """

    folder: Path
    manifest: Manifest
    parity: list[Parity]
    reranker: bool
    notes: tuple[str, ...] = ()


def release(
    checkpoint: str | Path | Checkpoint,
    out: Path,
    *,
    format: Format = "openvino",
    precisions: Sequence[str] = ("f32",),
    name: str | None = None,
    calibration: Sequence[str] = (),
    window: int | None = None,
    left: int | None = None,
    right: int | None = None,
    granularity: int | None = None,
    pooling: Path | None = None,
    dimensions: int | None = None,
    packed: bool = False,
    landmark: str | None = None,
    bidirectional: bool | None = None,
) -> Released:
    """Export a checkpoint and compare every graph with torch.

    LoRA is merged first, also in the given ``Checkpoint``.

    ``milepost export --help`` says what each option does. ``checkpoint`` is a folder, a name on the
    hub, or the result of ``open_checkpoint`` (``landmark`` and ``bidirectional`` are then ignored).
    ``out``, the model folder, must not exist, and is created only if the export succeeds.
    ``precisions`` are some of ``f32`` (or ``fp32``, ``float32``), ``bf16``, ``int8`` and ``int4``.
    Some of the texts for int8, ``calibration``, are also used to compare vectors with torch. Sizes
    are in tokens; what is None is as the checkpoint says, else what fits the network.

    Raises:
        InputError: ``out`` exists, or what is asked for does not fit the network, the format or
            each other.
        ModelError: the checkpoint cannot be read, a model folder does not support its settings, or
            a graph is not close enough to torch.
        MissingExtra: OpenVINO, NNCF, onnx, peft or, for ``pooling``, milepost-lab is missing.
    """
    install = None if pooling is None else function("install-pooling", asked="export --pooling")
    wanted = _known(precisions)
    if format == "onnx":
        _check_onnx(wanted, pooling)
    if "int8" in wanted and not any(text.strip() for text in calibration):
        raise InputError("int8 needs real text to be calibrated on", "--calibration FILE")
    if not {"int8", "int4"}.isdisjoint(wanted):
        require("nncf", extra="export")
    if out.exists():
        raise InputError(f"{out} exists", "name another folder, or remove it first")
    record, notes = None, tuple[str, ...]()
    if not isinstance(checkpoint, Checkpoint):
        record = record_of(checkpoint)
        if record and "failed" in record and Path(checkpoint).resolve().name == CHECKPOINT:
            raise ModelError(
                f"the training of {checkpoint} failed: {record['failed']}",
                "train again; of a run with [check] keep = true, export a checkpoint-N before that",
            )
        if granularity is not None and is_reranker(record):
            raise InputError(
                f"{checkpoint} is a reranker, which has a landmark after each sentence",
                "leave --granularity out",
            )
        notes = check_exportable(local(checkpoint), named=landmark is not None)
        checkpoint = open_checkpoint(
            checkpoint, landmark=landmark, bidirectional=bidirectional, new_landmark=False
        )
    model = merge_lora(checkpoint.model).cpu()
    if dimensions is not None:
        model = model.shortened(dimensions)
    written = with_packed_table(model) if packed else model
    if granularity is not None:
        reading = replace(checkpoint.reading, granularity=granularity)
        checkpoint = replace(checkpoint, reading=reading)
    settings = manifest_fields(checkpoint, window, left, right)
    settings["trained"] = trained(record) if record else {}
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as scratch:
        draft = Path(scratch) / "model"
        draft.mkdir()
        tokenizer = Path(scratch) / TOKENIZER
        checkpoint.tokenizer.save(str(tokenizer))
        feeds = _feeds(checkpoint, tokenizer, settings, calibration) if "int8" in wanted else None
        name = name or out.name
        graphs: dict[Precision, Path] | None = None
        if format == "onnx":
            manifest = export_onnx(written, tokenizer, draft, name=name, settings=settings)
            graphs = {"f32": draft / GRAPH}
        else:
            manifest = export(
                written,
                tokenizer,
                draft,
                name=name,
                calibration=feeds,
                f32="f32" in wanted,
                bf16="bf16" in wanted,
                int4="int4" in wanted,
                settings=settings,
            )
        texts = [text[:_LETTERS] for text in calibration if text.strip()][:_TEXTS] or list(SAMPLE)
        parity = compare(written, ModelFolder(draft, read_manifest(draft)), texts, graphs)
        for found in parity:
            if not found.holds:
                raise ModelError(
                    f"the {found.precision} graph is not close enough to torch: cosine "
                    f"minimum {found.least:.6f} (required {found.least_wanted}), "
                    f"mean {found.mean:.6f} (required {found.mean_wanted})",
                    "leave this precision out"
                    + ("; or calibrate on more text" if found.precision == "int8" else ""),
                )
        if install is not None:
            manifest = install(pooling, draft)
        if model.verdicts is not None:
            model.verdicts.head().write(draft)
            add_sums(draft, [verdict_head.FILE])
        if format == "openvino":
            text = card(name, manifest, record)
            (draft / CARD).write_text(text, encoding="utf-8")
        shutil.move(draft, out)
    return Released(out, manifest, parity, is_reranker(record), notes)


def _known(precisions: Sequence[str]) -> list[Precision]:
    plain: tuple[Precision, ...] = get_args(Precision)
    known: dict[str, Precision] = {**{name: name for name in plain}, **_ALSO}
    if not precisions:
        raise InputError("no precision is named", f"use some of {', '.join(plain)}")
    for name in precisions:
        if name not in known:
            raise InputError(
                f"unknown precision {name!r}", f"{nearest(name, known)}some of {', '.join(plain)}"
            )
    return [known[name] for name in precisions]


def _check_onnx(wanted: Sequence[Precision], pooling: Path | None) -> None:
    beyond = [name for name in wanted if name != "f32"]
    if beyond:
        raise InputError(
            f"ONNX is written only in f32, not in {', '.join(beyond)}",
            "leave --precision out, or quantise model.onnx by onnxruntime's own tools",
        )
    if pooling is not None:
        raise InputError(
            "a trained pooling is written only for OpenVINO", "leave --pooling or --format out"
        )
    require("onnx", extra="export")


def manifest_fields(checkpoint: Checkpoint, *sizes: int | None) -> dict[str, Any]:
    """What the manifest says as the checkpoint does, and the sizes of ``window_sizes``."""
    names = ("bos_token", "landmark", "granularity", "query_prefix")
    said = {name: getattr(checkpoint.reading, name) for name in names}
    return said | window_sizes(checkpoint, *sizes)


def window_sizes(
    checkpoint: Checkpoint,
    window: int | None = None,
    left: int | None = None,
    right: int | None = None,
) -> dict[str, int]:
    """Choose ``window``, ``left``, ``right`` and ``longest`` for the manifest.

    Sizes that are None are the checkpoint's; if it has none, the window is the longest that the
    network reads, at most 512, with a quarter of it before the owned sentences and, unless the
    network is causal, an eighth after them.
    """
    model, reading = checkpoint.model, checkpoint.reading
    most = model.backbone.max_tokens
    size = _first(window, reading.window, min(_USUAL, most))
    if size > most:
        raise InputError(
            f"a window of {size:,} tokens is longer than the network reads ({most:,})",
            f"--window {most}",
        )
    before = _first(left, reading.left, size // 4)
    after = _first(right, reading.right, 0 if model.causal else size // 8)
    if model.causal and after:
        raise InputError("a causal network cannot see text after a sentence", "--right 0")
    every = reading.granularity
    if every != SENTENCES and not 1 <= int(every) <= size - 2:
        raise InputError(
            f"a window of {size} tokens cannot have a landmark every {every} tokens",
            f"a granularity of 1 to {size - 2}"
            + (f", or a longer window (up to {most:,})" if size < most else ""),
        )
    longest = min(_first(reading.longest, 128), size - 2)
    if before + after > size // 2:
        raise InputError(
            f"a window of {size} tokens with {before} before and {after} after leaves too little "
            "for its own sentences",
            f"let both together be at most {size // 2}",
        )
    return {"window": size, "left": before, "right": after, "longest": longest}


def _first(*numbers: int | None) -> int:
    return next(number for number in numbers if number is not None)


class Recorder(TorchEngine):
    """Records the inputs that the encoder gives an engine."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.feeds: list[Feed] = []

    def run(self, ids: Ids, sentences: Ids, marks: Ids) -> NDArray[np.float32]:
        """Record the batch and return zeros."""
        self.feeds.append({"ids": ids, "sentences": sentences, "marks": marks})
        return np.zeros((*marks.shape, self.dimensions), np.float32)


def _feeds(
    checkpoint: Checkpoint, tokenizer: Path, settings: dict[str, Any], texts: Sequence[str]
) -> list[Feed]:
    manifest = Manifest("", "", checkpoint.model.dimensions, **settings)
    recorder = Recorder(checkpoint.model)
    encoder = Encoder(ModelFolder(tokenizer.parent, manifest), recorder)
    for text in texts:
        encoder.encode(text[: 10 * _LETTERS])
    step = -(-len(recorder.feeds) // _BATCHES) or 1
    return recorder.feeds[::step]


def check_name(name: str) -> None:
    """Reject an invalid name of a hub model before any slow work starts."""
    if not NAME.fullmatch(name):
        raise InputError(f"{name!r} is not a name on the Hugging Face hub", "OWNER/NAME")


def upload(folder: Path, name: str, *, private: bool = False) -> str:
    """Upload a folder to a model on the hub, which is created if it is missing; the model's URL.

    ``private`` creates the model as private, and refuses to upload to a public one; else a new
    model gets its owner's default visibility.
    """
    from huggingface_hub import HfApi

    again = ["hf", "upload", name, str(folder), *(["--private"] if private else [])]
    hub, public = HfApi(), False
    try:
        made = hub.create_repo(name, private=private or None, exist_ok=True)
        public = private and not hub.repo_info(name).private  # the model existed before
        if not public:
            said = "Upload by milepost export"
            hub.upload_folder(repo_id=name, folder_path=folder, commit_message=said)
    except Exception as error:  # the hub's client passes on the errors of its HTTP library
        first = first_line(error)
        raise MilepostError(
            f"uploading to {name} on the Hugging Face hub failed: {first}",
            f"hf auth login, and: {shlex.join(again)}; the folder is complete",
        ) from error
    if public:
        raise InputError(
            f"{name} exists on the hub and is public; nothing was uploaded",
            f"another name, or make it private there, and: {shlex.join(again)}",
        )
    return str(made)
