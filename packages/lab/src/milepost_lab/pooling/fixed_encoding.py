"""One vector instead of many, for approximate MaxSim: MUVERA (arXiv 2405.19504, section 2).

    φ(x)   = signs of k products with random vectors        one of 2^k cells
    q_(c)  = Σ ψ(q_i)          over the query's tokens with φ(q_i) = c
    p_(c)  = mean of ψ(p_j)    over the text's tokens with φ(p_j) = c; if there are none, ψ of the
                               token whose signs differ least from c
    ψ(x)   = S x / √m          S: random signs, (m, d); or x itself
    q · p  = (1/R) Σ_r Σ_c q_(c) · p_(c) ≈ Σ_i max_j q_i · p_j      r: R independent draws

The operator ``fixed-encoding`` makes them in ``milepost lab compare``, and also divides the sums by
the number of the query's tokens, because the lab's MaxSim is a mean over these.

Tokens that are near each other tend to share a cell. So a search for the greatest product of single
vectors finds candidates, and ``maxsim`` ranks them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from milepost.errors import InputError
from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.ragged import checked_lengths, checked_states, owners, split, starts

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from milepost_lab.pooling.operator import Weights


@dataclass(frozen=True, eq=False, slots=True)
class FixedEncoding:
    """Cells and projections; queries and texts must share them. ``drawn`` makes one.

    Attributes:
        planes: ``(R, k, d)`` float32, the vectors whose products give the signs.
        signs: ``(R, m, d)`` float32, ``S`` of each repetition; None to keep vectors as they are.
    """

    planes: NDArray[np.float32]
    signs: NDArray[np.float32] | None = None

    @classmethod
    def drawn(
        cls,
        width: int,
        *,
        planes: int = 4,
        repetitions: int = 20,
        projected: int = 8,
        seed: int = 0,
    ) -> FixedEncoding:
        """Draw cells and projections as the paper does; equal seeds give equal ones.

        Args:
            width: d of the vectors.
            planes: k, 0 or more; there are ``2^k`` cells.
            repetitions: R.
            projected: m, the numbers of a cell; 0 for no projection.
            seed: seed of the random numbers.

        Raises:
            InputError: a number is too small.
        """
        import numpy as np

        if min(width, repetitions) < 1 or min(planes, projected) < 0:
            raise InputError(
                f"width={width}, planes={planes}, repetitions={repetitions}, projected={projected}",
                "a width and repetitions of at least 1, and no negative number",
            )
        rng = np.random.default_rng(seed)
        normals = rng.standard_normal((repetitions, planes, width)).astype(np.float32)
        if not projected:
            return cls(normals)
        signs = rng.choice(np.array([-1, 1], np.float32), (repetitions, projected, width))
        return cls(normals, signs)

    @property
    def size(self) -> int:
        """Width of an encoding: ``R · 2^k · m``."""
        repetitions, planes, width = self.planes.shape
        numbers: int = width if self.signs is None else self.signs.shape[1]
        return int(repetitions * 2**planes * numbers)

    def queries(self, states: ArrayLike, lengths: ArrayLike) -> NDArray[np.float32]:
        """Encode queries: the sum in each cell, divided by ``R``.

        Args:
            states: ``(tokens, d)`` floating-point, concatenated queries.
            lengths: ``(queries,)``, the number of tokens of each query.

        Returns:
            ``(queries, size)`` float32.

        Raises:
            InputError: shapes or numbers do not fit.
        """
        import numpy as np

        given, counts = self._checked(states, lengths)
        found = [self._sums(given, counts, number)[0] for number in range(len(self.planes))]
        return (np.stack(found, 1).reshape(len(counts), self.size) / len(self.planes)).astype(
            np.float32
        )

    def documents(
        self, states: ArrayLike, lengths: ArrayLike, *, fill: bool = True
    ) -> NDArray[np.float32]:
        """Encode texts: the mean in each cell.

        Args:
            states: ``(tokens, d)`` floating-point, concatenated texts.
            lengths: ``(texts,)``, the number of tokens of each text.
            fill: whether a cell without tokens gets the nearest token of the text; otherwise 0.

        Returns:
            ``(texts, size)`` float32.

        Raises:
            InputError: shapes or numbers do not fit.
        """
        import numpy as np

        given, counts = self._checked(states, lengths)
        found = []
        for number in range(len(self.planes)):
            total, tokens = self._sums(given, counts, number)
            means = total / np.maximum(tokens, 1)[..., None]
            if fill:
                text, cell = np.nonzero(tokens == 0)
                nearest = self._nearest(given, counts, number)[text, cell]
                means[text, cell] = self._projected(given, number)[nearest]
            found.append(means)
        return np.stack(found, 1).reshape(len(counts), self.size).astype(np.float32)

    def _checked(
        self, states: ArrayLike, lengths: ArrayLike
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        given, width = checked_states(states), self.planes.shape[2]
        if given.shape[1] != width:
            raise InputError(
                f"states have {given.shape[1]} channels, and the encoding {width}",
                "FixedEncoding.drawn with the width of the states",
            )
        return given, checked_lengths(lengths, len(given))

    def _projected(self, states: NDArray[np.float32], number: int) -> NDArray[np.float64]:
        """``ψ`` of a repetition, ``(tokens, m)``."""
        import numpy as np

        wide = states.astype(np.float64)
        if self.signs is None:
            return wide
        signs = self.signs[number].astype(np.float64)
        projected: NDArray[np.float64] = wide @ signs.T / np.sqrt(len(signs))
        return projected

    def _bits(self, states: NDArray[np.float32], number: int) -> NDArray[np.bool_]:
        """``φ`` of a repetition, ``(tokens, k)``."""
        bits: NDArray[np.bool_] = states @ self.planes[number].T > 0
        return bits

    def _sums(
        self, states: NDArray[np.float32], lengths: NDArray[np.int64], number: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Compute sums ``(texts, cells, m)`` and numbers of tokens ``(texts, cells)``."""
        import numpy as np

        bits = self._bits(states, number)
        cells = 2 ** bits.shape[1]
        place = owners(lengths) * cells + bits @ (1 << np.arange(bits.shape[1]))
        projected = self._projected(states, number)
        total = np.zeros((len(lengths) * cells, projected.shape[1]))
        np.add.at(total, place, projected)
        tokens = np.bincount(place, minlength=len(total))
        shape = len(lengths), cells
        return total.reshape(*shape, projected.shape[1]), tokens.reshape(shape)

    def _nearest(
        self, states: NDArray[np.float32], lengths: NDArray[np.int64], number: int
    ) -> NDArray[np.int64]:
        """Find a text's first token with signs nearest to each cell's, ``(texts, cells)``."""
        import numpy as np

        planes = np.arange(self.planes.shape[1])
        wanted = np.arange(2 ** len(planes))[:, None] >> planes & 1
        agreeing = (2.0 * self._bits(states, number) - 1) @ (2.0 * wanted.T - 1)
        texts = zip(starts(lengths), split(agreeing, lengths), strict=True)
        nearest = [start + text.argmax(0) for start, text in texts]
        return np.array(nearest, np.int64).reshape(len(lengths), len(wanted))


