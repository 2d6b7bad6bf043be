"""Names of systems, as ``--systems`` reads them, to systems.

    NAME  = BASE[:UNIT][@MODEL][+bm25 | +bm25/rank | +bm25/WEIGHT][|rerank:CROSS]
    BASE  = landmark         Milepost's search
            landmark-first   the same without reranking
            landmark-only    its landmarks without words
            landmark-scales  the same, each sentence with its neighbours (±0, ±1, ±3)
            bm25             words; bm25-k0.9-b0.4 sets k1 and b
            bm25-scales      words at several scales (sentence, ±1, ±3)
            bm25s            words, by the library bm25s
            splade           weights of words by a learned sparse model
            sentence         each sentence encoded alone
            sentence-scales  the same, each scored with its neighbours (±0, ±1, ±3)
            sentence-window  sentences alone, returned with N neighbours on both sides (UNIT is N)
            chunk            each chunk encoded alone
            late-chunk       token states of the whole text, averaged over each chunk;
                             late-chunk-w128 reads it in windows of 128 tokens
            document         one vector per document; UNIT is cls, mean or lmk
    UNIT  = sentence, SIZE, SIZE-OVERLAP, recursive:SIZE-OVERLAP, semantic:SIZE-OVERLAP,
            langchain, chroma (their defaults), tuned (the best on development questions)
    MODEL = minilm (default), landmark, wordllama, e5, a folder, or owner/name of the hub
    CROSS = a cross-encoder of sentence-transformers: a folder, or owner/name of the hub

Sizes are characters. ``+bm25`` adds the standard scores of words over the same units, ``/WEIGHT``
times those of the vectors; ``/rank`` joins by reciprocal rank. To add a system, write a file
that implements ``types.System``, and a line in ``Workshop``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from milepost.engine.folder import find_model
from milepost.engine.openvino import open_engine
from milepost.errors import InputError, nearest
from milepost.search.lexical import SCALES
from milepost_eval.embedders import Embedder, embedder
from milepost_eval.remembered import RememberedEncoder
from milepost_eval.standard import SETS
from milepost_eval.systems.dense import Dense
from milepost_eval.systems.fused import Fused, ScoringSystem
from milepost_eval.systems.landmark import Landmarks, Milepost
from milepost_eval.systems.late import Late
from milepost_eval.systems.lexical import Bm25, Bm25s
from milepost_eval.systems.rerank import Reranked, cross_encoder_folder
from milepost_eval.systems.scales import Scales
from milepost_eval.systems.sparse import Sparse, SparseModel, splade_folder
from milepost_eval.systems.splitters import splitter
from milepost_eval.systems.units import Splitter
from milepost_eval.systems.whole import Whole
from milepost_eval.tuned import Tuned
from milepost_eval.types import System
from milepost_eval.vectors import Vectors

_NAME = re.compile(
    r"(?P<base>[a-z0-9]+(?:-[a-z0-9.]+)*)(?::(?P<unit>[^@+|]+))?(?:@(?P<model>[^|]+?))?"
    r"(?P<words>\+bm25(?:/(?P<by>rank|\d*\.?\d+))?)?(?:\|rerank:(?P<reranker>.+))?"
)
_PARAMETERS = re.compile(r"bm25-k(?P<k1>\d*\.?\d+)-b(?P<b>\d*\.?\d+)")
_WINDOW = re.compile(r"late-chunk-w(?P<tokens>[1-9]\d{0,5})")

BASES = {
    "landmark": "Milepost's search: landmarks, words, and the model's reranker if it has one",
    "landmark-first": "Milepost's search without its reranker",
    "landmark-only": "Milepost's landmarks without words",
    "landmark-scales": "landmark-only, each scored with its neighbours: mean of ±0, ±1 and ±3",
    "bm25": "BM25 over sentences or chunks (UNIT)",
    "bm25-scales": "BM25 of the sentence, ±1 and ±3 neighbours, standardised and added",
    "bm25s": "the library bm25s over sentences or chunks (UNIT)",
    "splade": "a learned sparse model over sentences or chunks (UNIT)",
    "sentence": "each sentence encoded alone",
    "sentence-scales": "sentence, each scored with its neighbours: mean of ±0, ±1 and ±3",
    "sentence-window": "each sentence encoded alone, returned with N neighbours (UNIT)",
    "chunk": "each chunk (UNIT) encoded alone",
    "late-chunk": "token states of the whole text, averaged over each chunk (UNIT)",
    "document": "one vector per document: UNIT is cls, mean or lmk",
}
"""First part of a system's name → what it is."""

