"""Export a torch model to a model folder that the engine reads, or to ONNX.

The graph outputs only the states at landmarks. int8 is full quantisation (weights and
activations) by NNCF, calibrated on windows of real text. bf16 is only a storage format: weights of
half the size, arithmetic in float32, so that vectors are the same on every CPU.

ONNX is written by torch's tracing exporter, which supports every backbone that OpenVINO's converter
does. The exporter based on ``torch.export`` gave the same vectors and took seven to thirteen times
as long (2026-11-21, tiny BERT and LLaMA, torch 2.13).

Token vectors can be stored in fewer bits, for vocabularies that are larger than the network. A row
is converted to float when it is looked up; NNCF's tables are converted when the graph is loaded,
which takes five times the memory. The table of a light model has 8 bits. With 4 bits the format is
Q4_0 of llama.cpp: 32 numbers share a 16-bit scale, so a number takes 4.5 bits, on disk and in
memory.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import json
import logging
import shutil
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from milepost._optional import require
from milepost._silence import no_telemetry
from milepost.encoder.engine.folder import GRAPHS, TOKENIZER
from milepost.encoder.engine.manifest import SENTENCES, Manifest
from milepost.errors import ModelError
from milepost_train.model.bert import Bert, ModernBert
from milepost_train.model.huggingface import HuggingFace, quiet
from milepost_train.model.landmark_encoder import LandmarkEncoder
from milepost_train.model.light import Light, RoundedLight
from milepost_train.record import SUMS, add_sums

Feed = dict[str, NDArray[np.int32]]
NAMES = ("ids", "sentences", "marks")
_SMALL = 1024  # constants with fewer numbers are not worth halving


@contextlib.contextmanager
def traceable(model: LandmarkEncoder) -> Iterator[tuple[Tensor, ...]]:
    """Make the model traceable, silence warnings, and yield example inputs."""
    example = (
        torch.tensor([[1, 2, 3, 2, 3], [1, 4, 4, 2, 0]], dtype=torch.int32),
        torch.tensor([[0, 1, 1, 2, 2], [0, 1, 1, 1, -1]], dtype=torch.int32),
        torch.tensor([[2, 4], [3, 0]], dtype=torch.int32),
    )
    with contextlib.ExitStack() as stack:
        if isinstance(model.backbone, HuggingFace):
            model.backbone.for_export()
            stack.enter_context(quiet())
        stack.enter_context(torch.no_grad())
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        # The tracer warns about every value that it treats as a constant; the parity report shows
        # whether one of them was not constant.
        warnings.simplefilter("ignore")
        model.eval()
        yield example


def traced(module: nn.Module, example: tuple[Tensor, ...]) -> Any:
    """Trace a module for ``openvino.convert_model``.

    By default ``convert_model`` makes torch check the trace by tracing again. That doubles the time
    and shows less than the later comparison of the graph with torch.
    """
    with no_telemetry():
        from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder
    return TorchScriptPythonDecoder(
        module, example_input=example, trace_kwargs={"check_trace": False}
    )


def convert(model: LandmarkEncoder) -> Any:
    """Convert to an OpenVINO graph with inputs ``ids``, ``sentences``, ``marks`` (int32)."""
    with no_telemetry():
        openvino = require("openvino", extra="export")
    shapes = [([-1, -1], openvino.Type.i32)] * 3
    with traceable(model) as example:
        graph = openvino.convert_model(traced(model, example), example_input=example, input=shapes)
    for port, name in zip(graph.inputs, NAMES, strict=True):
        port.get_tensor().set_names({name})
    return graph


def halve(graph: Any) -> Any:
    """Store a graph's weights in bfloat16, in place, and convert them to float32 where used."""
    with no_telemetry():
        openvino = require("openvino", extra="export")
    for node in graph.get_ops():
        if node.get_type_name() != "Constant" or node.get_element_type() != openvino.Type.f32:
            continue
        values = node.data
        # Scales and norm parameters are few, and rounding them changes every vector.
        if values.ndim < 2 or values.size < _SMALL:
            continue
        rounded = torch.from_numpy(values.copy()).to(torch.bfloat16).view(torch.int16).numpy()
        tensor = openvino.Tensor(rounded, list(values.shape), openvino.Type.bf16)
        small = openvino.op.Constant(tensor, shared_memory=False)
        small.set_friendly_name(node.get_friendly_name())
        wide = openvino.opset13.convert(small, "f32")
        for target in node.output(0).get_target_inputs():
            target.replace_source_output(wide.output(0))
    return graph


