"""A BERT with a table of positions into one with rotary positions, for long texts.

The table goes; its mean stays in the token-type embedding, which every token has. Then the network
is healed: on each token its states of three layers are brought to its parent's, and a quarter of
the rows have masked tokens, which are predicted by the word embeddings. No pooling takes part.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import Tensor, nn

from milepost_lab.lmk.material import PASSAGE, Material
from milepost_lab.lmk.model import HALF, Texts, fit, layers_of
from milepost_train.model.bert import ROTARY, Bert, layer_types
from milepost_train.model.checkpoint import load_checkpoint

ROWS, LENGTH = 64, 512
SHORT = (16, 32, 64, 128, 256)  # lengths of every fourth batch, which has texts from their start
MASKED = 0.25  # of the tokens of a quarter of the rows
RATE = 4e-4
MIDDLE, GUESSED = 0.3, 0.1  # weights of the middle layers and of masked tokens
_TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


def rotary(parent: Bert, config: dict[str, Any]) -> tuple[Bert, dict[str, Any]]:
    """The same network without a table of positions, and its ``config.json``."""
    changed = {
        **config,
        "position_embedding_type": ROTARY,
        "max_position_embeddings": 16_384,
        "local_attention": 128,
        "local_rope_theta": 10_000.0,
        "global_rope_theta": 160_000.0,
        "layer_types": layer_types(config["num_hidden_layers"]),
    }
    made = Bert(changed)
    weights = parent.state_dict()
    positions = weights.pop("embeddings.position_embeddings.weight")
    kinds = weights["embeddings.token_type_embeddings.weight"]
    weights["embeddings.token_type_embeddings.weight"] = kinds + positions.mean(0)
    made.load_state_dict(weights)
    return made.to(positions.device), changed


class Healing(nn.Module):
    """The student, and a head that predicts masked tokens."""

    def __init__(self, student: Bert) -> None:
        super().__init__()
        width = student.width
        self.student = student
        self.head = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        words: Any = student.embeddings["word_embeddings"]
        self.bias = nn.Parameter(torch.zeros(words.num_embeddings))

    def guess(self, states: Tensor) -> Tensor:
        """``(n, d)`` states → ``(n, vocabulary)``."""
        words: Any = self.student.embeddings["word_embeddings"]
        return F.linear(self.head(states), words.weight, self.bias)


def heal(
    parent: Bert,
    student: Bert,
    material: Material,
    special: tuple[int, int, int],
    steps: int,
    rows: int,
) -> list[float]:
    """Train the student; the loss of each step.

    Args:
        parent: gives the states; stays as it is.
        student: is changed; on the parent's device.
        material: its stream and passages of pairs are read.
        special: ids of ``[CLS]``, ``[SEP]`` and ``[MASK]``.
        steps: how many.
        rows: of ``LENGTH`` tokens a step.
    """
    random = np.random.default_rng(0)
    torch.manual_seed(0)
    device = next(parent.parameters()).device
    healing = Healing(student).to(device).train()
    ids = np.concatenate([material.stream, material.passages, material.queries])
    texts = Texts(ids, np.array([0, len(ids)]), device)
    plan = _plan(material, len(ids), steps, rows, random)
    places = torch.from_numpy(np.concatenate([first for _, first in plan])).to(device)
    ends = np.cumsum([len(first) for _, first in plan])
    loss = loss_of_rows(parent, healing, special)

    def of_step(step: int) -> Tensor:
        length, first = plan[step]
        return loss(texts.rows(places[ends[step] - len(first) : ends[step]], length - 2))

    return fit(healing, of_step, steps, RATE)


def loss_of_rows(
    parent: Bert, healing: Healing, special: tuple[int, int, int]
) -> Callable[[Tensor], Tensor]:
    """A function of rows of ids without special ones, ``(b, n)``, all read to their end."""
    opening, closing, mask = special
    count = len(parent.layers)
    levels = sorted({max(0, count // 3 - 1), max(0, 2 * count // 3 - 1), count - 1})

    def loss(content: Tensor) -> Tensor:
        ids = F.pad(F.pad(content, (1, 0), value=opening), (0, 1), value=closing)
        some, width = max(1, len(ids) // 4), content.shape[1]
        drawn = torch.rand(some, width, device=ids.device)
        hidden = drawn.topk(max(1, int(MASKED * width)), dim=1).indices + 1
        right = ids[:some].gather(1, hidden)
        seen = torch.cat([ids[:some].scatter(1, hidden, mask), ids[some:]])
        weight = torch.ones(ids.shape, device=ids.device)
        weight[:some].scatter_(1, hidden, 0.0)
        weight = weight / weight.sum()
        kind = ids.device.type
        with torch.autocast(kind, torch.bfloat16, enabled=kind in HALF):
            with torch.no_grad():
                wanted = layers_of(parent, ids, None)
            states = layers_of(healing.student, seen, None)
            own = states[-1][:some].gather(
                1, hidden[..., None].expand(-1, -1, states[-1].shape[-1])
            )
            guesses = healing.guess(own.flatten(0, 1))
        total = GUESSED * F.cross_entropy(guesses.float(), right.flatten().long())
        for level in levels:
            made, goal = states[level].float(), wanted[level].float()
            apart = 1 - F.cosine_similarity(made, goal, dim=-1)
            if level == levels[-1]:
                square = (made - goal).square().mean(-1) / goal.square().mean()
                total = total + ((apart + square) * weight).sum()
            else:
                total = total + MIDDLE * (apart * weight).sum()
        return total

    return loss


def _plan(
    material: Material, total: int, steps: int, rows: int, random: np.random.Generator
) -> list[tuple[int, NDArray[np.int64]]]:
    """Length of the rows of each step, and where in the joined ids they start."""
    lengths = np.concatenate([np.diff(material.passage_starts), np.diff(material.query_starts)])
    before = len(material.stream)
    starts = np.concatenate(
        [
            before + material.passage_starts[:-1],
            before + len(material.passages) + material.query_starts[:-1],
        ]
    )
    enough = {size: starts[lengths >= min(size, PASSAGE) - 2] for size in SHORT}
    plan = []
    for step in range(steps):
        size = SHORT[int(random.integers(len(SHORT)))]
        if step % 4 == 3 and len(enough[size]):
            count = max(1, min(1024, rows * LENGTH // size))
            plan.append((size, random.choice(enough[size], count)))
        else:
            plan.append((LENGTH, random.integers(0, max(1, total - LENGTH), rows)))
    return plan


def write(student: Bert, config: dict[str, Any], parent: Path, folder: Path) -> None:
    """Write a folder that ``open_checkpoint`` opens, weights in float16."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _TOKENIZER:
        if (parent / name).is_file():
            shutil.copyfile(parent / name, folder / name)
    text = json.dumps(config, indent=1, sort_keys=True) + "\n"
    (folder / "config.json").write_text(text, encoding="utf-8")
    halves = {name: each.half().cpu().contiguous() for name, each in student.state_dict().items()}
    save_file(halves, folder / "model.safetensors", metadata={"format": "pt"})


def read(folder: Path) -> tuple[Bert, dict[str, Any]]:
    """The BERT in a folder, in float32, and its ``config.json``."""
    made = load_checkpoint(folder)
    assert isinstance(made.backbone, Bert)
    return made.backbone, made.config
