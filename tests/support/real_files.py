"""The real files of the shared data, and what the README says of each."""

import re
from pathlib import Path

FILES = Path(__file__).resolve().parents[3] / "shared" / "data" / "files"


def _questions() -> list[tuple[str, str, str]]:
    readme = FILES / "README.md"
    if not readme.is_file():
        return []
    table = readme.read_text(encoding="utf-8").split("## One question each")[1]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return [(row[0], row[2], row[3]) for row in rows if len(row) == 4 and "." in row[0]]


QUESTIONS = _questions()
"""Names of files, a sentence of each and its page."""


def squeezed(text: str) -> str:
    """A text without white space and hyphens."""
    return re.sub(r"[\s\-\u00ad\u2010\u2011]", "", text)