_PARTS = {"unit": ":UNIT", "model": "@MODEL", "words": "+bm25"}

_TAKES = {
    "landmark": {"model"},
    "landmark-first": {"model"},
    "landmark-only": {"model"},
    "landmark-scales": {"model"},
    "bm25": {"unit"},
    "bm25-scales": set[str](),
    "bm25s": {"unit"},
    "splade": {"unit", "model", "words"},
    "sentence": {"model", "words"},
    "sentence-scales": {"model"},
    "sentence-window": {"unit", "model", "words"},
    "chunk": {"unit", "model", "words"},
    "late-chunk": {"unit", "model", "words"},
    "document": {"unit", "model"},
}


@dataclass(frozen=True, slots=True)
class Parsed:
    """The parts of a name; "" where a part is missing."""

    base: str
    unit: str
    model: str
    words: bool
    by: str
    reranker: str


def parse(name: str) -> Parsed:
    """The parts of a system's name.

    Raises:
        InputError: the name is unknown (with the nearest known one), or has a part that this
            system does not take.
    """
    match = _NAME.fullmatch(name.strip())
    base = match["base"] if match else name
    kind = _kind(base)
    if match is None or kind not in BASES:
        first = re.split(r"[:@+|]", base.casefold())[0]
        raise InputError(
            f"unknown system {name!r}",
            f"{nearest(first, [*BASES, *SETS])}one of {', '.join(BASES)}; "
            f"or a set: {', '.join(SETS)}",
        )
    for part in _PARTS.keys() - _TAKES[kind]:
        # The meaning of a tuned name is looked up: "sentence:tuned+bm25" tunes the weight.
        if match[part] and not (part == "unit" and match["unit"] == "tuned"):
            raise InputError(
                f"{name}: {base} takes no {_PARTS[part]}", f"the name without {match[part]}"
            )
    return Parsed(
        base,
        match["unit"] or "",
        match["model"] or "",
        match["words"] is not None,
        match["by"] or "",
        match["reranker"] or "",
    )


def _kind(base: str) -> str:
    """The base without the numbers that some are given."""
    if _PARAMETERS.fullmatch(base):
        return "bm25"
    return "late-chunk" if _WINDOW.fullmatch(base) else base


