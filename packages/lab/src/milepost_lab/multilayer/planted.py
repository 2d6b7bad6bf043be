"""A small causal model, and texts whose topic can be read at only one place in it.

A topic is a point on a sphere. Two texts of one topic share nothing else. Where it can be read:

    early     the second layer writes the topic's direction into the states of all tokens, and it
              is removed before the third layer, so that the layers above never see it
    last      the last layer writes it
    spread    the words depend on it, so that every layer carries part of it
    nowhere   nothing depends on it: a score above chance means a leak
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from milepost._optional import require
from milepost_train.model.huggingface import HuggingFace
from milepost_train.model.landmark_encoder import LandmarkEncoder

Place = Literal["early", "last", "spread", "nowhere"]
PLACES: tuple[Place, ...] = get_args(Place)

TOPIC = 8  # dimensions of a topic
WORDS = 200
SHORTEST, LONGEST = 6, 14  # tokens of a text
_LOUD = 6.0  # norm of a written topic; that of a token's own state is about sqrt(width)
_TILT = 6.0  # how much likelier words of the topic are, in nats


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of random words.

    Attributes:
        ids: ``(b, t)`` int64, padded on the right with random words.
        lengths: ``(b,)`` int64.
        topics: ``(b, TOPIC)``, unit length; the network writes them at ``early`` or ``last``.
    """

    ids: Tensor
    lengths: Tensor
    topics: Tensor

    @property
    def valid(self) -> Tensor:
        """``(b, t)`` bool, False for padding."""
        return torch.arange(self.ids.shape[1])[None] < self.lengths[:, None]

    @classmethod
    def joined(cls, *parts: Texts) -> Texts:
        """Concatenate batches of texts, to read them in one pass."""
        return cls(
            torch.cat([part.ids for part in parts]),
            torch.cat([part.lengths for part in parts]),
            torch.cat([part.topics for part in parts]),
        )


class Planted:
    """A random Llama and the topics hidden in it.

    Args:
        place: where a topic can be read.
        layers: number of layers, at least 3.
        width: width of the states.
        bidirectional: let every token see both sides.
        seed: seed of the weights, topic directions and word meanings, whatever the attention.

    Attributes:
        layers: number of layers.
        width: width of the states.
        encoder: the network as a landmark encoder, to which LoRA can be added.
    """

    def __init__(
        self,
        place: Place,
        layers: int = 4,
        width: int = 32,
        *,
        bidirectional: bool = False,
        seed: int = 0,
    ) -> None:
        self.place, self.layers, self.width = place, layers, width
        spread = torch.Generator().manual_seed(seed)
        self._meanings = torch.randn(WORDS, TOPIC, generator=spread) / math.sqrt(TOPIC)
        self._directions = torch.linalg.qr(torch.randn(width, TOPIC, generator=spread))[0].T
        network = _network(layers, width, seed)
        backbone = HuggingFace(network, bidirectional=bidirectional)
        self.encoder = LandmarkEncoder(backbone.config, own_sentence=False, backbone=backbone)
        self._backbone = backbone
        self._written: Tensor | None = None
        writer = {"early": 1, "last": layers - 1}.get(place)
        if writer is not None:
            # The output of the feed-forward block is added to the residual stream.
            network.layers[writer].mlp.register_forward_hook(self._write)
            if writer + 1 < layers:
                network.layers[writer + 1].register_forward_pre_hook(self._erase)

    def pairs(self, count: int, random: torch.Generator) -> tuple[Texts, Texts]:
        """Draw new topics and two texts of each: texts i of both sides share topic i."""
        topics = torch.nn.functional.normalize(torch.randn(count, TOPIC, generator=random), dim=1)
        return self._texts(topics, random), self._texts(topics, random)

    def states(self, texts: Texts) -> Tensor:
        """States after every layer, ``(b, t, layers, d)``; those of padding are meaningless."""
        self._written = _LOUD * (texts.topics @ self._directions)[:, None]
        return self._backbone.layers(texts.ids, texts.valid)

    def last(self, ids: Tensor) -> Tensor:
        """States after the last layer for words without a topic, ``(b, t)`` → ``(b, t, d)``."""
        self._written = None
        return self._backbone.layers(ids, torch.ones_like(ids, dtype=torch.bool))[:, :, -1]

    def _texts(self, topics: Tensor, random: torch.Generator) -> Texts:
        count = len(topics)
        lengths = torch.randint(SHORTEST, LONGEST + 1, (count,), generator=random)
        likely = torch.zeros(count, WORDS)
        if self.place == "spread":
            likely = _TILT * topics @ self._meanings.T
        ids = torch.multinomial(likely.softmax(1), LONGEST, replacement=True, generator=random)
        return Texts(ids, lengths, topics)

    def _write(self, _: Any, __: Any, given: Tensor) -> Tensor:
        return given if self._written is None else given + self._written

    def _erase(self, _: Any, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Remove the topic before the next layer, so that no attention can carry it on."""
        states, *others = given
        return (states if self._written is None else states - self._written, *others)


def _network(layers: int, width: int, seed: int) -> Any:
    """Make a Llama with random weights that preserve the scale of the states."""
    transformers = require("transformers", extra="lab")
    heads = 4
    config = transformers.LlamaConfig(
        vocab_size=WORDS,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        intermediate_size=2 * width,
        max_position_embeddings=64,
        initializer_range=0.5 / math.sqrt(width),
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
        attn_implementation="eager",
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = transformers.AutoModel.from_config(config)
        torch.nn.init.normal_(network.get_input_embeddings().weight)
    return network