def compress(graph: Any) -> Any:
    """Store weights in 4 bits, in groups with scale and offset; arithmetic stays float32."""
    with no_telemetry():
        nncf = require("nncf", extra="export")
    logging.getLogger("nncf").setLevel(logging.ERROR)
    with contextlib.redirect_stdout(io.StringIO()):
        return nncf.compress_weights(
            graph.clone(),
            mode=nncf.CompressWeightsMode.INT4_ASYM,
            group_size=64,
            all_layers=True,  # embeddings, too
            advanced_parameters=nncf.AdvancedCompressionParameters(
                # Smaller groups where rows are no multiple; tables of very short rows stay as is.
                group_size_fallback_mode=nncf.GroupSizeFallbackMode.ADJUST,
                min_adjusted_group_size=16,
            ),
        )


def quantize(graph: Any, calibration: Iterable[Feed]) -> Any:
    """Quantise weights and activations to int8, with SmoothQuant and bias correction."""
    with no_telemetry():
        nncf = require("nncf", extra="export")
    logging.getLogger("nncf").setLevel(logging.ERROR)
    feeds = list(calibration)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NNCF warns about its internals; its bars go to stdout
        return nncf.quantize(
            graph,
            nncf.Dataset(feeds),
            model_type=nncf.ModelType.TRANSFORMER,
            preset=nncf.QuantizationPreset.MIXED,
            advanced_parameters=nncf.AdvancedQuantizationParameters(
                # CPUs without VNNI add two products in 16 bits, which overflows if weights use all
                # 8 bits: cosines of the vectors drop from 0.99 to 0.95 and below.
                overflow_fix=nncf.OverflowFix.ENABLE
            ),
            subset_size=len(feeds),
        )


def export(
    model: LandmarkEncoder,
    tokenizer: Path,
    folder: Path,
    *,
    name: str,
    calibration: Iterable[Feed] | None = None,
    f32: bool = True,
    bf16: bool = False,
    int4: bool = False,
    settings: dict[str, Any] | None = None,
) -> Manifest:
    """Write a model folder that ``milepost.load`` reads.

    ``tokenizer`` is the file ``tokenizer.json``, ``calibration`` batches of text for int8 (None
    writes no int8 graph); ``f32``, ``bf16`` and ``int4`` say which other graphs are written,
    ``settings`` which fields of ``Manifest`` differ from its defaults. For shorter vectors
    ``model`` is already ``shortened``.
    """
    with no_telemetry():
        openvino = require("openvino", extra="export")
    folder.mkdir(parents=True, exist_ok=True)
    graph = convert(model)
    if f32:
        openvino.save_model(graph, folder / GRAPHS["f32"], compress_to_fp16=False)
    if calibration is not None:
        small = quantize(graph, calibration)
        openvino.save_model(small, folder / GRAPHS["int8"], compress_to_fp16=False)
    if int4:
        openvino.save_model(compress(graph), folder / GRAPHS["int4"], compress_to_fp16=False)
    if bf16:  # last, because it changes the graph
        openvino.save_model(halve(graph), folder / GRAPHS["bf16"], compress_to_fp16=False)
    graphs = [Path(name) for name in GRAPHS.values() if (folder / name).is_file()]
    files = [name for graph in graphs for name in (graph.name, f"{graph.stem}.bin")]
    return describe(model, tokenizer, folder, files, name=name, settings=settings)


