"""The mean of the k greatest values of each channel: between the maximum and the mean.

k-max pooling (Kalchbrenner et al., arXiv 1404.2188) keeps the k values side by side in the order of
the text; here they are averaged, so that shorter texts have vectors of the same width.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.ragged import split

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights


def top_k(batch: Batch, settings: Mapping[str, Any], _: Weights) -> NDArray[np.floating]:
    """``(1/k) Σ`` of the k greatest ``x_ij``; of all if there are fewer."""
    import numpy as np

    texts = split(batch.states, batch.lengths)
    greatest = [np.sort(text, axis=0)[-settings["k"] :] for text in texts]
    vectors = [values.mean(0, dtype=np.float64) for values in greatest]
    return np.array(vectors).reshape(len(texts), batch.width)


OPERATORS = (
    Operator(
        "top-k",
        "mean of the k greatest values of each channel",
        paper="1404.2188",
        family="newer",
        equation="z_j = (1/k) Σ x_ij over the k greatest x_ij, k = min(k, n)",
        order="free",
        compute=top_k,
        parameters={"k": Parameter(4, "Number of values; 1 is the maximum.", least=1)},
        single="same",
    ),
)
