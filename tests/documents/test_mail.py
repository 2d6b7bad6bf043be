"""Mail: eml, mbox and msg."""

import struct
from contextlib import suppress
from datetime import UTC, datetime
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.documents import read_bytes
from milepost.errors import UnreadableFile
from milepost.types import Document
from support.ole_writer import msg
from support.pdf_writer import pdf_of

FRENCH = "Le café est fermé jusqu'à l'été prochain. À bientôt, chère Hélène !"


def mail(text: str = "The bridge opens in May.\n", subject: str = "The bridge") -> EmailMessage:
    made = EmailMessage()
    made["Subject"] = subject
    made["From"] = "Änna <anna@example.org>"
    made["To"] = "Bob <bob@example.org>"
    made["Date"] = "Sun, 01 Mar 2026 10:00:00 +0100"
    made.set_content(text)
    return made


def eml(made: EmailMessage) -> Document:
    return read_bytes(made.as_bytes(), "a.eml")


def test_headers_and_text() -> None:
    document = eml(mail())
    assert document.text == (
        "The bridge\n\nFrom: Änna <anna@example.org> | To: Bob <bob@example.org> | "
        "Date: Sun, 01 Mar 2026 10:00:00 +0100\n\nThe bridge opens in May."
    )
    assert document.place(len(document.text) - 1) == "mail of 2026-03-01"
    assert document.heading(len(document.text) - 1) == "The bridge"


def test_names_in_brackets_are_kept() -> None:
    """Old programs write the name behind the address, encoded or not; long ones are in parts."""
    data = (
        b"From: joe@x.org (Joe Smith)\nTo: a@b.de, y@b.de (=?utf-8?q?Z=C3=BC?=)\n"
        b"Cc: =?utf-8?q?Z=C3=BC?=\n =?utf-8?q?rich_AG?= <z@b.de>\n\nText"
    )
    said = "From: joe@x.org (Joe Smith) | To: a@b.de, y@b.de (Zü) | Cc: Zürich AG <z@b.de>"
    assert read_bytes(data, "a.eml").text.split("\n\n")[1] == said


def test_lines_before_the_headers_are_skipped() -> None:
    document = read_bytes(b"+OK 120 octets\nFro m: x\n" + mail().as_bytes(), "a.eml")
    assert document.text == eml(mail()).text


def test_plain_text_is_preferred_and_html_is_read() -> None:
    both = mail()
    both.add_alternative("<p>The <b>bridge</b> in HTML.</p>", subtype="html")
    assert "HTML" not in eml(both).text
    empty = mail(" \n")
    empty.add_alternative("<p>The <b>bridge</b> in HTML.</p>", subtype="html")
    assert eml(empty).text.endswith("\n\nThe bridge in HTML.")
    source = mail(f"<head><style>b {{}}</style></head>\n<p>The <b>bridge</b>. {'Words ' * 300}")
    source.add_alternative("<p>The <b>bridge</b> in HTML.</p>", subtype="html")
    assert eml(source).text.endswith("\n\nThe bridge in HTML.")


def test_control_characters_of_names_reach_neither_notes_nor_places() -> None:
    """A terminal would obey them."""
    made = mail()
    for data in (b"\x00\x01", b"A plan."):
        made.add_attachment(data, maintype="text", subtype="plain", filename="NAME.txt")
    hostile = made.as_bytes().replace(b"NAME", "\x1b[2J\x1b]0;title\x07\u202e".encode())
    document = read_bytes(hostile, "a.eml")
    assert document.notes == ("attachments that were not read: [2J ]0;title .txt",)
    place = document.place(len(document.text) - 1)
    assert place == "mail of 2026-03-01, attachment [2J ]0;title .txt"


def test_attachments_are_sections_with_places() -> None:
    made = mail()
    made.add_attachment(b"Name,Price\nBolt,1\n", maintype="text", subtype="csv", filename="p.csv")
    made.add_attachment(b"\x89PNG....", maintype="image", subtype="png", filename="photo.png")
    made.add_attachment(mail("An older mail.\n", "Old"))
    document = eml(made)
    row = document.text.index("Name: Bolt")
    assert document.place(row) == "mail of 2026-03-01, attachment p.csv, row 2"
    assert document.notes == ("attachments that were not read: photo.png",)
    assert "Attachment: photo.png" in document.text
    older = document.text.index("An older mail.")
    assert document.place(older) == "mail of 2026-03-01"
    assert document.heading(older) == "Old"


@pytest.mark.parametrize(
    ("head", "inner"),
    [
        ("", "Nobody said when.\nSecond line: here."),
        ("", "X-Folder: old\n\nNobody said when.\nSecond line: here."),
        ("Content-Transfer-Encoding: base64\n", "Tm9ib2R5IHNhaWQgd2hlbi4KU2Vjb25kIGxpbmU6IGhlcmUu"),
    ],
)
def test_an_attached_mail_may_have_no_headers(head: str, inner: str) -> None:
    lines = [
        "Subject: Outer",
        "Content-Type: multipart/mixed; boundary=B",
        f"\n--B\nContent-Type: text/plain\n\nSee below.\n--B\nContent-Type: message/rfc822\n{head}",
        f"{inner}\n--B--",
    ]
    document = read_bytes("\n".join(lines).encode(), "a.eml")
    assert document.notes == ()
    assert document.text.endswith("No subject\n\nNobody said when.\nSecond line: here.")


