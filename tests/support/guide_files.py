"""The files that the guides of ``docs/`` name, small, so that their commands can be run."""

from pathlib import Path

from support.files import write_files
from support.pdf_writer import pdf_of
from support.shipped_book import hive_bees

REPORT = (
    [
        "Annual report",
        "The auditors criticised that invoices were paid twice.",
        "The fee was low for years. In 1998 the fee was raised to five.",
        "Few complained.",
    ],
    [
        "The study was paid for by the Department of Health.",
        "Methods: the samples were frozen and read by two methods.",
        "Limits: the methods have limits, since only forty samples were used.",
    ],
    ["The contract was signed by Ada Lovelace in London."],
)
CONTRACT = [
    "This contract was signed by Ada Lovelace.",
    "Either party may terminate with 30 days' notice.",
    "A fee of five pounds is due each month.",
    "It was agreed that the roof will be repaired in spring.",
]
NOTES = """# Bees

The hive bee lives in hollow trees. Worker bees sleep for a few hours each night.

# Pigeons

Natural selection is not tested on pigeons alone. Breeders keep them in lofts.
"""
TERMS = (
    "<h1>Terms of membership</h1><h2>Fees</h2><p>There is a fee: members pay a membership fee of "
    "five pounds a month.</p><h2>Leaving</h2><p>Members may leave at any time, by post.</p>"
)


def book(characters: int = 8_000) -> str:
    """The part of the shipped book about the cells of the hive-bee."""
    tested = "How natural selection is tested: by counting which seedlings live.\n\n"
    return tested + hive_bees()[20_000 : 20_000 + characters]


def write_guide_files(folder: Path, home: Path) -> None:
    """Write them into the folder in which commands run, and into the user's own folder."""
    report = pdf_of(*REPORT, step=24)
    files: dict[str, str | bytes] = {
        "report.pdf": report,
        "contracts/lease.pdf": pdf_of(CONTRACT, step=24),
        "reports/annual.pdf": report,
        "papers/bees.md": NOTES,
        "papers/report.pdf": report,
        "notes/bees.md": NOTES,
        "notes.md": NOTES,
        "terms.html": TERMS,
        "book.txt": book(),
        "examples/origin-of-species.txt": book(4_000),
        "questions.txt": "Who paid for the study?\nWhere do bees live?\n",
        "quotation.txt": "CELL-MAKING INSTINCT OF THE HIVE-BEE",
    }
    write_files(folder, files)
    own = ("notes/bees.md", "papers/report.pdf", "reports/annual.pdf")
    write_files(home, {name: files[name] for name in own})