def describe(
    model: LandmarkEncoder,
    tokenizer: Path,
    folder: Path,
    files: Sequence[str],
    *,
    name: str,
    settings: dict[str, Any] | None,
) -> Manifest:
    """Write the files that accompany a graph: tokenizer, manifest and checksums."""
    shutil.copyfile(tokenizer, folder / TOKENIZER)
    said = {"own_sentence": model.own_sentence, "causal": model.causal}
    halo = {"right": 0} if model.causal else {}
    fields = {**halo, **(settings or {}), **said}
    draft = Manifest(name=name, fingerprint="", dimensions=model.dimensions, **fields)
    manifest = replace(draft, fingerprint=fingerprint(model, tokenizer, draft))
    manifest.write(folder)
    (folder / SUMS).unlink(missing_ok=True)
    add_sums(folder, [TOKENIZER, *files])
    return manifest


def fingerprint(model: LandmarkEncoder, tokenizer: Path, manifest: Manifest) -> str:
    """Hash the weights, the tokenizer and the settings that change vectors to 16 hex digits."""
    digest = hashlib.sha256()
    beside = {} if model.context is None else model.context.state_dict(prefix="context.")
    for key, weight in sorted({**model.backbone.state_dict(), **beside}.items()):
        digest.update(key.encode())
        digest.update(weight.detach().to(torch.float16).numpy().tobytes())
    digest.update(tokenizer.read_bytes())
    shaping = ("bos_token", "landmark", "window", "left", "right", "longest", "own_sentence")
    digest.update(json.dumps({key: getattr(manifest, key) for key in shaping}).encode())
    # Default values are left out, so that existing models keep their fingerprints.
    if manifest.query_prefix:
        digest.update(json.dumps({"query_prefix": manifest.query_prefix}).encode())
    if manifest.granularity != SENTENCES:
        digest.update(json.dumps({"granularity": manifest.granularity}).encode())
    if model.dimensions != model.backbone.width:
        digest.update(json.dumps({"dimensions": model.dimensions}).encode())
    if isinstance(model.backbone, HuggingFace):
        # The weights do not determine these networks: rotary frequencies, sliding windows …
        said = {**model.backbone.identity, "causal": manifest.causal}
        digest.update(json.dumps(said, sort_keys=True, default=str).encode())
    elif isinstance(model.backbone, ModernBert) or getattr(model.backbone, "rotary", False):
        digest.update(json.dumps(model.backbone.identity).encode())
    return digest.hexdigest()[:16]


GRAPH = "model.onnx"
OPSET = 17  # the oldest with LayerNormalization; most recent runtimes read it


def export_onnx(
    model: LandmarkEncoder,
    tokenizer: Path,
    folder: Path,
    *,
    name: str,
    settings: dict[str, Any] | None = None,
) -> Manifest:
    """Write ``model.onnx`` in float32, ports as in OpenVINO's graph, and the files it needs."""
    onnx = require("onnx", extra="export")
    file = folder / GRAPH
    lengths = {"ids": "tokens", "sentences": "tokens", "marks": "landmarks", "vectors": "landmarks"}
    with traceable(model) as example:
        torch.onnx.export(
            model,
            example,
            str(file),
            input_names=list(NAMES),
            output_names=["vectors"],
            dynamic_axes={port: {0: "windows", 1: each} for port, each in lengths.items()},
            opset_version=OPSET,
            dynamo=False,
        )
    written = onnx.load(file, load_external_data=False)
    # The exporter does not always infer the width.
    written.graph.output[0].type.tensor_type.shape.dim[2].dim_value = model.dimensions
    onnx.save(written, file)
    files = sorted(file.name for file in folder.iterdir())
    manifest = describe(model, tokenizer, folder, files, name=name, settings=settings)
    (folder / "README.md").write_text(_readme(manifest), encoding="utf-8")
    return manifest


