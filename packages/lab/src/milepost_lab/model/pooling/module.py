"""Base of all torch poolings: padded states and a mask in, one vector for each text out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost.errors import InputError
from milepost_lab.pooling.layer_norm import EPS
from milepost_lab.pooling.operator import Operator, Pool


class PoolModule(nn.Module):
    """Base class; subclasses define ``pool``.

    Parameters have the names and shapes of the reference's weights, so that ``Pool`` can use the
    weights of a trained module.

    Args:
        operator: the operator's row of the table.
        settings: all settings, validated.
        width: d of the states.
        query_width: d of the queries; 0 without queries.
        layers: number of layers of the states, for operators that need layers.
        seed: seed of the initial weights, which equal the reference's.
    """

    def __init__(
        self,
        operator: Operator,
        settings: Mapping[str, Any],
        width: int,
        query_width: int = 0,
        layers: int = 1,
        seed: int = 0,
    ) -> None:
        import numpy as np

        super().__init__()
        self.operator, self.settings, self.width = operator, dict(settings), width
        self.layers = layers
        rng = np.random.default_rng(seed)
        for name, value in operator.begun(settings, width, query_width, layers, rng).items():
            tensor = torch.from_numpy(np.array(value, np.float32))
            if name in operator.fixed:
                self.register_buffer(name, tensor)
            else:
                self.register_parameter(name, nn.Parameter(tensor))

    def forward(
        self,
        states: Tensor,
        lengths: Tensor,
        queries: Tensor | None = None,
        segments: Tensor | None = None,
    ) -> Tensor:
        """Pool a padded batch of texts.

        Args:
            states: ``(texts, longest, d)``, or ``(texts, longest, layers, d)`` for operators that
                need layers; states beyond the length of a text are not read.
            lengths: ``(texts,)`` int64, each at least 1, since the softmax of no scores is NaN.
            queries: ``(texts, d_q)``; or ``(texts, q, d_q)`` for several per text.
            segments: ``(texts, longest)`` int64: the segment of each token, counted from 0 in each
                text; for operators that need segments.

        Returns:
            ``(texts, d_out)`` float32; ``(texts, q, d_out)`` for several queries per text; for
            several vectors per text see ``Pool``.

        Raises:
            InputError: the operator needs segments, and ``segments`` is None.
        """
        mask = torch.arange(states.shape[1], device=states.device)[None] < lengths[:, None]
        shape = (*mask.shape, *(1,) * (states.ndim - 2))
        # Not a product with the mask: padding may hold NaN.
        clean = torch.where(mask.view(shape), states, torch.zeros_like(states)).float()
        if segments is None:
            if "segments" in self.operator.needs:
                raise InputError(
                    f"{self.operator.name} needs segments=, the segment of each token",
                    "segments=torch.arange(longest).expand(texts, -1) where each is its own",
                )
            segments = torch.arange(states.shape[1], device=states.device).expand(mask.shape)
        return self.pool(clean, mask, queries if queries is None else queries.float(), segments)

    def pool(
        self, states: Tensor, mask: Tensor, queries: Tensor | None, segments: Tensor
    ) -> Tensor:
        """Compute the operator; ``states`` are float32 and 0 beyond ``mask``."""
        raise NotImplementedError

    def weight(self, name: str) -> Tensor:
        """Get a weight by its name in the reference."""
        value: Tensor = getattr(self, name)
        return value

    def layer_norm(self, values: Tensor, name: str) -> Tensor:
        """See ``milepost_lab.pooling.layer_norm.named_norm``."""
        scale, shift = self.weight(f"{name}_scale"), self.weight(f"{name}_shift")
        return F.layer_norm(values, scale.shape, scale, shift, EPS)

    def of_queries(self) -> PoolModule:
        """Make the pooling of queries, with the same weights; see ``Pool.of_queries``."""
        queries = copy(self)
        queries.settings = {**self.settings, **self.operator.query_settings}
        return queries

    def reference(self) -> Pool:
        """Make the NumPy pooling with the current weights."""
        weights = {name: value.detach().cpu().numpy() for name, value in self.state_dict().items()}
        settings = self.settings
        return Pool(self.operator, settings, weights if self.operator.trains else None)


def padded(texts: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Pad texts ``(tokens, …)`` to one tensor; also returns their lengths."""
    lengths = torch.tensor([len(text) for text in texts])
    return nn.utils.rnn.pad_sequence(list(texts), batch_first=True), lengths


def masked_mean(states: Tensor, mask: Tensor) -> Tensor:
    """Mean of ``(texts, n, …)`` where ``mask`` ``(texts, n)`` holds; states are 0 elsewhere."""
    shape = (-1,) + (1,) * (states.ndim - 2)
    return states.sum(1) / mask.sum(1).clamp(min=1).view(shape)


def masked_max(states: Tensor, mask: Tensor) -> Tensor:
    """Maximum of ``(texts, n, d)`` where ``mask`` holds."""
    return states.masked_fill(~mask[..., None], -torch.inf).amax(1)


def last_state(states: Tensor, mask: Tensor) -> Tensor:
    """The state of each text's last token, ``(texts, n, …)`` → ``(texts, …)``."""
    place = (mask.sum(1) - 1).view(-1, *(1,) * (states.ndim - 1))
    return torch.gather(states, 1, place.expand(-1, 1, *states.shape[2:]))[:, 0]


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = 1) -> Tensor:
    """Softmax that is 0 beyond ``mask``; ``mask`` has the scores' shape."""
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim)


def closes(mask: Tensor, segments: Tensor) -> Tensor:
    """Which positions are the last of their segment, ``(texts, n)`` bool."""
    beyond = torch.full_like(segments[:, :1], -1)
    inside = torch.where(mask, segments, -torch.ones_like(segments))
    following = torch.cat([inside[:, 1:], beyond], 1)
    return mask & (following != inside)
