"""One table of all operators: ``names``, ``get``, ``load``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from milepost.errors import InputError, ModelError, nearest
from milepost_lab.pooling.adaptive import OPERATORS as ADAPTIVE
from milepost_lab.pooling.bilinear import OPERATORS as BILINEAR
from milepost_lab.pooling.fixed_encoding import OPERATORS as FIXED_ENCODING
from milepost_lab.pooling.ggem import OPERATORS as GGEM
from milepost_lab.pooling.hierarchy import OPERATORS as HIERARCHY
from milepost_lab.pooling.latent_attention import OPERATORS as LATENT_ATTENTION
from milepost_lab.pooling.layer_weights import OPERATORS as LAYER_WEIGHTS
from milepost_lab.pooling.maxsim import OPERATORS as MAXSIM
from milepost_lab.pooling.multilayer import OPERATORS as MULTILAYER
from milepost_lab.pooling.operator import Operator, Pool
from milepost_lab.pooling.p2at import OPERATORS as P2AT
from milepost_lab.pooling.plain import OPERATORS as PLAIN
from milepost_lab.pooling.ponet import OPERATORS as PONET
from milepost_lab.pooling.registry import found, others
from milepost_lab.pooling.saturated import OPERATORS as SATURATED
from milepost_lab.pooling.set_attention import OPERATORS as SET_ATTENTION
from milepost_lab.pooling.sketch import OPERATORS as SKETCH
from milepost_lab.pooling.token_pooling import OPERATORS as TOKEN_POOLING
from milepost_lab.pooling.top_k import OPERATORS as TOP_K
from milepost_lab.pooling.wordpool import OPERATORS as WORDPOOL
from milepost_lab.pooling.xpool import OPERATORS as XPOOL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights

TABLE: dict[str, Operator] = {
    operator.name: operator
    for operator in (
        *PLAIN,
        *BILINEAR,
        *GGEM,
        *HIERARCHY,
        *LAYER_WEIGHTS,
        *MULTILAYER,
        *P2AT,
        *PONET,
        *SKETCH,
        *WORDPOOL,
        *XPOOL,
        *TOP_K,
        *SET_ATTENTION,
        *LATENT_ATTENTION,
        *ADAPTIVE,
        *SATURATED,
        *MAXSIM,
        *TOKEN_POOLING,
        *FIXED_ENCODING,
    )
}
"""Every operator of Milepost by its name."""


def names() -> dict[str, Operator]:
    """List every operator by name, user-defined ones last.

    Raises:
        InputError: a package offers a pooling that cannot be imported.
    """
    return {**TABLE, **{name: operator(name) for name in others()}}


def operator(name: str) -> Operator:
    """Find an operator by name.

    Raises:
        InputError: an unknown operator (the error names the nearest one), or one of a package that
            cannot be imported.
    """
    row = TABLE.get(name) or found(name)
    if row is None:
        known = (*TABLE, *others())
        raise InputError(
            f"unknown pooling {name!r}", f"{nearest(name, known)}one of {', '.join(known)}"
        )
    return row


def get(name: str, /, *, weights: Weights | None = None, seed: int = 0, **settings: Any) -> Pool:
    """Set up an operator: ``get("ggem", groups=8)(states, lengths)``.

    Args:
        name: see ``names``.
        weights: trained weights by name; None for initial weights.
        seed: seed of the initial weights.
        settings: see the operator's parameters.

    Raises:
        InputError: an unknown operator or parameter, or a value out of its bounds.
    """
    row = operator(name)
    return Pool(row, row.settings(settings), weights, seed)


def load(file: Path | str) -> Pool:
    """Load a pooling that ``Pool.save`` wrote.

    Raises:
        ModelError: the file is missing, damaged or not a pooling.
        InputError: it names an operator that this version does not have.
    """
    name, settings, seed, weights = _read(Path(file))
    return get(name, weights=weights, seed=seed, **settings)


def _read(file: Path) -> tuple[str, dict[str, Any], int, dict[str, NDArray[np.float32]] | None]:
    """Read name, settings, seed and weights from a file that ``Pool.save`` wrote.

    Raises:
        ModelError: the file is missing, damaged or not a pooling.
    """
    import json
    import zipfile

    import numpy as np

    try:
        with np.load(file, allow_pickle=False) as arrays:
            head = json.loads(str(arrays["head"]))
            prefix = "weight:"
            weights = {n[len(prefix) :]: arrays[n] for n in arrays.files if n.startswith(prefix)}
            trained = bool(arrays["trained"])
            name, settings = str(head["operator"]), dict(head["settings"])
            seed = int(head.get("seed", 0))  # older files have none
    except (OSError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ModelError(
            f"{file} is not a pooling ({error})", "write it again with Pool.save"
        ) from None
    return name, settings, seed, weights if trained else None
