"""Ask the questions of ``data/table-questions``, about rows of tables in five formats.

    python tools/table_questions.py [--data ../shared/data] [--no-rerank] [--misses]

The tables are those of ``claims/tabfact.jsonl.gz``, from Wikipedia. They are written into a file of
each format, indexed beside two real files, and the row of each question is looked for within 1,600
characters.
"""

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import milepost
from milepost_eval.tasks.reading import objects

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from support.office_writer import opendocument, word, xlsx  # noqa: E402

QUESTIONS = ROOT / "data" / "table-questions" / "questions.jsonl.gz"
FORMATS = ("docx", "odt", "html", "md", "xlsx")
REAL = ("html-wikipedia-table.html", "md-tutorial.md")
TABLES = 20
"""Tables of a file."""

ROWS = 10
"""Rows of a table at least: its header is not beside most of them."""

BUDGET = 1600


class Table(NamedTuple):
    """A table: its name, caption, columns and rows."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(data: Path) -> list[Table]:
    """The tables whose rows all have the same columns."""
    found: dict[str, Table] = {}
    for row in objects(data / "claims" / "tabfact.jsonl.gz"):
        name = row["id"].rsplit("-", 1)[0]
        if name in found:
            continue
        title, *rows = row["evidence"]
        pairs = [[cell.partition(": ")[::2] for cell in each.split("; ")] for each in rows]
        columns = tuple(key for key, _ in pairs[0])
        same = all(tuple(key for key, _ in each) == columns for each in pairs)
        if same and len(rows) >= ROWS and 1 < len(set(columns)) == len(columns):
            cells = tuple(tuple(value for _, value in each) for each in pairs)
            found[name] = Table(name, title.removeprefix("Table: "), columns, cells)
    return list(found.values())


def chosen(data: Path) -> dict[str, list[Table]]:
    """The tables of each format's file, the longest ones of the collection."""
    longest = sorted(tables(data), key=lambda each: (-len(each.rows), each.name))
    longest = longest[: TABLES * len(FORMATS)]
    return {kind: longest[number :: len(FORMATS)] for number, kind in enumerate(FORMATS)}


def written(kind: str, held: Sequence[Table]) -> bytes:
    """A file with the tables, each under its caption."""
    lines = [(each.caption, [each.columns, *each.rows]) for each in held]
    if kind == "xlsx":
        return xlsx(
            {f"{n} {title[:20]}": [[title], *rows] for n, (title, rows) in enumerate(lines)}
        )
    if kind == "md":
        return "\n\n".join(
            f"Table {n}: {title}\n\n{_bars(rows[0])}\n{_bars(['---'] * len(rows[0]))}\n"
            + "\n".join(map(_bars, rows[1:]))
            for n, (title, rows) in enumerate(lines, 1)
        ).encode()
    if kind == "html":
        return "".join(
            f"<table><caption>{escape(title)}</caption>"
            + _rows(rows[:1], "<tr>{}</tr>", "<th>{}</th>")
            + _rows(rows[1:], "<tr>{}</tr>", "<td>{}</td>")
            + "</table>"
            for title, rows in lines
        ).encode()
    if kind == "docx":
        cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
        return word(
            "".join(
                f"<w:p><w:r><w:t>Table {n}: {escape(title)}</w:t></w:r></w:p><w:tbl>"
                f"{_rows(rows, '<w:tr>{}</w:tr>', cell)}</w:tbl>"
                for n, (title, rows) in enumerate(lines, 1)
            )
        )
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    row = "<table:table-row>{}</table:table-row>"
    return opendocument(
        "text",
        "".join(
            f"<text:p>Table {n}: {escape(title)}</text:p><table:table>"
            f"{_rows(rows, row, cell)}</table:table>"
            for n, (title, rows) in enumerate(lines, 1)
        ),
    )


def _bars(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _rows(rows: Sequence[Sequence[str]], row: str, cell: str) -> str:
    return "".join(row.format("".join(cell.format(escape(c)) for c in each)) for each in rows)


def ask(data: Path, *, misses: bool, rerank: bool) -> None:
    """Index the files and print the share of the questions whose row is found."""
    asked = list(objects(QUESTIONS))
    files = chosen(data)
    known = {table.name: table for held in files.values() for table in held}
    with tempfile.TemporaryDirectory() as folder:
        for kind, held in files.items():
            (Path(folder) / f"tables.{kind}").write_bytes(written(kind, held))
        with milepost.open(Path(folder) / "index.milepost") as index:
            made = sorted(Path(folder).glob("tables.*"))
            done = index.add([*made, *(data / "files" / name for name in REAL)])
            print(f"{done.sentences:,} sentences, {done.tokens:,} tokens, {done.seconds:.1f} s")
            seen: dict[str, list[tuple[bool, bool, bool]]] = defaultdict(list)
            for row in asked:
                table = known[row["table"]]
                cells, column = table.rows[row["row"]], table.columns[row["column"]]
                key, value = cells[row["key"]], cells[row["column"]]
                passages = index.search(row["question"], budget=BUDGET, rerank=rerank)
                lines = [
                    (number, line.split("|"))
                    for number, each in enumerate(passages)
                    if each.document.endswith("." + row["format"])
                    for line in each.text.split("\n")
                ]
                at = [n for n, line in lines if _has(line, key) and _has(line, value)]
                texts = [str(getattr(passages[n], "table", None) or passages[n].text) for n in at]
                shown = any(column in text for text in texts)
                seen[row["format"]].append((bool(at), 0 in at, shown))
                if misses and not at:
                    print(row["question"], "|", value, "|", passages[0].text[:200])
    every = [each for found in seen.values() for each in found]
    for kind, found in [*seen.items(), ("all", every)]:
        parts = [sum(column) / len(found) for column in zip(*found, strict=True)]
        print(kind, len(found), " ".join(f"{part:.3f}" for part in parts))


def _has(cells: Sequence[str], value: str) -> bool:
    return any(cell.strip() == value or cell.strip().endswith(f": {value}") for cell in cells)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--no-rerank", action="store_true")
    given = parser.parse_args()
    ask(given.data, misses=given.misses, rerank=not given.no_rerank)


if __name__ == "__main__":
    main()
