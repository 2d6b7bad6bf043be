"""Checkpoint folder → model folder, checked: what ``milepost export`` does."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from milepost._optional import require
from milepost.encoder import Encoder
from milepost.engine import Manifest, ModelFolder
from milepost.engine.folder import TOKENIZER, Precision
from milepost.engine.manifest import SENTENCES, read_manifest
from milepost.errors import InputError, ModelError, nearest
from milepost.model.card import CARD, card, is_reranker, record_of
from milepost.model.checkpoint import Checkpoint, open_checkpoint
from milepost.model.export import Feed, export
from milepost.model.fetch import local
from milepost.model.lmk_reading import check_sayable
from milepost.model.lora import merge_lora
from milepost.model.onnx_export import GRAPH, export_onnx
from milepost.model.packed import with_packed_table
from milepost.model.parity import SAMPLE, Parity, compare
from milepost.model.pooling.export import install
from milepost.model.torch_engine import TorchEngine

Format = Literal["openvino", "onnx"]

_ALSO: dict[str, Precision] = {"fp32": "f32", "float32": "f32", "bfloat16": "bf16"}
_USUAL = 512  # tokens of a window where nothing is said and the network has room for more
_TEXTS = 40  # of the calibration, compared in the parity report
_LETTERS = 4000  # of each of these
_BATCHES = 120  # of the calibration, at most


@dataclass(frozen=True, slots=True)
class Released:
    """What was written and how near it is to torch.

    Attributes:
        folder: the model folder.
        manifest: its record of itself.
        parity: one for each graph.
        reranker: as ``milepost train`` recorded it; it has no ranking of its own to fit.
        notes: what was guessed of the checkpoint, or is done otherwise, in sentences for people.
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

    LoRA is merged in first, in the checkpoint given as well.

    Args:
        checkpoint: a folder, a name on the hub, or what ``open_checkpoint`` returned.
        out: the model folder; it must not exist, and appears only when all is well.
        format: ``openvino``, a model folder; ``onnx``, a graph for other programs.
        precisions: ``f32`` (or ``fp32``, ``float32``), ``bf16``, ``int8``; of ONNX f32 alone.
        name: of the model; None for the name of ``out``.
        calibration: texts for int8; the vectors of some are compared with torch's.
        window: maximum tokens of a window; None for the checkpoint's or the network's.
        left: tokens of halo before the owned sentences.
        right: tokens of halo after them, 0 for a causal network.
        granularity: tokens from landmark to landmark; None for what the checkpoint says, else a
            landmark closes each sentence.
        pooling: a saved pooling (``milepost.pooling``) of documents; None for the landmarks' mean.
        dimensions: first numbers of each vector that are used; None for all.
        packed: store token vectors in 4 bits (``model.packed``), of a BERT; the graphs are
            compared with what that leaves.
        landmark: the token of the vocabulary that closed sentences in training; None for what the
            checkpoint says, else its tokenizer's separator. Not for a ``Checkpoint``, nor is
            ``bidirectional``.
        bidirectional: a causal network was trained to see both sides; None as the checkpoint says.

    Raises:
        InputError: ``out`` exists, a precision is not known, sizes or ``dimensions`` do not fit the
            network, ``granularity`` does not fit the window or is given for a reranker, int8 has no
            calibration, or ONNX does not have what is asked for.
        ModelError: the checkpoint cannot be read, a model folder cannot say how, or a graph is not
            near enough to torch.
        MissingExtra: OpenVINO's converter, NNCF, onnx or peft is not installed.
    """
    wanted = _known(precisions)
    if format == "onnx":
        _check_onnx(wanted, pooling)
    if "int8" in wanted:
        if not any(text.strip() for text in calibration):
            raise InputError("int8 needs real text to be calibrated on", "--calibration FILE")
        require("nncf", extra="export")
    if out.exists():
        raise InputError(f"{out} exists", "name another folder, or remove it first")
    record, notes = None, tuple[str, ...]()
    if not isinstance(checkpoint, Checkpoint):
        record = record_of(checkpoint)
        if granularity is not None and is_reranker(record):
            raise InputError(
                f"{checkpoint} is a reranker, which has a landmark after each sentence",
                "leave --granularity out",
            )
        notes = check_sayable(
            local(checkpoint), named=landmark is not None, granularity=granularity
        )
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
    sizes = window_sizes(checkpoint, window, left, right)
    reading = checkpoint.reading
    plain = ("bos_token", "landmark", "granularity", "query_prefix")
    named = {name: getattr(reading, name) for name in plain}
    settings = {**named, **sizes}
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
        if pooling is not None:
            manifest = install(pooling, draft)
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
                f"unknown precision {name!r}",
                f"{nearest(name, known)}some of {', '.join(plain)}",
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


def window_sizes(
    checkpoint: Checkpoint,
    window: int | None = None,
    left: int | None = None,
    right: int | None = None,
) -> dict[str, int]:
    """``window``, ``left``, ``right`` and ``longest`` of a manifest that the network can read.

    What is not given is what the checkpoint says; else the window is as long as the network has
    positions, at most 512, with a quarter of it before the owned sentences and, unless the network
    is causal, an eighth behind them.

    Raises:
        InputError: the sizes do not fit the network or each other.
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
    if size < 3 or min(before, after) < 0 or before + after > size // 2:
        raise InputError(
            f"a window of {size} tokens with {before} before and {after} after leaves too little "
            "for its own sentences",
            f"let both together be at most {max(size, 3) // 2}",
        )
    return {"window": size, "left": before, "right": after, "longest": longest}


def _first(*numbers: int | None) -> int:
    return next(number for number in numbers if number is not None)


class Recorder(TorchEngine):
    """Keeps what the encoder feeds it, which is what the graph will be fed."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.feeds: list[Feed] = []

    def run(
        self,
        ids: NDArray[np.int32],
        sentences: NDArray[np.int32],
        marks: NDArray[np.int32],
    ) -> NDArray[np.float32]:
        """Keep the batch; the vectors are not wanted."""
        self.feeds.append({"ids": ids, "sentences": sentences, "marks": marks})
        return np.zeros((*marks.shape, self.dimensions), np.float32)


def _feeds(
    checkpoint: Checkpoint, tokenizer: Path, settings: dict[str, Any], texts: Sequence[str]
) -> list[Feed]:
    """Batches for the calibration, spread over all texts."""
    manifest = Manifest("", "", checkpoint.model.dimensions, **settings)
    recorder = Recorder(checkpoint.model)
    encoder = Encoder(ModelFolder(tokenizer.parent, manifest), recorder)
    for text in texts:
        encoder.encode(text[: 10 * _LETTERS])
    step = max(1, len(recorder.feeds) // _BATCHES)
    return recorder.feeds[::step][:_BATCHES]
