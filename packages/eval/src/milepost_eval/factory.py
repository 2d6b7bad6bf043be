"""Rows of the catalogue to systems; models are loaded once.

To add a kind of system, write a file that implements ``types.System``, a line in ``KINDS``
(``catalogue.py``) and one in ``SystemFactory``.
"""

from __future__ import annotations

from functools import lru_cache

from milepost.encoder.engine.folder import find_model
from milepost.encoder.engine.openvino import open_engine
from milepost.search.lexical import SCALES
from milepost_eval.catalogue import Catalogue, SystemRow, read_catalogue
from milepost_eval.embedders import Embedder, embedder
from milepost_eval.systems.dense import Dense
from milepost_eval.systems.fused import Fused, ScoringSystem
from milepost_eval.systems.landmark import Landmarks, Milepost
from milepost_eval.systems.late import Late
from milepost_eval.systems.lexical import Bm25, Bm25s
from milepost_eval.systems.scales import Scales
from milepost_eval.systems.sparse import Sparse, SparseModel, splade_folder
from milepost_eval.systems.splitters import splitter
from milepost_eval.systems.units import Splitter
from milepost_eval.systems.whole import Whole
from milepost_eval.types import System
from milepost_eval.vectors import CachedEncoder, Vectors


class SystemFactory:
    """Makes systems from their names.

    Args:
        vectors: where vectors are kept.
        model: Milepost's own model where a row of its search or landmarks names none; a shipped
            name or a folder, None for the default.
        dtype: of sentence-transformers models, ``float32`` or ``bfloat16``.
        catalogue: the rows; None for the package's.
    """

    def __init__(
        self,
        vectors: Vectors,
        *,
        model: str | None = None,
        dtype: str = "float32",
        catalogue: Catalogue | None = None,
    ) -> None:
        self.vectors = vectors
        self._catalogue = catalogue or read_catalogue()
        self._model, self._dtype = model, dtype
        self._embedders: dict[tuple[str, int | None], Embedder] = {}
        self._sparse: dict[str, SparseModel] = {}
        self._splitters: dict[str, Splitter] = {}
        self._encoders: dict[str | None, CachedEncoder] = {}

    def encoder(self, model: str | None = None) -> CachedEncoder:
        """A landmark model, loaded once; None for the factory's own."""
        chosen = model or self._model
        if chosen not in self._encoders:
            folder = find_model(chosen)
            self._encoders[chosen] = CachedEncoder(folder, open_engine(folder), self.vectors)
        return self._encoders[chosen]

    def embedder(self, spec: str, window: int | None = None) -> Embedder:
        """A model that encodes texts, loaded once; ``window`` as in ``embedders.embedder``."""
        if (spec, window) not in self._embedders:
            named = self._catalogue.models.get(spec, spec)
            self._embedders[spec, window] = embedder(named, self._dtype, window)
        return self._embedders[spec, window]

    def _sparse_model(self, spec: str) -> SparseModel:
        if spec not in self._sparse:
            named = self._catalogue.models.get(spec, spec)
            self._sparse[spec] = SparseModel(splade_folder(named), self._dtype)
        return self._sparse[spec]

    def make(self, name: str) -> System:
        """The system of a name.

        Raises:
            InputError: the system, unit or model is unknown, or they do not go together.
        """
        row = self._catalogue.row(name)
        match row.kind:
            case "search":
                return Milepost(name, self.encoder(row.model or None), rerank=row.rerank)
            case "bm25s":
                return Bm25s(name, self._unit(row.unit))
            case "document":
                return Whole(name, self.embedder(row.model or "minilm"), row.pooling, self.vectors)
        first = self._scoring(name, row)
        if row.kind != "bm25" and row.scales:
            return Scales(name, first)
        if row.words:
            second = Bm25(f"bm25:{row.unit}", self._unit(row.unit))
            if row.words == "rank":
                return Fused(name, first, second, by="rank")
            return Fused(name, first, second, weight=row.weight)
        system: System = first
        return system

    def _scoring(self, name: str, row: SystemRow) -> ScoringSystem:
        """Systems that score units, so that they can be joined with words."""
        match row.kind:
            case "landmarks":
                return Landmarks(name, self.encoder(row.model or None))
            case "bm25":
                scales = SCALES if row.scales else (0,)
                return Bm25(name, self._unit(row.unit), scales, k1=row.k1, b=row.b)
            case "sparse":
                model = self._sparse_model(row.model or "splade-tiny")
                return Sparse(name, model, self._unit(row.unit))
            case "late":
                late = self.embedder(row.model or "minilm", row.window or None)
                return Late(name, late, self._unit(row.unit), self.vectors)
        dense, unit = self.embedder(row.model or "minilm"), self._unit(row.unit)
        return Dense(name, dense, unit, self.vectors, window=row.neighbours)

    def _unit(self, unit: str) -> Splitter:
        """A splitter that remembers: many systems split the same texts."""
        if unit not in self._splitters:
            self._splitters[unit] = lru_cache(maxsize=4096)(splitter(unit))
        return self._splitters[unit]