class Workshop:
    """Makes systems from their names; models are loaded once.

    Args:
        vectors: where vectors are kept.
        model: Milepost's own model in the systems ``landmark``, ``landmark-first`` and
            ``landmark-only``; a shipped name or a folder, None for the default.
        dtype: of sentence-transformers models, ``float32`` or ``bfloat16``.
        tuned: the meaning of ``tuned``.
    """

    def __init__(
        self,
        vectors: Vectors,
        *,
        model: str | None = None,
        dtype: str = "float32",
        tuned: Tuned | None = None,
    ) -> None:
        self.vectors = vectors
        self._model, self._dtype, self._tuned = model, dtype, tuned
        self._embedders: dict[tuple[str, int | None], Embedder] = {}
        self._sparse: dict[str, SparseModel] = {}
        self._splitters: dict[str, Splitter] = {}
        self._encoders: dict[str | None, RememberedEncoder] = {}

    def encoder(self, model: str | None = None) -> RememberedEncoder:
        """A landmark model, loaded once; None for the workshop's own."""
        chosen = model or self._model
        if chosen not in self._encoders:
            folder = find_model(chosen)
            self._encoders[chosen] = RememberedEncoder(folder, open_engine(folder), self.vectors)
        return self._encoders[chosen]

    def embedder(self, spec: str, window: int | None = None) -> Embedder:
        """A model that encodes texts, loaded once; ``window`` as in ``embedders.embedder``."""
        if (spec, window) not in self._embedders:
            self._embedders[spec, window] = embedder(spec, self._dtype, window)
        return self._embedders[spec, window]

    def _sparse_model(self, spec: str) -> SparseModel:
        if spec not in self._sparse:
            self._sparse[spec] = SparseModel(splade_folder(spec), self._dtype)
        return self._sparse[spec]

    def make(self, name: str) -> System:
        """The system of a name.

        Raises:
            InputError: the system, unit or model is unknown, or its parts do not go together.
        """
        parsed = parse(name)
        if parsed.reranker:
            inner = self.make(name.partition("|")[0])
            folder = cross_encoder_folder(parsed.reranker)
            return Reranked(name, inner, folder, dtype=self._dtype)
        if parsed.unit == "tuned":
            if self._tuned is None:
                raise InputError(f"{name}: nothing has been tuned", "milepost eval tune FILE")
            made = self.make(self._tuned.name(name))
            made.name = name
            return made
        if parsed.words:
            return self._fused(name, parsed)
        return self._single(name, parsed)

    def _single(self, name: str, parsed: Parsed) -> System:
        makers: dict[str, Callable[[], System]] = {
            "landmark": lambda: Milepost(name, self.encoder(parsed.model or None)),
            "landmark-first": lambda: Milepost(
                name, self.encoder(parsed.model or None), rerank=False
            ),
            "landmark-only": lambda: Landmarks(name, self.encoder(parsed.model or None)),
            "landmark-scales": lambda: Scales(
                name, Landmarks(name, self.encoder(parsed.model or None))
            ),
            "sentence-scales": lambda: Scales(
                name, self._scoring(name, replace(parsed, base="sentence"))
            ),
            "bm25-scales": lambda: Bm25(name, self._unit("sentence"), scales=SCALES),
            "bm25s": lambda: Bm25s(name, self._unit(parsed.unit)),
            "document": lambda: Whole(
                name,
                self.embedder(parsed.model or "minilm"),
                parsed.unit or "mean",
                self.vectors,
            ),
        }
        if parsed.base in makers:
            return makers[parsed.base]()
        system: System = self._scoring(name, parsed)
        return system

    def _scoring(self, name: str, parsed: Parsed) -> ScoringSystem:
        """Systems that score units, so that they can be joined with words."""
        numbers = _PARAMETERS.fullmatch(parsed.base)
        if parsed.base == "bm25" or numbers:
            if not numbers:
                return Bm25(name, self._unit(parsed.unit))
            return Bm25(
                name, self._unit(parsed.unit), k1=float(numbers["k1"]), b=float(numbers["b"])
            )
        if parsed.base == "splade":
            return Sparse(name, self._sparse_model(parsed.model), self._unit(parsed.unit))
        window = _WINDOW.fullmatch(parsed.base)
        model = self.embedder(parsed.model or "minilm", int(window["tokens"]) if window else None)
        if parsed.base == "sentence":
            return Dense(name, model, self._unit("sentence"), self.vectors)
        if parsed.base == "sentence-window":
            around = parsed.unit or "3"
            if not around.isdigit():
                raise InputError(
                    f"{name}: {around!r} is not a number of neighbours", "sentence-window:3"
                )
            return Dense(name, model, self._unit("sentence"), self.vectors, window=int(around))
        if _kind(parsed.base) == "late-chunk":
            return Late(name, model, self._unit(parsed.unit), self.vectors)
        return Dense(name, model, self._unit(parsed.unit), self.vectors)

    def _fused(self, name: str, parsed: Parsed) -> System:
        first = self._scoring(name.partition("+bm25")[0], parsed)
        unit = "sentence" if parsed.base.startswith("sentence") else parsed.unit
        second = Bm25(f"bm25:{unit}", self._unit(unit))
        if parsed.by == "rank":
            return Fused(name, first, second, by="rank")
        return Fused(name, first, second, weight=float(parsed.by or 1.0))

    def _unit(self, unit: str) -> Splitter:
        """A splitter that remembers: many systems split the same texts."""
        if unit not in self._splitters:
            self._splitters[unit] = lru_cache(maxsize=4096)(splitter(unit or "sentence"))
        return self._splitters[unit]
