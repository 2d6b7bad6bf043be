"""Objects as sources of an index, on a real server."""

from collections.abc import Callable
from pathlib import Path

import pytest

import milepost
from milepost.errors import InputError
from milepost.objects import bucket, downloads
from milepost.testing import fake_encoder
from support.pdf_writer import pdf_of
from support.s3 import S3

BEES = "Bees build cells of wax. The queen lays the eggs."
GOLD = "Gold melts at 1064 degrees. It never rusts."


@pytest.fixture
def index():
    with milepost.open(model=fake_encoder()) as opened:
        yield opened


@pytest.fixture
def reports(s3: S3) -> S3:
    s3.put("reports/bees.txt", BEES)
    s3.put("reports/deep/gold leaf.pdf", pdf_of(["Gold melts at 1064 degrees."]))
    s3.put("reports/.hidden.txt", "Hidden.")
    s3.put("reports/.git/config", "Hidden.")
    s3.put("reports/node_modules/a.txt", "Junk.")
    s3.put("reports/film.mp4", b"\0" * 100)
    s3.put("reports-old/old.txt", "Another prefix.")
    s3.put_as_is("reports/deep/")  # as consoles mark a folder
    return s3


def test_a_prefix_is_indexed_and_not_read_again(index, reports: S3) -> None:
    names = (reports.url("reports/bees.txt"), reports.url("reports/deep/gold leaf.pdf"))
    report = index.add(reports.url("reports/"))
    assert (report.added, report.failed) == (names, {})
    assert sorted(reports.read()) == ["reports/bees.txt", "reports/deep/gold%20leaf.pdf"]
    assert [info.source for info in index.documents()] == list(names)
    again = index.add(reports.url("reports"))
    assert (again.unchanged, again.added, again.removed) == (names, (), ())
    assert reports.read() == []


def test_a_changed_a_new_and_a_deleted_object(index, reports: S3) -> None:
    index.add([reports.url("reports"), reports.url("reports-old")])
    reports.read()
    reports.put("reports/bees.txt", BEES.replace("wax", "mud"))
    reports.put("reports/new.md", "# Ships\n\nA ship needs deep water.")
    reports.store.delete("reports/deep/gold leaf.pdf")
    report = index.add(reports.url("reports"))
    assert report.changed == (reports.url("reports/bees.txt"),)
    assert report.added == (reports.url("reports/new.md"),)
    assert report.removed == (reports.url("reports/deep/gold leaf.pdf"),)
    assert sorted(reports.read()) == ["reports/bees.txt", "reports/new.md"]
    assert "mud" in index.document(reports.url("reports/bees.txt")).text
    assert reports.url("reports-old/old.txt") in {info.name for info in index.documents()}


def test_the_same_bytes_written_again_are_not_read(index, s3: S3) -> None:
    s3.put("bees.txt", BEES)
    index.add(s3.url())
    s3.read()
    s3.put("bees.txt", BEES)
    assert index.add(s3.url()).unchanged == (s3.url("bees.txt"),)
    assert s3.read() == []


def test_one_object_is_read_whatever_its_suffix(index, s3: S3) -> None:
    s3.put("bees.dat", BEES)
    s3.put("gold.txt", GOLD)
    assert index.add(s3.url()).added == (s3.url("gold.txt"),)
    report = index.add(s3.url("bees.dat"))
    assert (report.added, report.removed) == ((s3.url("bees.dat"),), ())
    assert milepost.read(s3.url("bees.dat")).text.strip() == BEES


def test_files_and_objects_together(index, s3: S3, tmp_path: Path) -> None:
    s3.put("gold.txt", GOLD)
    (tmp_path / "bees.txt").write_text(BEES, encoding="utf-8")
    assert len(index.add([tmp_path, s3.url()]).added) == 2
    (tmp_path / "bees.txt").unlink()
    assert index.add(s3.url()).removed == ()
    assert index.add(tmp_path).removed == (str(tmp_path / "bees.txt"),)
    s3.store.delete("gold.txt")
    assert index.add(s3.url()).removed == (s3.url("gold.txt"),)


def test_poison_and_empty_objects_are_named(index, s3: S3) -> None:
    s3.put("broken.pdf", b"%PDF-1.4 and nothing else")
    s3.put("empty.txt", b"")
    s3.put("good.txt", GOLD)
    s3.put("pretends.docx", b"no zip at all")
    report = index.add(s3.url())
    assert report.added == (s3.url("good.txt"),)
    assert set(report.failed) == {s3.url(k) for k in ("broken.pdf", "empty.txt", "pretends.docx")}


def after_listing(patch: pytest.MonkeyPatch, deed: Callable[[], object]) -> None:
    """Let something happen between the listing and the first read."""
    listed = milepost.index.intake.objects

    def objects(*args):
        found = listed(*args)
        deed()
        return found

    patch.setattr(milepost.index.intake, "objects", objects)


def test_an_object_that_vanishes_is_named(index, s3: S3, monkeypatch) -> None:
    s3.put("bees.txt", BEES)
    s3.put("gold.txt", GOLD)
    after_listing(monkeypatch, lambda: s3.store.delete("bees.txt"))
    report = index.add(s3.url())
    assert report.added == (s3.url("gold.txt"),)
    assert "bees.txt does not exist" in report.failed[s3.url("bees.txt")]