def test_a_page_of_an_attachment_is_no_page_of_the_mail() -> None:
    """Nobody is sent to page 3 of a mail."""
    made, plan = mail(), pdf_of(["The plan has a page."])
    made.add_attachment(plan, maintype="application", subtype="pdf", filename="plan.pdf")
    document = eml(made)
    at = document.text.index("The plan")
    assert document.place(at) == "mail of 2026-03-01, attachment plan.pdf, page 1"
    assert document.page(at) is None


def test_a_mailbox_holds_its_mails_in_order() -> None:
    one, two = mail("First.\n\n>From here on.\n", "One"), mail("Second.\n", "Two")
    del two["Date"]
    border = b"From anna@example.org Sun Mar  1 10:00:00 2026\n"
    data = border + one.as_bytes() + b"\n" + border + two.as_bytes()
    for name in ("box.mbox", "Inbox"):
        document = read_bytes(data, name)
        assert "\nFrom here on." in document.text
        assert document.place(document.text.index("First")) == "mail of 2026-03-01"
        assert document.place(document.text.index("Second")) == "mail of unknown date"
        assert [m.value for m in document.marks if m.kind == "heading"] == ["One", "Two"]


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Type: text/plain; charset=no-such",
        b"Content-Type: text/plain; charset=iso-8859-1",
        b"Content-Type: =?x?",
        b'From: <\nTo: @@,;:"\\\nDate: never',
        b"Content-Type: multipart/mixed; boundary=other",
        b"Date: 10:0\x07\xd2\x8b\x01\x80\xbf\x00\x89\xfb\x9c",
    ],
)
def test_malformed_headers_cost_no_text(header: bytes) -> None:
    data = b"Subject: S\n" + header + b"\n\n" + FRENCH.encode("latin-1")
    document = read_bytes(data, "a.eml")
    assert document.text.startswith("S")
    assert FRENCH in document.text
    document.text.encode("utf-8")  # it can be stored


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_named(tail: bytes) -> None:
    for head in (b"Subject: S\nContent-Type: ", b"From: ", b"From a@b Mon Mar  2 10:00:00 2026\n"):
        for name in ("a.eml", "a.mbox"):
            try:
                document = read_bytes(head + tail, name)
            except UnreadableFile:
                continue
            assert all(mark.offset <= len(document.text) for mark in document.marks)


def test_parts_inside_parts_are_refused() -> None:
    """The parser of the standard library takes minutes for them."""
    parts = "".join(
        f"--b{n}\nContent-Type: multipart/mixed; boundary=b{n + 1}\n\n" for n in range(5000)
    )
    data = f"Subject: s\nContent-Type: multipart/mixed; boundary=b0\n\n{parts}".encode()
    with pytest.raises(UnreadableFile):
        read_bytes(data, "a.eml")


def test_outlook_messages() -> None:
    sent = datetime(2026, 3, 1, 9, tzinfo=UTC)
    people = ("Anna", "anna@example.org"), ("Bob", "bob@example.org")
    files = {"plan.txt": b"The plan is secret.", "long.txt": b"word " * 2000, "p.png": b"\x89PNG"}
    document = read_bytes(
        msg("The bridge", "It opens in May.\r\nBye", *people, sent, files), "a.msg"
    )
    assert document.text.startswith(
        "The bridge\n\nFrom: Anna <anna@example.org> | To: Bob <bob@example.org> | "
        "Date: 2026-03-01 09:00\n\nIt opens in May.\nBye\n\nAttachment: plan.txt"
    )
    at = document.text.index("secret")
    assert document.place(at) == "mail of 2026-03-01, attachment plan.txt"
    assert document.notes == ("attachments that were not read: p.png",)
    page = read_bytes(msg("S", "", *people, sent, {}, page=b"<p>In <b>HTML</b>.</p>"), "a.msg")
    assert page.text.endswith("\n\nIn HTML.")


def test_a_message_inside_of_an_outlook_message() -> None:
    """Its texts are in a code page, and it has packed RTF alone."""
    rest = rb" Wir bauen im Mai.}"
    packed = b"\1\0\4" + rest[:7] + b"".join(b"\0" + rest[n : n + 8] for n in (7, 15))
    inner = {
        "__properties_version1.0": bytes(24) + struct.pack("<HHIiI", 3, 0x3FFD, 6, 950, 0),
        "__substg1.0_0037001E": "測試".encode("cp950"),
        "__substg1.0_10090102": struct.pack("<II4sI", 0, 0, b"LZFu", 0) + packed,
    }
    attached = {"__properties_version1.0": bytes(8), "__substg1.0_3701000D": inner}
    people = ("Anna", "/O=HOUSE"), ("Bob", "bob@example.org"), datetime(2026, 3, 1, tzinfo=UTC)
    more = {"__attach_version1.0_#00000000": attached}
    document = read_bytes(msg("S", "See.", *people, {}, more=more), "a.msg")
    assert document.text.split("\n\n")[1].startswith("From: Anna | To: Bob <bob@example.org>")
    assert document.text.endswith("See.\n\nAttachment: 測試\n\n測試\n\nWir bauen im Mai.")
    assert document.notes == ()


def test_damaged_outlook_messages_are_named() -> None:
    sent = datetime(2026, 3, 1, 9, tzinfo=UTC)
    data = msg("S", "Body. " * 900, ("A", "a@b"), ("B", "b@c"), sent, {"x.txt": b"x" * 5000})
    for cut in range(512, len(data), 1024):
        with suppress(UnreadableFile):
            assert read_bytes(data[:cut], "a.msg").text
