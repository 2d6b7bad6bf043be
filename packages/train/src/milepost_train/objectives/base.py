"""What every objective is: a step that draws its own examples and sends its own gradients back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from random import Random
from typing import Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from milepost.errors import InputError, nearest
from milepost_eval.noise import NOISES
from milepost_train.batches import Batch, assemble, queries_of
from milepost_train.data import Pair, Question
from milepost_train.losses import over_prefixes
from milepost_train.material import Material
from milepost_train.settings import MarkedStage, MergedStage, PairsStage, RerankStage

Encode = Callable[[Batch], Tensor]
T = TypeVar("T")


class Objective(Protocol):
    """One kind of training step."""

    def step(self, encode: Encode, random: Random) -> dict[str, float]:
        """Draw examples, compute their loss and add its gradients to ``.grad``.

        Nothing is kept from one step to the next: the same ``random``, the same state of torch's
        generators and the same weights give the same step.

        Args:
            encode: unit vectors ``(n, d)`` of a batch's landmarks in the order of its owners; moves
                the batch to the model's device and runs under its autocast.
            random: the only source of what is drawn.

        Returns:
            Parts for the log. Always among them: ``loss`` (nats), ``floor`` (what it would be if
            all scores were equal: the contrast's part is then the log of its candidates) and
            ``spread`` (mean cosine between different landmarks of the batch, -1 to 1).
        """
        ...


def need(condition: bool, problem: str, hint: str) -> None:
    """Raise an ``InputError`` unless ``condition`` holds."""
    if not condition:
        raise InputError(problem, hint)


def need_tasks(known: Collection[str], names: Iterable[str]) -> None:
    """Raise an ``InputError`` if there are no marked questions, or no tasks of these names."""
    need(bool(known), "the data has no questions with marked evidence", "name tasks in [data]")
    for name in names:
        hint = f"{nearest(name, known)}one of {', '.join(known)}"
        need(name in known, f"unknown task {name!r}", hint)


def backward(
    encode: Callable[[T], Tensor], groups: Sequence[Sequence[T]], loss: Callable[..., Tensor]
) -> Tensor:
    """Gradients of ``loss`` of one matrix ``(n, d)`` a group, whose chunks are encoded one by one.

    Where a group has several chunks, the activations of one at a time are in memory (gradient
    cache, arXiv 2101.06983): the backward pass encodes each again, with the same dropout. The loss
    comes back without a graph.
    """
    # torch repeats the random numbers of the devices on which it finds tensors.
    place = torch.empty(0, device="cuda" if torch.cuda.is_initialized() else "cpu")

    def matrix(group: Sequence[T]) -> Tensor:
        if len(group) == 1:
            return encode(group[0])
        again = (checkpoint(lambda c, _: encode(c), c, place, use_reentrant=False) for c in group)
        return torch.cat(list(again))

    value = loss(*map(matrix, groups))
    value.backward()
    return value.detach()


def over_pairs(
    encode: Encode,
    stage: PairsStage | MergedStage,
    material: Material,
    ids: Sequence[NDArray[np.int32]],
    rows: Sequence[Sequence[NDArray[np.int32]]],
    loss: Callable[[Tensor, Tensor], Tensor],
    owned: NDArray[np.bool_] | None = None,
) -> tuple[float, float]:
    """Gradients of a loss of queries and of the landmarks of windows; the loss, and the spread.

    ``ids`` are of the queries, ``rows`` of what the landmarks of each window close; ``loss`` takes
    the queries' vectors ``(q, d)`` and those of the ``owned`` landmarks ``(n, d)``.
    """
    bos_id, landmark = material.bos_id, material.landmark
    queries = [queries_of(chunk, bos_id, landmark) for chunk in chunks_of(ids, stage.chunk)]
    windows = [
        assemble(
            chunk,
            [(n, i) for n, row in enumerate(chunk) for i in range(len(row))],
            bos_id,
            landmark,
        )
        for chunk in chunks_of(rows, stage.chunk)
    ]
    spread: list[float] = []

    def of_all(asking: Tensor, read: Tensor) -> Tensor:
        landmarks = read if owned is None else read[marked(owned, read)]
        spread.append(spread_of(landmarks))
        sizes = sizes_of(stage.dimensions, landmarks)
        return over_prefixes(loss, (asking, landmarks), sizes)

    value = backward(encode, (queries, windows), of_all)
    return value.item(), spread[0]


def spread_of(vectors: Tensor) -> float:
    """Mean cosine between different rows of unit vectors ``(n, d)``; 0 for fewer than two."""
    rows = vectors.detach().float()
    count = len(rows)
    if count < 2:
        return 0.0
    everything = rows.sum(dim=0).square().sum() - rows.square().sum()
    return float(everything / (count * (count - 1)))


def sizes_of(dimensions: Sequence[int], vectors: Tensor) -> Sequence[int]:
    """At which widths vectors ``(n, d)`` are trained: those named, else d alone."""
    width = vectors.shape[1]
    need(
        max(dimensions, default=0) <= width,
        f"dimensions are {list(dimensions)} and the model's vectors have {width} numbers",
        f"name widths up to {width}",
    )
    return dimensions or (width,)


def read_question(
    asked: Question | Pair,
    stage: MarkedStage | PairsStage | RerankStage,
    material: Material,
    random: Random,
) -> NDArray[np.int32]:
    """Token ids of a question as it is read in this step: with the stage's noise and dropout."""
    ids = asked.ids
    chance = random.random() if stage.noise else 1.0
    for name, share in stage.noise.items():
        if 0 <= chance < share:
            assert material.read is not None
            ids = material.read(NOISES[name](asked.words, random))
        chance -= share
    return thinned(ids, stage.question_dropout, random)


def thinned(ids: NDArray[np.int32], share: float, random: Random) -> NDArray[np.int32]:
    """A question without some of its tokens, against learning questions by heart."""
    if not share or len(ids) <= 2:
        return ids
    chances = [random.random() for _ in ids]
    stay = max(2, sum(chance >= share for chance in chances))
    return ids[sorted(sorted(range(len(ids)), key=lambda n: -chances[n])[:stay])]


def marked(mask: NDArray[np.bool_], like: Tensor) -> Tensor:
    """A mask on the device of ``like``."""
    return torch.from_numpy(mask).to(like.device)


def chunks_of(rows: Sequence[T], size: int) -> list[Sequence[T]]:
    """Rows in chunks of ``size``; all in one for 0."""
    step = size or len(rows)
    return [rows[at : at + step] for at in range(0, len(rows), step)]
