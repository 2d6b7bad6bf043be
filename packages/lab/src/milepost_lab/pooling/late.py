"""Late interaction: a vector for each token, groups of them, fixed-length encodings."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost._optional import require
from milepost_lab.pooling.base import Pooling, check


def maxsim(queries: Tensor, query_mask: Tensor, states: Tensor, mask: Tensor) -> Tensor:
    """``Σ_i max_j q_i · p_j`` of every query and text (2004.12832, eq. 3), ``(queries, texts)``.

    Args:
        queries: ``(queries, m, d)``; pass unit vectors for cosines, as ColBERT does.
        query_mask: ``(queries, m)`` bool.
        states: ``(texts, n, d)``.
        mask: ``(texts, n)`` bool.
    """
    products = torch.einsum("qmd,tnd->qtmn", queries, states)
    best = products.masked_fill(~mask[None, :, None], -torch.inf).amax(-1)
    return (best * query_mask[:, None]).sum(-1)


class Tokens(Pooling):
    """Every token's vector."""

    name, title, paper = "tokens", "every token's vector, scored by MaxSim (ColBERT)", "2004.12832"
    equation = "z_i = x_i, score: Σ_i max_j q_i · z_j over the tokens q_i of the query"
    late = "many"

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """``(texts, n, d)``, rows of zeros beyond a text."""
        return states * mask[..., None]


class TokenPool(Pooling):
    """Means of groups of near tokens, by Ward's method on unit vectors (arXiv 2409.14683).

    Args:
        width: d.
        factor: tokens for each vector, on average.
        kept: first tokens that stay as they are, such as ``[CLS]``.
    """

    name, paper = "token-pool", "2409.14683"
    title = "means of groups of near tokens, scored by MaxSim (token pooling)"
    equation = "z_g = (1/|g|) Σ x_i over i in g, groups by Ward's method on x_i/|x_i|"
    late, ordered = "many", True
    query_settings = {"factor": 1}  # noqa: RUF012 - typed in the base class

    def __init__(self, width: int, *, factor: int = 2, kept: int = 1) -> None:
        super().__init__(width)
        check(factor >= 1 and kept >= 0, self.name, f"factor={factor}, kept={kept}", "1 and 0")
        self.factor, self.kept = factor, kept

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """``(texts, most groups, d)``, rows of zeros beyond a text."""
        texts = []
        for text, count in zip(states, mask.sum(1).tolist(), strict=True):
            first, rest = text[: min(self.kept, count)], text[min(self.kept, count) : count]
            if len(rest) > 1:
                groups = self._groups(rest)
                belongs = F.one_hot(groups).to(rest)
                rest = (belongs / belongs.sum(0)).T @ rest
            texts.append(torch.cat([first, rest]))
        return nn.utils.rnn.pad_sequence(texts, batch_first=True)

    def _groups(self, tokens: Tensor) -> Tensor:
        cluster = require("scipy.cluster.hierarchy", extra="lab")

        wanted = max(len(tokens) // self.factor, 1)
        points = F.normalize(tokens.detach(), dim=-1).cpu().numpy()
        found = cluster.fcluster(cluster.linkage(points, "ward"), wanted, "maxclust")
        order = {label: n for n, label in enumerate(dict.fromkeys(found.tolist()))}
        return torch.tensor([order[label] for label in found.tolist()], device=tokens.device)


class FixedEncoding(Pooling):
    """One long vector whose product approximates MaxSim (MUVERA, arXiv 2405.19504, section 2).

    Each of R draws cuts the space into 2^k cells by the signs of k products. A query's cell holds
    the sum of its tokens, a text's their mean, or else the token whose signs differ least.

    Args:
        width: d.
        planes: k.
        repetitions: R.
        projected: numbers of a cell, m; 0 keeps the states.
        side: what is encoded.
    """

    name, paper = "fixed-encoding", "2405.19504"
    title = "one long vector whose product approximates MaxSim (MUVERA)"
    equation = "z_rc = mean of S_r x_i/√m over φ_r(x_i) = c; a query's: (1/nR) Σ in place of it"
    late, ordered = "one", True
    query_settings = {"side": "query"}  # noqa: RUF012 - typed in the base class

    def __init__(
        self,
        width: int,
        *,
        planes: int = 4,
        repetitions: int = 20,
        projected: int = 8,
        side: Literal["text", "query"] = "text",
    ) -> None:
        super().__init__(width)
        check(0 <= planes <= 12, self.name, f"planes={planes}", "0 to 12")
        self.side, self.projected = side, projected
        self.register_buffer("planes", torch.randn(repetitions, planes, width))
        signs = 2.0 * torch.randint(2, (repetitions, max(1, projected), width)) - 1
        self.register_buffer("signs", signs)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """``(texts, R · 2^k · m)``."""
        bits = (torch.einsum("bnd,rkd->brnk", states, self.planes) > 0).to(states)
        k = self.planes.shape[1]
        powers = torch.arange(k, device=states.device)
        wanted = ((torch.arange(2**k, device=states.device)[:, None] >> powers) & 1).to(states)
        # The number of signs that a token shares with a cell; in its own cell, all of them.
        agreeing = bits @ wanted.T + (1 - bits) @ (1 - wanted).T
        inside = (agreeing == k).to(states) * mask[:, None, :, None]
        projected = self._projected(states)
        total = inside.transpose(2, 3) @ projected
        if self.side == "query":
            tokens = mask.sum(1).view(-1, 1, 1, 1)
            return (total / (tokens * len(self.planes))).flatten(1)
        counts = inside.sum(2)[..., None]
        # Of the tokens that agree most, the first.
        places = torch.arange(states.shape[1], device=states.device)[:, None]
        order = agreeing * states.shape[1] - places
        order = order.masked_fill(~mask[:, None, :, None], -torch.inf)
        nearest = order.argmax(2)[..., None].expand(-1, -1, -1, projected.shape[-1])
        filled = torch.gather(projected, 2, nearest)
        return torch.where(counts > 0, total / counts.clamp(min=1), filled).flatten(1)

    def _projected(self, states: Tensor) -> Tensor:
        """``(texts, R, n, m)``."""
        if not self.projected:
            return states[:, None].expand(-1, len(self.planes), -1, -1)
        return torch.einsum("bnd,rmd->brnm", states, self.signs) / self.projected**0.5


POOLINGS = (Tokens, TokenPool, FixedEncoding)
