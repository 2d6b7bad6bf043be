"""The language models that ``lm_study`` compares: how each cuts and pools a text, and its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from milepost.errors import InputError
from milepost_lab.controls.kinds import rows_below
from milepost_lab.model.bytes.encoder import padded_ids
from milepost_lab.model.bytes.stack import StackShape, parameters
from milepost_lab.model.bytes.tokenizer import PAD, VOCABULARY, encode
from milepost_lab.model.bytes.word_model import ByteStream, WordModel
from milepost_lab.tokens.subwords import Vocabulary
from milepost_lab.tokens.units import Cut, Window, mean_length, pieces

Model = WordModel | ByteStream

_LAYERS = 4  # of a stream of bytes or subwords


@dataclass(frozen=True, slots=True)
class Arm:
    """A model to compare: how text is cut and pooled.

    Attributes:
        name: for tables.
        cut: where it is cut.
        pooling: how bytes become a piece's vectors.
        prefixes: vectors a piece.
        published_mask: pad as the authors' code does.
    """

    name: str
    cut: Cut
    pooling: str = "wordpool"
    prefixes: int = 1
    published_mask: bool = False

    @property
    def streams(self) -> bool:
        """Whether it reads ids one after the other, without pieces to pool."""
        return self.cut in ("bytes", "subwords")


ARMS: dict[str, Arm] = {
    arm.name: arm
    for arm in (
        Arm("words", "words"),
        Arm("subwords", "subwords"),
        Arm("bytes", "bytes"),
        Arm("stride", "stride"),
        Arm("random", "random"),
        Arm("words-mean", "words", pooling="mean"),
        Arm("words-2", "words", prefixes=2),
        Arm("words-4", "words", prefixes=4),
        Arm("words-published", "words", published_mask=True),
    )
}
"""Every arm by its name; the last four are ablations."""

MAIN = ("words", "subwords", "bytes", "stride", "random")
"""The arms of the question itself."""

CONTROLS = rows_below("words")
"""Names of their controls."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Settings of all arms.

    Attributes:
        width: d of the states.
        window: bytes of context.
        batch: windows a step.
        steps: of AdamW at ``rate``, no decay; a control is pre-trained for as many.
        rate: learning rate.
        vocabulary: ids of the arm ``subwords``.
        seeds: how many, of weights and batches.
        seed: the first.
    """

    width: int = 48
    window: int = 128
    batch: int = 8
    steps: int = 150
    rate: float = 3e-3
    vocabulary: int = 512
    seeds: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.width % 4:
            raise InputError(
                f"a width of {self.width} cannot be divided into 4 heads", "a multiple of 4"
            )
        if self.steps < 1 or self.seeds < 1:
            raise InputError("no step or no seed", "1 of each or more")


@dataclass(frozen=True, slots=True)
class Cutting:
    """What the training documents decide about cuts, before any network is trained.

    Attributes:
        stride: bytes of a word on average.
        vocabulary: of subwords.
    """

    stride: int
    vocabulary: Vocabulary


def cutting_of(texts: Sequence[str], windows: Sequence[Window], setup: Setup) -> Cutting:
    """The cutting of training documents and their windows."""
    return Cutting(mean_length(windows), Vocabulary(texts, setup.vocabulary))


def build(arm: Arm, setup: Setup, seed: int) -> Model:
    """An arm's network: a stream's layers are as wide inside as brings it to equal size.

    Raises:
        InputError: the table of subwords alone has as many parameters as the other arms.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        shape = StackShape(setup.width, 2 * setup.width, 4, setup.width // 4)
        pooled = WordModel(
            shape,
            prefixes=arm.prefixes,
            pooling=arm.pooling,
            published_mask=arm.published_mask,
        )
        if not arm.streams:
            return pooled
        ids = VOCABULARY if arm.cut == "bytes" else setup.vocabulary

        def stream(inner: int) -> ByteStream:
            return ByteStream(replace(shape, inner=inner), layers=_LAYERS, vocabulary=ids)

        narrow, wide = (parameters(stream(inner)) for inner in (1, 2))
        inner = round(1 + (parameters(pooled) - narrow) / (wide - narrow))
        if inner < 1:
            raise InputError(
                f"{ids} subwords leave no parameters for layers of width {setup.width}",
                "fewer subwords, or a greater width",
            )
        return stream(inner)


def cells(arm: Arm, window: Window, cutting: Cutting) -> int:
    """Cells of all attention matrices of one layer of each kind for a window, one head.

    Bytes or subwords: n². Pooled: ``(p + c)²`` a piece of c bytes in encoder and decoder,
    ``(p t)²`` between t pieces. A space is a piece: 128 words of 5 letters with theirs are 589,824
    cells as bytes and 75,776 in pieces of one vector; the 25,600 that the paper's form comes to
    leave spaces out.
    """
    if arm.streams:
        return len(_stream_ids(arm, window, cutting)) ** 2
    lengths = pieces(window, arm.cut, cutting.stride, np.random.default_rng(0))
    inside = sum((arm.prefixes + length) ** 2 for length in lengths)
    return 2 * inside + (arm.prefixes * len(lengths)) ** 2


def units(
    arm: Arm, windows: Sequence[Window], cutting: Cutting, rng: np.random.Generator
) -> Tensor:
    """Windows as the model reads them: ``(b, n)`` ids or ``(b, t, c)`` bytes of pieces."""
    if arm.streams:
        return padded_ids([_stream_ids(arm, window, cutting) for window in windows])
    rows: list[list[list[int]]] = []
    for window in windows:
        ids = encode(window.data, end=False)
        ends = np.cumsum(pieces(window, arm.cut, cutting.stride, rng)).tolist()
        rows.append([ids[a:b] for a, b in zip([0, *ends], ends, strict=False)])
    count, canvas = max(map(len, rows)), max(len(piece) for row in rows for piece in row)
    found = torch.full((len(rows), count, canvas), PAD)
    for number, row in enumerate(rows):
        found[number, : len(row), : max(map(len, row))] = padded_ids(row)
    return found


def _stream_ids(arm: Arm, window: Window, cutting: Cutting) -> list[int]:
    if arm.cut == "bytes":
        return encode(window.data, end=False)
    return [number for word in cutting.vocabulary.ids(window) for number in word]
