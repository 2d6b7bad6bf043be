"""The real files: is each question's sentence returned within 1,600 characters, on its page?

    python bench/files.py [--shared ../shared/data] [--model FOLDER] [--budget 1600c]

The table of questions is read from the files' README. Each question is asked of its own file.
"""

from __future__ import annotations

import argparse
import re
import unicodedata
from pathlib import Path

import milepost


def bare(text: str) -> str:
    """Without white space and hyphens, ligatures undone: what a reader would call the same."""
    return re.sub(r"[\s\-\u00ad\u2010\u2011]+", "", unicodedata.normalize("NFKC", text))


def questions(readme: Path) -> list[tuple[str, str, str, int | None]]:
    """File, question, sentence and page of every row of the second table."""
    part = readme.read_text(encoding="utf-8").split("## One question each")[1]
    found = []
    for line in part.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 4 and cells[0] not in ("file", "---"):
            page = re.match(r"\d+", cells[3].strip("| "))
            question = re.sub(r" \((?:a table|text in)[^)]*\)$", "", cells[1])
            found.append((cells[0], question, cells[2], int(page[0]) if page else None))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--model", default=None)
    parser.add_argument("--budget", default="1600c")
    options = parser.parse_args()
    folder = options.shared / "files"
    asked = questions(folder / "README.md")
    model = milepost.load(options.model)
    right = first = pages = paged = 0
    for file, question, sentence, page in asked:
        index = milepost.open(model=model)
        report = index.add(folder / file)
        if report.failed:
            print(f"FAILED {file}: {report.failed}")
            continue
        passages = index.search(question, k=None, budget=options.budget)
        wanted = bare(sentence)
        place = next((n for n, p in enumerate(passages) if wanted in bare(p.text)), None)
        right += place is not None
        first += place == 0
        told = "-"
        if place is not None and page is not None:
            document = index.document(passages[place].document)
            text = passages[place].text
            at = next(i for i in range(len(text), -1, -1) if wanted in bare(text[i:]))
            found = document.page(passages[place].start + at)
            told = f"page {found}" + ("" if found == page else f", should be {page}")
            paged += 1
            pages += found == page
        rank = f"passage {place + 1}" if place is not None else "MISSED"
        print(f"{rank:<11} {told:<22} {file}: {question}")
        if place is None:
            for passage in passages[:2]:
                print(f"            instead: {passage.text[:110]!r}")
    print(
        f"\n{len(asked)} questions: sentence returned within {options.budget} {right}, "
        f"in the first passage {first}, page right {pages} of {paged}"
    )


if __name__ == "__main__":
    main()
