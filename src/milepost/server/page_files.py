"""The files of the page, from one folder; nothing else of the disk is served."""

from __future__ import annotations

from importlib.resources import files

from starlette.responses import Response

from milepost.server.failures import no_such_address

_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_FOLDER = files("milepost.server") / "page"
_NAMES = frozenset(each.name for each in _FOLDER.iterdir() if each.is_file())


def page_file(name: str) -> Response:
    """A file of the page, or status 404."""
    kind = name.rpartition(".")[2]
    if name not in _NAMES or kind not in _TYPES:  # the names are a list: no path is ever built
        return no_such_address(f"/page/{name}")
    return Response(
        (_FOLDER / name).read_bytes(),
        media_type=f"{_TYPES[kind]}; charset=utf-8",
        headers={"Cache-Control": "no-cache"},
    )
