"""Write the tables of ``docs/pooling.md``: operators, experiments and pages, from what there is.

python tools/make_pooling.py

What stands between two marks is written anew; the rest of the page is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from milepost_lab import pooling
from milepost_lab.command import STUDIES
from milepost_lab.pooling import Operator

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "pooling.md"


def operators() -> Iterator[str]:
    """A row an operator."""
    heads = "operator", "what it does", "equation", "reads also", "settings", "trained", "paper"
    yield _line(*heads)
    yield _line(*["---"] * len(heads))
    for row in pooling.names().values():
        yield _line(
            _linked(row),
            row.title,
            f"`{row.equation}`",
            ", ".join(sorted(row.needs)) or "–",
            ", ".join(f"`{name}`" for name in row.parameters) or "–",
            "yes" if row.learns else "no",
            f"[{row.paper}](https://arxiv.org/abs/{row.paper})" if row.paper else "–",
        )


def _linked(row: Operator) -> str:
    page = DOCS / "pooling" / f"{row.family}.md"
    return f"[{row.name}](pooling/{row.family}.md)" if page.is_file() else row.name


def experiments() -> Iterator[str]:
    """A row a command."""
    yield "| command | what it does |"
    yield "| --- | --- |"
    for name, text in STUDIES.items():
        yield _line(f"`milepost lab {name}`", text)


def pages() -> Iterator[str]:
    """A line a page, named by its heading."""
    for page in sorted((DOCS / "pooling").glob("*.md")):
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        yield f"- [{title}](pooling/{page.name})"


PARTS = {"operators": operators, "experiments": experiments, "pages": pages}


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def filled(text: str) -> str:
    """The page with its tables made anew."""
    for name, part in PARTS.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        body = "\n".join(part())
        text, count = re.subn(
            f"{begin}.*?{end}",
            lambda _, body=body, begin=begin, end=end: f"{begin}\n\n{body}\n\n{end}",  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
        if count != 1:
            raise SystemExit(f"{PAGE} has {count} places for {name}; it takes one")
    return text


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
