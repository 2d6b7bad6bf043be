"""Operators of the lab: a row of the table, and a pooling with its settings.

    Operator    name, paper, parameters, needs, computation
    Pool        an operator with its settings and, if it trains, its weights; it is callable
    Batch       the checked arguments of a call

An operator is a function ``Batch, settings, weights → (texts, d_out)``. Weights are arrays by name:
the ``state_dict`` of the torch module of the same operator (``milepost_lab.model.pooling``), so
weights trained there run here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from milepost.errors import InputError, nearest
from milepost_lab.pooling.ragged import checked_lengths, checked_states, from_padded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Weights = Mapping[str, NDArray[np.float32]]

Value = int | float | bool | str | tuple[int, ...] | tuple[str, ...]
"""A setting of an operator."""
Need = Literal["queries", "segments", "layers"]
"""Inputs of an operator other than states and lengths, see ``Batch``."""
Late = Literal["", "many", "one"]
"""Late interaction, see ``Operator.late``."""
Order = Literal["free", "kept"]
"""``free``: the order of a text's tokens does not matter. ``kept``: it matters."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A setting that an operator takes.

    Attributes:
        default: its default value, which also fixes its type.
        help: what it does, one sentence.
        least, most: bounds of a number, inclusive; None for none.
        choices: allowed strings.
        several: whether a tuple of such values is allowed too.
    """

    default: Value
    help: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    several: bool = False

    def checked(self, operator: str, name: str, value: Any) -> Value:
        """Check a value; the error names the allowed values."""
        if self.several and isinstance(value, list | tuple):
            return tuple(self._single(operator, name, each) for each in value)
        single: Value = self._single(operator, name, value)
        return single

    def _single(self, operator: str, name: str, value: Any) -> Any:
        wanted: Any = type(self.default)
        if wanted is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if wanted is tuple and isinstance(value, list):
            value = tuple(value)
        if type(value) is not wanted:
            raise InputError(
                f"{operator}: {name} is {value!r}, not {wanted.__name__}",
                f"its default, {self.default!r}",
            )
        if self.choices and value not in self.choices:
            raise InputError(
                f"{operator}: {name} is {value!r}",
                f"{nearest(str(value), self.choices)}one of {', '.join(self.choices)}",
            )
        low = self.least is not None and not value >= self.least
        high = self.most is not None and not value <= self.most
        if low or high:
            ends = [f"at least {self.least}"] * (self.least is not None)
            ends += [f"at most {self.most}"] * (self.most is not None)
            raise InputError(f"{operator}: {name} is {value}", f"give {' and '.join(ends)}")
        return value


def checked_settings(
    operator: str, parameters: Mapping[str, Parameter], given: Mapping[str, Any]
) -> dict[str, Value]:
    """Check settings and fill in defaults.

    Raises:
        InputError: an unknown setting, or a value out of its bounds.
    """
    for name in given:
        if name not in parameters:
            known = f"{nearest(name, tuple(parameters))}one of {', '.join(parameters)}"
            raise InputError(
                f"{operator} has no parameter {name!r}",
                known if parameters else "no parameters",
            )
    return {
        name: parameter.checked(operator, name, given.get(name, parameter.default))
        for name, parameter in parameters.items()
    }


@dataclass(frozen=True, slots=True)
class Batch:
    """Concatenated texts, checked.

    Attributes:
        states: ``(tokens, d)`` float32; ``(tokens, layers, d)`` for operators that need layers.
        lengths: ``(texts,)`` int64, each at least 1; they sum to ``tokens``.
        queries: ``(texts, d_q)`` float32, one for each text, or None.
        segments: ``(segments,)`` int64: the tokens of each segment; segments tile each text. If
            none are given, each token is a segment.
        per_text: ``(texts,)`` int64: the number of segments of each text.
    """

    states: NDArray[np.float32]
    lengths: NDArray[np.int64]
    queries: NDArray[np.float32] | None
    segments: NDArray[np.int64]
    per_text: NDArray[np.int64]

    @property
    def width(self) -> int:
        """Width of the states."""
        return int(self.states.shape[-1])

    @property
    def layers(self) -> int:
        """Number of layers; 1 for states without this axis."""
        return int(self.states.shape[1]) if self.states.ndim == 3 else 1


@dataclass(frozen=True, slots=True)
class Operator:
    """A row of the table.

    Attributes:
        name: name of the operator.
        title: what it does, in a few words.
        paper: its source: an arXiv number, or "" for common knowledge.
        family: the file of its docs, ``docs/pooling/FAMILY.md``.
        equation: one line.
        order: whether the order of tokens matters.
        compute: the pooling itself.
        start: settings, width of states, width of queries and a generator → initial weights; None
            if nothing is trained. Operators that need layers get their number as ``layers=``.
            Called through ``begun``.
        parameters: settings by name.
        needs: inputs other than states and lengths.
        fixed: weights that are drawn once and never trained (hashes, signs).
        single: ``"same"`` if the vector of a text of one token is the state of that token.
        late: kind of late interaction, which compares the tokens of query and text: ``"many"``
            gives at most one vector per token, scored by MaxSim; ``"one"`` gives one vector, whose
            product with a query's approximates MaxSim; "" for all others.
        query_settings: settings that replace those of texts when a query is pooled.
        make: makes the torch module of a user-defined pooling, see ``register``; otherwise None.
    """

    name: str
    title: str
    paper: str
    family: str
    equation: str
    order: Order
    compute: Callable[[Batch, Mapping[str, Any], Weights], NDArray[np.floating]]
    start: Callable[..., Weights] | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    needs: frozenset[Need] = frozenset()
    fixed: frozenset[str] = frozenset()
    single: Literal["same", "other"] = "other"
    late: Late = ""
    query_settings: Mapping[str, Value] = field(default_factory=dict)
    make: Callable[..., Any] | None = None

    @property
    def trains(self) -> bool:
        """Whether it has weights."""
        return self.start is not None

    @property
    def learns(self) -> bool:
        """Whether training changes its weights; those of late interaction are drawn once."""
        return self.trains and not self.late

    def begun(
        self,
        settings: Mapping[str, Any],
        width: int,
        query_width: int,
        layers: int,
        rng: np.random.Generator,
    ) -> Weights:
        """Create initial weights by name; empty if the operator has none."""
        if self.start is None:
            return {}
        more = {"layers": layers} if "layers" in self.needs else {}
        return self.start(settings, width, query_width, rng, **more)

    def settings(self, given: Mapping[str, Any]) -> dict[str, Value]:
        """Check settings and fill in defaults.

        Raises:
            InputError: an unknown setting, or a value out of its bounds.
        """
        return checked_settings(self.name, self.parameters, given)


class Pool:
    """An operator with its settings and weights, ready to be called.

    Args:
        operator: the operator.
        settings: all of its settings, see ``Operator.settings``.
        weights: trained weights; if None, an operator that trains gets its initial weights (from
            ``seed``) at the first call, when widths are known.
        seed: seed of the initial weights.
    """

    def __init__(
        self,
        operator: Operator,
        settings: Mapping[str, Value],
        weights: Weights | None = None,
        seed: int = 0,
    ) -> None:
        self.operator = operator
        self.settings = dict(settings)
        self.seed = seed
        self.weights: dict[str, NDArray[np.float32]] | None = (
            None if weights is None else {**weights}
        )
        self._widths: tuple[int, int, int] | None = None

    def __call__(
        self,
        states: ArrayLike,
        lengths: ArrayLike | None = None,
        *,
        mask: ArrayLike | None = None,
        queries: ArrayLike | None = None,
        segments: ArrayLike | None = None,
    ) -> NDArray[np.float32]:
        """Pool texts.

        Args:
            states: ``(tokens, d)``, concatenated texts; ``(tokens, layers, d)`` for
                operators that need layers. With ``mask`` a padded batch, ``(texts, longest, d)`` or
                ``(texts, longest, layers, d)``.
            lengths: ``(texts,)``: the tokens of each text, at least 1.
            mask: ``(texts, longest)``, 1 at tokens and 0 at padding, in place of ``lengths``.
            queries: ``(texts, d_q)``, for operators that need them.
            segments: tokens of each segment, for operators that need them; others ignore them. A
                segment never crosses the end of a text.

        Returns:
            ``(texts, d_out)`` float32, finite, not normalized to unit length; ``(texts, k, d_out)``
            for late interaction, where texts with fewer than k vectors end in rows of zeros, and
            for user-defined poolings that give k vectors per text.

        Raises:
            InputError: empty texts, lengths or segments that do not add up, NaN, a wrong type or
                shape, both lengths and mask or neither, or queries or segments that the operator
                needs are missing.
        """
        import numpy as np

        if (lengths is None) == (mask is None):
            raise InputError(
                f"{self.operator.name} needs either lengths or mask=",
                "lengths for concatenated texts, mask= for a padded batch",
            )
        if mask is not None:
            states, lengths = from_padded(states, mask)
        assert lengths is not None
        batch = self._batch(states, lengths, queries, segments)
        weights = self._weights(batch)
        with np.errstate(over="ignore", invalid="ignore"):
            vectors = self.operator.compute(batch, self.settings, weights).astype(np.float32)
        if not np.isfinite(vectors).all():
            row = int(np.argwhere(~np.isfinite(vectors))[0][0])
            raise InputError(
                f"{self.operator.name} gives NaN or infinity for text {row}",
                "smaller states: scale them",
            )
        return vectors

    def of_queries(self) -> Pool:
        """Make the same pooling for queries; only late interaction treats them differently."""
        settings = {**self.settings, **self.operator.query_settings}
        return Pool(self.operator, settings, self.weights, self.seed)

    def save(self, file: Path) -> None:
        """Write name, settings, seed and weights into one ``.npz`` file."""
        import json

        import numpy as np

        head = json.dumps(
            {"operator": self.operator.name, "settings": self.settings, "seed": self.seed}
        )
        arrays: dict[str, Any] = {
            f"weight:{name}": value for name, value in (self.weights or {}).items()
        }
        with file.open("wb") as out:
            np.savez(out, head=np.array(head), trained=self.weights is not None, **arrays)

    def _batch(
        self,
        states: ArrayLike,
        lengths: ArrayLike,
        queries: ArrayLike | None,
        segments: ArrayLike | None,
    ) -> Batch:
        import numpy as np

        name, needs = self.operator.name, self.operator.needs
        values = checked_states(states, 3 if "layers" in needs else 2)
        tokens = checked_lengths(lengths, len(values))
        asked = None
        if "queries" in needs:
            if queries is None:
                raise InputError(f"{name} needs a query for each text", "queries=…, (texts, d_q)")
            asked = checked_states(queries)
            if len(asked) != len(tokens):
                raise InputError(f"{len(asked)} queries for {len(tokens)} texts: one each")
        elif queries is not None:
            raise InputError(f"{name} reads no queries", "leave queries= away")
        if segments is None:
            if "segments" in needs:
                raise InputError(
                    f"{name} needs segments=, the number of tokens of each segment",
                    "segments=[2, 1, …], or segments=numpy.ones(len(states), int) where each state "
                    "is a segment of its own",
                )
            return Batch(values, tokens, asked, np.ones(len(values), np.int64), tokens)
        cut = checked_lengths(segments, len(values), "segments")
        ends = np.cumsum(cut)
        missing = ~np.isin(np.cumsum(tokens), ends)
        if missing.any():
            text = int(np.argmax(missing))
            raise InputError(f"a segment crosses the end of text {text}", "cut it there")
        per_text = np.diff(np.searchsorted(ends, np.cumsum(tokens)) + 1, prepend=0)
        return Batch(values, tokens, asked, cut, per_text.astype(np.int64))

    def _weights(self, batch: Batch) -> Weights:
        import numpy as np

        if not self.operator.trains:
            return {}
        asked = 0 if batch.queries is None else batch.queries.shape[1]
        widths = batch.width, asked, batch.layers
        of = f" and {batch.layers} layers" if "layers" in self.operator.needs else ""
        if self._widths != widths:
            begun = self.operator.begun(self.settings, *widths, np.random.default_rng(self.seed))
            if self.weights is None:
                self.weights = {n: np.asarray(value, np.float32) for n, value in begun.items()}
            for name, value in begun.items():
                has = self.weights[name].shape if name in self.weights else None
                if has != value.shape:
                    raise InputError(
                        f"{self.operator.name}: the weight {name} has the shape {has}, but states "
                        f"of width {batch.width}{of} need {value.shape}",
                        "give states as wide as those it was trained on, of as many layers",
                    )
            self._widths = widths
        return self.weights or {}
