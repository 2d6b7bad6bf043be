"""Test doubles for programs that use Milepost: no weights, no files, milliseconds.

    from milepost.testing import fake_index

    index = fake_index({"bees": "Bees build cells of wax. The queen lays the eggs."})
    assert index.search("wax cells", k=1)[0].document == "bees"

Everything but the network is real: sentences, windows, stores, search. Vectors are sums of fixed
random vectors of word pieces, so sentences that share words are similar whatever they mean.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milepost._numpy import NDArray, np
from milepost._typed import typed
from milepost.encoder import Encoder
from milepost.encoder.engine.folder import ModelFolder
from milepost.encoder.engine.manifest import Manifest
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.index import Index
from milepost.index import open as open_index
from milepost.store.memory import MemoryStore
from milepost.types import Document

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Backend


class FakeEngine:
    """A deterministic engine: each landmark is a fixed random projection of its sentence's ids."""

    def __init__(self, dimensions: int = 32, vocabulary: int = 40000) -> None:
        table = np.random.default_rng(7).standard_normal((vocabulary, dimensions))
        self._table = table.astype(np.float32)

    @property
    def dimensions(self) -> int:
        """Width of the vectors."""
        return int(self._table.shape[1])

    @property
    def description(self) -> str:
        """The name that ``milepost info`` shows."""
        return "fake engine (tests)"

    def run(
        self,
        ids: NDArray[np.int32],
        sentences: NDArray[np.int32],
        marks: NDArray[np.int32],
    ) -> NDArray[np.float32]:
        """See ``Engine.run``."""
        states = self._table[ids]
        own = np.take_along_axis(sentences, marks, axis=1)[:, :, None] == sentences[:, None, :]
        sums = own.astype(np.float32) @ states
        norms = np.linalg.norm(sums, axis=-1, keepdims=True)
        result: NDArray[np.float32] = sums / np.maximum(norms, 1e-12)
        return result


__all__ = ["FakeEngine", "MemoryStore", "fake_encoder", "fake_index"]

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def fake_encoder(**settings: int) -> Encoder:
    """An encoder without a model folder.

    Its tokenizer splits words in Latin letters into pieces of three letters. It does not know words
    in other scripts, like a model made for English.

    Args:
        settings: fields of the manifest to change: ``dimensions`` (32), ``window`` (256), ``left``
            (64), ``right`` (32), ``longest`` (128), ``granularity`` (one landmark per sentence, or
            the number of tokens per landmark).

    >>> fake_encoder().encode("One sentence. Another one.").vectors.shape
    (2, 32)
    """
    fields: dict[str, Any] = {"dimensions": 32, **settings}
    name = "fake-" + "-".join(f"{key}{value}" for key, value in sorted(fields.items()))
    manifest = Manifest(name, name, **fields)
    return Encoder(
        ModelFolder(Path("nowhere"), manifest),
        FakeEngine(manifest.dimensions, vocabulary=len(_vocabulary())),
        Tokenizer(_backend(), manifest.bos_token, manifest.landmark),
    )


@typed
def fake_index(texts: Mapping[str, str] | None = None, **settings: int) -> Index:
    """Make an index in memory of ``texts`` (name → text) with ``fake_encoder``.

    >>> [info.name for info in fake_index({"note": "Remember the milk."}).documents()]
    ['note']
    """
    index = open_index(model=fake_encoder(**settings))
    index.add([Document(name, text) for name, text in (texts or {}).items()])
    return index


@lru_cache(maxsize=1)
def _vocabulary() -> dict[str, int]:
    return {piece: number for number, piece in enumerate(dict.fromkeys(_pieces()))}


def _pieces() -> Iterator[str]:
    yield from _SPECIAL
    yield from string.punctuation + "«»“”‘’–—…"
    words = (map("".join, product(string.ascii_lowercase, repeat=size)) for size in (1, 2, 3))
    for piece in chain(*words, string.digits):
        yield piece
        yield f"##{piece}"


def _backend() -> Backend:
    from tokenizers import Tokenizer as Made
    from tokenizers import models, normalizers, pre_tokenizers

    made = Made(models.WordPiece(_vocabulary(), unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.add_special_tokens(list(_SPECIAL))
    backend: Backend = made
    return backend
