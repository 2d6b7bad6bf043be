"""All descendants of two auxiliaries, which share their weights (Learngene Pool)."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from milepost.errors import InputError, nearest
from milepost_lab.model.stitch import costs
from milepost_lab.model.stitch.paths import Path, paths
from milepost_train.model.bert import Bert
from milepost_train.model.landmark_encoder import LandmarkEncoder
from milepost_train.model.stitched import MODEL_TYPE


class EncoderPool(nn.Module):
    """A narrow and a wide BERT of equal depth, and the stitches between them.

    The vectors of every descendant are in the space of the wide auxiliary: stitched ones run its
    last block, the narrow one has its own map. So one descendant may index documents and another
    encode questions.

    Args:
        narrow: fields of a ``config.json`` with ``model_type`` ``bert``.
        wide: the same; depth, vocabulary and positions must be equal.
        kernel: blocks of the window, see ``paths.pairs``.
        own_sentence: see ``LandmarkEncoder``.

    Attributes:
        paths: all descendants, see ``paths.paths``.
        sizes: ``S``, ``M`` and ``L``: the narrow, a stitched one of median cost, and the wide one.

    Raises:
        InputError: the auxiliaries do not fit, or the window exceeds their depth.
    """

    def __init__(
        self,
        narrow: dict[str, Any],
        wide: dict[str, Any],
        *,
        kernel: int = 2,
        own_sentence: bool = True,
    ) -> None:
        super().__init__()
        for field in ("model_type", "num_hidden_layers", "vocab_size", "max_position_embeddings"):
            if narrow.get(field) != wide.get(field):
                raise InputError(
                    f"{field} is {narrow.get(field)!r} of the narrow and {wide.get(field)!r} of "
                    "the wide encoder",
                    "give both the same",
                )
        if narrow.get("model_type") != "bert":
            raise InputError(f"{narrow.get('model_type')!r} has no stitches", "bert")
        self.configs = {"narrow": narrow, "wide": wide}
        self.kernel, self.own_sentence = kernel, own_sentence
        self.depth: int = narrow["num_hidden_layers"]
        self.paths = paths(self.depth, kernel)
        self.narrow, self.wide = Bert(narrow), Bert(wide)
        count = 1 + max(path.stitch for path in self.paths)
        widths = self.narrow.width, self.wide.width
        self.stitches = nn.ModuleList(nn.Linear(*widths) for _ in range(count))
        self.leave = nn.Linear(*widths)
        stitched = sorted(self.paths[1:-1], key=self.parameters_of)
        self.sizes = {
            "S": self.paths[0],
            "M": stitched[len(stitched) // 2],
            "L": self.paths[-1],
        }

    def path(self, name: str) -> Path:
        """Find a path by name: a size, or ``narrow``, ``wide``, ``j-k``.

        Raises:
            InputError: the name is unknown.
        """
        known = self.sizes | {path.name: path for path in self.paths}
        if name not in known:
            raise InputError(
                f"unknown descendant {name!r}",
                f"{nearest(name, known)}one of {', '.join(known)}",
            )
        return known[name]

    def encoder(self, path: Path | str) -> LandmarkEncoder:
        """Make the encoder of a descendant, which shares the weights of the pool.

        Training it trains the pool. ``save_checkpoint`` writes it as a separate model: a plain BERT
        for the wide auxiliary, else a ``milepost_stitched``.
        """
        chosen = self.path(path) if isinstance(path, str) else path
        config = self._config(chosen)
        with torch.device("meta"):  # its initial weights are never used
            made = LandmarkEncoder(_without_blocks(config), own_sentence=self.own_sentence)
        made.config = config
        backbone: Any = made.backbone
        end = self.wide.layers[chosen.first : chosen.last]
        if chosen.narrow:
            backbone.embeddings = self.narrow.embeddings
            backbone.front = self.narrow.layers[: chosen.narrow]
            backbone.stitch = self.stitches[chosen.stitch] if len(end) else self.leave
            backbone.end = end
        else:
            backbone.embeddings = self.wide.embeddings
            backbone.encoder["layer"] = end
        made.train(self.training)
        return made

    def parameters_of(self, path: Path) -> int:
        """Compute a descendant's number of parameters by formula, including its tables."""
        front = self.configs["narrow" if path.narrow else "wide"]
        blocks = self._blocks("narrow", path.narrow) + self._blocks("wide", path.last - path.first)
        stitch = costs.linear_parameters(self.narrow.width, self.wide.width) if path.narrow else 0
        return costs.table_parameters(front) + blocks + stitch

    def operations_of(self, path: Path, tokens: int, landmarks: int) -> int:
        """Compute a descendant's floating-point operations on one window, by formula.

        Args:
            path: the descendant.
            tokens: tokens of the window, landmarks included.
            landmarks: landmarks of the window; the last block computes only these.
        """
        blocks = ["narrow"] * path.narrow + ["wide"] * (path.last - path.first)
        asking = [tokens] * (len(blocks) - 1) + [landmarks]
        total = 0
        for kind, rows in zip(blocks, asking, strict=True):
            config = self.configs[kind]
            sizes = config["hidden_size"], config["intermediate_size"]
            total += costs.block_operations(*sizes, tokens, rows)
        if path.narrow:
            rows = tokens if path.last > path.first else landmarks
            total += costs.linear_operations(self.narrow.width, self.wide.width, rows)
        return total

    def _blocks(self, kind: str, count: int) -> int:
        config = self.configs[kind]
        return count * costs.block_parameters(config["hidden_size"], config["intermediate_size"])

    def _config(self, path: Path) -> dict[str, Any]:
        narrow, wide = self.configs["narrow"], self.configs["wide"]
        if not path.narrow:
            return {**wide, "num_hidden_layers": path.last}
        return {
            "model_type": MODEL_TYPE,
            "hidden_size": wide["hidden_size"],
            "vocab_size": narrow["vocab_size"],
            "max_position_embeddings": narrow["max_position_embeddings"],
            "front": {**narrow, "num_hidden_layers": path.narrow},
            "end": {**wide, "num_hidden_layers": path.last - path.first},
        }


def _without_blocks(config: dict[str, Any]) -> dict[str, Any]:
    """Return a descendant's configuration with no blocks, before it gets the pool's."""
    if config["model_type"] != MODEL_TYPE:
        return {**config, "num_hidden_layers": 0}
    parts = {part: {**config[part], "num_hidden_layers": 0} for part in ("front", "end")}
    return {**config, **parts}
