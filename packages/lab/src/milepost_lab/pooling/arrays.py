"""Poolings of NumPy arrays, to use and to keep in files: ``get``, ``load``, ``of_landmarks``."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from milepost.errors import InputError, ModelError
from milepost_lab.pooling.base import padded
from milepost_lab.pooling.registry import Operator, module, operator, pool

_TOGETHER = 1 << 22  # numbers of padded states that are pooled at once


class Pool:
    """A pooling with its settings, to be called with NumPy arrays.

    Args:
        row: of the table.
        settings: all of them, see ``Operator.settings``.
        seed: of initial weights, which are made at the first call, when widths are known.
        weights: of a trained module, by name; None for initial ones.
    """

    def __init__(
        self,
        row: Operator,
        settings: Mapping[str, Any],
        seed: int = 0,
        weights: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        self.operator, self.settings, self.seed = row, dict(settings), seed
        self._weights = weights
        self._made: nn.Module | None = None
        self._widths: tuple[int, int, int] = (0, 0, 0)

    @classmethod
    def of(cls, made: nn.Module, name: str, settings: Mapping[str, Any]) -> Pool:
        """The pooling of a trained module."""
        row = operator(name)
        weights = {n: value.detach().cpu().numpy() for n, value in made.state_dict().items()}
        return cls(row, row.settings(settings), weights=weights)

    def module(self, width: int, query_width: int = 0, layers: int = 1) -> nn.Module:
        """The torch module for these widths, in evaluation mode.

        Raises:
            InputError: the weights are of other widths.
        """
        widths = width, query_width, layers
        if self._made is None or self._widths != widths:
            made = module(
                self.operator.name,
                width,
                query_width=query_width,
                layers=layers,
                seed=self.seed,
                **self.settings,
            )
            if self._weights is not None:
                state = {n: torch.from_numpy(np.array(w)) for n, w in self._weights.items()}
                try:
                    made.load_state_dict(state)
                except RuntimeError as error:
                    raise InputError(
                        f"{self.operator.name} was not trained on states of width {width} and "
                        f"{layers} layers",
                        "states of the network that it was trained on",
                    ) from error
            self._made, self._widths = made.eval(), widths
        return self._made

    @torch.no_grad()
    def __call__(
        self,
        states: ArrayLike,
        lengths: ArrayLike,
        *,
        queries: ArrayLike | None = None,
        segments: ArrayLike | None = None,
    ) -> NDArray[np.float32]:
        """Pool texts.

        Args:
            states: ``(tokens, d)``, concatenated texts; ``(tokens, layers, d)`` if it needs layers.
            lengths: ``(texts,)``: the tokens of each text, at least 1.
            queries: ``(texts, d_q)``, if it needs them.
            segments: tokens of each segment, if it needs them; none crosses the end of a text.

        Returns:
            ``(texts, d_out)`` float32, not normalised; ``(texts, k, d_out)`` for late interaction,
            where shorter texts end in rows of zeros.

        Raises:
            InputError: lengths or segments that do not add up, NaN, or a missing input.
        """
        values, counts = np.asarray(states, np.float32), np.asarray(lengths, np.int64)
        name, needs = self.operator.name, self.operator.needs
        dimensions = 3 if "layers" in needs else 2
        if values.ndim != dimensions or not np.isfinite(values).all():
            raise InputError(f"{name} needs {dimensions}-dimensional states without NaN")
        numbers = self._segments(segments, counts, len(values))
        asked = None if queries is None else torch.from_numpy(np.asarray(queries, np.float32))
        if "queries" in needs and (asked is None or len(asked) != len(counts)):
            raise InputError(f"{name} needs a query for each text", "queries=…, (texts, d_q)")
        made = self.module(
            values.shape[-1],
            0 if asked is None else asked.shape[1],
            values.shape[1] if dimensions == 3 else 1,
        )
        ends = np.cumsum(counts)
        found: list[Tensor] = []
        longest = int(counts.max(initial=1)) * int(np.prod(values.shape[1:]))
        step = max(1, _TOGETHER // longest)
        for at in range(0, len(counts), step):
            some = range(at, min(len(counts), at + step))
            spans = [slice(int(ends[n] - counts[n]), int(ends[n])) for n in some]
            padded_states, mask = padded([torch.from_numpy(values[span]) for span in spans])
            cut = None
            if numbers is not None:
                cut, _ = padded([torch.from_numpy(numbers[span]) for span in spans])
            some_asked = None if asked is None else asked[at : at + step]
            found.append(pool(made, needs, padded_states, mask, some_asked, cut))
        most = max((part.shape[1] for part in found), default=0)
        if found and found[0].ndim == 3:
            found = [nn.functional.pad(part, (0, 0, 0, most - part.shape[1])) for part in found]
        vectors = torch.cat(found).numpy() if found else np.zeros((0, values.shape[-1]), np.float32)
        if not np.isfinite(vectors).all():
            raise InputError(f"{name} gives NaN or infinity", "smaller states: scale them")
        result: NDArray[np.float32] = vectors
        return result

    def _segments(
        self, segments: ArrayLike | None, lengths: NDArray[np.int64], tokens: int
    ) -> NDArray[np.int64] | None:
        """The number of each token's segment, from 0 in each text."""
        if (lengths < 1).any() or lengths.sum() != tokens:
            raise InputError(f"lengths add up to {lengths.sum()} of {tokens} states")
        if "segments" not in self.operator.needs:
            return None
        if segments is None:
            raise InputError(
                f"{self.operator.name} needs segments=, the number of tokens of each segment",
                "segments=numpy.ones(len(states), int) where each state is its own",
            )
        sizes = np.asarray(segments, np.int64)
        ends, texts = np.cumsum(sizes), np.cumsum(lengths)
        if (sizes < 1).any() or sizes.sum() != tokens or not np.isin(texts, ends).all():
            raise InputError("segments must tile every text", "cut them at the ends of texts")
        numbers = np.repeat(np.arange(len(sizes)), sizes)
        found: NDArray[np.int64] = numbers - np.repeat(numbers[texts - lengths], lengths)
        return found

    def save(self, file: Path) -> None:
        """Write name, settings, seed and weights into one ``.npz`` file."""
        weights = self._weights
        if weights is None and self._made is not None:
            weights = {n: value.numpy() for n, value in self._made.state_dict().items()}
        head = {"operator": self.operator.name, "settings": self.settings, "seed": self.seed}
        arrays: dict[str, Any] = {f"weight:{n}": value for n, value in (weights or {}).items()}
        with file.open("wb") as out:
            np.savez(out, head=np.array(json.dumps(head)), trained=weights is not None, **arrays)


