"""A model's name → its encoder."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from milepost.encoder.landmarks import Encoder
from milepost.engine.folder import find_model

if TYPE_CHECKING:
    from milepost.engine.precision import Arithmetic


def load(
    name: str | os.PathLike[str] | None = None,
    *,
    precision: Arithmetic | None = None,
    threads: int | None = None,
    cache: bool = True,
) -> Encoder:
    """The shipped model, another shipped one by name, or one from a folder.

    Args:
        name: a shipped model's name, a folder, or an embedding endpoint
            (``http://HOST:PORT/v1#MODEL``); None for the default.
        precision: of the arithmetic: ``int8``, ``float``, or ``auto``, which is int8 where the CPU
            has instructions for it. None for what ``MILEPOST_PRECISION`` says, else ``auto``. The
            vectors differ little (a mean cosine of 0.995 or more), and an index may hold both.
        threads: threads of the engine; None for all usable CPUs.
        cache: keep the compiled graph on disk, so that the next start is fast.

    Raises:
        MilepostError: an endpoint cannot be reached.
        ModelError: no such model, a damaged folder, or one without the int8 graph asked for.
        InputError: ``threads`` is less than 1, or ``precision`` is another word.
    """
    folder = find_model(name)
    remote = folder.remote
    if remote is not None:
        from milepost.encoder.endpoint import EndpointEncoder

        return EndpointEncoder(folder, remote)
    from milepost.engine.openvino import open_engine

    opener = partial(open_engine, precision=precision, threads=threads, cache=cache)
    return Encoder(folder, opener(folder), opener=opener)
