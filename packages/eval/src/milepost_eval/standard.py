"""The sets of systems."""

from __future__ import annotations

from collections.abc import Iterable

SHORT = ("landmark", "landmark-only", "bm25", "bm25:400", "bm25-scales")
"""Asked where nobody says which: they need nothing but the base install."""

_WAYS = (
    "sentence@{}",
    "sentence-scales@{}",
    "sentence-window:tuned@{}",
    "chunk:tuned@{}",
    "late-chunk:tuned@{}",
    "sentence:tuned@{}+bm25",
    "sentence@{}+bm25/rank",
    "chunk:tuned@{}+bm25",
    "chunk:tuned@{}+bm25/rank",
    "late-chunk:tuned@{}+bm25",
    "late-chunk:tuned@{}+bm25/rank",
)


def _of(model: str, *, slow: bool = True) -> tuple[str, ...]:
    """A model in each of the usual ways to use one; ``slow``: also those that read text twice."""
    ways = [way for way in _WAYS if slow or not way.startswith(("sentence-window", "late-chunk"))]
    return tuple(way.format(model) for way in ways)


ALL = (
    *SHORT,
    "landmark-scales",
    "bm25:tuned",
    "bm25:langchain",
    "bm25s:tuned",
    *_of("minilm"),
    "chunk:langchain@minilm",
    "chunk:langchain@minilm+bm25/rank",
    "chunk:chroma@minilm",
    *_of("e5", slow=False),
    "splade:tuned",
    "splade:tuned+bm25",
    "splade:tuned+bm25/rank",
    *_of("landmark"),
    "landmark@landmark-light",
    "landmark-only@landmark-light",
    "sentence@wordllama",
    "chunk:400@wordllama",
    "chunk:400@wordllama+bm25",
)
"""Every rival, each alone and joined with words."""

WHOLE = (
    "document:cls@minilm",
    "document:mean@minilm",
    "document:late@minilm",
    "document:mean@landmark",
    "document:lmk@landmark",
)
"""One vector a document, for tasks that ask for documents; every other system takes part there
with its best unit. The first two read what the model reads of a text, 256 tokens of minilm's; the
others read all of it, so that the effects of pooling and of reading length can be separated."""

SETS = {"short": SHORT, "all": ALL, "documents": WHOLE}
"""Names of sets of systems."""


def unfolded(names: Iterable[str]) -> list[str]:
    """Names of systems, the systems of a set in its place, each once.

    >>> unfolded(["bm25", "short"])
    ['bm25', 'landmark', 'landmark-only', 'bm25:400', 'bm25-scales']
    """
    return list(dict.fromkeys(name for given in names for name in SETS.get(given, (given,))))
