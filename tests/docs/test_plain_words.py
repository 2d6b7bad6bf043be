"""Pages, help texts and docstrings use plain technical English, not words of our own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from milepost.cli.program import program

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "README.md").is_file():
    pytest.skip("needs the checkout", allow_module_level=True)

PACKAGE = ROOT / "src" / "milepost"
FROM_CODE = {"cli.md", "python.md"}
"""Pages made of help texts and docstrings, which are checked where they are written."""

PAGES = sorted(
    [
        ROOT / "README.md",
        *(page for page in (ROOT / "docs").rglob("*.md") if page.name not in FROM_CODE),
        *(PACKAGE / "models").rglob("README.md"),
    ]
)

PHRASES = {
    r"stands? nowhere": "is not in the text",
    r"stands? in \[": "is in",
    r"(is|are|was|were) told\b(?! (apart|from))": "is reported / is printed / is warned about",
    r"close look|looked at closely|look(s|ing)? closely": "learned ranking",
    r"(is|are|was|were|be|being|places|best) read again|read again with": "reranked",
    r"second reading": "reranking",
    r"nothing (is )?read again": "without reranking",
    r"keeps? (its|their) word": "is calibrated",
    r"\bunfamiliar|\bfamiliarity": "low vocabulary coverage / vocabulary coverage",
    r"(networks?|encoders?|models?|what|that) (learnt|learned|knows?|knew) nothing\b(?! of)": (
        "untrained baselines"
    ),
    r"Most passages\b": "Maximum number of passages",
    r"Most text in\b": "Maximum total length",
    r"(?<!there )\b(is|are) no (?!longer\b|more\b|less\b|fewer\b)": "is not a …",
    r"there (is|are) no (experiment|task|system|command|setting)s?\b": "unknown experiment 'x'",
    r"\ba comfort\b": "best effort: the reason",
    r"\bmend(s|ed|ing)?\b": "correct / repair; of an error: hint",
    r"\bchance (said|found|that a passage|of a passage)|\bleast chance": "probability",
    r"--least\b|\bleast=": "--min-score, min_score=",
    r"eval --(experiment|compare|tune|list|show|from|tasks|systems)\b": (
        "milepost lab landmark; milepost eval run|compare|tune|show|list"
    ),
    r"lab (search|shapes|mixers|audit|layers|fusion|rerank)\b(?!-)": "the study's name",
    r"\bsurround-[k\d]": "front-k; the control: both-sides-k",
    r"`(shortness|drop|steady|chance)`": "length_penalty, growth_threshold, …",
}
"""What must not be written, as a regular expression → what to write instead."""

CASELESS = {phrase: re.compile(phrase, re.IGNORECASE) for phrase in PHRASES}


def faults(text: str) -> list[str]:
    """Each phrase found, with the words around it and what to write instead.

    >>> faults("The path is told.")
    ["'The path is told.': write is reported / is printed / is warned about"]
    """
    line = " ".join(text.split())
    return [
        f"{line[max(0, match.start() - 30) : match.end() + 30]!r}: write {PHRASES[phrase]}"
        for phrase, pattern in CASELESS.items()
        for match in pattern.finditer(line)
    ]


def test_phrases_are_found_across_lines_and_plain_english_is_not() -> None:
    """The list catches what it is for, and no ordinary English beside it."""
    for text in (
        "what is left is\ntold on stderr", "That is no number.", "there is no task 'x'",
        "How it is mended", "networks that learnt nothing", "--least 0.2", "Surround-2",
        "the places read again", "milepost lab fusion",
    ):  # fmt: skip
        assert faults(text), text
    for text in (
        "It is no longer than 32 tokens.", "There is no padding.", "Amendments and dropouts.",
        "at least 0.2", "read it again later", "lab xpool", "search knows nothing of files",
        "The two are told apart by their scores.",
    ):  # fmt: skip
        assert not faults(text), text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_in_plain_words(page: Path) -> None:
    """README, pages of docs and model cards."""
    assert not faults(page.read_text(encoding="utf-8"))


def commands(
    command: click.Command, path: str, above: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """The path and the help text of a command and of all below it."""
    context = click.Context(command, info_name=path, parent=above, max_content_width=100)
    yield f"{above.command_path} {path}" if above else path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, name, context)


def test_help_texts_are_in_plain_words() -> None:
    """Every command of the program, those of the lab too."""
    shown = dict(commands(program, "milepost"))
    assert {"milepost search", "milepost lab compare"} <= shown.keys()
    assert not {path: found for path, text in shown.items() if (found := faults(text))}


def docstrings(source: Path) -> Iterator[tuple[str, str]]:
    """The line and the docstring of a module, its public classes, functions and methods."""

    def of(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> Iterator[tuple[str, str]]:
        line = getattr(node, "lineno", 1)
        yield f"{source.relative_to(ROOT)}:{line}", ast.get_docstring(node) or ""
        for inner in node.body:
            if isinstance(inner, ast.ClassDef | ast.FunctionDef) and inner.name[0] != "_":
                yield from of(inner) if not isinstance(node, ast.FunctionDef) else ()

    yield from of(ast.parse(source.read_text(encoding="utf-8")))


def rooms() -> list[Path]:
    """The files and folders directly in the package."""
    return sorted(path for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir())


@pytest.mark.parametrize("room", rooms(), ids=lambda path: path.stem)
def test_docstrings_are_in_plain_words(room: Path) -> None:
    """Every public name, one test a folder of the package."""
    files = [room] if room.is_file() else sorted(room.rglob("*.py"))
    assert not {
        place: found
        for file in files
        for place, text in docstrings(file)
        if (found := faults(text))
    }
