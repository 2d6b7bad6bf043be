"""Systems by name: rows of a TOML file, the package's own (``systems.toml``) and the user's.

What a row may hold stands at the head of ``systems.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from milepost._paths import expanded
from milepost.errors import InputError, UnreadableFile, nearest
from milepost.store.bm25 import K1, B

SHIPPED = Path(__file__).with_name("systems.toml")

_FUSED = {"words", "weight"}
KINDS: dict[str, tuple[str, set[str]]] = {
    "search": ("Milepost's search: landmarks, words, and the model's reranker", {"rerank"}),
    "landmarks": ("Milepost's landmarks without words", {"scales"}),
    "bm25": ("BM25 over sentences or chunks", {"unit", "scales", "k1", "b"}),
    "bm25s": ("the library bm25s over sentences or chunks", {"unit"}),
    "sparse": ("a learned sparse model over sentences or chunks", {"unit", *_FUSED}),
    "dense": ("each sentence or chunk encoded alone", {"unit", "neighbours", "scales", *_FUSED}),
    "late": (
        "token states of the whole text, averaged over each chunk",
        {"unit", "window", *_FUSED},
    ),
    "document": ("one vector a document", {"pooling"}),
}
"""Kind of system → what it is, and the settings that it has beside a model."""

WITHOUT_MODEL = ("bm25", "bm25s")


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One system; what its settings mean stands at the head of ``systems.toml``."""

    kind: str
    unit: str = "sentence"
    model: str = ""
    rerank: bool = True
    neighbours: int = 0
    window: int = 0
    scales: bool = False
    pooling: str = "mean"
    k1: float = K1
    b: float = B
    words: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Rows by name, sets of names, and what the names of models stand for.

    Attributes:
        rows: name → system.
        sets: name → names of systems.
        models: name of a model → a folder, or ``owner/name`` of the hub.
    """

    rows: Mapping[str, SystemRow] = field(default_factory=dict)
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)

    def row(self, name: str) -> SystemRow:
        """The row of a name; of ``NAME@MODEL`` that of ``NAME`` with another model.

        Raises:
            InputError: the name is unknown (with the nearest known one).
        """
        if name in self.rows:
            return self.rows[name]
        base, _, model = name.partition("@")
        row = self.rows.get(base)
        if row is not None and model and row.kind not in WITHOUT_MODEL:
            return replace(row, model=model)
        raise InputError(
            f"unknown system {name!r}",
            f"{nearest(name, [*self.rows, *self.sets])}one of `milepost eval list`, or a row of a "
            "TOML file (docs/evaluation.md)",
        )

    def joined(self, other: Catalogue) -> Catalogue:
        """Both catalogues; where both have a name, the other's counts."""
        return Catalogue(
            {**self.rows, **other.rows},
            {**self.sets, **other.sets},
            {**self.models, **other.models},
        )


def chosen(names: Iterable[str]) -> tuple[Catalogue, list[str]]:
    """The catalogue with the files among the names, and the names of the systems, each once.

    Args:
        names: of systems or sets, and TOML files, all of whose rows are meant.

    Raises:
        InputError: a name is unknown, or a file cannot be used.
        UnreadableFile: a file is missing.
    """
    catalogue = read_catalogue()
    found: list[str] = []
    for name in names:
        if name.endswith(".toml"):
            own = read_catalogue(expanded(name))
            catalogue = catalogue.joined(own)
            found += own.rows
        else:
            found += catalogue.sets.get(name, (name,))
    for name in found:
        catalogue.row(name)
    return catalogue, list(dict.fromkeys(found))


def read_catalogue(path: Path = SHIPPED) -> Catalogue:
    """The rows of a file.

    Raises:
        UnreadableFile: the file is missing or not TOML.
        InputError: a row that cannot be used.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UnreadableFile(f"{path} cannot be read: {reason}", "a TOML file") from error
    parts: dict[str, dict[str, Any]] = {"systems": {}, "sets": {}, "models": {}}
    for name, part in content.items():
        if name not in parts or not isinstance(part, dict):
            raise InputError(
                f"{path}: unknown table {name!r}",
                f"{nearest(name, parts)}[systems] with a row each",
            )
        parts[name] = part
    rows = {name: _row(f"{path}: {name}", fields) for name, fields in parts["systems"].items()}
    sets = {name: tuple(map(str, names)) for name, names in parts["sets"].items()}
    return Catalogue(rows, sets, {name: str(model) for name, model in parts["models"].items()})


def _row(where: str, fields: Any) -> SystemRow:
    """One row, checked, so that a misspelt setting is an error and not a default."""
    kind = fields.get("kind") if isinstance(fields, dict) else None
    if kind not in KINDS:
        raise InputError(
            f"{where}: unknown kind {kind!r}",
            f"{nearest(str(kind), KINDS)}one of {', '.join(KINDS)}",
        )
    known = {"kind"} | KINDS[kind][1]
    known |= set() if kind in WITHOUT_MODEL else {"model"}
    for key, value in fields.items():
        if key not in known:
            raise InputError(
                f"{where}: {kind} has no {key!r}",
                f"{nearest(key, known)}one of {', '.join(sorted(known))}",
            )
        usual = getattr(_USUAL, key)
        number = isinstance(usual, float) and type(value) is int
        if not number and type(value) is not type(usual):
            raise InputError(f"{where}: {key} is {value!r}", f"such as {usual!r}")
    if fields.get("words", "") not in ("", "score", "rank"):
        raise InputError(f"{where}: words is {fields['words']!r}", "score or rank")
    return SystemRow(**fields)


_USUAL = SystemRow("")
