"""The stemmers of the page give the stems of Python, and a page has those that it needs."""

import json
import random
import shutil
import subprocess
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import milepost
from milepost.encoder import Encoder
from milepost.errors import InputError
from milepost.exports.view import bundle, stemmers, write_page
from milepost.exports.view.page import term_tables
from milepost.language.numbers import TABLES, others
from milepost.language.stemming import SCRIPTS, stemmer_class
from milepost.language.terms import question_terms
from milepost.types import Document

NODE = shutil.which("node")

MADE_OF_ENDINGS = 3000
"""Words of each script that are made of its letters and of what the stemmer looks for."""

STEMS = """
import { readFileSync } from "node:fs";
import { ENGLISH, STEMMERS } from "./stemmers.js";
const words = JSON.parse(readFileSync(0, "utf8"));
const one = STEMMERS.find(({ first }) => first === process.argv[2])?.stemmer ?? ENGLISH;
console.log(JSON.stringify(words.map((word) => one.stem(word))));
"""

TERMS = """
import { readFileSync } from "node:fs";
import { questionTerms } from "./terms.js";
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(questionTerms)));
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The modules with all stemmers, for Node."""
    if NODE is None:
        pytest.skip("needs node")
    folder = tmp_path_factory.mktemp("stemmers")
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (folder / "stems.js").write_text(STEMS, encoding="utf-8")
    (folder / "terms_of.js").write_text(TERMS, encoding="utf-8")
    (folder / "stemmers.js").write_text(stemmers.module(SCRIPTS), encoding="utf-8")
    (folder / "term_tables.js").write_text(term_tables(), encoding="utf-8")
    for name in ("points.js", "snowball.js", "terms.js"):
        (folder / name).write_text(bundle.file_text(name), encoding="utf-8")
    return folder


def answered(given: list[str], *command: str | Path) -> list[Any]:
    """What a script in Node makes of each text."""
    ran = subprocess.run(
        [str(NODE), *command],
        input=json.dumps(given),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    found: list[Any] = json.loads(ran.stdout)
    return found


def different(name: str, words: Iterable[str], folder: Path) -> list[tuple[str, str, str]]:
    """Words with the stems of Python and JavaScript where they are not the same."""
    given = sorted(words)
    found = answered(given, folder / "stems.js", SCRIPTS.get(name, "'")[0])
    stem = stemmer_class(name)().stemWord
    pairs = zip(given, found, strict=True)
    return [(word, stem(word), other) for word, other in pairs if stem(word) != other]


@pytest.mark.parametrize("name", [*SCRIPTS, "english"])
def test_made_words(name: str, folder: Path) -> None:
    first, last = SCRIPTS.get(name, ("'", "z"))
    letters = [chr(c) for c in range(ord(first), ord(last) + 1) if unicodedata.name(chr(c), "")]
    tables = [value for key, value in vars(stemmer_class(name)).items() if key.startswith("a_")]
    texts = [each.s for table in tables for each in table]
    assert len(texts) > 20
    pick = random.Random(0).choice
    count = random.Random(1).choices((1, 2, 3, 4), k=MADE_OF_ENDINGS)
    words = {"".join(pick((pick(letters), pick(texts))) for _ in range(each)) for each in count}
    words |= {f"{word[:2]}\U00010400{word[2:]}" for word in list(words)[::20]}
    assert different(name, words, folder) == []


def test_terms_of_numbers(folder: Path) -> None:
    pools = (
        [spelling for table in TABLES.values() for spelling in table],
        [*TABLES["months"], *TABLES["units"]],
        ["1", "12", "05", "31", "1,234", "1.234,5", "0.25", "٢٠٢٣", "१२", "１６", "𝟛", "2nd", "Q3"],
        ["5", "12", "03", "31", "2024", "1999", "3Q", "FY"],
        [*"°º².,-/'’(€$\u00a0\u202f\nT", "of", "de", "th", "km", "Mrd.", "MÄRZ", "May", "USD"],
        [*"/.-,"],
    )
    pick = random.Random(7).choice
    texts = [
        "".join(pick(pick(pools)) + pick(("", " ")) for _ in range(size))
        for size in (2, 3, 4, 5, 6, 9)
        for _ in range(1000)
    ]
    assert sum(any(others(text)) for text in texts) > 100
    assert other_terms([*texts, *filter(str.isdecimal, map(chr, range(0x1FFFF)))], folder) == []


def other_terms(texts: list[str], folder: Path) -> list[tuple[str, list[str], list[str]]]:
    """Texts with the terms of Python and JavaScript where they are not the same."""
    found = answered(texts, folder / "terms_of.js")
    pairs = zip(texts, map(question_terms, texts), found, strict=True)
    return [(text, own, other) for text, own, other in pairs if own != other]


@pytest.mark.parametrize(
    ("text", "brought"),
    [
        ("Bees build cells. The angle α is π/3, 5 µmol of β-carotene, größer.", []),
        ("Bees build cells. Пчёлы строят соты.", ["Russian"]),
        ("Οι μέλισσες χτίζουν. वे मधुमक्खियाँ हैं।", ["Greek", "Hindi"]),
    ],
)
def test_a_page_has_the_stemmers_of_its_words(
    light: Encoder, tmp_path: Path, text: str, brought: list[str]
) -> None:
    with milepost.open(model=light) as index:
        index.add(Document("a", text))
        write_page(index, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert [name.title() for name in SCRIPTS if f"class {name.title()}Stemmer" in page] == brought
    assert "Redistribution and use in source" in page


def test_a_form_that_is_not_known_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "class RussianStemmer(BaseStemmer):\n    def _stem(self):\n        self.leap(2)\n"
    monkeypatch.setattr(stemmers.inspect, "getsource", lambda _: source)
    with pytest.raises(InputError, match=r"self\.leap\(2\)"):
        stemmers.module(["russian"])
