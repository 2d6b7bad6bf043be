"""Which layers of a network separate labels, and whether learned weights of layers help.

Layers are pooled as in the Alignment Quality Index (Borah et al., arXiv 2506.13901): one weight for
each layer on the simplex, by sparsemax, and nothing else is trained. Weights trained to separate
some texts separate those texts; so they are trained on one half of the texts and measured on the
other, beside even weights, random ones, and ones that were trained on permuted labels.

The published loss was not available; according to others' notes it is contrastive. Two losses stand
in for it: the logarithm of the Xie-Beni index, ``ln W - ln D2``, and the contrastive loss of pairs
(Hadsell, Chopra and LeCun 2006), both on layers that were first scaled to the same mean squared
distance from their mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost.errors import InputError, ModelError
from milepost_lab.controls.untrained import untrained
from milepost_lab.model.pooling.layer_weights import sparsemax
from milepost_lab.quality import probes
from milepost_lab.quality.permutation import label_of_groups, permuted, share_as_good
from milepost_lab.quality.separation import centres
from milepost_lab.quality.study import draws_of, ends
from milepost_train.fit_steps import fit_steps
from milepost_train.model import open_checkpoint
from milepost_train.model.huggingface import HuggingFace

_WINDOW = 512  # tokens read at once; longer texts are read in several windows
_STEPS, _RATE = 200, 0.05
_MARGIN = 2.0  # of the pair loss; unrelated points of mean squared length 1 are 1.4 apart
_DRAWS = 200


@dataclass(frozen=True, slots=True)
class Mixture:
    """Layers mixed by weights, measured on texts that the weights were not trained on.

    Attributes:
        name: ``layer N`` from 1, even, random, trained, trained by pairs, or trained on permuted
            labels; ``even@random`` and so on for an untrained baseline.
        weights: ``(layers,)``, they sum to 1.
        separation: separation of the held-out texts.
        low: lower end of its 95 % interval, by a bootstrap of the held-out texts.
        high: upper end.
        chance: mean separation over permuted labels.
        p: share of permutations, the observed labels included, that do as well.
        probe: balanced accuracy of a linear probe trained on the texts of the other half.
        aqi: the paper's sum on the held-out texts, see ``Centres.aqi``.
    """

    name: str
    weights: tuple[float, ...]
    separation: float
    low: float
    high: float
    chance: float
    p: float
    probe: float
    aqi: float


def layer_means(
    source: str | Path,
    texts: Sequence[str],
    progress: Callable[[str, int, int], None] = lambda *_: None,
    *,
    random: bool = False,
) -> NDArray[np.float64]:
    """Compute the mean state of each layer over a text's tokens, ``(texts, layers, d)`` float64.

    Sums are in float64 and exclude the opening token; nothing is truncated: a text longer than a
    window is read window by window.

    Args:
        source: a folder of transformers, or its name on the hub.
        texts: texts, each with at least one token.
        progress: called with the name of the stage, texts done, and texts in all.
        random: whether to give the network random weights.

    Raises:
        ModelError: the network cannot be read.
        InputError: a text without a token.
    """
    opened = open_checkpoint(source, transformers=True)
    backbone = opened.model.backbone
    if not isinstance(backbone, HuggingFace):
        raise ModelError(
            f"{source} is not a network of transformers", "a folder with config.json and weights"
        )
    if random:
        backbone = untrained(backbone)
    opening = opened.reading.bos_token
    first = [opened.tokenizer.token_to_id(opening)] if opening else []
    longest = min(_WINDOW, backbone.max_tokens) - len(first)
    found = []
    for number, text in enumerate(texts):
        progress("reading layers", number, len(texts))
        ids = opened.tokenizer.encode(text, add_special_tokens=False).ids
        if not ids:
            raise InputError(f"text {number} has no token", "the file without it")
        total = np.zeros(())
        for start in range(0, len(ids), longest):
            window = torch.tensor([first + ids[start : start + longest]])
            with torch.no_grad():
                states = backbone.layers(window, torch.ones_like(window, dtype=torch.bool))
            total = total + states[0, len(first) :].double().sum(0).numpy()
        found.append(total / len(ids))
    return np.stack(found)


def mixtures(
    states: NDArray[np.floating],
    labels: NDArray[np.int64],
    groups: NDArray[np.int64],
    *,
    permutations: int = 99,
    draws: int = _DRAWS,
    seed: int = 0,
) -> list[Mixture]:
    """Measure each layer alone and all layers mixed, on the half that nothing was trained on.

    Args:
        states: ``(n, layers, d)``.
        labels: ``(n,)`` from 0 on.
        groups: ``(n,)`` from 0 on; a group is never split.
        permutations: number of permutations of the held-out labels.
        draws: number of bootstrap draws of held-out texts; weights are not retrained.
        seed: seed of the halves, the random weights, the permutations and the draws.

    Raises:
        InputError: fewer than two labels, or a label with fewer than four groups.
    """
    half = _halves(labels, groups, seed)
    train = half == 0
    even = evened(states, train)
    layers = states.shape[1]
    random = np.random.default_rng(seed)
    wrong = random.permutation(label_of_groups(labels, groups))[groups]
    named = {f"layer {n + 1}": row for n, row in enumerate(np.eye(layers))}
    named["even"] = np.full(layers, 1 / layers)
    named["random"] = random.dirichlet(np.ones(layers))
    named["trained"] = fit(even[train], labels[train])
    named["trained by pairs"] = fit(even[train], labels[train], loss=by_pairs)
    named["trained on permuted labels"] = fit(even[train], wrong[train])
    return _measured(named, even, labels, groups, half, permutations, draws, seed)


def _halves(labels: NDArray[np.int64], groups: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Split the texts in halves: 0 to train on, 1 to measure on.

    Raises:
        InputError: fewer than two labels, or a label with fewer than four groups.
    """
    counts = np.bincount(label_of_groups(labels, groups))
    if len(counts) < 2 or counts.min() < 4:
        raise InputError(
            "each half needs two texts of each of two labels", "four texts of each label or more"
        )
    return probes.folds(groups, labels, 2, seed)


