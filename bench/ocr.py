"""Text recognition on ten scanned pages: characters right, questions answered, seconds a page.

    python bench/ocr.py [--data FOLDER] [--json FILE]

One page is a real scan; its true text is not known. Nine are pages of real PDFs drawn as grey
pictures at 200 dots an inch, which the file then holds alone; their true text is what Milepost
reads from the PDF itself. Characters right: 1 - edit distance / true length, with runs of white
space as one space, and without white space. Questions are asked of all ten pages at once; one is
answered if the passages of 1,600 characters hold the sentence (90 % of its letters and digits, in
order).
"""

from __future__ import annotations

import argparse
import io
import json
import re
import tempfile
import time
import unicodedata
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pypdfium2

import milepost
from milepost.text import read_bytes
from milepost.text.recognition import recognise
from milepost.types import ReadOptions

DPI = 200
BUDGET = "1600c"

PAGES = {
    ("pdf-scan-no-text.pdf", 1): (
        ("Who sat in the kitchen door?", "Jim, was setting in the kitchen door"),
        ("What did he say after he listened?", "Then he says, Who dah?"),
        ("What began to itch?", "my ear begun to itch; and next my back"),
    ),
    ("pdf-report-single-column.pdf", 11): (
        ("What is Level 1A for?", "Level 1A is for the use of automated vulnerability scanning"),
        ("What is Level 1B for?", "Level 1B is for the use of automated source code scanning"),
        (
            "May the approaches be combined for a Level 1 rating?",
            "may perform a combination of these approaches to achieve a complete Level 1 rating",
        ),
    ),
    ("pdf-paper-two-column.pdf", 2): (
        (
            "Which project wants a decentralised system of names?",
            "the Namecoin project which aims to provide a decentralised name-resolution system",
        ),
        (
            "Who did early work on smart contracts?",
            "Early work on smart contracts has been done by Szabo [1997] and Miller [1997]",
        ),
        (
            "What kind of machine is Ethereum as a whole?",
            "Ethereum, taken as a whole, can be viewed as a transaction-based state machine",
        ),
    ),
    ("pdf-truncated-recoverable.pdf", 4): (
        (
            "How does an attacker find out internal infrastructure?",
            "Scan internal network to determine internal infrastructure which you may access",
        ),
        (
            "Where is exploiting file descriptors useful?",
            "Useful in clouds, shared hostings and others large infrastructures",
        ),
        (
            "Which file descriptors can be accessed after exec()?",
            "you may access only FDs without O_CLOEXEC flag",
        ),
    ),
    ("pdf-encrypted-opens-without-password.pdf", 2): (
        (
            "Which prohibitions does Title I create?",
            "one on circumvention of technological measures used by copyright owners",
        ),
        (
            "Which section decides whether works from other countries are protected?",
            "Section 104 of the Copyright Act establishes the conditions of eligibility",
        ),
        (
            "When was the obligation to restore copyright implemented?",
            "In 1995 this obligation was implemented in the Uruguay Round Agreements Act",
        ),
    ),
    ("pdf-form-tax.pdf", 3): (
        (
            "Which form has to be attached for a casualty or theft loss?",
            "Casualty or theft loss(es). Attach Form 4684",
        ),
        (
            "What if I received a benefit in return for a gift?",
            "If you made a gift and received a benefit in return, see page 26",
        ),
        (
            "Where do union dues and job travel go?",
            "Unreimbursed employee expenses-job travel, union dues, job education, etc",
        ),
    ),
    ("pdf-three-column-footnotes.pdf", 2): (
        (
            "How many people died in the accident near Jakarta?",
            "in Jakarta, Indonesia, resulting in 189 fatalities",
        ),
        (
            "What is an angle of attack?",
            "is the angle at which the airplane wing meets the oncoming air",
        ),
        (
            "How many flight control computers do 737 MAX airplanes have?",
            "includes two flight control computers, FCC A and FCC B",
        ),
    ),
    ("pdf-word-export.pdf", 3): (
        (
            "Which command line shells are named?",
            "A programmatic shell (e.g. sh, csh, ksh, bash)",
        ),
        (
            "Why must text be manipulated downstream?",
            "the downstream elements must use text manipulation utilities",
        ),
        (
            "Why do administrators compose solutions themselves?",
            "Most solutions are home brewed and composed out of existing commands",
        ),
    ),
    ("pdf-long-many-bookmarks.pdf", 9): (
        (
            "Where can someone report a missing credit?",
            "please log a ticket at GitHub to be recognized in future 5.x updates",
        ),
        (
            "When was the ASVS launched?",
            "Originally launched in 2008 through a global community collaboration",
        ),
        (
            "Who wrote many of the original verification items?",
            "Andrew van der Stock, Mike Boberski, Jeff Williams, and Dave Wichers",
        ),
    ),
    ("pdf-slides.pdf", 8): (
        (
            "What does verification need access to?",
            "Verifiable with full access to the application components and documentation",
        ),
        ("Is the standard a testing guide?", "Not a testing guide"),
        (
            "What has to be clear about the risk?",
            "how it decrease the likelihood or impact component of risk",
        ),
    ),
}
"""File and page to questions with the sentence, or part of one, that answers."""

