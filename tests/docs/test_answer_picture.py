"""The picture of the README shows what the program prints."""

from __future__ import annotations

import html
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from milepost.engine import shipped_models

make = pytest.importorskip("make_answer_svg", reason="needs the checkout")

BOOK = make.ROOT / "examples" / "origin-of-species.txt"
PRINTED = (
    "\x1b[1m1  \x1b[0m\x1b]8;id=7;file:///home/me/a.txt\x1b\\a.txt\x1b]8;;\x1b\\ · 63%\n"
    "   \x1b[38;5;196m█\x1b[0m\n"
    "   \x1b[30;48;5;222mBees & wax <make> cells.\x1b[0m\n"
)


def lines(svg: str) -> list[str]:
    """Give the text of a picture, one string a line of the screen that is not empty."""
    rows: dict[float, str] = {}
    for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        if "textLength" in node.attrib:
            row = float(node.attrib["y"])
            blank = " " * (round(float(node.attrib["x"]) / 12.2) - len(rows.get(row, "")))
            rows[row] = rows.get(row, "") + blank + "".join(node.itertext())
    shown = (rows[row].replace("\xa0", " ").rstrip() for row in sorted(rows))
    return list(filter(None, shown))


def passages(shown: list[str]) -> list[str]:
    """Give the passages below the heads, lines joined."""
    found: list[list[str]] = []
    for line in shown:
        if re.match(r"\d  ", line):
            found.append([])
        elif found and re.search(r"[a-z]", line):
            found[-1].append(line.strip())
    return [" ".join(part) for part in found]


def test_every_character_is_drawn_at_its_place():
    """Command first, then what was printed; markup of XML is text like any other."""
    assert lines(make.picture("milepost search x", PRINTED)) == [
        "$ milepost search x",
        "1  a.txt · 63%",
        "   █",
        "   Bees & wax <make> cells.",
    ]


def test_a_picture_holds_nothing_of_the_machine_and_loads_nothing():
    """No path behind a link, no font from a server; the same input gives the same bytes."""
    svg = make.picture("milepost search x", PRINTED)
    assert svg == make.picture("milepost search x", PRINTED.replace("id=7", "id=8"))
    assert "home/me" not in svg
    assert "url(" not in re.sub(r"url\(#answer-[\w-]+\)", "", svg)
    assert "@font-face" not in svg


def test_hits_are_marked():
    """The colours of the terminal are those of the picture."""
    svg = make.picture("milepost search x", PRINTED)
    assert '<rect fill="#ffd787"' in svg
    assert "{ fill: #ff0000 }" in svg


def test_the_picture_of_the_readme_shows_sentences_of_the_book():
    """Its passages stand in the book, word for word; its size is that of a small image."""
    svg = make.TARGET.read_text(encoding="utf-8")
    shown = lines(svg)
    assert " ".join(shown[:2]) == f"$ {make.COMMAND}"
    assert [line[:1] for line in shown if re.search(r" · \d+%$", line)] == ["1", "2"]
    book = " ".join(BOOK.read_text(encoding="utf-8").split())
    assert len(passages(shown)) == 2
    for passage in passages(shown):
        assert passage in book
    assert len(svg.encode()) < 60_000
    readme = (make.ROOT / "README.md").read_text(encoding="utf-8")
    assert "](docs/answer.svg)" in readme
    (command,) = (line for line in readme.splitlines() if "venv/bin/milepost search" in line)
    assert make.COMMAND.removesuffix(" -k 2") in html.unescape(command)


def test_a_real_answer_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The program's own output, coloured and wrapped: the passage and the strip are in it."""
    if not shipped_models():
        pytest.skip("no model is shipped here")
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "cache"))
    text = BOOK.read_text(encoding="utf-8")
    middle = text.index("CELL-MAKING INSTINCT OF THE HIVE-BEE")
    (tmp_path / "bees.txt").write_text(text[middle : middle + 4_000], encoding="utf-8")
    command = 'milepost search "How do bees make their cells?" bees.txt -k 1'
    svg = make.picture(command, make.answer(command, tmp_path))
    shown = lines(svg)
    assert shown[0] == f"$ {command}"
    assert re.match(r"1  bees\.txt · .*\d+%$", shown[1])
    assert re.fullmatch(r"   [▁▂▃▄▅▆▇█]{64}", shown[2])
    assert passages(shown)[0] in " ".join(text.split())
    assert max(map(len, shown)) <= make.COLUMNS
    assert str(tmp_path) not in svg


def test_a_command_that_fails_makes_no_picture(tmp_path: Path):
    """The exit code is named."""
    with pytest.raises(RuntimeError, match="exit code 2"):
        make.answer("milepost search bees missing.txt", tmp_path)
