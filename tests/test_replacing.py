"""A file is replaced by a whole one, or not at all."""

import os
from pathlib import Path

import pytest

from milepost._replacing import replacing


def test_the_old_content_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path, draft = tmp_path / "file", tmp_path / "draft"
    path.write_bytes(b"old")
    with replacing(path, draft) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert not draft.exists()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_of_a_draft_that_failed(tmp_path: Path, error: BaseException) -> None:
    path, draft = tmp_path / "file", tmp_path / "draft"
    path.write_bytes(b"old")

    def half() -> None:
        with replacing(path, draft) as file:
            file.write(b"half")
            raise error

    with pytest.raises(type(error)):
        half()
    assert path.read_bytes() == b"old"
    assert not draft.exists()


def test_a_disk_that_fails_at_the_end_keeps_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, draft = tmp_path / "file", tmp_path / "draft"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"), replacing(path, draft) as file:
        file.write(b"new")
    assert path.read_bytes() == b"old"
    assert not draft.exists()
