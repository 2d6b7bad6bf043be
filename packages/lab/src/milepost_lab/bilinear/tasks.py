"""Tasks on pairs of vectors, by name; two of them are synthetic, so their truth is known.

    digits      do two pictures show the same digit? (small form of the study in 2012.10285)
    product-k   the label is the sign of a sum of k products of hidden features
    sum-k       the same features added: no product is needed
    evidence    a question and landmarks: which sentence answers it?

Each row has one x and one or more candidates y. A row of one candidate is classified as true or
false; of several candidates the best one is selected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from milepost.errors import InputError, nearest
from milepost.types import Reader
from milepost_lab.data.digits import TRAINED, digits
from milepost_lab.data.landmarked import Landmarked, read

FEATURES = 16
"""Width of x and of y in the synthetic tasks."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Pairs, or questions with their candidates.

    Attributes:
        x: ``(rows, 1, m)`` float32.
        y: ``(rows, candidates, n)`` float32.
        true: ``(rows, candidates)`` bool.
        clusters: ``(rows,)``: rows that share a cluster are not independent: those of a document,
            or of one picture x (that y recurs as well is not counted).
        base: ``(rows, candidates)`` float32: a score known without fusion, or None.
        real: ``(rows, candidates)`` bool: what is False only fills a row up; None where all are
            real.
    """

    x: Tensor
    y: Tensor
    true: Tensor
    clusters: tuple[str, ...]
    base: Tensor | None = None
    real: Tensor | None = None

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: Tensor) -> Rows:
        """Some of the rows."""
        base = None if self.base is None else self.base[rows]
        real = None if self.real is None else self.real[rows]
        clusters = tuple(self.clusters[row] for row in rows.tolist())
        return Rows(self.x[rows], self.y[rows], self.true[rows], clusters, base, real)


@dataclass(frozen=True, slots=True)
class PairTask:
    """Training rows and test rows.

    Attributes:
        name: as on the command line.
        train: training rows; a fifth of them validates.
        test: test rows, on which nothing is chosen.
        tells: what the figures count, in a few words.
        parameters: budget of a fusion.
        steps: of training at most.
    """

    name: str
    train: Rows
    test: Rows
    tells: str
    parameters: int
    steps: int = 4000


def named(name: str) -> PairTask:
    """A task that needs no data of the user: ``digits``, ``product-K`` or ``sum-K``.

    Raises:
        InputError: an unknown task, or a number of features that is out of range.
        MissingExtra: scikit-learn, which holds the digits, is not installed.
    """
    if name == "digits":
        return digit_pairs()
    kind, _, features = name.partition("-")
    if kind in ("product", "sum") and features.isdecimal():
        return made(kind, int(features))
    known = ("digits", "product-1", "product-7", "product-15", "sum-7")
    raise InputError(f"unknown task {name!r}", f"{nearest(name, known)}one of {', '.join(known)} …")


def digit_pairs(train: int = 6000, test: int = 2000) -> PairTask:
    """Pairs of pictures of 8 × 8, half of them of the same digit.

    Raises:
        MissingExtra: scikit-learn, which holds the digits, is not installed.
    """
    images, kinds = digits()
    flat = images.flatten(1)
    generator = torch.Generator().manual_seed(0)

    def drawn(first: int, last: int, rows: int) -> Rows:
        some, kind = flat[first:last], kinds[first:last]
        one = torch.arange(rows) % len(some)  # every picture as often as the others
        alike = torch.rand(rows, generator=generator) < 0.5
        fits = (kind[one][:, None] == kind[None]) == alike[:, None]
        fits[torch.arange(rows), one] = False
        other = torch.multinomial(fits.float(), 1, generator=generator)[:, 0]
        clusters = tuple(str(number) for number in one.tolist())
        return Rows(some[one][:, None], some[other][:, None], alike[:, None], clusters)

    return PairTask(
        "digits",
        drawn(0, TRAINED, train),
        drawn(TRAINED, len(flat), test),
        tells="pairs told right",
        parameters=16_000,
        steps=8000,
    )


def made(kind: str, features: int, train: int = 3000, test: int = 2000) -> PairTask:
    """A planted truth: signs ``s`` of x and ``t`` of y, hidden by a rotation each.

    ``product``: true where ``Σ_k s_k t_k > 0`` over the first ``features``; with one feature that
    is an exclusive or. ``sum``: true where ``Σ_k s_k + t_k > 0``, which needs no product.

    Args:
        kind: ``product`` or ``sum``.
        features: how many count, an odd number of at most ``FEATURES`` so that no sum is 0 by
            products; a sum that is 0 counts as false.
        train: rows to learn from.
        test: rows to be tested on.

    Raises:
        InputError: an even number of features, or too many.
    """
    if features % 2 == 0 or not 1 <= features <= FEATURES:
        raise InputError(
            f"{features} features cannot be planted", f"give an odd number under {FEATURES}"
        )
    generator = torch.Generator().manual_seed(features)
    turns = [torch.linalg.qr(torch.randn(FEATURES, FEATURES, generator=generator))[0] for _ in "xy"]

    def drawn(rows: int) -> Rows:
        signs = torch.randint(2, (2, rows, FEATURES), generator=generator) * 2.0 - 1
        s, t = signs[:, :, :features]
        true = ((s * t if kind == "product" else s + t).sum(1) > 0)[:, None]
        x, y = (side @ turn for side, turn in zip(signs, turns, strict=True))
        return Rows(x[:, None], y[:, None], true, tuple(map(str, range(rows))))

    return PairTask(
        f"{kind}-{features}",
        drawn(train),
        drawn(test),
        tells="rows told right",
        parameters=1000,
    )


def evidence(
    folders: Sequence[Path],
    encoder: Reader,
    *,
    name: str = "evidence",
    documents: int | None = None,
    candidates: int = 16,
    say: Callable[[str, int, int], None] = lambda task, done, of: None,
) -> PairTask:
    """Questions with the nearest landmarks of their document, of which some are evidence.

    The task trains on training questions and tests on development questions. A question whose
    evidence is not among its candidates is left out of training and counts as wrong in the test.

    Args:
        folders: tasks with ``documents.jsonl.gz`` and ``questions.jsonl.gz``.
        encoder: gives the vectors; it stays as it is.
        name: of the task; where another than the model reads, ``evidence@`` and its name.
        documents: maximum number of training documents of a task; half as many are tested. None
            for all.
        candidates: landmarks of each question, nearest first.
        say: told task, documents read and documents of the task.

    Raises:
        InputError: a task cannot be read.
    """
    half = None if documents is None else -(-documents // 2)
    train = _candidates(
        read(folders, "train", encoder, documents=documents, progress=say), candidates
    )
    test = _candidates(read(folders, "dev", encoder, documents=half, progress=say), candidates)
    return PairTask(
        name,
        train[train.true.any(1).nonzero()[:, 0]],
        test,
        tells="questions whose first sentence is evidence",
        parameters=50_000,
    )


def _candidates(data: Landmarked, most: int) -> Rows:
    width = data.states.shape[1]
    x, y, true, base, real = [], [], [], [], []
    for query, answer, places in zip(data.queries, data.answers, data.evidence, strict=True):
        states = torch.from_numpy(data.document(int(answer)))
        asked = torch.from_numpy(query)
        cosines = states @ asked
        best = cosines.topk(min(most, len(states))).indices
        real.append(torch.arange(most) < len(best))
        # A document of few sentences is filled up with its last candidate, as true or false.
        best = torch.cat([best, best[-1:].expand(most - len(best))])
        x.append(asked[None])
        y.append(states[best])
        true.append(torch.isin(best, torch.tensor(places)))
        base.append(cosines[best])
    clusters = tuple(data.documents[answer] for answer in data.answers)
    # Unit vectors have numbers of 1/√d; fusions begin with weights made for numbers of 1.
    scale = width**0.5
    return Rows(
        scale * torch.stack(x),
        scale * torch.stack(y),
        torch.stack(true),
        clusters,
        torch.stack(base),
        torch.stack(real),
    )