def _readme(manifest: Manifest) -> str:
    here = Path(__file__)
    said = tomllib.loads(here.with_name("onnx_readme.toml").read_text(encoding="utf-8"))
    words = said["grid" if manifest.every else "sentence"]
    bos = f"[tokenizer.token_to_id({manifest.bos_token!r})]" if manifest.bos_token else "[]"
    facts = {"every": manifest.every, "bos": bos, "opset": OPSET, "graph": GRAPH}
    facts |= {**asdict(manifest), "landmark": repr(manifest.landmark)}
    template = here.with_name("onnx_readme.md").read_text(encoding="utf-8")
    return Template(Template(template).safe_substitute(words)).substitute(facts)


BLOCK = 32
"""How many numbers share a scale."""


class PackedTable(nn.Module):
    """A replacement of ``nn.Embedding`` with 4-bit weights.

    Args:
        codes: ``(v, d / 2)`` uint8: in each block of 16 bytes the lower 4 bits hold the first 16
            numbers plus 8, the upper 4 bits the last 16 plus 8.
        scales: ``(v, d / 32)`` float16.
    """

    codes: Tensor
    scales: Tensor

    def __init__(self, codes: Tensor, scales: Tensor) -> None:
        super().__init__()
        self.register_buffer("codes", codes)
        self.register_buffer("scales", scales)

    def forward(self, ids: Tensor) -> Tensor:
        """Look up ``(b, t)`` int64 token ids: ``(b, t, d)`` float32."""
        bytes_ = F.embedding(ids, self.codes).float().unflatten(-1, (-1, BLOCK // 2))
        # Arithmetic instead of shifts, which some engines lack for bytes.
        upper = (bytes_ / 16).floor()
        wide = torch.cat((bytes_ - 16 * upper, upper), -1) - 8
        scales = F.embedding(ids, self.scales).float().unsqueeze(-1)
        result: Tensor = (wide * scales).flatten(-2)
        return result


def packed(table: Tensor) -> PackedTable:
    """Round a table, whose width 32 divides, to 4 bits; one of this format stays exact."""
    blocks = table.detach().float().unflatten(-1, (-1, BLOCK))
    # The number farthest from zero becomes -8, whatever its sign: the scale may be negative.
    farthest = blocks.gather(-1, blocks.abs().argmax(-1, keepdim=True))
    scales = (farthest / -8).half()
    given = scales.float()
    inverse = torch.where(given == 0, torch.zeros_like(given), 1 / given)
    codes = ((blocks * inverse).round() + 8).clamp(0, 15).to(torch.uint8)
    lower, upper = codes.chunk(2, -1)
    return PackedTable((lower + 16 * upper).flatten(-2), scales.squeeze(-1))


def with_packed_table(model: LandmarkEncoder) -> LandmarkEncoder:
    """Copy a model with token vectors in 4 bits, as they are exported."""
    if not isinstance(model.backbone, Bert) or model.backbone.width % BLOCK:
        raise ModelError(
            f"token vectors of {model.config.get('model_type')!r} cannot be packed into 4 bits",
            f"a BERT with a width that {BLOCK} divides",
        )
    small = copy.deepcopy(model)
    tables = small.backbone.embeddings
    tables["word_embeddings"] = packed(tables["word_embeddings"].weight)
    small.eval()
    return small


def with_rounded_table(model: LandmarkEncoder) -> LandmarkEncoder:
    """Copy a model with the table rounded as in the export, to compare both."""
    if not isinstance(model.backbone, Light):
        raise ModelError(
            f"{model.config.get('model_type')!r} has no table of static vectors", "a light model"
        )
    small = copy.deepcopy(model)
    small.backbone = RoundedLight(model.backbone, model.config)
    small.eval()
    return small
