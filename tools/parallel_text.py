"""Make parallel text for training from Debian's packages of LibreOffice's help (MPL-2.0).

    apt-get download libreoffice-help-de libreoffice-help-ja …
    python tools/parallel_text.py libreoffice-help-*.deb --out scratch/help

A paragraph of the help has the same id in every language, so translations are aligned exactly.
Written are ``documents.jsonl`` (pages joined to some 6,000 characters), and ``questions.jsonl``: a
paragraph in one language, and its span in a document of another. The folder is a task for
``[data] tasks`` of ``milepost train``. Nothing of it is kept in the repository.
"""

import argparse
import io
import random
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from question_task import put

LICENCE = "MPL-2.0"
ENGLISH = "en-us"
_LONG = 6000
"""Characters of a document, about."""
_BLOCKS = "h1[id], h2[id], h3[id], h4[id], p[id], li[id]"


def pages(package: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Names of a package's pages, and of each the paragraphs: id and text."""
    command = ["dpkg", "--fsys-tarfile", package]
    data = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            _, text, name = member.name.partition("/text/")
            file = tar.extractfile(member) if text and name.endswith(".html") else None
            if file is not None:
                yield name, paragraphs(file.read().decode())


def paragraphs(html: str) -> list[tuple[str, str]]:
    """Id and text of each paragraph and heading of a page that has letters."""
    area = LexborHTMLParser(html).css_first("#DisplayArea")
    found: dict[str, str] = {}
    for node in area.css(_BLOCKS) if area else ():
        text = " ".join(node.text().split())
        name = node.attributes.get("id")
        if name and name not in found and any(map(str.isalpha, text)):
            found[name] = text
    return list(found.items())


def documents(
    language: str, read: Sequence[tuple[str, list[tuple[str, str]]]]
) -> Iterator[tuple[dict[str, object], dict[tuple[str, str], tuple[int, int]]]]:
    """Pages joined in the order of their names, and where each paragraph stands."""
    text, places, first = "", {}, ""
    for name, content in read:
        first = first or name
        for number, paragraph in content:
            text += "\n\n" if text else ""
            places[name, number] = (len(text), len(text) + len(paragraph))
            text += paragraph
        if len(text) >= _LONG:
            yield _document(language, first, text), places
            text, places, first = "", {}, ""
    if len(text) >= _LONG // 4:
        yield _document(language, first, text), places


def _document(language: str, name: str, text: str) -> dict[str, object]:
    return {
        "id": f"help-{language}-{name.removesuffix('.html')}",
        "title": text.partition("\n")[0],
        "text": text,
        "meta": {"language": language, "licence": LICENCE, "source": "LibreOffice help"},
    }


def translated(
    key: tuple[str, str], language: str, words: dict[str, dict[tuple[str, str], str]]
) -> bool:
    """Whether the paragraph is not the English one, left as it was."""
    return language == ENGLISH or words[language].get(key) != words.get(ENGLISH, {}).get(key)


def questions(
    language: str,
    places: dict[tuple[str, str], tuple[str, int, int]],
    words: dict[str, dict[tuple[str, str], str]],
    draw: random.Random,
) -> Iterator[dict[str, object]]:
    """A paragraph in another language for each paragraph of one that stands once, in any order."""
    times = Counter(words[language].values())
    able = [
        key
        for key in places
        if times[words[language][key]] == 1 and translated(key, language, words)
    ]
    draw.shuffle(able)
    for key in able:
        others = [
            each
            for each in words
            if each != language
            and 20 <= len(words[each].get(key, "")) <= 300
            and translated(key, each, words)
        ]
        if others and len(words[language][key]) <= 600:
            other = draw.choice(others)
            document, start, end = places[key]
            yield {
                "id": f"help-{language}-{other}",
                "document": document,
                "question": words[other][key],
                "spans": [[start, end]],
                "split": "train",
            }


def main() -> None:
    """Read the packages and write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=3000, help="of each language")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    words: dict[str, dict[tuple[str, str], str]] = {}
    spans: dict[str, dict[tuple[str, str], tuple[str, int, int]]] = {}
    rows: list[dict[str, object]] = []
    for package in sorted(given.packages):
        language = package.name.removeprefix("libreoffice-help-").partition("_")[0]
        read = sorted(pages(package))
        words[language] = {
            (name, number): text for name, content in read for number, text in content
        }
        spans[language] = {}
        for document, places in documents(language, read):
            rows.append(document)
            for key, (start, end) in places.items():
                spans[language][key] = (str(document["id"]), start, end)
    put(given.out / "documents.jsonl", rows)
    asked = [
        {**row, "id": f"{row['id']}-{number}"}
        for language, places in spans.items()
        for number, row in enumerate(
            islice(questions(language, places, words, draw), given.questions)
        )
    ]
    put(given.out / "questions.jsonl", asked)


if __name__ == "__main__":
    main()
