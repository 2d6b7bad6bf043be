"""The light model rounded to a quarter of its size: what a page has room for.

Each token's vector gets a step: small for common tokens, large for rare ones, so that the bits go
where questions are. The matrices get seven bits. The result is a model folder like any other, with
a fingerprint of its own: an index made with it, the command line and the page give the same
passages. What it finds beside the model that it was made of is in docs/tables.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from milepost.encoder.engine.folder import ModelFolder, cache_folder, find_model
from milepost.encoder.engine.manifest import SCHEMA
from milepost.encoder.engine.openvino import read_graph
from milepost.errors import MilepostError, ModelError
from milepost.exports.view.graph import Graph, narrowed, widened
from milepost.exports.view.network import graph_of, table_of
from milepost.exports.view.vocabulary import vocabulary

LIGHT = "landmark-light"  # the shipped model that a page is made of

COMMON, RARE = 0.012, 0.3
"""Share of a token vector's energy that is noise, for the commonest tokens and the rarest."""

_KNEE = 300  # the noise is twice that of the commonest at this place in the order
_DEAD = 0.55  # what is below this share of a step becomes 0
_LEVELS = 63  # seven bits of a matrix, with its sign
_VERSION = 1
_WORDS = 1996  # BERT's vocabulary has the words from here on, the commonest first


def page_model(model: str | os.PathLike[str] | None = None) -> Path:
    """The folder of the rounded light model; it is made in the cache where it is not there yet.

    ``model`` is a light one by name or folder, None for ``landmark-light``. One that is rounded
    already is taken as it is; one that is not light is refused.
    """
    source = find_model(LIGHT if model is None else model)
    if "rounded" in source.manifest.trained:
        return source.path
    key = f"{source.manifest.fingerprint} {COMMON} {RARE} {_KNEE} {_DEAD} {_LEVELS} {_VERSION}"
    fingerprint = hashlib.sha256(key.encode("ascii", "replace")).hexdigest()[:16]
    folder = cache_folder() / "models" / f"{source.manifest.name}-page-{fingerprint}"
    if not (folder / "milepost.json").is_file():
        write_rounded(source, folder, fingerprint)
    return folder


def write_rounded(source: ModelFolder, folder: Path, fingerprint: str) -> None:
    """Write the rounded model to a folder that is not there yet, whole or not at all."""
    import openvino

    graph = graph_of(source.path)
    round_graph(graph, vocabulary(source.tokenizer))
    name = f"{source.manifest.name}-page"
    manifest = replace(
        source.manifest,
        name=name,
        fingerprint=fingerprint,
        trained={**source.manifest.trained, "rounded": f"from {source.manifest.fingerprint}"},
    )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            draft = Path(made) / "model"
            draft.mkdir()
            for file in ("tokenizer.json", "ranking.npz"):
                if (source.path / file).is_file():
                    shutil.copyfile(source.path / file, draft / file)
            openvino.save_model(graph.model, draft / graph.path.name, compress_to_fp16=False)
            # On a full disk OpenVINO writes a partial file without an error, so read it back.
            read_graph(draft / graph.path.name)
            fields = {"schema": SCHEMA, **asdict(manifest)}
            text = json.dumps({name: value for name, value in fields.items() if value != {}})
            (draft / "milepost.json").write_text(text + "\n", encoding="utf-8")
            draft.replace(folder)
    except (OSError, RuntimeError, ModelError) as error:
        if not (folder / "milepost.json").is_file():  # another process may have made it
            reason = getattr(error, "strerror", None) or getattr(error, "problem", None) or error
            raise MilepostError(
                f"{folder} cannot be written: {reason}",
                "set MILEPOST_CACHE to a folder with some 10 MB of space",
            ) from error


def round_graph(graph: Graph, tokens: list[str]) -> None:
    """Round the table and the matrices of a light model's graph."""
    table, scales = table_of(graph)
    vectors = graph.values(table).astype(np.float32) * graph.values(scales).reshape(-1, 1)
    codes, steps = rounded_table(vectors, tokens)
    graph.put(table, codes)
    graph.put(scales, steps)
    for constant in graph.matrices():
        matrix = graph.values(constant)
        # A step of a power of two: each number is exact in bfloat16.
        step = 2.0 ** np.ceil(np.log2(float(np.abs(matrix).max()) / _LEVELS))
        graph.put(constant, (np.rint(matrix / step) * step).astype(np.float32))


def rounded_table(
    table: NDArray[np.float32], tokens: list[str]
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Token vectors in steps: ``(tokens, e)`` int8, and ``(tokens,)`` steps, exact in bfloat16.

    Tokens that no text has become 0.
    """
    place = commonness(tokens)
    noise = np.clip(COMMON * (place + _KNEE) / _KNEE, COMMON, RARE)
    energy = float(np.median((table**2).sum(axis=1)))
    ideal = np.sqrt(12.0 * noise * energy / table.shape[1])
    steps = 2.0 ** (np.round(2.0 * np.log2(ideal)) / 2.0)
    steps = np.maximum(steps, np.abs(table).max(axis=1) / 126.0)
    steps = widened(narrowed(steps.astype(np.float32)))
    sizes = np.abs(table) / steps[:, None]
    codes = np.sign(table) * np.floor(sizes + 1.0 - _DEAD)
    codes[[token.startswith("[unused") for token in tokens]] = 0
    return codes.astype(np.int8), steps


def commonness(tokens: list[str]) -> NDArray[np.float64]:
    """A place for each token in the order of use, from 0, guessed from BERT's vocabulary.

    Its words are in order of frequency. Letters and digits of English count as common, tokens with
    letters of other scripts as rare.
    """
    places = np.arange(len(tokens), dtype=np.float64) - _WORDS
    places[places < 0] = len(tokens)
    for number, token in enumerate(tokens):
        if not token.isascii():
            places[number] = len(tokens)
        elif len(token) == 1:
            places[number] = 50
    for token, place in (("[SEP]", 0.0), ("[UNK]", 500.0)):
        if token in tokens:
            places[tokens.index(token)] = place
    return places
