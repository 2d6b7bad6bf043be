"""Open a store together with the model that made it."""

from __future__ import annotations

import os

from milepost.encoder import Encoder
from milepost.encoder.engine.folder import ModelFolder
from milepost.encoder.engine.manifest import Manifest
from milepost.errors import WrongModel
from milepost.store import Store, open_store


def opened_store(
    place: str | os.PathLike[str] | None,
    model: Encoder | str | os.PathLike[str] | None,
    *,
    create: bool,
    read_only: bool,
) -> tuple[Store, Encoder | ModelFolder]:
    """Open a store and find the model whose vectors it holds; see ``milepost.open``.

    Raises:
        WrongModel: the index was made by another model, or by one that is not installed.
        ModelError: the model does not exist.
        StoreError: see ``store.open_store``.
    """
    from milepost.encoder.engine import find_model
    from milepost.encoder.engine.folder import made_model, model_of

    def opened(manifest: Manifest) -> Store:
        return open_store(
            place,
            fingerprint=manifest.fingerprint,
            dimensions=manifest.dimensions,
            create=create,
            read_only=read_only,
        )

    chosen = model if isinstance(model, Encoder) else find_model(model)
    try:
        return opened(chosen.manifest), chosen
    except WrongModel as error:
        own = model_of(error.fingerprint) or made_model(error.fingerprint)
        if model is None and own is not None:
            return opened(own.manifest), own
        # Only then the rebuild: it throws away what was read.
        first = "without --model" if own else "--model FOLDER, that of the model that made it"
        name = model.manifest.name if isinstance(model, Encoder) else model
        chose = "" if name is None else f" --model {os.fspath(name)}"
        raise WrongModel(
            error.problem, f"{first}, or {error.hint}{chose}", error.fingerprint
        ) from None
