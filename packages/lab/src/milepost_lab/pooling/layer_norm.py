"""LayerNorm (arXiv 1607.06450), the reference for ``torch.nn.functional.layer_norm``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

EPS = 1e-5
"""Added to the variance, as torch does by default."""


def layer_norm(
    values: NDArray[np.floating],
    scale: NDArray[np.floating],
    shift: NDArray[np.floating],
    eps: float = EPS,
) -> NDArray[np.float64]:
    """``(x - mean(x)) / sqrt(var(x) + eps) * scale + shift`` over the last axis, float64.

    Args:
        values: ``(…, d)``.
        scale: ``(d,)``.
        shift: ``(d,)``.
        eps: added to the variance.
    """
    import numpy as np

    wide = values.astype(np.float64)
    centred = wide - wide.mean(-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(-1, keepdims=True) + eps)
    result: NDArray[np.float64] = centred / spread * scale + shift
    return result


def named_norm(
    values: NDArray[np.floating], weights: Mapping[str, NDArray[np.floating]], name: str
) -> NDArray[np.float64]:
    """``layer_norm`` with the weights ``NAME_scale`` and ``NAME_shift`` of an operator."""
    return layer_norm(values, weights[f"{name}_scale"], weights[f"{name}_shift"])
