"""What the page needs of the model: its network, its words, its ranking."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.encoder import Encoder
from milepost.encoder.engine.folder import ModelFolder
from milepost.encoder.engine.languages import supported_languages
from milepost.errors import ModelError
from milepost.exports.view.graph import narrowed, widened
from milepost.exports.view.network import Network, graph_of, read_network
from milepost.exports.view.pack import Pack
from milepost.exports.view.vocabulary import vocabulary
from milepost.language.detection import ENGLISH_WORDS, FOREIGN_WORDS, NEUTRAL, RANGES
from milepost.search.features import FEATURES
from milepost.search.fusion import SIGNALS
from milepost.search.ranking import Ranking
from milepost.search.trees import Trees
from milepost.wording import without_options

_ALIKE = 0.9999
"""Cosine of the arrays' vector and the engine's, below which the graph is not what it seems."""

_SAMPLE = "Which of these 2 samples held the most wax?"


def add_model(pack: Pack, encoder: Encoder) -> None:
    """Add all sections of a model, if it is light and has no parts that the page does not have."""
    manifest = encoder.manifest
    usual = manifest.pooling == "lmk" and not manifest.every
    if manifest.bos_token or manifest.query_prefix or not usual:
        raise ModelError(
            f"the page cannot read questions as {manifest.name} does", "landmark-light"
        )
    network = read_network(graph_of(encoder.folder))
    _check(network, encoder)
    ranking = Ranking.read(manifest.fusion, encoder.folder)
    if ranking.trees is None:
        raise ModelError(
            f"{manifest.name} has no learned ranking",
            f"milepost fit {encoder.folder} --tasks FILES",
        )
    tokens = vocabulary(ModelFolder(encoder.folder, manifest).tokenizer)
    pack.facts["model"] = {
        "name": manifest.name,
        "fingerprint": manifest.fingerprint,
        "longest": manifest.longest,
        "landmark": encoder.tokenizer.landmark,
        "unknown": encoder.tokenizer.unknown,
        "blocks": network.blocks,
        "epsilon": network.epsilon,
        "features": list(FEATURES),
        "signals": list(SIGNALS),
        "fusion": asdict(ranking.fusion),
        "reads": _reads(manifest.name),
    }
    pack.facts["language"] = {
        "ranges": RANGES,
        "neutral": NEUTRAL,
        "english": sorted(ENGLISH_WORDS),
        "foreign": sorted(FOREIGN_WORDS),
    }
    pack.add("tokens", "\n".join(tokens).encode("utf-8"))
    pack.add_table("table", network.codes)
    pack.add("table scales", network.scales.astype("<f4").tobytes())
    for name, matrix in network.matrices.items():
        _add_matrix(pack, name, matrix)
    sizes = {name: len(vector) for name, vector in network.vectors.items()}
    pack.facts["vectors"] = sizes
    pack.add("vectors", b"".join(each.astype("<f4").tobytes() for each in network.vectors.values()))
    _add_trees(pack, ranking.trees)


def _reads(name: str) -> dict[str, Any] | None:
    """What the model reads, for the page's note; see ``language.SupportedLanguages``."""
    reads = supported_languages(name)
    if reads is None:
        return None
    return {
        "model": reads.model,
        "scripts": sorted(reads.scripts),
        "elsewhere": sorted(reads.elsewhere),
        "remedy": without_options(reads.remedy),
    }


def _check(network: Network, encoder: Encoder) -> None:
    """Compare the arrays with the engine, so that no page is made of what was misread."""
    ids = [*encoder.tokenizer.count([_SAMPLE])[0][0], encoder.tokenizer.landmark]
    cosine = float(network.encode(ids) @ encoder.encode_query(_SAMPLE))
    if not cosine > _ALIKE:
        raise ModelError(
            f"{encoder.folder} does not compute what a light model does (cosine {cosine:.4f})",
            "landmark-light",
        )


def _add_matrix(pack: Pack, name: str, matrix: NDArray[np.float32]) -> None:
    """A matrix: places in a palette where it has few different numbers, else bfloat16."""
    levels = np.unique(matrix)
    if len(levels) <= 256:
        pack.add_table(name, np.searchsorted(levels, matrix).astype(np.uint8))
        pack.add(f"{name} palette", levels.astype("<f4").tobytes())
        return
    halves = narrowed(matrix)
    if not np.array_equal(widened(halves), matrix):
        raise ModelError(f"{name} is not in bfloat16", "landmark-light")
    pack.add_table(name, halves.astype("<u2").view(np.uint8))


def _add_trees(pack: Pack, trees: Trees) -> None:
    """The trees; a leaf asks for no feature (255), children are named by their distance."""
    inner = trees.feature >= 0
    places = np.arange(len(inner))
    distances = np.stack((trees.left - places, trees.right - places), axis=1)[inner]
    if len(trees.names) > 254 or (
        distances.size and not 0 < distances.min() <= distances.max() < 256
    ):
        raise ModelError("the model's trees have another form", "landmark-light")
    levels, which = np.unique(trees.threshold[inner], return_inverse=True)
    pack.add("tree features", np.where(inner, trees.feature, 255).astype(np.uint8).tobytes())
    pack.add("tree children", distances.astype(np.uint8).tobytes())
    pack.add("tree levels", levels.astype("<f4").tobytes())
    pack.add("tree thresholds", which.astype("<u2").tobytes())
    pack.add("tree values", trees.value[~inner].astype("<f4").tobytes())
    pack.add("tree roots", trees.roots.astype("<i4").tobytes())