def _measured(
    named: Mapping[str, NDArray[np.float64]],
    even: NDArray[np.float64],
    labels: NDArray[np.int64],
    groups: NDArray[np.int64],
    half: NDArray[np.int64],
    permutations: int,
    draws: int,
    seed: int,
) -> list[Mixture]:
    """Measure each of the named weights on the second half; see ``mixtures``."""
    test = half == 1
    test_groups = np.unique(groups[test], return_inverse=True)[1]
    ways = list(permuted(labels[test], test_groups, permutations, seed))
    drawn = draws_of(labels[test], test_groups, draws, seed)
    made = []
    for name, weights in named.items():
        mixed = np.einsum("nld,l->nd", even, weights)
        values = np.array([centres(mixed[test], way).separation for way in ways])
        others = [centres(mixed[test], labels[test], often).separation for often in drawn]
        guess = probes.by_probe(probes.probe(mixed, half), labels)[test]
        made.append(
            Mixture(
                name,
                tuple(map(float, weights)),
                float(values[0]),
                *ends(others, float(values[0]), reflected=True),
                float(values[1:].mean()),
                share_as_good(values),
                probes.balanced(guess == labels[test], labels[test]),
                centres(mixed[test], labels[test]).aqi(),
            )
        )
    return made


def evenly(
    controls: Mapping[str, NDArray[np.floating]],
    labels: NDArray[np.int64],
    groups: NDArray[np.int64],
    *,
    permutations: int = 99,
    seed: int = 0,
) -> list[Mixture]:
    """Measure untrained baselines with even weights, as ``even@NAME``; see ``mixtures``.

    Args:
        controls: name → ``(n, layers, d)``, one layer or more.
        labels: see ``mixtures``.
        groups: see ``mixtures``.
        permutations: see ``mixtures``.
        seed: see ``mixtures``.
    """
    half = _halves(labels, groups, seed)
    found = []
    for name, states in controls.items():
        layers = states.shape[1]
        named = {f"even@{name}": np.full(layers, 1 / layers)}
        even = evened(states, half == 0)
        found += _measured(named, even, labels, groups, half, permutations, _DRAWS, seed)
    return found


def evened(states: NDArray[np.floating], train: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Shift and scale layers to mean 0 and mean squared length 1 over the texts of ``train``.

    Late layers are often many times as large as early ones, and would dominate every mixture.
    """
    exact = states.astype(np.float64)
    exact = exact - exact[train].mean(axis=0)
    scale = np.sqrt((exact[train] ** 2).sum(axis=2).mean(axis=0))
    found: NDArray[np.float64] = exact / np.where(scale > 0, scale, 1.0)[:, None]
    return found


def fit(
    states: NDArray[np.float64],
    labels: NDArray[np.int64],
    *,
    loss: Callable[[Tensor, Tensor], Tensor] | None = None,
) -> NDArray[np.float64]:
    """Train weights of layers to minimise a loss on these texts, by sparsemax.

    Args:
        states: ``(n, layers, d)``.
        labels: ``(n,)`` from 0 on, at least two kinds.
        loss: function of points and one-hot classes; None for ``log_index``.

    Returns:
        ``(layers,)`` float64 on the simplex.
    """
    given = torch.from_numpy(states)
    member = torch.nn.functional.one_hot(torch.from_numpy(labels)).double()
    member = member[:, member.sum(0) > 0]
    scores = torch.zeros(states.shape[1], dtype=torch.float64, requires_grad=True)

    chosen = loss or log_index

    def of_step(_: int) -> Tensor:
        return chosen(torch.einsum("nld,l->nd", given, sparsemax(scores)), member)

    fit_steps(torch.optim.Adam([scores], lr=_RATE), _STEPS, of_step)
    found: NDArray[np.float64] = sparsemax(scores).detach().numpy()
    return found


def log_index(points: Tensor, member: Tensor) -> Tensor:
    """``ln(W / (n D2))`` of points ``(n, d)`` whose classes are one-hot ``(n, k)``."""
    middles = member.T @ points / member.sum(0)[:, None]
    within = (points - member @ middles).square().sum()
    apart = (middles[:, None] - middles).square().sum(-1)
    apart = apart + torch.diag(torch.full((len(middles),), torch.inf, dtype=points.dtype))
    tiny = torch.finfo(points.dtype).tiny
    return torch.log(within / len(points) + tiny) - torch.log(apart.min() + tiny)


def by_pairs(points: Tensor, member: Tensor, margin: float = _MARGIN) -> Tensor:
    """Contrastive loss of all pairs of points ``(n, d)`` whose classes are one-hot ``(n, k)``.

    The mean of ``|x - y|²`` for pairs of one class, and ``max(0, margin - |x - y|)²`` for others
    (Hadsell, Chopra and LeCun 2006, equation 4, without its factor 1/2).
    """
    number = len(points)
    one, other = torch.triu_indices(number, number, offset=1)
    gram = points @ points.T
    lengths = gram.diagonal()
    squares = (lengths[one] + lengths[other] - 2 * gram[one, other]).clamp(min=1e-12)
    same = (member[one] * member[other]).sum(1) > 0
    return torch.where(same, squares, (margin - squares.sqrt()).clamp(min=0).square()).mean()
