"""``milepost lab quality``: how far apart labels lie in the layers of an encoder.

TEXTS is a file of JSON lines with ``text``, ``label`` and, if texts belong together, ``document``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch

from milepost.cli.console.options import count_option
from milepost.errors import InputError
from milepost_lab.data.network import TokenReader
from milepost_lab.quality.model import MEASURES, layer_weights, permuted, probe, separation
from milepost_lab.runner import Report, Run, study


@study(
    "quality",
    "Measure how well vectors separate labels.",
    "milepost lab quality texts.jsonl",
    "milepost lab quality texts.jsonl --network FOLDER --permutations 500",
)
@click.argument("texts", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--network", metavar="NAME|FOLDER", default="minilm", help="Encoder that is read.")
@count_option("--permutations", 100, "Draws of permuted labels.")
def command(run: Run, texts: Path, network: str, permutations: int) -> Report:
    """Measure separation of the mean of every layer, of trained weights of layers, and of length.

    Weights are trained on half of the texts (whole documents) and scored on the others.
    """
    rows = [json.loads(line) for line in texts.read_text(encoding="utf-8").splitlines() if line]
    if not rows or not all({"text", "label"} <= row.keys() for row in rows):
        raise InputError(f"{texts} has lines without text and label", '{"text": …, "label": …}')
    names = sorted({str(row["label"]) for row in rows})
    labels = np.array([names.index(str(row["label"])) for row in rows])
    groups = [str(row.get("document", number)) for number, row in enumerate(rows)]
    reader = TokenReader.open(network)
    states = reader.layer_means([row["text"] for row in rows])  # (texts, layers, d)
    held = np.random.default_rng(run.seeds[0]).permutation(len(set(groups)))
    order = {name: n for n, name in enumerate(dict.fromkeys(groups))}
    fit_part = np.isin([order[name] for name in groups], held[: len(held) // 2])
    if len(names) != 2:
        weights = np.full(states.shape[1], 1 / states.shape[1])
    else:
        some = torch.from_numpy(states[fit_part]), torch.from_numpy(labels[fit_part])
        weights = layer_weights(*some).numpy()
    length = np.array([[len(row["text"])] for row in rows], np.float32)
    arms = {
        **{f"layer {n + 1}": states[:, n] for n in range(states.shape[1])},
        "mean of layers": states.mean(1),
        "trained weights": np.einsum("l,nld->nd", weights, states),
        "length alone": length / length.std().clip(1e-6),
    }
    lines: list[dict[str, Any]] = []
    for arm, vectors in arms.items():
        part = slice(None) if arm != "trained weights" else ~fit_part

        def measured(vectors: Any = vectors, part: Any = part) -> dict[str, float]:
            some, kinds = vectors[part], labels[part]
            null, p = permuted(some, kinds, permutations)
            return {**separation(some, kinds.tolist()), "permuted 1/XBI": null, "p": p}

        found = run.cached(arm.replace(" ", "-"), measured)
        lines.append(
            {
                "vectors": arm,
                **{name: found.get(name) for name in (*MEASURES, "permuted 1/XBI", "p")},
            }
        )
    last = states[:, -1]
    accuracy, p = probe(last, labels, groups, permutations) if len(set(groups)) > 3 else (0.0, 1.0)
    return Report(
        lines,
        [
            f"Trained weights were fitted on {int(fit_part.sum())} texts and are measured on the "
            f"others. A probe over whole documents is right for {accuracy:.2f} (p {p:.3f})."
        ],
        {"weights": weights.tolist()},
    )