def fixed_encoding(
    batch: Batch, settings: Mapping[str, Any], weights: Weights
) -> NDArray[np.floating]:
    """Encode texts, or queries (divided by their numbers of tokens), ``(texts, R · 2^k · m)``."""
    encoding = FixedEncoding(weights["planes"], weights.get("signs"))
    if settings["side"] == "query":
        return encoding.queries(batch.states, batch.lengths) / batch.lengths[:, None]
    return encoding.documents(batch.states, batch.lengths)


def _start(
    settings: Mapping[str, Any], width: int, _: int, random: np.random.Generator
) -> dict[str, NDArray[np.float32]]:
    encoding = FixedEncoding.drawn(
        width,
        planes=settings["planes"],
        repetitions=settings["repetitions"],
        projected=settings["projected"],
        seed=int(random.integers(2**32)),
    )
    signs = {} if encoding.signs is None else {"signs": encoding.signs}
    return {"planes": encoding.planes, **signs}


OPERATORS = (
    Operator(
        "fixed-encoding",
        "one long vector whose product approximates MaxSim (MUVERA)",
        paper="2405.19504",
        family="late-interaction",
        equation="z_rc = mean of S_r x_i/√m over φ_r(x_i) = c; a query's: (1/nR) Σ in place of it",
        order="kept",
        compute=fixed_encoding,
        start=_start,
        parameters={
            "planes": Parameter(4, "Products whose signs choose a cell, k.", least=0, most=12),
            "repetitions": Parameter(20, "Draws of cells, R.", least=1),
            "projected": Parameter(8, "Numbers of a cell, m; 0 keeps the states.", least=0),
            "side": Parameter("text", "What is encoded.", choices=("text", "query")),
        },
        fixed=frozenset({"planes", "signs"}),
        late="one",
        query_settings={"side": "query"},
    ),
)
