"""Learngene Pool (arXiv 2312.05743) on a small transformer, and SN-Net beside it (ICLR 2023).

    1. distil: an ancestor of 6 blocks into auxiliaries of 3, narrow and wide; at matched positions
       |map_S - M_k map_T|² and |att_S - A_k att_T|², and the ancestor's logits
    2. stitch (j, k): narrow blocks 0..j, a linear map, wide blocks k..D-1, |j - k| <= 1; 3D - 2 of
       them share D - 1 maps
    3. a map begins as the transpose of M_k (published), its pseudo-inverse, least squares from
       narrow to wide activations, or at random
    4. fine-tune: every step trains one path, chosen uniformly
    SN-Net: auxiliaries trained alone, least squares, the same fine-tuning

W' undoes W only for orthonormal rows, so the transpose is not an inverse (a test has the numbers).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.training import fit, parameters

Start = Literal["transpose", "pinv", "least squares", "random"]
STARTS: tuple[Start, ...] = ("transpose", "pinv", "least squares", "random")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of the ancestor and of both auxiliaries; heads divide all widths."""

    ancestor: int = 64
    blocks: int = 6
    narrow: int = 16
    wide: int = 64
    depth: int = 3
    heads: int = 4


class Encoder(nn.Module):
    """A transformer over patches; its blocks are what is stitched."""

    def __init__(
        self, width: int, blocks: int, heads: int, patch: int = 4, kinds: int = 10
    ) -> None:
        super().__init__()
        self.width = width
        self.patches = nn.Linear(patch, width)
        self.places = nn.Parameter(0.02 * torch.randn(1, 16, width))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
            )
            for _ in range(blocks)
        )
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, kinds)

    def begin(self, images: Tensor) -> Tensor:
        """Patches ``(b, 16, 4)`` → states before the first block."""
        states: Tensor = self.patches(images) + self.places
        return states

    def maps(self, images: Tensor) -> list[Tensor]:
        """Output of every block, ``(b, 16, d)`` each."""
        states, found = self.begin(images), []
        for block in self.blocks:
            states = block(states)
            found.append(states)
        return found

    def finish(self, states: Tensor) -> Tensor:
        """Logits ``(b, 10)`` of the last states."""
        logits: Tensor = self.head(self.norm(states).mean(1))
        return logits

    def forward(self, images: Tensor) -> Tensor:
        """Logits ``(b, 10)`` of patches ``(b, 16, 4)``."""
        return self.finish(self.maps(images)[-1])


def stitches(depth: int) -> list[tuple[int, int]]:
    """Equation 2: all ``(j, k)`` with ``|j - k| <= 1``.

    >>> stitches(3)
    [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2)]
    """
    return [(j, k) for j in range(depth) for k in range(depth) if abs(j - k) <= 1]


def shared_map(j: int, k: int, depth: int) -> int:
    """Number of the map that a stitch uses: a window of two blocks a map, the first one wider."""
    return min(max(0, max(j, k) - 1), depth - 2)


def soft_cross_entropy(student: Tensor, teacher: Tensor) -> Tensor:
    """``-Σ p_T log p_S``, summed over classes; the code takes their mean, which is far weaker."""
    return -(teacher.softmax(-1) * student.log_softmax(-1)).sum(-1).mean()


class Distilled(nn.Module):
    """Equation 1: a student, and the trained maps ``M_k`` from the teacher's width to its own."""

    def __init__(self, student: Encoder, teacher: Encoder) -> None:
        super().__init__()
        self.student, depth = student, len(student.blocks)
        step = len(teacher.blocks) // depth
        self.matched = [step * (n + 1) - 1 for n in range(depth)]
        self.to_student = nn.ModuleList(
            nn.Linear(teacher.width, student.width) for _ in range(depth)
        )

    def loss(self, images: Tensor, kinds: Tensor, teacher: Encoder, alpha: float = 0.1) -> Tensor:
        """``alpha`` CE + (1 - alpha)(soft CE + Σ_k |map_S - M_k map_T|²)."""
        with torch.no_grad():
            taught = teacher.maps(images)
            logits = teacher.finish(taught[-1])
        own = self.student.maps(images)
        found = self.student.finish(own[-1])
        rep = sum(
            (F.mse_loss(state, mapped(taught[at])) for state, mapped, at in
             zip(own, self.to_student, self.matched, strict=True)),
            torch.zeros(()),
        )  # fmt: skip
        soft = soft_cross_entropy(found, logits)
        return alpha * F.cross_entropy(found, kinds) + (1 - alpha) * (soft + rep)


