"""Sentences and questions in the language of FTS5, with the ``ascii`` tokenizer."""

from __future__ import annotations

from collections.abc import Iterable

from milepost.store.tokens import token


def line(terms: Iterable[str], known: dict[str, str]) -> str:
    """Spell a sentence's terms as FTS5 text; ``known`` remembers tokens between calls."""
    tokens = []
    for term in terms:
        if (held := known.get(term)) is None:
            held = known[term] = token(term)
        tokens.append(held)
    return " ".join(tokens)


def query(terms: Iterable[str]) -> str:
    """Spell an FTS5 query for sentences that hold one of the terms."""
    return " OR ".join(f'"{token(term)}"' for term in dict.fromkeys(terms))
