"""Terms as stores keep them: any term becomes a token, and no two the same one.

SQLite's FTS5 folds capitals of ASCII and cuts at what is neither letter nor digit, Postgres holds
no NUL and no long key. So what they would change is written as its number between two escape
characters, and the tokens that come out are exactly the terms that went in: ``don't`` is one
token, ``A`` is not ``a``, 東京 stays 東京.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from milepost.language.patterns import late

ESCAPE = "\U0010fffd"  # a private character; in a term it is escaped like the others
LONGEST = 400  # bytes; FTS5 would cut a token at 32,768 and so confuse two

_UNSAFE = late(f"[^a-z0-9\x80-\ud7ff\ue000-{chr(ord(ESCAPE) - 1)}]")


def token(term: str) -> str:
    """Spell a term as a token: ``x.y`` is ``x⟨2e⟩y`` where ⟨⟩ stand for the escape character."""
    if term.isascii() and term.isalnum() and term.islower() and len(term) <= LONGEST:
        return term
    safe = _UNSAFE.sub(lambda found: f"{ESCAPE}{ord(found[0]):x}{ESCAPE}", term)
    if len(data := safe.encode()) > LONGEST:
        return f"{ESCAPE}long{hashlib.sha256(data).hexdigest()}"
    return safe


def tokens(terms: Sequence[str]) -> list[str]:
    """Terms as tokens, each once."""
    return list(dict.fromkeys(map(token, terms)))
