"""The page: one HTML file with everything in it, written whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from milepost._typed import typed
from milepost.exports.view import bundle
from milepost.exports.view.document_sections import add_documents
from milepost.exports.view.model_sections import add_model
from milepost.exports.view.pack import Pack, as_characters
from milepost.exports.view.stemmers import module
from milepost.exports.writing import check_new, check_suffix, write_bytes
from milepost.index import Index
from milepost.language.numbers import PATTERNS, TABLES
from milepost.language.terms import IGNORED, STOP_WORDS, TOKEN


@dataclass(frozen=True, slots=True)
class PageSize:
    """What a page consists of, in bytes of the file, and what is on it.

    ``program`` is script, style and frame; ``model`` the network, its words and its ranking;
    ``text`` the texts and their pages and headings, compressed; ``words`` which sentence holds
    which word, and where sentences are.
    """

    program: int
    model: int
    text: int
    landmarks: int
    words: int
    documents: int
    sentences: int
    characters: int

    @property
    def total(self) -> int:
        """Bytes of the file."""
        return self.program + self.model + self.text + self.landmarks + self.words


@typed
def write_page(index: Index, path: str | os.PathLike[str], *, overwrite: bool = False) -> PageSize:
    """Write a page that searches the documents of an index in any browser, without a network.

    The index must have been made with a light model: ``page_model()``, which is small enough for a
    page, or ``landmark-light`` itself. The page gives the passages of ``index.search``. Returns the
    sizes of its parts.

    Raises:
        ModelError: the index was made with another kind of model.
        InputError: there is no text, more of it than a page can search, or the file is not to be
            replaced or cannot be written.
    """
    target = Path(path)
    check_page(target, overwrite=overwrite)
    text, size = page_text(index)
    write_bytes(target, text.encode())
    return size


def check_page(path: Path, *, overwrite: bool) -> None:
    """Refuse a file that could not be written, or has no page's suffix, before hours of reading."""
    check_new(path, "page.html", overwrite=overwrite)
    if path.exists() and not path.is_file():
        return  # a device or a pipe has no suffix
    check_suffix(path, (".html", ".htm"), "a page in HTML")


def page_text(index: Index) -> tuple[str, PageSize]:
    """The page, and the sizes of its parts; see ``write_page``."""
    pack = Pack()
    add_model(pack, index.model)
    mark = set(pack.sizes)
    with index.snapshot() as state:
        stemmers = add_documents(pack, state)
    data = as_characters(pack.to_bytes())
    text = html_of(data, stemmers)
    share = len(data) / max(1, sum(pack.sizes.values()))
    parts = {"model": 0, "text": 0, "landmarks": 0, "words": 0}
    for name, size in pack.sizes.items():
        parts[_part(name, name in mark)] += round(size * share)
    documents = pack.facts["documents"]
    total = len(text.encode("utf-8"))
    return text, PageSize(
        program=total - sum(parts.values()),
        **parts,
        documents=len(documents),
        sentences=sum(each["sentences"] for each in documents),
        characters=sum(each["characters"] for each in documents),
    )


def _part(name: str, of_model: bool) -> str:
    if of_model:
        return "model"
    if name in ("texts", "marks"):
        return "text"
    return "landmarks" if name.startswith("landmark") else "words"


def html_of(data: str, stemmers: Collection[str] = ()) -> str:
    """The page of some data.

    Its policy allows its own style and script and nothing else: no request to anywhere.
    """
    sheets = ("base.css", "style.css", "document.css", "view.css")
    style = "\n".join(map(bundle.file_text, sheets))
    script = bundle.script({"term_tables.js": term_tables(), "stemmers.js": module(stemmers)})
    early = bundle.file_text("early.js")
    for text, end in ((style, "</style"), (early + script, "</script"), (early + script, "<!--")):
        if end in text.lower():
            raise ValueError(f"the page's own source holds {end}")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"script-src {_digest(early)} {_digest(script)}; style-src {_digest(style)}"
    )
    frame = bundle.file_text("frame.html")
    frame = re.sub(r"\{\{#(.+)\}\}", lambda found: bundle.element(found[1]), frame)
    for name, text in (
        ("{{policy}}", policy),
        ("{{style}}", style),
        ("{{early}}", early),
        ("{{script}}", script),
        ("{{data}}", data),
    ):
        before, after = frame.split(name)
        frame = before + text + after
    return frame


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


_FORMS = {
    "(?P<": "(?<",
    r"[^\W_]": r"[\p{L}\p{N}]",
    r"\d": r"\p{Nd}",
    r"\U00020000-\U0003ffff": r"\u{20000}-\u{3ffff}",
}
"""What Python and JavaScript write differently."""


def term_tables() -> str:
    """The module that stands in a page for ``term_tables.js``: tables and patterns of Python."""
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
