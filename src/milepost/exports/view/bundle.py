"""The page's modules as one script: each in a function of its own, after those that it imports.

The modules are plain ES modules with imports by name (``import { a, b } from "./c.js"``), so that
they can be read, linted and shared with the page of ``milepost serve``. A file beside this one
stands before one of the same name there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

_OWN = Path(__file__).with_name("page")
_SHARED = Path(__file__).parents[2] / "server" / "page"
"""The page of the server, whose modules and styles are used here, too; no Python of it is."""

_IMPORT = re.compile(r'^import (\{[^}]*\}|\* as \w+) from "\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:const|let|function|class)\b)", re.MULTILINE)
_NAME = re.compile(r"^export (?:async )?(?:const|let|function\*?|class) (\w+)", re.MULTILINE)


def script(made: Mapping[str, str]) -> str:
    """The script of the page with its imports; ``made`` stands before files of the same names."""
    done: dict[str, str] = {}
    _add("main.js", made, done)
    return "\n".join(done.values())


def element(ident: str) -> str:
    """An element of the server's page, which must end as it begins, on a line, with all in it."""
    whole = re.compile(rf'^( *)<(\w+) id="{ident}".*?^\1</\2>$', re.MULTILINE | re.DOTALL)
    found = whole.search(file_text("index.html"))
    if found is None:
        raise ValueError(f"index.html has no element {ident}")
    return found[0]


def _add(name: str, made: Mapping[str, str], done: dict[str, str]) -> None:
    if name in done:
        return
    source = made[name] if name in made else file_text(name)
    for _, needed in _IMPORT.findall(source):
        _add(needed, made, done)
    names = _NAME.findall(source)
    inside = _EXPORT.sub("", _IMPORT.sub(_taken, source))
    entry = name == "main.js"  # it alone may wait
    asynchronous, waiting = ("async ", "await ") if entry else ("", "")
    done[name] = (
        f"const {_variable(name)} = {waiting}({asynchronous}() => {{\n"
        f"{inside}return {{ {', '.join(names)} }};\n}})();"
    )


def _taken(match: re.Match[str]) -> str:
    names, source = match.groups()
    pattern = names.removeprefix("* as ") if names.startswith("*") else names.replace(" as ", ": ")
    return f"const {pattern} = {_variable(source)};\n"


def _variable(name: str) -> str:
    return "module_" + name.removesuffix(".js").replace("-", "_")


def file_text(name: str) -> str:
    """A file of the page, its own before that of the server."""
    own = _OWN / name
    return (own if own.is_file() else _SHARED / name).read_text(encoding="utf-8")
