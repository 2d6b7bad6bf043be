"""Engine speed beside sentence-transformers: same weights, same sentences, one run.

    python bench/engine.py --checkpoint FOLDER --model FOLDER [--book FILE]

Every system reads the same real sentences of a book and returns one vector a sentence:
sentence-transformers (torch float32, mean pooling) each sentence alone, sorted by length in batches
of 64, as its users do; the OpenVINO graphs read the sentences in windows of 256 tokens, with and
without halo. Rounds are interleaved; the minimum counts. Needs the rivals of ``./packages/eval``.
"""

import argparse
import logging
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

import milepost
from milepost.documents import split
from milepost.encoder.engine.folder import ModelFolder, Precision, find_model
from milepost.encoder.engine.openvino import OpenVinoEngine, usable_cpus
from milepost.encoder.engine.precision import choose


def sentence_transformer(checkpoint: Path) -> Callable[[list[str]], object]:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer

    body = Transformer(str(checkpoint), max_seq_length=256)
    model = SentenceTransformer(modules=[body, Pooling(body.get_word_embedding_dimension())])
    model.float()  # half precision, in which checkpoints are kept, is slow on CPUs
    return lambda texts: model.encode(texts, batch_size=64, show_progress_bar=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--model", default=None)
    parser.add_argument("--book", type=Path, default=Path("examples/origin-of-species.txt"))
    parser.add_argument("--characters", type=int, default=120_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(usable_cpus())
    text = options.book.read_text(encoding="utf-8")[200_000 : 200_000 + options.characters]
    texts = [text[a:b].strip() for a, b in split(text)]
    folder = find_model(options.model)
    bare = ModelFolder(folder.path, replace(folder.manifest, left=0, right=0))
    systems: dict[str, Callable[[], object]] = {}
    st = sentence_transformer(options.checkpoint)
    systems["sentence-transformers, torch float32"] = lambda: st(texts)
    for precision in folder.precisions:
        for name, where in (("halo", folder), ("no halo", bare)):
            encoder = by_graph(where, precision)
            systems[f"Milepost, {precision}, {name}"] = lambda e=encoder: e.encode(text)
    tokens = by_graph(folder, folder.precisions[0]).encode(text).tokens_given
    best = dict.fromkeys(systems, float("inf"))
    for _ in range(options.rounds + 1):  # the first round warms up
        for name, run in systems.items():
            begun = time.perf_counter()
            run()
            if _:
                best[name] = min(best[name], time.perf_counter() - begun)
    slowest = best["sentence-transformers, torch float32"]
    print(f"{len(texts)} sentences, {tokens} tokens, {usable_cpus()} CPUs")
    for name, seconds in best.items():
        print(f"| {name} | {tokens / seconds / 1000:.1f} k tokens/s | {slowest / seconds:.2f} |")
    if "f32" in folder.precisions:
        exact = by_graph(folder, "f32").encode(text).vectors
        small = by_graph(folder, "int8").encode(text).vectors
        cosine = (exact * small).sum(1)
        print(
            f"int8 beside float32: largest difference of a component "
            f"{np.abs(exact - small).max():.4f}, cosine mean {cosine.mean():.4f}, "
            f"least {cosine.min():.4f}"
        )


def by_graph(folder: ModelFolder, precision: Precision) -> milepost.Encoder:
    """A model on one of its graphs, in the arithmetic that is chosen on this CPU."""
    in_float = choose(folder).in_float
    graph = folder.graph(precision)
    return milepost.Encoder(folder, OpenVinoEngine(graph, cache=None, in_float=in_float))


if __name__ == "__main__":
    main()
