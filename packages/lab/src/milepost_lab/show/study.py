"""`milepost lab show`: one operator in words, in numbers, and at work on a text.

How much a token counts is found by leaving it out: ``|z - z without it|``, as a share of the sum
over all tokens. That needs no gradient, holds for every operator, and is what a reader of the
picture expects: a pale token could be taken away. A text of one token is all that token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from milepost.errors import InputError
from milepost_lab.pooling import Operator, Pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from milepost_lab.compare.reading import TokenReader

TEXT = (
    "Bees build their cells of wax. The queen lays her eggs in them, and in summer the workers "
    "bring pollen and honey. A swarm that has lost its queen does not live through the winter."
)
QUERY = "What do bees store?"

WIDTH = 8  # of the states of the example: what heads and groups of all operators divide
LAYERS = 3
_TOGETHER = 65_536  # states pooled at once when tokens are left out


@dataclass(frozen=True, slots=True)
class Example:
    """An operator called with small numbers.

    Attributes:
        states: ``(5, 8)``, or ``(5, 3, 8)`` of operators that need layers; float32.
        lengths: of the two texts.
        given: queries and segments where they are needed.
        vectors: what came out, ``(2, d_out)``, or ``(2, k, d_out)`` for several a text.
    """

    states: NDArray[np.float32]
    lengths: tuple[int, ...]
    given: dict[str, Any]
    vectors: NDArray[np.float32]


def example(operator: Operator, settings: dict[str, Any]) -> Example:
    """Two texts of three and two tokens, pooled with the weights that training begins with."""
    rng = np.random.default_rng(0)
    lengths = (3, 2)
    shape = (5, LAYERS, WIDTH) if "layers" in operator.needs else (5, WIDTH)
    states = rng.integers(-3, 4, shape).astype(np.float32)
    given: dict[str, Any] = {}
    if "queries" in operator.needs:
        given["queries"] = rng.integers(-3, 4, (2, WIDTH)).astype(np.float32)
    if "segments" in operator.needs:
        given["segments"] = [2, 1, 2]
    vectors = Pool(operator, settings)(states, lengths, **given)
    return Example(states, lengths, given, vectors)


def described(operator: Operator, settings: dict[str, Any]) -> list[tuple[str, str]]:
    """What the table says of an operator, as heading and text."""
    needs = ", ".join(sorted(operator.needs)) or "states and lengths alone"
    order = "counts" if operator.order == "kept" else "does not count"
    told = [
        ("equation", operator.equation),
        ("paper", f"arXiv {operator.paper}" if operator.paper else "none: known to everybody"),
        ("needs", needs),
        ("order of tokens", order),
        ("trained", "yes" if operator.learns else "no"),
    ]
    for name, parameter in operator.parameters.items():
        choices = f" ({', '.join(parameter.choices)})" if parameter.choices else ""
        told.append(("setting", f"{name} = {settings[name]!r}: {parameter.help}{choices}"))
    return [*told, ("page", f"docs/pooling/{operator.family}.md")] if operator.family else told


@dataclass(frozen=True, slots=True)
class Picture:
    """A text and how much each part of it counts.

    Attributes:
        parts: tokens as the vocabulary writes them, or sentences where landmarks are read.
        shares: of each, ``(parts,)``, of sum 1 (or 0 where nothing counts).
        reads: ``tokens``, ``landmarks`` or ``layers``.
    """

    parts: tuple[str, ...]
    shares: NDArray[np.float64]
    reads: str

    @property
    def strengths(self) -> NDArray[np.float64]:
        """Shares with the greatest at 1."""
        most = float(self.shares.max(initial=0.0))
        return self.shares / most if most else self.shares


def moves(
    pool: Pool,
    states: NDArray[np.float32],
    segments: Sequence[int] | None = None,
    query: NDArray[np.float32] | None = None,
) -> NDArray[np.float64]:
    """How far each token moves the vector of a text, as shares of the sum, ``(tokens,)``.

    Of several vectors a text: how far each of them is from the nearest that is left, summed.

    Args:
        pool: an operator set up.
        states: of one text, ``(tokens, d)`` or ``(tokens, layers, d)``.
        segments: tokens of each segment, where the operator needs them.
        query: ``(d_q,)``, where it needs one.
    """
    count = len(states)
    if count == 1:
        return np.ones(1)

    def pooled(kept: Sequence[NDArray[np.int64]]) -> NDArray[np.float32]:
        given: dict[str, Any] = {}
        if query is not None:
            given["queries"] = np.repeat(query[None], len(kept), 0)
        if segments is not None:
            owner = np.repeat(np.arange(len(segments)), segments)
            cut = [np.bincount(owner[some], minlength=len(segments)) for some in kept]
            given["segments"] = np.concatenate([sizes[sizes > 0] for sizes in cut])
        return pool(np.concatenate([states[some] for some in kept]), list(map(len, kept)), **given)

    everything = np.arange(count)
    whole = pooled([everything])[0].astype(np.float64)
    many = max(1, _TOGETHER // count)
    found = []
    for at in range(0, count, many):
        left = [np.delete(everything, n) for n in range(at, min(at + many, count))]
        found.append(_distances(whole, pooled(left)))
    moved = np.concatenate(found)
    total = moved.sum()
    return moved / total if total else moved


def _distances(whole: NDArray[np.float64], left: NDArray[np.float32]) -> NDArray[np.float64]:
    """How far what is left is from the whole, ``(texts,)``; rows of zeros are no vectors."""
    if whole.ndim == 1:
        apart: NDArray[np.float64] = np.linalg.norm(left - whole, axis=1)
        return apart
    sums = []
    for text in left.astype(np.float64):
        there = text[text.any(-1)] if text.any() else text[:1]
        squares = (whole**2).sum(1)[:, None] + (there**2).sum(1) - 2 * whole @ there.T
        sums.append(float(np.sqrt(np.maximum(squares, 0.0).min(1)).sum()))
    return np.array(sums)


def picture(pool: Pool, reader: TokenReader, text: str, query: str) -> Picture:
    """What counts in a text, by the states of a network.

    Args:
        pool: an operator set up.
        reader: of the network.
        text: any.
        query: for operators that read one.

    Raises:
        InputError: text or query has no token.
    """
    from milepost_lab.compare.states import reads_of

    pieces = reader.pieces(reader.words.sentences(text)[0])
    if not pieces:
        raise InputError("there is no text to look at", "give some words")
    states, reads = reader.states([pieces]), reads_of(pool.operator)
    some = states.some([0], reads)
    asked = None
    if "queries" in pool.operator.needs:
        ids = reader.words.ids([query])
        if not ids[0]:
            raise InputError("the query has no words", "--query TEXT")
        asked = reader.states([ids]).means()[0]
    segments = None
    if some.segments is not None and "segments" in pool.operator.needs:
        segments = some.segments.tolist()
    shares = moves(pool, some.states, segments, asked)
    closing = reader.words.closing
    if reads == "tokens":
        opening = [] if reader.words.opening is None else [reader.words.opening]
        ids = [opening, *([*piece, closing] for piece in pieces)]
        parts = reader.words.tokens([number for piece in ids for number in piece])
    else:
        parts = [reader.words.text([piece]) for piece in pieces]
    return Picture(tuple(parts), shares, reads)


def glued(part: str) -> tuple[str, bool]:
    """A token as it is shown, and whether it goes on from the one before without a space."""
    if part.startswith("##") and part != "##":
        return part[2:], True
    return part.lstrip("▁Ġ") or part, False


_COLUMN, _LINE, _COLUMNS = 8.4, 24, 96


def as_svg(found: Picture, title: str) -> str:
    """The text with what counts marked, as SVG; the same bytes for the same shares."""
    at, line = 0, 1
    drawn = []
    for part, strength in zip(found.parts, found.strengths, strict=True):
        word, joined = glued(part)
        at += 0 if joined or at == 0 else 1
        for chunk in [word[n : n + _COLUMNS] for n in range(0, len(word), _COLUMNS)]:
            if at + len(chunk) > _COLUMNS and at:
                at, line = 0, line + 1
            x, y = 10 + at * _COLUMN, 10 + line * _LINE
            drawn.append(
                f'<rect x="{x:.1f}" y="{y}" width="{len(chunk) * _COLUMN:.1f}" height="{_LINE - 4}"'
                f' fill="#0072b2" fill-opacity="{0.75 * strength:.3f}"/>'
                f'<text x="{x:.1f}" y="{y + 15}" textLength="{len(chunk) * _COLUMN:.1f}">'
                f"{escape(chunk)}</text>"
            )
            at += len(chunk)
    width, height = 20 + _COLUMNS * _COLUMN, 20 + (line + 1) * _LINE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'font-family="monospace" font-size="14" role="img" aria-label="{escape(title)}">'
        f'<rect width="100%" height="100%" fill="#fefefe"/>'
        f'<text x="10" y="24" font-weight="bold">{escape(title)}</text>'
        + "".join(drawn)
        + "</svg>\n"
    )