def least_squares(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``W, b`` with the least ``|x W' + b - y|²``, rows ``(n, d)`` and ``(n, e)``."""
    found = torch.linalg.lstsq(torch.cat([x, torch.ones(len(x), 1)], 1), y, driver="gelsd").solution
    return found[:-1].T, found[-1]


class Stitched(nn.Module):
    """Two auxiliaries and the maps between them: a model of every path.

    Args:
        narrow, wide: of one depth.
        start: see equation 3.
        images: ``(n, 16, 4)`` that least squares reads.
        mapped: ``M_k`` of the narrow student, for transpose and pinv.
    """

    def __init__(
        self,
        narrow: Encoder,
        wide: Encoder,
        start: Start,
        images: Tensor,
        mapped: nn.ModuleList | None = None,
    ) -> None:
        super().__init__()
        self.narrow, self.wide, self.depth = narrow, wide, len(wide.blocks)
        self.between = nn.ModuleList(
            nn.Linear(narrow.width, wide.width) for _ in range(self.depth - 1)
        )
        with torch.no_grad():
            left = narrow.maps(images)
            right = [wide.begin(images), *wide.maps(images)]
            for number, linear in enumerate(self.between):
                if start == "least squares":
                    some = [(j, k) for j, k in stitches(self.depth)
                            if shared_map(j, k, self.depth) == number]  # fmt: skip
                    x = torch.cat([left[j].flatten(0, 1) for j, _ in some])
                    y = torch.cat([right[k].flatten(0, 1) for _, k in some])
                    linear.weight.data, linear.bias.data = least_squares(x, y)
                elif start != "random" and mapped is not None:
                    mean = torch.stack([m.weight for m in mapped]).mean(0)
                    linear.weight.data = mean.T if start == "transpose" else torch.linalg.pinv(mean)

    @property
    def paths(self) -> list[tuple[int, int] | str]:
        """Both auxiliaries alone, and every stitch: 3D paths."""
        return ["narrow", "wide", *stitches(self.depth)]

    def forward(self, images: Tensor, path: tuple[int, int] | str) -> Tensor:
        """Logits ``(b, 10)`` of one path."""
        if path == "narrow":
            return self.narrow.finish(self.narrow.maps(images)[-1])
        if path == "wide":
            return self.wide.finish(self.wide.maps(images)[-1])
        assert not isinstance(path, str)
        j, k = path
        states = self.narrow.begin(images)
        for block in self.narrow.blocks[: j + 1]:
            states = block(states)
        states = self.between[shared_map(j, k, self.depth)](states)
        for block in self.wide.blocks[k:]:
            states = block(states)
        return self.wide.finish(states)

    def size(self, path: tuple[int, int] | str) -> int:
        """Numbers that a path runs."""
        if isinstance(path, str):
            return parameters(self.narrow if path == "narrow" else self.wide)
        j, k = path
        parts: list[nn.Module] = [self.narrow.patches, *self.narrow.blocks[: j + 1]]
        parts += [self.between[shared_map(j, k, self.depth)], *self.wide.blocks[k:]]
        parts += [self.wide.norm, self.wide.head]
        places: int = self.narrow.places.numel()
        return sum(map(parameters, parts)) + places


def train_alone(model: Encoder, images: Tensor, kinds: Tensor, steps: int, seed: int) -> None:
    """Train with labels alone."""
    draws = torch.Generator().manual_seed(seed)

    def loss(_: int) -> Tensor:
        rows = torch.randint(len(images), (64,), generator=draws)
        return F.cross_entropy(model(images[rows]), kinds[rows])

    fit(list(model.parameters()), loss, steps, 2e-3, decay=0.01)


def distil(
    student: Encoder, teacher: Encoder, images: Tensor, kinds: Tensor, steps: int, seed: int
) -> Distilled:
    """Train a student and the maps ``M_k``; the published optimiser leaves the maps out."""
    made, draws = Distilled(student, teacher), torch.Generator().manual_seed(seed)

    def loss(_: int) -> Tensor:
        rows = torch.randint(len(images), (64,), generator=draws)
        return made.loss(images[rows], kinds[rows], teacher)

    fit(list(made.parameters()), loss, steps, 2e-3, decay=0.01)
    return made


def tune(made: Stitched, images: Tensor, kinds: Tensor, steps: int, seed: int) -> None:
    """Equation 4: one path a step, chosen uniformly."""
    draws = torch.Generator().manual_seed(seed)

    def loss(_: int) -> Tensor:
        rows = torch.randint(len(images), (64,), generator=draws)
        path = made.paths[int(torch.randint(len(made.paths), (), generator=draws))]
        return F.cross_entropy(made(images[rows], path), kinds[rows])

    # Paths that a step does not take have no gradient.
    fit(list(made.parameters()), loss, steps, 1e-3)
