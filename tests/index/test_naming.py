"""Which documents a name means, wherever it is written."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import milepost
from milepost.cli.sources import select
from milepost.errors import MilepostError
from milepost.server.documents import Library
from milepost.testing import fake_encoder
from support.files import write_files

FILES = "a.txt", "sub/a.txt", "sub/b.md", "sub/[b].md", "more/sub/c.txt", "old/c.txt"


@pytest.mark.parametrize(
    ("written", "found", "one"),
    [
        ("a.txt", ["a.txt"], True),  # though the other's path ends so
        ("{root}/sub/a.txt", ["sub/a.txt"], True),
        ("b.md", ["sub/b.md"], True),
        ("./b.md", ["sub/b.md"], True),
        ("[b].md", ["sub/[b].md"], True),  # a pattern only if nothing is called so
        ("sub//a.txt", ["sub/a.txt"], True),
        ("sub/c.txt", ["more/sub/c.txt"], True),
        ("c.txt", ["more/sub/c.txt", "old/c.txt"], False),
        ("sub", ["sub/[b].md", "sub/a.txt", "sub/b.md"], False),
        ("more/", ["more/sub/c.txt"], False),
        ("*.txt", ["a.txt", "more/sub/c.txt", "old/c.txt", "sub/a.txt"], False),
        ("sub/?.txt", ["more/sub/c.txt", "sub/a.txt"], False),
        (".md", [], False),
        ("ub/a.txt", [], False),
        ("nothing/*", [], False),
    ],
)
def test_a_name_means_the_same_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, found: list[str], one: bool
) -> None:
    """But Python refuses what can be several documents, as it may remove them."""
    write_files(tmp_path, dict.fromkeys(FILES, "A text."))
    monkeypatch.chdir(tmp_path)
    written = written.format(root=tmp_path)

    def relative(find: Callable[[], Iterable[str] | None]) -> list[str]:
        try:
            return sorted(Path(name).relative_to(tmp_path).as_posix() for name in find() or ())
        except MilepostError:
            return []

    with milepost.open(model=fake_encoder()) as index:
        index.add(tmp_path)
        known = [info.name for info in index.documents()]
        library = Library(index, tmp_path / "uploads", [tmp_path])
        assert relative(lambda: select(known, [written])) == found
        assert relative(lambda: library.chosen([written])) == found
        assert relative(lambda: index.remove(written).removed) == (found if one else [])
