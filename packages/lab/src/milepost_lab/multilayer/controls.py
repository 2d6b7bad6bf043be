"""Networks of ``planted.py`` that never saw topics: controls of poolings over them.

    random         as initialised
    nonsense       pre-trained to predict the next word of sentences without meaning
    hierarchical   the same, on nested pairs of words

The planted topic is written into all of them alike, so a pooling would find in any network what it
finds in these. At the place ``spread`` the words alone give the topic away.
"""

from __future__ import annotations

from functools import lru_cache

from torch import Tensor

from milepost_lab.controls.kinds import Kind, Pretrained
from milepost_lab.controls.symbol_training import pretrain, symbols
from milepost_lab.multilayer.planted import WORDS, Planted

_SIZE = 20_000  # words of the pre-training text


def as_control(planted: Planted, kind: Kind, *, seed: int, steps: int) -> None:
    """Give a network the weights of a control of the same shape.

    Args:
        planted: the network to change.
        kind: kind of control.
        seed: seed of its initial weights and of the text.
        steps: pre-training steps, always with causal attention.
    """
    if kind != "random":
        found = _pretrained(kind, planted.layers, planted.width, seed, steps)
        planted.encoder.load_state_dict(found)


@lru_cache(maxsize=2)  # all places share the two networks of a dataset
def _pretrained(
    kind: Pretrained, layers: int, width: int, seed: int, steps: int
) -> dict[str, Tensor]:
    planted = Planted("nowhere", layers, width, seed=seed)
    weights = list(planted.encoder.parameters())
    text = symbols(kind, _SIZE, WORDS, seed)
    pretrain(
        planted.last, weights, text, width=width, kinds=WORDS, causal=True, steps=steps, seed=seed
    )
    found: dict[str, Tensor] = planted.encoder.state_dict()
    return found
