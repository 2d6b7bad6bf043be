"""Pooling by a query: X-Pool (arXiv 2203.15086) and its baselines.

A document has a different vector for every question. So these operators score pairs of question and
document (``pair_scores``) as a second stage: a pooling without a question finds documents, and
these operators rerank them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from milepost.errors import InputError
from milepost.windows.document_vector import unit
from milepost_lab.pooling.attention import checked_heads
from milepost_lab.pooling.layer_norm import named_norm
from milepost_lab.pooling.operator import Batch, Need, Operator, Parameter, Pool
from milepost_lab.pooling.ragged import checked_lengths, checked_states, softmax, split, starts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights

TILE = 1 << 20
"""Maximum size of an array in ``pair_scores``: 8 MiB."""


class XPool:
    """X-Pool's block: the vector of one text for every query.

    ``z = LN3(r + r W + b)``, ``r = LN2(A v W_o + b_o)``, ``A = softmax over tokens of
    (k · q) / (sqrt(c) τ)`` in each head of width ``c``; ``q, k, v`` are linear maps of LN1 of query
    and states. LN1 is the same for both unless ``shared_norm`` is off.

    The paper's fifth bias, that of ``k``, adds the same number to all scores of a text and cancels
    in the softmax, so it is left out.

    Args:
        settings: settings of the operator.
        weights: weights of the operator.

    Attributes:
        heads: number of attention heads.
    """

    def __init__(self, settings: Mapping[str, Any], weights: Weights) -> None:
        import numpy as np

        self._settings = settings
        self.heads = int(settings["heads"])
        self._weights = {name: value.astype(np.float64) for name, value in weights.items()}

    def normed(self, queries: NDArray[np.floating]) -> NDArray[np.float64]:
        """LN1 of the queries, ``(q, d)``."""
        return self._norm("input" if self._settings["shared_norm"] else "query", queries)

    def shares(
        self, queries: NDArray[np.floating], states: NDArray[np.floating]
    ) -> NDArray[np.float64]:
        """The weight of each token in each head, ``(n, heads, q)``; sums to 1 over tokens."""
        asked = self._heads(self._map("query", self.normed(queries)))
        keys = self._heads(self._norm("input", states) @ self._weights["key_map"])
        sharp = asked.shape[-1] ** 0.5 * self._settings["temperature"]
        logits = keys.transpose(1, 0, 2) @ asked.transpose(1, 2, 0) / sharp
        return _softmax(logits.transpose(1, 0, 2))

    def __call__(
        self, queries: NDArray[np.floating], states: NDArray[np.floating]
    ) -> NDArray[np.float64]:
        """The text's vector for each query: ``(q, d)``, ``(n, d)`` → ``(q, d)``."""
        values = self._heads(self._map("value", self._norm("input", states)))
        pooled = self.shares(queries, states).transpose(1, 2, 0) @ values.transpose(1, 0, 2)
        merged = pooled.transpose(1, 0, 2).reshape(len(queries), -1)
        vectors = self._norm("pooled", self._map("out", merged))
        if self._settings["branch"]:
            vectors = vectors + self._map("branch", vectors)
        return self._norm("final", vectors) if self._settings["final_norm"] else vectors

    def _map(self, name: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
        mapped: NDArray[np.float64] = values @ self._weights[f"{name}_map"]
        mapped += self._weights[f"{name}_bias"]
        return mapped

    def _norm(self, name: str, values: NDArray[np.floating]) -> NDArray[np.float64]:
        return named_norm(values, self._weights, name)

    def _heads(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values.reshape(len(values), self.heads, -1)


class Similar:
    """Base class of poolings whose weights depend on cosines alone.

    Args:
        settings: settings of the operator.
        weights: not used.
    """

    heads = 1

    def __init__(self, settings: Mapping[str, Any], weights: Weights) -> None:
        self._settings = settings

    def shares(
        self, queries: NDArray[np.floating], states: NDArray[np.floating]
    ) -> NDArray[np.float64]:
        """The weight of each token in the mean, ``(n, 1, q)``; sums to 1 over tokens."""
        import numpy as np

        cosines = unit(states).astype(np.float64) @ unit(queries).astype(np.float64).T
        return self._shares(cosines[:, None])

    def __call__(
        self, queries: NDArray[np.floating], states: NDArray[np.floating]
    ) -> NDArray[np.float64]:
        """The text's vector for each query: ``(q, d)``, ``(n, d)`` → ``(q, d)``."""
        pooled: NDArray[np.float64] = self.shares(queries, states)[:, 0].T @ unit(states)
        return pooled

    def _shares(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError


class QueryTopK(Similar):
    """The mean of the ``k`` states nearest to the query, or of all if there are fewer.

    The paper's code sums them, which gives the same cosine, and fails on texts of fewer than
    ``k`` tokens. Ties go to the earlier state.
    """

    def _shares(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        import numpy as np

        best = np.argsort(-cosines, axis=0, kind="stable")[: self._settings["k"]]
        shares = np.zeros_like(cosines)
        np.put_along_axis(shares, best, 1 / len(best), axis=0)
        return shares


class QuerySoftmax(Similar):
    """The mean of the states, weighted by ``softmax(cos(query, state) / τ)``."""

    def _shares(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        return _softmax(cosines / self._settings["temperature"])


POOLERS: dict[str, type[XPool | Similar]] = {
    "xpool": XPool,
    "query-top-k": QueryTopK,
    "query-softmax": QuerySoftmax,
}
"""Operator → class whose instances compute the vector of one text for each query."""


def pair_scores(
    pool: Pool,
    queries: NDArray[np.floating],
    states: NDArray[np.floating],
    lengths: NDArray[np.integer],
    *,
    only: NDArray[np.bool_] | None = None,
    asked: NDArray[np.floating] | None = None,
    tile: int = TILE,
) -> NDArray[np.float32]:
    """Compute the cosine of every query with every text's vector for that query.

    No array of size queries × texts × d is made: texts are read one by one, and their queries in
    tiles.

    Args:
        pool: one of ``POOLERS``, trained or not.
        queries: ``(queries, d)``.
        states: ``(tokens, d)``, concatenated texts.
        lengths: ``(texts,)``.
        only: ``(queries, texts)``: pairs to score; None for all.
        asked: ``(queries, d)``: queries that texts are pooled for, if other than ``queries``, to
            measure the effect of conditioning.
        tile: maximum size of an array; about six of them exist at a time.

    Returns:
        ``(queries, texts)`` float32 in [-1, 1]; minus infinity where ``only`` leaves a pair out.

    Raises:
        InputError: a pooling that reads no queries, or states that ``Pool`` refuses.
    """
    import numpy as np

    block = block_of(pool, queries, states, lengths)
    queries, states = checked_states(queries), checked_states(states)
    tokens = checked_lengths(lengths, len(states))
    told = unit(queries)
    given = queries if asked is None else checked_states(asked)
    scores = np.full((len(queries), len(tokens)), -np.inf, np.float32)
    for text, (start, length) in enumerate(zip(starts(tokens), tokens, strict=True)):
        part = states[start : start + length]
        rows = np.arange(len(queries)) if only is None else np.flatnonzero(only[:, text])
        step = max(1, tile // max(int(length) * block.heads, states.shape[1]))
        for at in range(0, len(rows), step):
            some = rows[at : at + step]
            scores[some, text] = (told[some] * unit(block(given[some], part))).sum(1)
    return scores


def block_of(
    pool: Pool,
    queries: NDArray[np.floating],
    states: NDArray[np.floating],
    lengths: NDArray[np.integer],
) -> XPool | Similar:
    """Make the callable that computes vectors; its ``shares`` gives the weights of states.

    Raises:
        InputError: a pooling that reads no queries, or states that ``Pool`` refuses.
    """
    name = pool.operator.name
    if name not in POOLERS:
        raise InputError(f"{name} does not score pairs", f"use one of {', '.join(POOLERS)}")
    if not len(lengths) or not len(queries):
        raise InputError("there is no pair to score", "give a query and a text")
    # Pooling one pair checks widths and types, and creates initial weights if there are none.
    pool(states[: lengths[0]], lengths[:1], queries=queries[:1])
    return POOLERS[name](pool.settings, pool.weights or {})


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Softmax over the first axis."""
    import numpy as np

    return softmax(scores, np.array([len(scores)]))


def _by(
    pooler: type[XPool | Similar],
) -> Callable[[Batch, Mapping[str, Any], Weights], NDArray[np.floating]]:
    """Make the operator: each text's vector for its own query."""

    def compute(
        batch: Batch, settings: Mapping[str, Any], weights: Weights
    ) -> NDArray[np.floating]:
        import numpy as np

        assert batch.queries is not None
        if batch.queries.shape[1] != batch.width:
            raise _widths(batch.width, batch.queries.shape[1])
        block = pooler(settings, weights)
        if not len(batch.lengths):
            return np.zeros((0, batch.width))
        texts = split(batch.states, batch.lengths)
        pairs = zip(batch.queries, texts, strict=True)
        return np.concatenate([block(query[None], text) for query, text in pairs])

    return compute


def _start(
    settings: Mapping[str, Any], width: int, query_width: int, rng: np.random.Generator
) -> Weights:
    import numpy as np

    if query_width != width:
        raise _widths(width, query_width)
    checked_heads("xpool", settings["heads"], width)
    weights: dict[str, NDArray[np.float32]] = {}
    norms = ["input", "pooled"] + ["query"] * (not settings["shared_norm"])
    for name in norms + ["final"] * settings["final_norm"]:
        weights[f"{name}_scale"] = np.ones(width, np.float32)
        weights[f"{name}_shift"] = np.zeros(width, np.float32)
    for name in ["query", "key", "value", "out"] + ["branch"] * settings["branch"]:
        drawn = rng.standard_normal((width, width)) / width**0.5
        begun = np.eye(width) if settings["start"] == "identity" else drawn
        weights[f"{name}_map"] = begun.astype(np.float32)
        if name != "key":
            weights[f"{name}_bias"] = np.zeros(width, np.float32)
    return weights


def _widths(width: int, query_width: int) -> InputError:
    return InputError(
        f"queries have the width {query_width}, states {width}",
        "vectors of the same model for both",
    )


_QUERIES: frozenset[Need] = frozenset({"queries"})

OPERATORS = (
    Operator(
        "xpool",
        "attention of the query over the states (X-Pool)",
        paper="2203.15086",
        family="xpool",
        equation="z = LN(r + rW + b), r = LN(Σ a_i v_i W_o + b_o), a = softmax(k·q/√c)",
        order="free",
        compute=_by(XPool),
        start=_start,
        parameters={
            "heads": Parameter(1, "Heads; they must divide the width.", least=1),
            "temperature": Parameter(
                1.0,
                "Divisor of the scores; with √c alone narrow states get flat weights.",
                least=1e-3,
            ),
            "shared_norm": Parameter(True, "One LayerNorm for queries and states, as published."),
            "branch": Parameter(True, "Add the linear branch to the pooled vector."),
            "final_norm": Parameter(True, "The LayerNorm at the end."),
            "start": Parameter(
                "identity", "What the maps begin as.", choices=("identity", "random")
            ),
            "dropout": Parameter(
                0.0, "Dropout of the branch in training; 0.3 in the paper.", least=0.0, most=0.9
            ),
        },
        needs=_QUERIES,
    ),
    Operator(
        "query-top-k",
        "mean of the k states nearest to the query",
        paper="2203.15086",
        family="xpool",
        equation="z = (1/k) Σ x_i/|x_i| over the k greatest cos(q, x_i), k = min(k, n)",
        order="free",
        compute=_by(QueryTopK),
        parameters={"k": Parameter(3, "Number of states; 1 selects the best one.", least=1)},
        needs=_QUERIES,
    ),
    Operator(
        "query-softmax",
        "mean weighted by similarity to the query",
        paper="2203.15086",
        family="xpool",
        equation="z = Σ a_i x_i/|x_i|, a = softmax(cos(q, x_i)/τ)",
        order="free",
        compute=_by(QuerySoftmax),
        parameters={"temperature": Parameter(0.01, "Divides the cosines.", least=1e-3)},
        needs=_QUERIES,
    ),
)
