"""A BERT with a table of positions into one with rotary positions, for long texts.

The table goes; its mean stays in the token-type embedding, which every token has. Then the network
is healed: on each token its states of three layers are brought to its parent's, and a quarter of
the rows have masked tokens, which are predicted by the word embeddings. No pooling takes part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from milepost_lab.lmk.material import PASSAGE, Material
from milepost_lab.lmk.model import Texts, half, layers_of
from milepost_lab.training import fit
from milepost_train.model.bert import ROTARY, layer_types
from milepost_train.model.landmark_encoder import LandmarkEncoder

ROWS, LENGTH = 64, 512
SHORT = (16, 32, 64, 128, 256)  # lengths of every fourth batch, which has texts from their start
MASKED = 0.25  # of the tokens of a quarter of the rows
RATE = 4e-4
MIDDLE, GUESSED = 0.3, 0.1  # weights of the middle layers and of masked tokens


def rotary(parent: LandmarkEncoder) -> LandmarkEncoder:
    """The same network without a table of positions."""
    config = {
        **parent.config,
        "position_embedding_type": ROTARY,
        "max_position_embeddings": 16_384,
        "local_attention": 128,
        "local_rope_theta": 10_000.0,
        "global_rope_theta": 160_000.0,
        "layer_types": layer_types(parent.config["num_hidden_layers"]),
    }
    made: LandmarkEncoder = LandmarkEncoder(config).to(next(parent.parameters()).device)
    weights = parent.backbone.state_dict()
    positions = weights.pop("embeddings.position_embeddings.weight")
    kinds = weights["embeddings.token_type_embeddings.weight"]
    weights["embeddings.token_type_embeddings.weight"] = kinds + positions.mean(0)
    made.backbone.load_state_dict(weights)
    return made


class Healing(nn.Module):
    """The student, and a head that predicts masked tokens."""

    def __init__(self, student: Any) -> None:
        super().__init__()
        width = student.width
        self.student = student
        self.head = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        self.words = student.embeddings["word_embeddings"]
        self.bias = nn.Parameter(torch.zeros(self.words.num_embeddings))

    def guess(self, states: Tensor) -> Tensor:
        """``(n, d)`` states → ``(n, vocabulary)``."""
        return F.linear(self.head(states), self.words.weight, self.bias)


def heal(
    parent: Any, student: Any, material: Material, special: Sequence[int], steps: int
) -> list[float]:
    """Train the student, a ``Bert`` as its parent; the loss of each step.

    ``special``: ids of ``[CLS]``, ``[SEP]`` and ``[MASK]``.
    """
    torch.manual_seed(0)
    device = next(parent.parameters()).device
    healing = Healing(student).to(device).train()
    ids = np.concatenate([material.stream, material.passages, material.queries])
    texts = Texts(ids, np.array([0, len(ids)]), device)
    plan = _plan(material, len(ids), steps)

    def loss(step: int) -> Tensor:
        first, length = plan[step]
        return loss_of_rows(parent, healing, special, texts.rows(first, length - 2))

    return fit(list(healing.parameters()), loss, steps, RATE, decay=0.01)


def loss_of_rows(parent: Any, healing: Healing, special: Sequence[int], content: Tensor) -> Tensor:
    """The loss on ids without special ones, ``(b, n)``, all read to their end."""
    opening, closing, mask = special
    ids = F.pad(F.pad(content, (1, 0), value=opening), (0, 1), value=closing)
    some, width = max(1, len(ids) // 4), content.shape[1]
    drawn = torch.rand(some, width, device=ids.device)
    hidden = drawn.topk(max(1, int(MASKED * width)), dim=1).indices + 1
    right = ids[:some].gather(1, hidden)
    seen = torch.cat([ids[:some].scatter(1, hidden, mask), ids[some:]])
    weight = torch.ones(ids.shape, device=ids.device)
    weight[:some].scatter_(1, hidden, 0.0)
    weight = weight / weight.sum()
    with half(ids.device):
        with torch.no_grad():
            wanted = layers_of(parent, ids, None)
        states = layers_of(healing.student, seen, None)
        own = states[-1][:some].take_along_dim(hidden[..., None], 1)
        guesses = healing.guess(own.flatten(0, 1))
    total = GUESSED * F.cross_entropy(guesses.float(), right.flatten().long())
    count = len(wanted)
    for level in sorted({max(0, count // 3 - 1), max(0, 2 * count // 3 - 1), count - 1}):
        made, goal = states[level].float(), wanted[level].float()
        apart = 1 - F.cosine_similarity(made, goal, dim=-1)
        if level == count - 1:
            square = (made - goal).square().mean(-1) / goal.square().mean()
            total = total + ((apart + square) * weight).sum()
        else:
            total = total + MIDDLE * (apart * weight).sum()
    return total


def _plan(material: Material, total: int, steps: int) -> list[tuple[NDArray[np.int64], int]]:
    """Where in the joined ids the rows of each step start, and their length."""
    random = np.random.default_rng(0)
    passages, queries = material.passage_starts, material.query_starts
    lengths = np.concatenate([np.diff(passages), np.diff(queries)])
    starts = np.concatenate([passages[:-1], len(material.passages) + queries[:-1]])
    starts += len(material.stream)
    enough = {size: starts[lengths >= min(size, PASSAGE) - 2] for size in SHORT}
    plan = []
    for step in range(steps):
        size = SHORT[int(random.integers(len(SHORT)))]
        if step % 4 == 3 and len(enough[size]):
            count = max(1, min(1024, ROWS * LENGTH // size))
            plan.append((random.choice(enough[size], count), size))
        else:
            plan.append((random.integers(0, max(1, total - LENGTH), ROWS), LENGTH))
    return plan
