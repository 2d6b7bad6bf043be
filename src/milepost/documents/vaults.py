"""Obsidian vaults: folders of Markdown notes that link to each other."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

_SETTINGS = ".obsidian"  # a folder that contains this folder is a vault
_LINK = re.compile(r"!?\[\[([^\[\]|\n]+)(?:\\?\|([^\[\]\n]*))?\]\]")
_CODE = re.compile(
    r"\A---\n(?:.*\n)*?---\n"  # front matter
    r"|^(?P<fence>[ \t]*(?:`{3,}|~{3,})).*\n(?:.*\n)*?(?:[ \t]*(?P=fence).*(?:\n|\Z)|\Z)"
    r"|(?P<ticks>`+)(?!`)[^\n]*?[^`\n](?P=ticks)(?!`)",
    re.MULTILINE,
)
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_BLOCK = re.compile(r"[ \t]\^[A-Za-z0-9-]+$", re.MULTILINE)


def vault_of(source: str) -> Path | None:
    """Find the vault that contains a note, or None."""
    return _vault(os.path.dirname(os.path.abspath(source)))  # noqa: PTH100, PTH120 - keeps links


@lru_cache(maxsize=1024)
def _vault(folder: str) -> Path | None:
    path = Path(folder)
    for each in (path, *path.parents):
        if os.path.isdir(each / _SETTINGS):  # noqa: PTH112 - False if access is denied
            return each
    return None


def readable(text: str) -> str:
    """Replace a note's links by their words, and remove comments and block names.

    Front matter, code and tags are not changed.

    >>> readable("See [[Bees#Cells|their cells]] and ![[map.png]]. #bees ^a1")
    'See their cells and map.png. #bees'
    >>> readable("[[Bees#Cells]], `[[x]]`")
    'Bees, Cells, `[[x]]`'
    """
    parts = []
    at = 0
    for code in _CODE.finditer(text):
        parts += [_plain(text[at : code.start()]), code.group()]
        at = code.end()
    return "".join([*parts, _plain(text[at:])])


def _plain(text: str) -> str:
    text = _LINK.sub(_words, _COMMENT.sub("", text))
    return _BLOCK.sub("", text)


def _words(link: re.Match[str]) -> str:
    target, alias = link.groups()
    # In an embedded image, the text after the bar may be the image's size.
    if alias and alias.strip() and not re.fullmatch(r"\d+(x\d+)?", alias.strip()):
        return alias.strip()
    parts = [part.strip(" ^") for part in target.split("#")]
    return ", ".join(part for part in parts if part)
