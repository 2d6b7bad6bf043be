"""Networks of ``planted_layers`` that learnt nothing of topics: controls of poolings over them.

    random         as it was drawn
    nonsense       pre-trained to say the next word of sentences without meaning
    hierarchical   the same, of nested pairs of words

The planted topic is written into all of them alike: what a pooling finds in these it finds in any
network, and the topics that the words tell by the words alone.
"""

from __future__ import annotations

from functools import lru_cache

from torch import Tensor

from milepost.lab.controls.kinds import Kind, Pretrained
from milepost.lab.controls.symbol_training import pretrain, symbols
from milepost.lab.multilayer.planted import WORDS, Planted

_SIZE = 20_000  # words of the text that is read


def as_control(
    planted: Planted, kind: Kind, *, layers: int, width: int, seed: int, steps: int
) -> None:
    """Give a network the weights of a control of the same shape; it is frozen.

    Args:
        planted: whose weights are set.
        kind: which control.
        layers: of the network.
        width: of its states.
        seed: of its weights as drawn, and of the text.
        steps: of pre-training, causal, as the network was made, whatever it sees afterwards.
    """
    if kind != "random":
        planted.encoder.load_state_dict(_pretrained(kind, layers, width, seed, steps))
    planted.encoder.requires_grad_(False)


@lru_cache(maxsize=64)  # the same network at each of the places
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