def test_an_object_that_changes_after_the_listing_is_read_the_next_time(
    index, s3: S3, monkeypatch
) -> None:
    """What was read is newer than what was listed, so the next run looks again, once."""
    s3.put("bees.txt", BEES)
    with monkeypatch.context() as patch:
        after_listing(patch, lambda: s3.put("bees.txt", GOLD))
        index.add(s3.url())
    assert index.document(s3.url("bees.txt")).text.strip() == GOLD
    s3.read()
    assert index.add(s3.url()).unchanged == (s3.url("bees.txt"),)
    assert s3.read() == ["bees.txt"]
    index.add(s3.url())
    assert s3.read() == []


def test_many_objects_are_read_in_order_and_once(index, s3: S3) -> None:
    names = [f"{number:03}.txt" for number in range(3 * downloads.AHEAD + 1)]
    for name in names:
        s3.put(name, f"This is the text of {name}.")
    assert index.add(s3.url()).added == tuple(map(s3.url, names))
    assert sorted(s3.read()) == names
    assert all(name in index.document(s3.url(name)).text for name in names)


def test_ignore_files_and_sidecars(index, s3: S3) -> None:
    s3.put(".milepostignore", "drafts/\n*.log\n!keep.log\n")
    s3.put("drafts/a.txt", "A draft.")
    s3.put("x.log", "A log.")
    s3.put("keep.log", "A log to keep.")
    s3.put("bees.txt", BEES)
    s3.put("bees.txt.meta.json", '{"author": "Lee"}')
    s3.put("gone.txt.meta.json", '{"author": "Ada"}')
    assert index.add(s3.url()).added == (s3.url("bees.txt"), s3.url("keep.log"))
    assert index.documents()[0].properties["author"] == "Lee"
    s3.put("bees.txt.meta.json", '{"author": "Kim"}')
    assert index.add(s3.url()).changed == (s3.url("bees.txt"),)
    assert index.documents()[0].properties["author"] == "Kim"
    assert index.add(s3.url("bees.txt")).unchanged == (s3.url("bees.txt"),)
    s3.put("bees.txt.meta.json", "{bad")
    (note,) = index.add(s3.url()).notes[s3.url("bees.txt")]
    assert note.startswith("without the sidecar's properties: bees.txt.meta.json is not JSON")


def test_an_index_in_a_bucket_is_skipped(index, s3: S3) -> None:
    s3.put("db/milepost.sqlite", b"x")
    s3.put("db/notes.txt", "Not a document.")
    s3.put("bees.txt", BEES)
    assert index.add(s3.url()).added == (s3.url("bees.txt"),)


def test_boxes_are_found_in_the_object(index, s3: S3) -> None:
    s3.put("gold.pdf", pdf_of(["Gold melts at 1064 degrees.", "It never rusts."]))
    index.add(s3.url())
    document = index.document(s3.url("gold.pdf"))
    start = document.text.index("1064")
    (box,) = document.boxes(start, start + 4)
    assert (box.page, 72 < box.left < 200) == (1, True)
    s3.put("gold.pdf", pdf_of(["Silver."]))
    with pytest.raises(InputError, match="has changed since"):
        index.document(s3.url("gold.pdf")).boxes(0, 4)


def test_a_copy_with_highlights_needs_a_file(index, s3: S3, tmp_path: Path) -> None:
    s3.put("gold.pdf", pdf_of(["Gold melts at 1064 degrees."]))
    index.add(s3.url())
    with pytest.raises(InputError, match=r"gold\.marked\.pdf"):
        milepost.annotate(index, s3.url("gold.pdf"), "gold?", min_score=0)
    out = tmp_path / "copy.pdf"
    milepost.annotate(index, s3.url("gold.pdf"), "gold?", out, min_score=0)
    assert out.read_bytes().startswith(b"%PDF")


def test_too_large_an_object_is_not_downloaded(s3: S3) -> None:
    s3.put("large.txt", b"x" * 5000)
    address = milepost.objects.ObjectAddress.parse(s3.url("large.txt"))
    with pytest.raises(InputError, match="5,000 bytes; at most 4,999"):
        bucket(address).read(address, most=4999)
    assert len(bucket(address).read(address, most=5000)) == 5000


def test_nothing_is_removed_when_a_bucket_is_gone(index, s3: S3) -> None:
    s3.put("bees.txt", BEES)
    index.add(s3.url())
    s3.store.delete("bees.txt")
    index_of_nothing = f"s3://{s3.bucket}-nope/"
    report = index.add(index_of_nothing)
    assert f"s3://{s3.bucket}-nope does not exist" in report.failed[index_of_nothing[:-1]]
    assert len(index.documents()) == 1


def test_a_prefix_without_objects_is_named(index, s3: S3) -> None:
    s3.put("bees.txt", BEES)
    report = index.add(s3.url("bess"))
    assert "there is nothing to read at" in report.failed[s3.url("bess")]


def test_a_key_that_cannot_be_asked_for_is_named(index, s3: S3) -> None:
    s3.put("a/bees.txt", BEES)
    index.add(s3.url())
    s3.put_as_is("b//x.txt", b"x")
    report = index.add(s3.url())
    assert "b//x.txt" in report.failed[s3.url().rstrip("/")]
    assert (report.removed, index.add(s3.url("a")).unchanged) == ((), (s3.url("a/bees.txt"),))
