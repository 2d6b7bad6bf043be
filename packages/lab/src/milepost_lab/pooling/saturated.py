"""Log-saturated term weights: SPLADE (arXiv 2107.05720) and SPLADE v2 (arXiv 2109.10086).

    w_ij = E_j · t(x_i) + b_j                       t(x) = LN(gelu(x W + c))
    z_j  = max_i ln(1 + relu(w_ij))                 join="max", v2
    z_j  = Σ_i ln(1 + relu(w_ij))                   join="sum", the first version

In the paper ``E`` is the network's word embeddings. An operator reads only states, so it has an
``E`` of its own, whose number of terms is the setting ``terms``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost_lab.pooling.gelu import gelu
from milepost_lab.pooling.initial import identity, norms, zeros
from milepost_lab.pooling.layer_norm import named_norm
from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.ragged import split

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights


def splade(batch: Batch, settings: Mapping[str, Any], weights: Weights) -> NDArray[np.floating]:
    """Compute the equations at the top in float64, text by text: ``terms`` numbers for a token."""
    import numpy as np

    own = {name: np.asarray(value, np.float64) for name, value in weights.items()}
    join = np.max if settings["join"] == "max" else np.sum
    texts = split(batch.states, batch.lengths)
    vectors = [join(_saturated(text.astype(np.float64), own), axis=0) for text in texts]
    return np.array(vectors).reshape(len(texts), settings["terms"])


def _saturated(
    states: NDArray[np.float64], own: Mapping[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """``ln(1 + relu(w))``, ``(n, d)`` → ``(n, terms)``."""
    import numpy as np

    told = named_norm(gelu(states @ own["dense"] + own["dense_bias"]), own, "dense")
    return np.log1p(np.maximum(told @ own["terms"].T + own["terms_bias"], 0.0))


def _start(settings: Mapping[str, Any], width: int, _: int, rng: np.random.Generator) -> Weights:
    """Draw terms of about unit length: half of a token's weights are positive, and about 1."""
    import numpy as np

    terms = rng.standard_normal((settings["terms"], width)) / np.sqrt(width)
    return {
        "dense": identity(width),
        "dense_bias": zeros(width),
        **norms(width, "dense"),
        "terms": terms.astype(np.float32),
        "terms_bias": zeros(settings["terms"]),
    }


OPERATORS = (
    Operator(
        "splade",
        "greatest log-saturated weight of each term (SPLADE v2)",
        paper="2109.10086",
        family="newer",
        equation="z_j = max_i ln(1 + relu(E_j · t(x_i) + b_j)), t(x) = LN(gelu(xW + c))",
        order="free",
        compute=splade,
        start=_start,
        parameters={
            "terms": Parameter(1024, "Width of the vector; BERT's vocabulary published.", least=1),
            "join": Parameter(
                "max", "Greatest weight of the tokens, or their sum.", choices=("max", "sum")
            ),
        },
    ),
)
