"""Small documents for the tests of the page, with what is hard to show right."""

from support.pdf_writer import PdfPage, write_pdf
from support.shipped_book import BOOK

NOTES = """# Ants 🐜🐜

Ants follow trails of scent 😀👩‍🚀 to find food. A trail of scent fades within an hour. Rain
washes it away at once.

# Bees

A honey bee makes wax in eight glands under its abdomen.
"""
"""Emoji stand before the sentences that are asked for: each is more than one unit of UTF-16."""

SCRIPT = "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>"
EVIL_NAME = "<img src=x onerror=window.hacked=1>.md"
EVIL = f"# {SCRIPT}\n\nThe password of the vault {SCRIPT} is written on the back of the painting.\n"

ACROSS = (
    "The committee of the harbour decided in its meeting of March that every ship",
    "which carries timber must unload at the northern quay before sunset.",
)
"""A sentence that begins on one page and ends on the next."""

MEADOW = """They nest on the ground in meadows. Farmers mow the grass in July. Foxes hunt there
for mice. The brook floods the lower field each spring. Cowslips flower along the fence. A gate of
oak leads to the mill. The miller keeps two horses and a cart.
"""
LARKS = f"Larks sing at dawn, before other birds. {MEADOW}"
OWLS = f"Owls call at midnight in the forest. {MEADOW}"
HERONS = f"Herons fish in the shallows of the brook. {MEADOW}"


def book() -> str:
    """The middle of a book, long enough that a page must not hold all of it."""
    return BOOK.read_text(encoding="utf-8")[400_000:800_000]


def harbour() -> bytes:
    """Three pages; one sentence goes from the first to the second."""
    first = PdfPage()
    first.text(72, 720, "Rules of the harbour", 18, bold=True)
    first.lines(
        72, 690, ["A pilot boards each vessel two miles off the coast.", "Fees are due in cash."]
    )
    filler = [f"Rule {number} is about lamp number {number} on the mole." for number in range(30)]
    first.lines(72, 640, filler, step=18)
    first.text(72, 84, ACROSS[0])
    second = PdfPage()
    second.text(72, 720, ACROSS[1])
    second.text(72, 690, "Coal is unloaded at the southern quay.")
    third = PdfPage()
    third.text(72, 720, "Anchoring in the channel is forbidden in winter.")
    return write_pdf([first, second, third], [("Rules of the harbour", 0)])
