"""onnxruntime as the engine of the landmark graph, beside OpenVINO: is it worth having?

    python bench/second_engine.py [--checkpoint checkpoint] [--threads 2] [--rounds 7]

The same checkpoint as graphs of both engines: float32, and int8 by static quantisation with scales
calibrated on the shipped book (onnxruntime: U8S8, per channel, 7-bit weights, since products of 8
bits overflow where the CPU has no VNNI). All read the same windows, in interleaved rounds; medians
of the ratios of each round count. Cosines are to float32. Needs the export extra, onnx and
onnxruntime.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from milepost import Encoder
from milepost.engine import cpu, find_model
from milepost.engine.openvino import OpenVinoEngine
from milepost_eval.provenance import commit, machine, today
from milepost_train.model import LandmarkEncoder, load_checkpoint
from milepost_train.model.export import Feed
from milepost_train.model.onnx_export import GRAPH, export_onnx
from milepost_train.model.release import Recorder

BOOK = Path(__file__).parents[1] / "examples" / "origin-of-species.txt"
BASE = "OpenVINO, int8 graph in float"


class Reader:
    """Feeds for the calibration, as onnxruntime asks for them."""

    def __init__(self, feeds: list[Feed]) -> None:
        self._left: Iterator[Feed] = iter(feeds)

    def get_next(self) -> Feed | None:
        return next(self._left, None)


def feeds_of(text: str, model: LandmarkEncoder) -> list[Feed]:
    """Batches as the engine is fed."""
    recorder = Recorder(model)
    Encoder(find_model(None), recorder).encode(text)
    return recorder.feeds


def session(file: Path, threads: int) -> Callable[[Feed], NDArray[np.float32]]:
    """A graph run by onnxruntime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    run = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"]).run
    return lambda feed: run(None, feed)[0]


def quantised(plain: Path, feeds: list[Feed]) -> Path:
    """The graph in U8S8."""
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    ready, out = plain.with_name("ready.onnx"), plain.with_name("int8.onnx")
    quant_pre_process(str(plain), str(ready), skip_symbolic_shape=True)
    quantize_static(
        str(ready),
        str(out),
        Reader(feeds),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        reduce_range=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        calibrate_method=CalibrationMethod.MinMax,
        op_types_to_quantize=["MatMul", "Gemm"],
    )
    return out


def main() -> None:
    """Make the graphs, run them in turns, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    book = BOOK.read_text(encoding="utf-8")
    model = load_checkpoint(options.checkpoint)
    feeds = feeds_of(book[600_000:612_000], model)
    tokens = sum(int((feed["sentences"] >= 0).sum()) for feed in feeds)
    folder = find_model(None)
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch)
        export_onnx(model, options.checkpoint / "tokenizer.json", made, name="bench")
        small = quantised(made / GRAPH, feeds_of(book[200_000:230_000], model))
        plain = session(made / GRAPH, options.threads)

        def ours(in_float: bool) -> Callable[[Feed], NDArray[np.float32]]:
            engine = OpenVinoEngine(
                folder.graph("int8"), cache=None, threads=options.threads, in_float=in_float
            )
            return lambda feed: engine.run(feed["ids"], feed["sentences"], feed["marks"])

        runs = {
            BASE: ours(True),
            "OpenVINO, int8": ours(False),
            "onnxruntime, float32": plain,
            "onnxruntime, int8 (U8S8)": session(small, options.threads),
        }
        spent: dict[str, list[float]] = {name: [] for name in runs}
        for number in range(options.rounds + 1):  # the first warms up
            for name, run in runs.items():
                begun = time.process_time()
                for feed in feeds:
                    run(feed)
                if number:
                    spent[name].append(time.process_time() - begun)
        print(f"{today()}, commit {commit()}, {machine()}; {', '.join(cpu.features() or [])}")
        print(f"{tokens} tokens in {len(feeds)} batches, {options.threads} threads, CPU time")
        print("| | thousand tokens a CPU second | ratio | mean cosine | least |")
        for name, run in runs.items():
            ratio = median(a / b for a, b in zip(spent[BASE], spent[name], strict=True))
            cosines = np.concatenate(
                [(run(feed) * plain(feed)).sum(-1)[feed["marks"] > 0].ravel() for feed in feeds]
            )
            speed = tokens / median(spent[name]) / 1000
            print(
                f"| {name} | {speed:.2f} | {ratio:.2f} | {cosines.mean():.4f} "
                f"| {cosines.min():.4f} |"
            )


if __name__ == "__main__":
    main()