_FORMS = {"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "‐": "-"}


def single(path: Path, page: int) -> bytes:
    """One page of a PDF, as it is."""
    out = io.BytesIO()
    with pypdfium2.PdfDocument(path) as pdf, pypdfium2.PdfDocument.new() as taken:
        taken.import_pages(pdf, [page - 1])
        taken.save(out)
    return out.getvalue()


def scan(pdf: bytes) -> bytes:
    """The first page as a picture in a PDF."""
    out = io.BytesIO()
    with pypdfium2.PdfDocument(pdf) as document:
        picture = document[0].render(scale=DPI / 72).to_pil().convert("L")
    picture.save(out, "PDF", resolution=DPI)
    return out.getvalue()


def plain(text: str) -> str:
    """The text in one form of letters, quotation marks and white space."""
    one = unicodedata.normalize("NFKC", "".join(_FORMS.get(char, char) for char in text))
    return re.sub(r"\s+", " ", one).strip()


def distance(a: str, b: str) -> int:
    """Edit distance, a row of the table at a time."""
    codes = np.array([ord(char) for char in b], dtype=np.int64)
    steps = np.arange(len(b) + 1)
    row = steps.copy()
    for char in a:
        new = np.empty_like(row)
        new[0] = row[0] + 1
        new[1:] = np.minimum(row[1:] + 1, row[:-1] + (codes != ord(char)))
        row = np.minimum.accumulate(new - steps) + steps
    return int(row[-1])


def right(true: str, found: str) -> float:
    """The share of characters that are right."""
    return 1 - distance(true, found) / len(true)


def holds(passages: str, sentence: str) -> bool:
    """Whether passages hold nearly all letters and digits of a sentence, in order."""
    wanted, given = (
        "".join(char for char in plain(text).lower() if char.isalnum())
        for text in (sentence, passages)
    )
    blocks = SequenceMatcher(None, given, wanted, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks if block.size > 4) >= 0.9 * len(wanted)


def answered(folder: Path, ocr: str) -> dict[str, int]:
    """Questions answered from the files of a folder, by file."""
    with milepost.open() as index:
        index.add(folder, ocr=ocr)
        if not index.documents():
            return {}
        counts = {}
        for (name, page), questions in PAGES.items():
            passages = [
                " ".join(found.text for found in index.search(question, budget=BUDGET))
                for question, _ in questions
            ]
            counts[f"{name} {page}"] = sum(
                holds(text, sentence)
                for text, (_, sentence) in zip(passages, questions, strict=True)
            )
        return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data/files"))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    begun = time.perf_counter()
    recognise(np.full((200, 400), 255, dtype=np.uint8))
    print(f"loading the models: {time.perf_counter() - begun:.1f} s\n")
    rows = []
    with tempfile.TemporaryDirectory() as made:
        scans, originals = Path(made, "scans"), Path(made, "originals")
        scans.mkdir()
        originals.mkdir()
        for name, page in PAGES:
            data = single(arguments.data / name, page)
            real = name == "pdf-scan-no-text.pdf"
            picture = data if real else scan(data)
            (scans / f"{page}-{name}").write_bytes(picture)
            if not real:
                (originals / f"{page}-{name}").write_bytes(data)
            clock, worked = time.perf_counter(), time.process_time()
            found = plain(read_bytes(picture, name, options=ReadOptions(ocr="auto")).text)
            row = {
                "page": f"{name} {page}",
                "seconds": time.perf_counter() - clock,
                "cpu": time.process_time() - worked,
                "characters": len(found),
            }
            if not real:
                true = plain(read_bytes(data, name).text)
                row["characters"] = len(true)
                row["right"] = right(true, found)
                row["right_dense"] = right(true.replace(" ", ""), found.replace(" ", ""))
            rows.append(row)
        before = answered(scans, "never")
        after = answered(scans, "auto")
        ceiling = answered(originals, "never")
    print("| page | characters | right | without white space | answered | printed text | s |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        row["before"] = before.get(row["page"], 0)
        row["answered"] = after[row["page"]]
        row["ceiling"] = ceiling[row["page"]] if "right" in row else None
        shares = [
            f"{100 * row[key]:.1f} %" if key in row else "-" for key in ("right", "right_dense")
        ]
        print(
            f"| {row['page']} | {row['characters']:,} | {shares[0]} | {shares[1]} "
            f"| {row['answered']} | {'-' if row['ceiling'] is None else row['ceiling']} "
            f"| {row['seconds']:.1f} |"
        )
    known = [row for row in rows if "right" in row]
    count = sum(row["characters"] for row in known)
    shares = [
        sum(row[key] * row["characters"] for row in known) / count
        for key in ("right", "right_dense")
    ]
    asked = sum(map(len, PAGES.values()))
    without, answers, printed = (
        sum(row[key] or 0 for row in rows) for key in ("before", "answered", "ceiling")
    )
    seconds, cpu = (np.mean([row[key] for row in rows]) for key in ("seconds", "cpu"))
    print(
        f"\nall: {100 * shares[0]:.1f} % of {count:,} characters right, {100 * shares[1]:.1f} % "
        f"without white space; of {asked} questions {without} answered without recognition, "
        f"{answers} with it; from the printed text of nine pages {printed} of {asked - 3}; "
        f"{seconds:.1f} s a page, {cpu:.1f} s of the CPU"
    )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