def get(name: str, /, *, seed: int = 0, **settings: Any) -> Pool:
    """Set up a pooling for NumPy arrays: ``get("ggem", groups=8)(states, lengths)``.

    Raises:
        InputError: an unknown pooling or setting.
    """
    row = operator(name)
    return Pool(row, row.settings(settings), seed)


def load(file: Path | str) -> Pool:
    """Load a pooling that ``Pool.save`` wrote.

    Raises:
        ModelError: the file is missing, damaged or not a pooling.
        InputError: it names a pooling that this version does not have.
    """
    prefix = "weight:"
    try:
        with np.load(file, allow_pickle=False) as arrays:
            head = json.loads(str(arrays["head"]))
            weights = {n[len(prefix) :]: arrays[n] for n in arrays.files if n.startswith(prefix)}
            trained = bool(arrays["trained"])
            name, settings, seed = str(head["operator"]), dict(head["settings"]), int(head["seed"])
    except (OSError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ModelError(
            f"{file} is not a pooling ({error})", "write it again with Pool.save"
        ) from None
    row = operator(name)
    return Pool(row, row.settings(settings), seed, weights if trained else None)


def of_landmarks(
    pooling: str | Pool,
) -> Callable[[NDArray[np.float32], list[int]], NDArray[np.float32]]:
    """Make the function that pools the landmarks of chunks, for ``milepost.chunks(pooling=…)``.

    Raises:
        InputError: the name is unknown, or the pooling needs more than landmarks or is of late
            interaction.
    """
    made = get(pooling) if isinstance(pooling, str) else pooling
    row = made.operator
    if (row.needs - {"segments"}) or row.late:
        raise InputError(
            f"the pooling {row.name} cannot make one vector of landmarks alone", "pooling='lmk'"
        )

    def pooled(landmarks: NDArray[np.float32], counts: list[int]) -> NDArray[np.float32]:
        segments = np.ones(len(landmarks), np.int64) if "segments" in row.needs else None
        vectors: NDArray[np.float32] = made(landmarks, counts, segments=segments)
        return vectors

    return pooled
