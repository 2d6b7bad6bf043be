"""Count sketches in torch; the reference is ``milepost_lab.pooling.sketch``."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from milepost_lab.model.pooling.module import PoolModule, masked_mean


def count_sketch(vectors: Tensor, bins: Tensor, signs: Tensor, size: int) -> Tensor:
    """See ``milepost_lab.pooling.sketch.count_sketch``; a product with a one-hot matrix."""
    sketch: Tensor = (vectors * signs) @ F.one_hot(bins.long(), size).to(vectors.dtype)
    return sketch


def product_sketch(x: Tensor, y: Tensor, weights: Mapping[str, Tensor], size: int) -> Tensor:
    """See ``milepost_lab.pooling.sketch.product_sketch``."""
    turned = [
        torch.fft.rfft(count_sketch(v, weights[f"{side}_bin"], weights[f"{side}_sign"], size))
        for side, v in (("x", x), ("y", y))
    ]
    product: Tensor = torch.fft.irfft(turned[0] * turned[1], n=size)
    return product


class SketchMoment(PoolModule):
    """``sketch-moment``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.sketch.moment``."""
        # States beyond a text must also be 0 after the centre is subtracted.
        centred = (states - self.weight("centre")) * mask[..., None]
        weights = {name: self.weight(name) for name in self.operator.fixed}
        sketches = product_sketch(centred, centred, weights, int(self.settings["size"]))
        return masked_mean(sketches, mask)


MODULES: dict[str, type[PoolModule]] = {"sketch-moment": SketchMoment}
