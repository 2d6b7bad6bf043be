"""The same network with random weights: what is left of it when nothing was learnt."""

from __future__ import annotations

import copy
from typing import TypeVar

import torch
from torch import nn

Network = TypeVar("Network", bound=nn.Module)

_DEVIATION = 0.02  # as BERT begins


@torch.no_grad()
def untrained(network: Network, seed: int = 0) -> Network:
    """A copy of a network: normal weights, biases of 0, norms of 1; tables of embeddings as well.

    Args:
        network: is left as it is.
        seed: of the weights.
    """
    twin = copy.deepcopy(network)
    spread = torch.Generator().manual_seed(seed)
    for name, weight in twin.named_parameters():
        if weight.dim() > 1:
            weight.normal_(0.0, _DEVIATION, generator=spread)
        else:
            weight.fill_(0.0 if name.endswith("bias") else 1.0)
    return twin
