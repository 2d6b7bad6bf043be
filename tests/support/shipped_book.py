"""The book that is shipped as an example."""

from pathlib import Path

BOOK = Path(__file__).resolve().parents[2] / "examples" / "origin-of-species.txt"


def hive_bees(after: int = 30_000) -> str:
    """The part around the cells of the hive-bee, so that a test need not wait."""
    text = BOOK.read_text(encoding="utf-8")
    middle = text.index("CELL-MAKING INSTINCT OF THE HIVE-BEE")
    return text[middle - 20_000 : middle + after]
