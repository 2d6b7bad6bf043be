"""Documents to be found by their title or by one of their headings.

Made of the corpus beside the checkout (``corpus/KIND.jsonl.gz``: ``id``, ``title``, ``text``,
``kind``, ``split``; headings are on lines of their own between empty lines). What is asked is
taken out of the text: the question is then about the article, not a copy of its first line. Only
documents of 8,000 characters and more are taken, most of them far longer than what a model with
512 tokens reads, so a system that truncates pays for it.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from milepost.errors import UnreadableFile
from milepost.types import Document
from milepost.wording import counted
from milepost_eval.tasks.reading import Line, Named, lines, need_questions, split_of
from milepost_eval.types import Question, Split, Task

_UNTITLED = frozenset({"meetings"})  # "Research group meeting Bmr013" says nothing of its text
_NO_HEADINGS = frozenset({"literature"})  # there a line of its own is speech or CHAPTER III
_LINE = re.compile(r"(?<=\n\n)[^\n]+(?=\n\n)")
# After an optional number, a capital; then words and the marks that titles use. Left out so: list
# items, shell commands, code, log lines, formulas, the first half of a sentence.
_HEADING = re.compile(r"(?:§?\s?[\dA-Z]+(?:[.\d-]*\d)?[.:]?\s+)?[A-Z][\w ,'’\"“”()?&:/.–—-]+")
_OPEN_END = frozenset(("a", "an", "and", "by", "for", "from", "in", "is", "of", "or", "the", "to"))


@dataclass(frozen=True, slots=True)
class _Article:
    name: str
    title: str
    kind: str
    text: str
    licence: str


def read_articles(folder: Path, split: Split, *, shortest: int = 8_000, headings: int = 3) -> Task:
    """Titles and headings of a split's articles as questions, the articles as collection.

    Args:
        folder: of ``*.jsonl.gz``.
        split: which articles; the corpus names each one's.
        shortest: least characters of an article after titles and headings are taken out.
        headings: most headings asked of one article.

    Returns:
        A task without spans; its kinds are ``title`` and ``heading``.

    Raises:
        UnreadableFile: no corpus, or a damaged file.
        InputError: a line that cannot be used, or no question.
    """
    articles = [article for article in _articles(folder, split) if article.kind not in _UNTITLED]
    titles = Counter(_folded(article.title) for article in articles)
    found = {article.name: list(_headings(article)) for article in articles}
    owners = Counter(key for rows in found.values() for key in {_folded(row) for row in rows})
    documents: list[Document] = []
    questions: list[Question] = []
    counts: Counter[tuple[str, str]] = Counter()
    for article in articles:
        only = {_folded(row): row for row in found[article.name] if owners[_folded(row)] == 1}
        chosen = sorted(only.values(), key=lambda row: _stable(article.name, row))[:headings]
        text = _without(article.text, [*_titles(article.title), *chosen])
        if len(text) < shortest:
            counts["article", f"shorter than {shortest} characters"] += 1
            continue
        documents.append(Document(name=article.name, text=text))
        relevant = {article.name: 1}
        if titles[_folded(article.title)] == 1:
            name = f"{article.name} title"
            questions.append(Question(name, article.title, article.name, (), relevant, "title"))
        else:
            counts["title", "that several articles have"] += 1
        questions += (
            Question(f"{article.name} {number}", row, article.name, (), relevant, "heading")
            for number, row in enumerate(chosen, 1)
        )
    need_questions(questions, split, folder)
    facts = {a.name: {"kind": a.kind, "title": a.title, "licence": a.licence} for a in articles}
    return Task(
        name="articles",
        split=split,
        documents=tuple(documents),
        questions=tuple(questions),
        facts={document.name: facts[document.name] for document in documents},
        settings=("collection",),
        notes=tuple(
            f"left out: {counted(number, what)} {why}" for (what, why), number in counts.items()
        ),
    )


def _articles(folder: Path, split: Split) -> Iterator[_Article]:
    files = sorted([*folder.glob("*.jsonl.gz"), *folder.glob("*.jsonl")])
    if not files:
        raise UnreadableFile(f"{folder}: no *.jsonl.gz", "the folder of the corpus")
    names = Named("document")
    for path in files:
        for line in lines(path):
            name = line.name("id")
            names.add(name, line)
            if split_of(line) == split:
                yield _article(name, line)


def _article(name: str, line: Line) -> _Article:
    licence = line.text("licence") if "licence" in line.fields else ""
    title = line.text("title")
    if not any(letter.isalnum() for letter in title):
        raise line.wrong(f"the title {title!r} has neither letter nor digit", "name the article")
    return _Article(name, title, line.text("kind"), line.text("text"), licence)


def _headings(article: _Article) -> Iterator[str]:
    """Lines of their own that read like headings: short, of several words, no sentence, no list."""
    if article.kind in _NO_HEADINGS:
        return
    titles = set(map(_folded, _titles(article.title)))
    for match in _LINE.finditer(article.text):
        row = match[0].strip()
        words = [word for word in row.split() if any(map(str.isalpha, word))]
        if (
            3 <= len(words) <= 14
            and len(row) <= 120
            and _HEADING.fullmatch(row)
            and row[-1] not in ".,:–—-"
            and words[-1].casefold() not in _OPEN_END
            and _folded(row) not in titles
        ):
            yield row


def _titles(title: str) -> list[str]:
    """The title as its article may print it: whole, without "(1871)", or its last part."""
    bare = re.sub(r"\s*\([^()]*\)$", "", title)
    parts = re.split(r":\s+|\s+[–—]\s+", bare)
    return [title, bare, *(part for part in parts[1:] if len(part.split()) > 1)]


def _without(text: str, rows: Sequence[str]) -> str:
    """The text without the lines that say one of these, and the empty lines they leave."""
    gone = set(map(_folded, rows)) - {""}
    kept = (row for row in text.split("\n") if _folded(row) not in gone)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _folded(row: str) -> str:
    """Its letters and digits: case, marks and blanks do not tell two headings apart."""
    return "".join(letter for letter in row.casefold() if letter.isalnum())


def _stable(*words: str) -> bytes:
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).digest()
