"""Files of results: whole or as they were."""

import os
import re
from pathlib import Path

import pytest

from milepost.errors import InputError
from milepost.exports.writing import check_output, write_bytes, write_text
from support.cli_process import python

FILE_LIMIT = """
import resource, signal, sys
from pathlib import Path
from milepost.exports.writing import write_text

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_text(Path(sys.argv[1]), "x" * 5000)
except Exception as error:
    print(error)
"""


def test_a_file_and_its_folder_are_made(tmp_path):
    path = tmp_path / "new" / "more" / "a.svg"
    write_text(path, "é\nb\n")
    assert path.read_bytes() == b"\xc3\xa9\nb\n"
    write_bytes(path, b"again")
    assert path.read_bytes() == b"again"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="no limit of a file's size there")
def test_a_full_disk_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "a.html"
    path.write_text("old", encoding="utf-8")
    told = python("-c", FILE_LIMIT, path, check=True)
    line = f"{path} cannot be written: File too large; try: check the path and the disk\n"
    assert told.stdout == line
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="no such links, devices and permissions there")
def test_a_link_a_device_and_permissions_stay_what_they_are(tmp_path):
    path, link = tmp_path / "a.json", tmp_path / "link"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o600)
    link.symlink_to(path)
    write_text(link, "new")
    assert link.is_symlink()
    assert path.read_text(encoding="utf-8") == "new"
    assert path.stat().st_mode & 0o777 == 0o600
    reading, writing = os.pipe()
    with os.fdopen(reading) as read, os.fdopen(writing, "w"):
        write_text(Path(f"/dev/fd/{writing}"), "through a pipe")
        assert read.read(14) == "through a pipe"


def test_a_file_that_cannot_be_written_is_an_error_of_one_line(tmp_path):
    (tmp_path / "file").write_text("old", encoding="utf-8")
    for wrong in (tmp_path, tmp_path / "file" / "a.html"):
        words = rf"^{re.escape(str(wrong))} cannot be written: \w[^;]+; try: give another$"
        with pytest.raises(InputError, match=words):
            write_bytes(wrong, b"new", "give another")


def test_a_file_that_cannot_be_written_is_told_early(tmp_path):
    new, old = tmp_path / "new" / "a.html", tmp_path / "old.html"
    old.write_text("old")
    check_output(new)
    check_output(old)
    assert list(new.parent.iterdir()) == []
    assert old.read_text() == "old"
    for wrong in (tmp_path, old / "a.html"):
        with pytest.raises(InputError, match=r"cannot be written: \w+"):
            check_output(wrong)
