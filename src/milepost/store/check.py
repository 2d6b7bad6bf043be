"""What entries, vectors and indexes must be: the same for every store."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from milepost._optional import UPGRADE
from milepost.errors import NewerSchema, NotAnIndex, OldSchema, WrongModel
from milepost.store.base import Entry


def check_entry(entry: Entry, dimensions: int) -> None:
    """Refuse an entry whose parts do not fit together; such an entry is its maker's mistake.

    A ``ValueError`` says that shapes differ, spans do not tile the text, a vector is not finite, or
    a term is empty or holds white space.
    """
    name, n = entry.document.name, len(entry.spans)
    for what, shape, due in (
        ("spans", entry.spans.shape, (n, 2)),
        ("vectors", entry.vectors.shape, (n, dimensions)),
        ("vocab_coverage", entry.vocab_coverage.shape, (n,)),
        ("paragraph_starts", entry.paragraph_starts.shape, (n,)),
        ("terms", (len(entry.terms),), (n,)),
    ):
        if shape != due:
            raise ValueError(f"{name}: {what} have the shape {shape}, not {due}")
    if n:
        starts, ends = entry.spans[:, 0], entry.spans[:, 1]
        tiles = starts[0] == 0 and ends[-1] == len(entry.document.text)
        if not (tiles and np.array_equal(starts[1:], ends[:-1]) and bool((ends >= starts).all())):
            raise ValueError(f"{name}: the spans do not tile the text")
    if not np.isfinite(entry.vectors).all():
        raise ValueError(f"{name}: a vector is not finite")
    for terms in entry.terms:
        if " ".join(terms).split() != list(terms):
            raise ValueError(f"{name}: a term is empty or holds white space: {list(terms)!r}")


def check_vector(vector: NDArray[np.float32], dimensions: int) -> None:
    """Refuse a question's vector of another shape or with values that are not finite."""
    if vector.shape != (dimensions,):
        raise ValueError(f"the vector has the shape {vector.shape}, not {(dimensions,)}")
    if not np.isfinite(vector).all():
        raise ValueError("the vector is not finite")


def missing(label: str) -> NotAnIndex:
    """Make the error for an address where no index is."""
    return NotAnIndex(f"{label} holds no index", "milepost index PATH --db ADDRESS")


def check_version(version: int, ours: int, label: str, rebuild: str) -> None:
    """Refuse an index of another version of the tables."""
    numbers = f"(schema {version}, this one reads {ours})"
    if version > ours:
        raise NewerSchema(f"{label} was written by a newer Milepost {numbers}", UPGRADE)
    if version < ours:
        raise OldSchema(f"{label} was written by an older Milepost {numbers}", rebuild)


REBUILD = "milepost index PATH… --db ADDRESS --rebuild"

Model = tuple[str, int]  # fingerprint of a model, and width of its vectors


def check_model(held: Model, model: Model, label: str, hint: str) -> None:
    """Refuse an index that another model than the one in use has made."""
    if held != model:
        made, used = (f"{name}, {width} wide" for name, width in (held, model))
        raise WrongModel(
            f"{label} was made by another model ({made}; the model in use is {used})", hint, held[0]
        )


def check_address(
    version: int, ours: int, held: Mapping[str, str], model: Model, label: str
) -> None:
    """Do both for an index at an address; ``held`` is what it says of its model."""
    check_version(version, ours, label, REBUILD)
    check_model((held["fingerprint"], int(held["dimensions"])), model, label, REBUILD)
