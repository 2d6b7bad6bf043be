"""Terms in FTS5: any term becomes one token of the ``ascii`` tokenizer and no two the same one.

That tokenizer keeps small ASCII letters, digits and everything beyond ASCII as it is, folds
capitals and cuts at the rest. So what it would fold or cut is written as its number between two
escape characters, and the tokens that come out are exactly the terms that went in: ``don't`` is
one token, ``A`` is not ``a``, 東京 stays 東京.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

ESCAPE = "\U0010fffd"  # a private character; in a term it is escaped like the others
LONGEST = 400  # bytes; FTS5 would cut a token at 32,768 and so confuse two

_UNSAFE = re.compile(f"[^a-z0-9\x80-\ud7ff\ue000-{chr(ord(ESCAPE) - 1)}]")


def token(term: str) -> str:
    """Spell a term as a token: ``x.y`` is ``x⟨2e⟩y`` where ⟨⟩ stand for the escape character."""
    if term.isascii() and term.isalnum() and term.islower() and len(term) <= LONGEST:
        return term
    safe = _UNSAFE.sub(lambda found: f"{ESCAPE}{ord(found[0]):x}{ESCAPE}", term)
    if len(data := safe.encode()) > LONGEST:
        return f"{ESCAPE}long{hashlib.sha256(data).hexdigest()}"
    return safe


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
