"""An encoder that caches its vectors, so that a second run does not run the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from milepost.encoder import Encoder, Progress
from milepost.engine import ModelFolder
from milepost_eval.vectors import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.engine.base import Engine
    from milepost.engine.tokenizer import Tokenizer


class RememberedEncoder(Encoder):
    """An ``Encoder`` that takes known vectors from ``vectors``.

    Sentences and tokens are computed each time, which is fast; only the network is not run again.

    Args:
        folder: the model folder.
        engine: runs the graph.
        vectors: where vectors are kept.
        tokenizer: another one than the folder's.
    """

    def __init__(
        self,
        folder: ModelFolder,
        engine: Engine,
        vectors: Vectors,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        super().__init__(folder, engine, tokenizer)
        self._vectors = vectors
        manifest = self.manifest
        # Everything that the vectors depend on beside the tokens.
        self._reading = (
            f"{manifest.fingerprint} {engine.description.partition(', ')[2].partition(',')[0]} "
            f"{manifest.window} {manifest.left} {manifest.right} {manifest.longest}"
        )

    def _run(
        self,
        ids: Sequence[Sequence[int]],
        vectors: NDArray[np.float32],
        progress: Progress | None,
    ) -> int:
        def read() -> tuple[NDArray[np.float32], int]:
            tokens = super(RememberedEncoder, self)._run(ids, vectors, progress)
            return vectors, tokens

        if not ids:
            return 0
        rows = [" ".join(map(str, sentence)) for sentence in ids]
        known, tokens = self._vectors.get(self._reading, rows, read)
        vectors[:] = known
        return tokens
