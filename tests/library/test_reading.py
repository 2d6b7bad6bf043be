"""Boxes of a stored document are found in its file, whose pages alone are read."""

from dataclasses import replace
from pathlib import Path

import pytest

import milepost
from milepost.errors import InputError
from milepost.library import Library, reading
from milepost.testing import fake_index
from milepost.types import READ_DEFAULTS
from support.page_documents import ACROSS, harbour


def test_a_span_over_two_pages_has_boxes_on_both(tmp_path: Path) -> None:
    path = tmp_path / "harbour.pdf"
    path.write_bytes(harbour())
    read = milepost.read(path)
    start, end = read.text.index(ACROSS[0]), read.text.index(ACROSS[1]) + len(ACROSS[1])
    document = reading.read_plain(path, READ_DEFAULTS)
    assert document.locator is None
    place = reading.place(path, document, READ_DEFAULTS, start, end)
    assert [box.page for box in place.boxes] == [1, 2]
    for found, wanted in zip(place.boxes, read.boxes(start, end), strict=True):
        edges = [(box.left, box.top, box.right, box.bottom) for box in (found, wanted)]
        assert edges[0] == pytest.approx(edges[1], abs=0.1)
    assert place.sizes == {1: (612.0, 792.0), 2: (612.0, 792.0)}
    path.write_bytes(harbour() + b"\n% changed")
    with pytest.raises(InputError, match="changed"):
        reading.place(path, document, READ_DEFAULTS, start, end)
    with pytest.raises(InputError, match="is not a PDF"):
        reading.place(path, replace(document, source=None), READ_DEFAULTS, start, end)


def test_what_versions_before_kept_of_printed_lines_is_swept(tmp_path: Path) -> None:
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "0.npz").write_bytes(b"of a document")
    Library(fake_index({}), tmp_path / "uploads").sweep()
    assert not (tmp_path / "lines").exists()
