"""Pre-training on symbols without meaning: controls of networks that read other things than text.

    nonsense       sentences of few kinds of symbols (``corpora.nonsense_symbols``)
    hierarchical   nested pairs of symbols (``corpora.bracket_symbols``)

The rule of both texts is that of MonoByte (arXiv 2209.11035), over the network's own symbols. A
causal network learns to say the next symbol, another which symbols were exchanged for others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.controls.corpora import bracket_symbols, nonsense_symbols
from milepost_lab.controls.encoders import text_of
from milepost_lab.controls.kinds import Pretrained
from milepost_train.fit_steps import fit_steps
from milepost_train.schedule import rate_share

_EXCHANGED = 0.15
_BATCH, _WINDOW, _RATE = 32, 48, 3e-3


def symbols(kind: Pretrained, count: int, kinds: int, seed: int = 0) -> Tensor:
    """A text of ``count`` symbols 0 to ``kinds - 1``, ``(count,)`` int64."""
    made = nonsense_symbols if kind == "nonsense" else bracket_symbols
    return torch.tensor(made(count, kinds, seed))


def text_bytes(kind: Pretrained, count: int, seed: int = 0) -> Tensor:
    """At least ``count`` bytes of the text itself, ``(bytes,)`` int64, all under 128."""
    return torch.tensor(list(text_of(kind, count, seed)))


def pretrain(
    read: Callable[[Tensor], Tensor],
    weights: Sequence[Tensor],
    text: Tensor,
    *,
    width: int,
    kinds: int,
    causal: bool,
    steps: int,
    seed: int = 0,
) -> list[float]:
    """Train a network in place on a text; its guesses are a linear map that is thrown away.

    Args:
        read: ids ``(b, n)`` to states ``(b, n, width)``.
        weights: of the network.
        text: longer than 48 symbols.
        width: of the states.
        kinds: of symbols.
        causal: say the next symbol; else 15 of 100 symbols are exchanged for any others, and the
            network says which stood there.
        steps: of AdamW, 32 rows of 48 symbols each; warm-up, then a cosine to 0.
        seed: of rows, exchanges and the map.

    Returns:
        What each step cost, nats a guess.
    """
    random = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        guess = nn.Linear(width, kinds)
    learned = [*weights, *guess.parameters()]

    def loss(_: int) -> Tensor:
        places = torch.randint(len(text) - _WINDOW, (_BATCH,), generator=random)
        rows = text[places[:, None] + torch.arange(_WINDOW)]
        if causal:
            states, wanted = read(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten()
        else:
            hit = torch.rand(rows.shape, generator=random) < _EXCHANGED
            others = torch.randint(kinds, rows.shape, generator=random)
            states, wanted = read(torch.where(hit, others, rows))[hit], rows[hit]
        return F.cross_entropy(guess(states), wanted)

    adam = torch.optim.AdamW(learned, lr=_RATE, weight_decay=0.0)
    return fit_steps(adam, steps, loss, share=rate_share, clipped=learned)
