"""The tables and patterns of words and numbers in JavaScript, made from those of Python."""

from __future__ import annotations

import json
import re

from milepost.language.numbers import PATTERNS, TABLES
from milepost.language.terms import IGNORED, STOP_WORDS, TOKEN

_FORMS = {
    "(?P<": "(?<",
    r"[^\W_]": r"[\p{L}\p{N}]",
    r"\d": r"\p{Nd}",
    r"\U00020000-\U0003ffff": r"\u{20000}-\u{3ffff}",
}
"""What Python and JavaScript write differently."""


def module() -> str:
    """The module that stands in a page for ``term_tables.js``."""
    patterns = {"token": TOKEN, "ignored": IGNORED, **PATTERNS}
    parts = {
        "TABLES": {**TABLES, "stopWords": sorted(STOP_WORDS)},
        "PATTERNS": {name: _javascript(source) for name, source in patterns.items()},
    }
    return "".join(
        f"export const {name} = {json.dumps(part, ensure_ascii=False)};\n"
        for name, part in parts.items()
    )


def _javascript(source: str) -> str:
    for python, javascript in _FORMS.items():
        source = source.replace(python, javascript)
    return re.sub(r"\(\?P=(\w+)\)", r"\\k<\1>", source)
