"""Arms of the study: which tokens a text gets, which states are pooled, and how it is trained.

    1. LMK: a landmark closes every g tokens; g is drawn from {32, 64, 128, 256} for each text in
       training, and 32 in the test
    2. z = mean of the landmarks' last states (LMK); the state of [CLS]; or the mean of all tokens
    3. cross-entropy over the passages of a batch, temperature 0.02

Controls: ``bag`` (embeddings and LayerNorm, no attention), ``multi-cls`` ([CLS] where LMK has
landmarks) and ``every-32`` (the states at every 32nd token, nothing inserted). The paper's
distillation from a reranker is left out.

Batches are laid out on the device, from ids that lie there: a step copies nothing and waits for
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from milepost_lab.lmk.material import PASSAGE, QUERY, Material
from milepost_lab.training import share

Arm = Literal["lmk", "mean", "cls", "bag", "multi-cls", "every-32"]
GRANULARITIES, TESTED = (32, 64, 128, 256), 32
TEMPERATURE = 0.02
PLACED = 512  # tokens of a passage among others
_READ = 65_536  # tokens that are read at once
HALF = ("cuda",)  # devices that compute in bfloat16


class Texts:
    """Token ids of many texts on a device.

    Args:
        ids: all texts, joined.
        starts: of each text, and the end of the last.
        device: where they lie.
    """

    def __init__(
        self, ids: NDArray[np.uint16], starts: NDArray[np.int64], device: torch.device
    ) -> None:
        self.lengths = np.diff(starts)
        self.ids = torch.from_numpy(ids.astype(np.int32)).to(device)
        self.starts = torch.from_numpy(starts).to(device)
        self.device = device

    def rows(self, first: Tensor, width: int) -> Tensor:
        """``(b,)`` places in ``ids`` → ``(b, width)``: what follows, beyond ends of texts too."""
        at = first[:, None] + torch.arange(width, device=self.device)
        return self.ids[at.clamp(max=len(self.ids) - 1)]


def laid_out(
    arm: Arm, content: Tensor, lengths: Tensor, every: Tensor, width: int, special: tuple[int, int]
) -> tuple[Tensor, Tensor, Tensor]:
    """Equation 1: ids, mask and what is pooled, each ``(b, width)``.

    Args:
        arm: which; those without landmarks have one ``[SEP]`` at the end.
        content: ``(b, n)`` token ids.
        lengths: ``(b,)`` how many of them count, at least 1.
        every: ``(b,)`` tokens between landmarks; not read for arms without.
        width: of the rows.
        special: ids of ``[CLS]`` and ``[SEP]``, the landmark.
    """
    opening, closing = special
    if arm not in ("lmk", "multi-cls"):
        every = lengths
    every, lengths = every[:, None], lengths[:, None]
    place = torch.arange(width, device=content.device)[None]
    last = lengths + (lengths + every - 1) // every
    block, rest = (place - 1).clamp(min=0) // (every + 1), (place - 1).clamp(min=0) % (every + 1)
    closes = ((rest == every) & (place <= last)) | (place == last)
    source = (block * every + rest).clamp(max=content.shape[1] - 1)
    ids = content.gather(1, source).masked_fill(closes, opening if arm == "multi-cls" else closing)
    ids = ids.masked_fill(place == 0, opening).masked_fill(place > last, 0)
    valid = place <= last
    if arm in ("lmk", "multi-cls"):
        read = closes
    elif arm == "cls":
        read = (place == 0).expand_as(valid)
    elif arm == "every-32":
        read = ((place > 0) & (place % TESTED == 0) & valid) | (place == last)
    else:
        read = valid
    return ids, valid, read


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
    """An encoder and a way to make one vector of its states (eq. 2).

    Args:
        backbone: a ``Bert``; of ``bag`` only its embeddings are used.
        arm: see above.
        special: see ``laid_out``.
        most: tokens of a text that are read; None for all.
    """

    def __init__(
        self, backbone: Any, arm: Arm, special: tuple[int, int], most: int | None = None
    ) -> None:
        super().__init__()
        self.backbone, self.arm, self.special, self.most = backbone, arm, special, most

    def forward(
        self,
        content: Tensor,
        lengths: NDArray[np.int64],
        every: NDArray[np.int64] | None = None,
        on_device: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        """Unit vectors ``(b, d)`` of the first ``lengths`` ids of each row of ``content``.

        Args:
            content: ``(b, n)`` int32.
            lengths: ``(b,)``.
            every: ``(b,)`` tokens between landmarks; 32 for None.
            on_device: the last two where the network is, if they lie there.
        """
        every = np.full(len(lengths), TESTED) if every is None else every
        if on_device is None:
            both = np.stack([lengths, every])
            lengths_, every_ = torch.from_numpy(both).to(content.device).unbind(0)
        else:
            lengths_, every_ = on_device
        marked = self.arm in ("lmk", "multi-cls")
        sizes = lengths + (-(-lengths // every) if marked else 1) + 1
        width, same = int(sizes.max()), bool((sizes == sizes[0]).all())
        width = width if same else -(-width // 8) * 8
        ids, valid, read = laid_out(self.arm, content, lengths_, every_, width, self.special)
        kind = ids.device.type
        with torch.autocast(kind, torch.bfloat16, enabled=kind in HALF):
            if self.arm == "bag":
                states = self.backbone.embed(ids)
            else:
                states = layers_of(self.backbone, ids, None if same else valid)[-1]
        weight = read[..., None].float()
        mean = (states.float() * weight).sum(1) / weight.sum(1)
        return F.normalize(mean, dim=-1)

    @torch.no_grad()
    def of_texts(self, texts: Texts, most: int) -> Tensor:
        """Vectors of texts of all lengths, ``(texts, d)``; tokens from ``most`` on are left out."""
        lengths = np.minimum(texts.lengths, most)
        order = np.argsort(-lengths, kind="stable")
        step = max(1, _READ // (most + most // TESTED + 2))
        parts = []
        for at in range(0, len(order), step):
            some = order[at : at + step]
            first = texts.starts[torch.from_numpy(some).to(texts.device)]
            parts.append(self(texts.rows(first, int(lengths[some].max())), lengths[some]))
        back = torch.from_numpy(np.argsort(order)).to(texts.device)
        return torch.cat(parts)[back]

    @torch.no_grad()
    def of_rows(self, rows: Callable[[int, int], Tensor], count: int, length: int) -> Tensor:
        """Vectors of texts of one length; ``rows`` gives the ids from one number to another."""
        step = max(1, _READ // length)
        parts = []
        for at in range(0, count, step):
            content = rows(at, min(count, at + step))[:, : self.most]
            parts.append(self(content, np.full(len(content), content.shape[1])))
        return torch.cat(parts)


class Training:
    """Training pairs on a device, and what is drawn of them.

    Args:
        material: its pairs.
        device: where texts lie.
    """

    def __init__(self, material: Material, device: torch.device) -> None:
        self.queries = Texts(material.queries, material.query_starts, device)
        self.passages = Texts(material.passages, material.passage_starts, device)
        self.stream = Texts(material.stream, np.array([0, len(material.stream)]), device)
        self.passage_of, self.device = material.passage_of, device
        self.train, self.held = np.flatnonzero(~material.held), np.flatnonzero(material.held)

    def losses(
        self,
        made: Retriever,
        pairs: NDArray[np.int64],
        random: np.random.Generator,
        placed: bool,
        drawn: bool = True,
    ) -> Callable[[int], Tensor]:
        """A function of the step → equation 3 on row ``step`` of ``pairs``, ``(steps, batch)``.

        Everything is drawn and copied to the device beforehand.

        Args:
            made: is trained.
            pairs: numbers.
            random: draws granularities and places.
            placed: put passages at random places among other training text.
            drawn: draw granularities; else they are those of the test.
        """
        long = np.argsort(self.passages.lengths[self.passage_of[pairs]], axis=1, kind="stable")
        pairs = np.take_along_axis(pairs, long, 1)  # so that halves of a batch need less padding
        passages = self.passage_of[pairs]
        every = random.choice(GRANULARITIES, pairs.shape)
        tested = np.full(pairs.shape, TESTED)
        every = every if drawn else tested
        asked = np.minimum(self.queries.lengths[pairs], QUERY)
        sizes = np.minimum(self.passages.lengths[passages], PASSAGE)
        at = (random.random(pairs.shape) * (PLACED - sizes + 1)).astype(np.int64)
        around = random.integers(0, max(1, len(self.stream.ids) - PLACED), pairs.shape)
        read = np.full(pairs.shape, PLACED) if placed else sizes
        everything = np.stack([pairs, passages, every, asked, sizes, at, around, read, tested])
        on_device = torch.from_numpy(everything).to(self.device)
        middle = pairs.shape[1] // 2
        halves = (
            (slice(0, middle), slice(middle, None)) if middle and not placed else (slice(None),)
        )

        def answers(step: int, half: slice) -> Tensor:
            _, passage, gap, _, size, begin, filler, length, _ = on_device[:, step, half]
            width = int(sizes[step, half].max())
            content = self.passages.rows(self.passages.starts[passage], width)
            if placed:
                place = torch.arange(PLACED, device=self.device) - begin[:, None]
                own = content.gather(1, place.clamp(0, width - 1))
                inside = (place >= 0) & (place < size[:, None])
                content = torch.where(inside, own, self.stream.rows(filler, PLACED))
            return made(content, read[step, half], every[step, half], (length, gap))

        def loss(step: int) -> Tensor:
            pair, passage, _, short, *_, usual = on_device[:, step]
            content = self.queries.rows(self.queries.starts[pair], int(asked[step].max()))
            questions = made(content, asked[step], tested[step], (short, usual))
            found = torch.cat([answers(step, half) for half in halves])
            same = passage[:, None] == passage  # of pairs with one passage none is wrong
            same.fill_diagonal_(False)
            scores = (questions @ found.T / TEMPERATURE).masked_fill(same, -torch.inf)
            return F.cross_entropy(scores, torch.arange(len(pair), device=self.device))

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
        return fit(made, self.losses(made, pairs, random, placed), steps, rate)

    @torch.no_grad()
    def held_loss(self, made: Retriever, batch: int) -> float:
        """Equation 3 on held-out pairs, two batches at most."""
        count = max(1, min(2, len(self.held) // batch))
        pairs = self.held[: count * batch].reshape(count, -1)
        loss = self.losses(made, pairs, np.random.default_rng(0), False, drawn=False)
        return float(torch.stack([loss(step) for step in range(count)]).mean())


def fit(module: nn.Module, loss: Callable[[int], Tensor], steps: int, rate: float) -> list[float]:
    """Train with AdamW, warm-up and cosine; losses are read from the device at the end only."""
    weights: Sequence[nn.Parameter] = [each for each in module.parameters() if each.requires_grad]
    fused = weights[0].device.type == "cuda"
    optimizer = torch.optim.AdamW(weights, lr=rate, weight_decay=0.01, fused=fused)
    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * share(step, steps, "cosine")
        value = loss(step)
        optimizer.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        losses.append(value.detach())
    found: list[float] = torch.stack(losses).tolist()
    return found
