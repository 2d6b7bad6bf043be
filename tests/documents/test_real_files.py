"""Real files as people have them: each is read, and its question's sentence is in its place."""

import re
from pathlib import Path

import pytest

from milepost.documents import read, split

FILES = [
    "docx-long-tables.docx", "docx-tracked-changes.docx", "docx-template.docx",
    "epub-childrens-literature.epub", "epub-arabic-right-to-left.epub",
    "html-article-blog.html", "html-wikipedia-table.html", "html-documentation.html",
    "html-xhtml-shift-jis.html", "html-one-long-line.html", "md-tutorial.md",
    "md-lecture-notes.md", "rst-pep.rst", "source-tokenizer.py", "txt-utf16-novel.txt",
    "txt-shift-jis.txt", "txt-koi8-r-russian.txt", "txt-latin1-french.txt",
]  # fmt: skip


def squeeze(text: str) -> str:
    return re.sub(r"[\s\-‐‑\u00ad]+", "", text)


def wanted(folder: Path, name: str) -> str:
    """Look up the sentence that the folder's README gives for a file."""
    rows = (line.split(" | ") for line in (folder / "README.md").read_text("utf-8").splitlines())
    return next(row[2] for row in rows if row[0] == f"| {name}" and len(row) == 4)


@pytest.mark.shared
@pytest.mark.parametrize("name", FILES)
def test_the_sentence_is_found(shared_data: Path, name: str) -> None:
    folder = shared_data / "files"
    document = read(folder / name)
    sentence = squeeze(wanted(folder, name))
    spans = split(document.text, document.blocks)
    assert any(sentence in squeeze(document.text[start:end]) for start, end in spans)
