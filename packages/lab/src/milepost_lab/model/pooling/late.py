"""Late interaction: token vectors, pooled groups of them, and fixed-length encodings.

The references are ``milepost_lab.pooling.maxsim``, ``token_pooling`` and ``fixed_encoding``.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from milepost_lab.model.pooling.module import PoolModule
from milepost_lab.pooling.token_pooling import grouped


class Tokens(PoolModule):
    """``tokens``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.maxsim.tokens``."""
        return states[:, : int(mask.sum(1).max())]


class TokenPool(PoolModule):
    """``token-pool``; groups are found in NumPy, and gradients reach the tokens of each."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.token_pooling.token_pool``."""
        factor, kept = int(self.settings["factor"]), int(self.settings["kept"])
        texts = []
        for text, count in zip(states, mask.sum(1).tolist(), strict=True):
            first, rest = text[: min(kept, count)], text[min(kept, count) : count]
            if len(rest):
                groups = grouped(rest.detach().cpu().numpy(), factor)
                share = F.one_hot(torch.from_numpy(groups)).to(rest)
                rest = (share / share.sum(0)).T @ rest
            texts.append(torch.cat([first, rest]))
        return torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)


class FixedEncodings(PoolModule):
    """``fixed-encoding``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.fixed_encoding.fixed_encoding``."""
        planes = self.weight("planes")
        bits = (torch.einsum("bnd,rkd->brnk", states, planes) > 0).to(states)
        powers = torch.arange(planes.shape[1], device=states.device)
        wanted = (torch.arange(2 ** planes.shape[1], device=states.device)[:, None] >> powers) & 1
        # The number of signs that a token shares with a cell; in its own cell, all of them.
        agreeing = bits @ wanted.T.to(states) + (1 - bits) @ (1 - wanted).T.to(states)
        inside = (agreeing == planes.shape[1]).to(states) * mask[:, None, :, None]
        projected = self._projected(states)
        total = inside.transpose(2, 3) @ projected
        if self.settings["side"] == "query":
            tokens = mask.sum(1).view(-1, 1, 1, 1)
            return (total / (tokens * len(planes))).flatten(1)
        counts = inside.sum(2)[..., None]
        # Of the tokens that agree most, the first, as in the reference.
        places = torch.arange(states.shape[1], device=states.device)[:, None]
        order = agreeing * states.shape[1] - places
        order = order.masked_fill(~mask[:, None, :, None], -torch.inf)
        nearest = order.argmax(2)[..., None].expand(-1, -1, -1, projected.shape[-1])
        filled = torch.gather(projected, 2, nearest)
        return torch.where(counts > 0, total / counts.clamp(min=1), filled).flatten(1)

    def _projected(self, states: Tensor) -> Tensor:
        """``(texts, R, n, m)``."""
        if not int(self.settings["projected"]):
            return states[:, None].expand(-1, len(self.weight("planes")), -1, -1)
        signs = self.weight("signs")
        return torch.einsum("bnd,rmd->brnm", states, signs) / signs.shape[1] ** 0.5


MODULES: dict[str, type[PoolModule]] = {
    "tokens": Tokens,
    "token-pool": TokenPool,
    "fixed-encoding": FixedEncodings,
}
