"""What the page needs to go to a place: sentences, sizes of pages, peaks of the heat."""

from collections.abc import Iterator
from itertools import pairwise

import httpx2
import pytest

from support.files import write_files
from support.page_documents import ACROSS, NOTES, harbour
from support.pdf_writer import PdfPage, write_pdf
from support.server import running_server


@pytest.fixture(scope="module")
def asked(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[httpx2.Client, dict[str, str]]]:
    place = tmp_path_factory.mktemp("places")
    first = PdfPage()
    first.text(72, 720, "The ferry leaves at noon.")
    files = {
        "notes.md": NOTES,
        "harbour.pdf": harbour(),
        "blank.pdf": write_pdf([PdfPage(), first, PdfPage()]),
    }
    folder = write_files(place / "files", files)
    with running_server(folder, cache=place / "cache") as (_, client):
        listed = client.get("/documents").json()["documents"]
        yield client, {each["name"]: each["id"] for each in listed}


def sentences(client: httpx2.Client, identity: str, start: int, end: int) -> list[list[int]]:
    got = client.get(f"/documents/{identity}/sentences", params={"start": start, "end": end})
    assert got.status_code == 200, got.text
    return got.json()["sentences"]


def test_sentences_hold_all_of_the_text_but_white_space(asked) -> None:
    client, ids = asked
    spans = sentences(client, ids["notes.md"], 0, len(NOTES))
    assert all(NOTES[start:end] == NOTES[start:end].strip() != "" for start, end in spans)
    assert all(NOTES[before:after].strip() == "" for (_, before), (after, _) in pairwise(spans))
    assert NOTES[: spans[0][0]].strip() == ""
    assert NOTES[spans[-1][1] :].strip() == ""
    assert "A trail of scent fades within an hour." in [NOTES[start:end] for start, end in spans]


def test_sentences_of_a_part_are_those_that_overlap_it(asked) -> None:
    client, ids = asked
    every = sentences(client, ids["notes.md"], 0, len(NOTES))
    for start in range(0, len(NOTES), 7):
        for end in (start + 1, min(start + 60, len(NOTES))):
            wanted = [span for span in every if span[0] < end and span[1] > start]
            found = sentences(client, ids["notes.md"], start, end)
            # White space belongs to the sentence before it.
            assert [span for span in found if span[1] > start] == wanted
            assert len(found) <= len(wanted) + 1


@pytest.mark.parametrize(
    "query", ["start=5&end=4", "start=0&end=999999", "start=-1&end=3", "end=3"]
)
def test_a_part_outside_the_text_is_refused(asked, query: str) -> None:
    client, ids = asked
    assert client.get(f"/documents/{ids['notes.md']}/sentences?{query}").status_code == 422


def test_pages_have_sizes_and_only_pdfs_have_pages(asked) -> None:
    client, ids = asked
    got = client.get(f"/documents/{ids['harbour.pdf']}/pages").json()
    assert got == {"pages": [{"page": n, "width": 612.0, "height": 792.0} for n in (1, 2, 3)]}
    assert client.get(f"/documents/{ids['notes.md']}/pages").status_code == 422


def test_peaks_are_in_the_part_that_they_stand_for(asked) -> None:
    client, ids = asked
    question = {"question": "How long does a trail of scent last?", "heat": True}
    got = client.post("/search", json=question).json()
    assert got["peaks"].keys() == got["heat"].keys()
    heat, peaks = got["heat"][ids["notes.md"]], got["peaks"][ids["notes.md"]]
    assert len(heat) == len(peaks) == 64
    assert all(cell <= 64 * (at + 1) / len(NOTES) for cell, at in enumerate(peaks))
    assert all(64 * at / len(NOTES) <= cell + 1 for cell, at in enumerate(peaks))
    assert peaks == sorted(peaks)
    best = peaks[heat.index(max(heat))]
    (span,) = sentences(client, ids["notes.md"], best, best + 1)
    assert "trail" in NOTES[span[0] : span[1]]
    assert client.post("/search", json={"question": "scent"}).json()["peaks"] is None


def test_boxes_of_a_span_over_two_pages(asked) -> None:
    client, ids = asked
    text = client.get(f"/documents/{ids['harbour.pdf']}/text").json()["text"]
    start = text.index("The committee")
    end = text.index("before sunset.") + len("before sunset.")
    got = client.get(
        f"/documents/{ids['harbour.pdf']}/boxes", params={"start": start, "end": end}
    ).json()
    assert [box["page"] for box in got["boxes"]] == [1, 2]
    assert got["pages"] == [{"page": n, "width": 612.0, "height": 792.0} for n in (1, 2)]
    assert client.get(f"/documents/{ids['notes.md']}/boxes?start=0&end=9").status_code == 422


def test_lines_of_a_page_have_their_text_and_place(asked) -> None:
    client, ids = asked
    identity = ids["harbour.pdf"]
    whole = client.get(f"/documents/{identity}/text").json()["text"]
    got = client.get(f"/documents/{identity}/pages/2/lines").json()
    assert whole[got["start"] : got["end"]] == got["text"]
    assert [whole[line["start"] : line["end"]] for line in got["lines"]] == [
        ACROSS[1],
        "Coal is unloaded at the southern quay.",
    ]
    assert all(71 < line["left"] < 75 for line in got["lines"])
    assert [round(792 - line["bottom"], -1) for line in got["lines"]] == [720, 690]
    for number in (0, 4):
        missing = client.get(f"/documents/{identity}/pages/{number}/lines")
        assert missing.status_code == 404
        said = f"harbour.pdf has no page {number}; try: 1 to 3"
        assert missing.json()["error"]["message"] == said
    whole = client.get(f"/documents/{ids['blank.pdf']}").json()
    assert whole["pages"] == 3
    for number, at in ((1, 0), (3, whole["characters"])):
        blank = client.get(f"/documents/{ids['blank.pdf']}/pages/{number}/lines").json()
        assert blank == {"start": at, "end": at, "text": "", "lines": []}
    assert client.get(f"/documents/{ids['notes.md']}/pages/1/lines").status_code == 422


def test_ready_says_what_scores_are_and_what_cannot_be_read(asked) -> None:
    client, _ = asked
    got = client.get("/ready").json()
    assert got["calibrated"] is True
    assert {".png", ".zip", ".exe"} <= set(got["binary"])
    assert not set(got["binary"]) & set(got["suffixes"])
