"""Arms of the study: which tokens a text gets, which states are pooled, and how it is trained.

    1. LMK: a landmark closes every g tokens; g is drawn from {32, 64, 128, 256} for each text in
       training, and 32 in the test
    2. z = mean of the landmarks' last states (LMK); the state of [CLS]; or the mean of all tokens
    3. cross-entropy over the passages of a batch, temperature 0.02

Controls: ``bag`` (embeddings and LayerNorm, no attention), ``multi-cls`` ([CLS] where LMK has
landmarks) and ``every-32`` (the states at every 32nd token, nothing inserted). The paper's
distillation from a reranker is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from milepost_lab.lmk.material import Material
from milepost_lab.training import fit
from milepost_train.processes import chosen_dtype

Arm = Literal["lmk", "mean", "cls", "bag", "multi-cls", "every-32"]
MARKED = ("lmk", "multi-cls")
GRANULARITIES, TESTED = (32, 64, 128, 256), 32
TEMPERATURE = 0.02
PLACED = 512  # tokens of a passage among others
_READ = 65_536  # tokens that are read at once


def half(device: torch.device) -> torch.autocast:
    """A context that computes in bfloat16 where that is faster."""
    fast = chosen_dtype("auto", device) == "bfloat16"
    return torch.autocast(device.type, torch.bfloat16, enabled=fast)


def copied(array: NDArray[Any], device: torch.device) -> Tensor:
    """A copy on a device, made without waiting for what the device computes."""
    return torch.from_numpy(array).to(device, non_blocking=True)


class Texts:
    """Token ids of many texts, joined, on a device; ``starts`` ends with the end of the last."""

    def __init__(
        self, ids: NDArray[np.uint16], starts: NDArray[np.int64], device: torch.device
    ) -> None:
        self.starts, self.lengths = starts[:-1], np.diff(starts)
        self.ids = copied(ids.astype(np.int32), device)

    def rows(self, first: NDArray[np.int64], width: int) -> Tensor:
        """``(b,)`` places in ``ids`` → ``(b, width)``: what follows, beyond ends of texts too."""
        device = self.ids.device
        at = copied(first, device)[:, None] + torch.arange(width, device=device)
        return self.ids[at.clamp(max=len(self.ids) - 1)]

    def whole(self, some: NDArray[np.int64]) -> tuple[Tensor, NDArray[np.int64]]:
        """Texts by their numbers: ``rows``, and how many ids of each count."""
        lengths = self.lengths[some]
        return self.rows(self.starts[some], int(lengths.max())), lengths


def laid_out(
    arm: Arm, content: Tensor, lengths: Tensor, every: Tensor, width: int, special: Sequence[int]
) -> tuple[Tensor, Tensor, Tensor]:
    """Equation 1: ids, mask and what is pooled, each ``(b, width)``.

    Args:
        arm: which; those without landmarks have one ``[SEP]`` at the end.
        content: ``(b, n)`` token ids, of which the first ``lengths``, at least 1, count.
        lengths: ``(b,)``.
        every: ``(b,)`` tokens between landmarks; not read for arms without.
        width: of the rows.
        special: ids of ``[CLS]`` and ``[SEP]``, the landmark.
    """
    opening, closing = special[:2]
    every, lengths = (every if arm in MARKED else lengths)[:, None], lengths[:, None]
    place = torch.arange(width, device=content.device)[None]
    last = lengths + (lengths + every - 1) // every
    valid = place <= last
    block, rest = (place - 1).clamp(min=0) // (every + 1), (place - 1).clamp(min=0) % (every + 1)
    closes = ((rest == every) & valid) | (place == last)
    source = (block * every + rest).clamp(max=content.shape[1] - 1)
    ids = content.gather(1, source).masked_fill(closes, opening if arm == "multi-cls" else closing)
    ids = ids.masked_fill(place == 0, opening).masked_fill(~valid, 0)
    if arm in MARKED:
        return ids, valid, closes
    if arm == "cls":
        return ids, valid, (place == 0).expand_as(valid)
    if arm == "every-32":
        return ids, valid, ((place > 0) & (place % TESTED == 0) & valid) | (place == last)
    return ids, valid, valid


def layers_of(backbone: Any, ids: Tensor, valid: Tensor | None) -> list[Tensor]:
    """States of every layer, ``(b, t, d)`` each; without ``valid`` there is no padding."""
    states = backbone.embed(ids)
    allowed = None if valid is None else valid[:, None, None, :]
    found = []
    for layer in backbone.layers:
        states = layer(states, allowed)
        found.append(states)
    return found


class Retriever(nn.Module):
    """A ``Bert`` and a way to make one vector of its states (eq. 2); ``special``: ``laid_out``."""

    def __init__(self, backbone: Any, arm: Arm, special: Sequence[int]) -> None:
        super().__init__()
        self.backbone, self.arm, self.special = backbone, arm, special

    def forward(
        self, content: Tensor, lengths: NDArray[np.int64], every: NDArray[np.int64] | None = None
    ) -> Tensor:
        """Unit vectors ``(b, d)``; arguments are those of ``laid_out``, ``every`` usually 32."""
        every = np.full(len(lengths), TESTED) if every is None else every
        sizes = lengths + (-(-lengths // every) if self.arm in MARKED else 1) + 1
        width, same = int(sizes.max()), bool((sizes == sizes[0]).all())
        width = width if same else -(-width // 8) * 8
        both = copied(np.stack([lengths, every]), content.device)
        ids, valid, read = laid_out(self.arm, content, both[0], both[1], width, self.special)
        with half(ids.device):
            if self.arm == "bag":
                states = self.backbone.embed(ids)
            else:
                states = layers_of(self.backbone, ids, None if same else valid)[-1]
        weight = read[..., None].float()
        mean = (states.float() * weight).sum(1) / weight.sum(1)
        return F.normalize(mean, dim=-1)

    @torch.no_grad()
    def vectors(self, texts: Texts, first: NDArray[np.int64], lengths: NDArray[np.int64]) -> Tensor:
        """Vectors of ``lengths`` tokens from ``first`` on, both ``(n,)`` → ``(n, d)``."""
        longest = int(lengths.max())
        step = max(1, _READ // (longest + longest // TESTED + 2))
        order = np.argsort(-lengths, kind="stable")
        parts = []
        for at in range(0, len(order), step):
            some = order[at : at + step]
            parts.append(self(texts.rows(first[some], int(lengths[some[0]])), lengths[some]))
        return torch.cat(parts)[np.argsort(order)]


class Training:
    """All texts on a device, and what training draws of them."""

    def __init__(self, material: Material, device: torch.device) -> None:
        self.queries = Texts(material.queries, material.query_starts, device)
        self.passages = Texts(material.passages, material.passage_starts, device)
        self.stream = Texts(material.stream, np.array([0, len(material.stream)]), device)
        self.asked = Texts(material.asked, material.asked_starts, device)
        self.documents = Texts(material.documents, material.document_starts, device)
        self.passage_of, self.device = material.passage_of, device
        self.train, self.held = np.flatnonzero(~material.held), np.flatnonzero(material.held)

    def losses(
        self,
        made: Retriever,
        pairs: NDArray[np.int64],
        every: NDArray[np.int64],
        random: np.random.Generator | None = None,
    ) -> Callable[[int], Tensor]:
        """A function of the step → equation 3 on row ``step`` of ``pairs``, ``(steps, batch)``.

        ``every`` has the tokens between landmarks, of the same shape. ``random`` draws places of
        passages among other training text; None leaves them alone.
        """
        long = np.argsort(self.passages.lengths[self.passage_of[pairs]], axis=1, kind="stable")
        pairs = np.take_along_axis(pairs, long, 1)  # so that halves of a batch need less padding
        passages = self.passage_of[pairs]
        if random is not None:
            free = PLACED - self.passages.lengths[passages] + 1
            before = (random.random(pairs.shape) * free).astype(np.int64)
            around = random.integers(0, max(1, len(self.stream.ids) - PLACED), pairs.shape)
        middle = pairs.shape[1] // 2 if random is None else 0
        halves = (slice(0, middle), slice(middle, None)) if middle else (slice(None),)

        def answers(step: int, part: slice) -> Tensor:
            content, size = self.passages.whole(passages[step, part])
            if random is not None:
                start, length = copied(np.stack([before[step], size]), self.device)[..., None]
                place = torch.arange(PLACED, device=self.device) - start
                own = content.gather(1, place.clamp(0, content.shape[1] - 1))
                inside = (place >= 0) & (place < length)
                content = torch.where(inside, own, self.stream.rows(around[step], PLACED))
                size = np.full(len(size), PLACED)
            return made(content, size, every[step, part])

        def loss(step: int) -> Tensor:
            questions = made(*self.queries.whole(pairs[step]))
            found = torch.cat([answers(step, part) for part in halves])
            same = passages[step][:, None] == passages[step]  # of one passage none is wrong
            np.fill_diagonal(same, False)
            scores = questions @ found.T / TEMPERATURE
            scores = scores.masked_fill(copied(same, self.device), -torch.inf)
            return F.cross_entropy(scores, torch.arange(len(same), device=self.device))

        return loss

    def fit(
        self, made: Retriever, steps: int, rate: float, seed: int, batch: int, placed: bool = False
    ) -> list[float]:
        """Train; pairs are drawn without repetition until all were drawn. The losses."""
        random = np.random.default_rng(seed)
        torch.manual_seed(seed)
        rounds = -(-steps * batch // len(self.train))
        order = np.concatenate([random.permutation(self.train) for _ in range(rounds)])
        pairs = order[: steps * batch].reshape(steps, batch)
        every = random.choice(GRANULARITIES, pairs.shape)
        loss = self.losses(made, pairs, every, random if placed else None)
        return fit(list(made.parameters()), loss, steps, rate, decay=0.01)

    @torch.no_grad()
    def held_loss(self, made: Retriever, batch: int) -> float:
        """Equation 3 on held-out pairs, two batches at most, granularity as in the test."""
        count = max(1, min(2, len(self.held) // batch))
        pairs = self.held[: count * batch].reshape(count, -1)
        loss = self.losses(made, pairs, np.full(pairs.shape, TESTED))
        return float(torch.stack([loss(step) for step in range(count)]).mean())
