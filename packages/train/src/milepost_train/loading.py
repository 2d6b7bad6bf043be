"""Files of training data, read line by line: what is used, what is left out, and why.

A line that cannot be used does not stop the reading: ``Report`` has it, with file, line and
reason. What a line may hold is in ``milepost_eval.tasks.own`` (a task in one file),
``milepost_train.generated`` (what made questions say more) and here (pairs).
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.encoder.engine.manifest import prefixed
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.errors import InputError, UnreadableFile, first_line
from milepost.verdicts import VERDICTS
from milepost.wording import counted
from milepost_eval.tasks.reading import (
    Line,
    is_saved,
    is_table,
    lines,
    part_of,
    question_text,
    task_name,
)
from milepost_eval.types import Split
from milepost_train.data import (
    QUESTION_TOKENS,
    Judged,
    Pair,
    Question,
    Text,
    barred,
    tokenize,
    touched,
)
from milepost_train.generated import Source, asked_documents, collected, evidence_of

JSON_LINES = ("*.jsonl.gz", "*.jsonl")
PAIRS = (*JSON_LINES, "*.csv", "*.tsv", "**/*.parquet")
"""What is read of a folder: of one with pairs also tables, of which the hub keeps Parquet in
folders."""

CLAIM_VERDICTS = VERDICTS[:3]
"""What sentences may say of a claim."""

JUDGEMENTS = (*VERDICTS, "unanswered")
"""Labels of judged rows."""

_SPLITS = "dataset_dict.json"
_DIVIDED = {".csv": ",", ".tsv": "\t"}
_HELD = re.compile(r"(test|valid|validation|dev|eval)([-_.]|$)")
_NEGATIVE = re.compile(r"negative(?:_(\d+))?")


def existing(paths: Iterable[Path], kinds: Sequence[str] = JSON_LINES) -> list[Path]:
    """Files and saved data sets by name, and what can be read in the other folders among them.

    Files of pairs in a folder whose names say that they are for validation or test are left out.

    Raises:
        InputError: a path is not there, or a folder holds nothing that can be read.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_file() or (kinds == PAIRS and is_saved(path)):
            found.append(path)
            continue
        files = sorted(file for kind in kinds for file in path.glob(kind))
        inside = [f for f in files if kinds != PAIRS or not _HELD.match(f.name)]
        if not path.is_dir():
            raise InputError(f"{path} does not exist", "name a file or a folder")
        if not inside and (path / _SPLITS).is_file():
            raise InputError(f"{path} has several splits", f"name one of them: {path / 'train'}")
        if not inside:
            more = ", CSV, TSV, Parquet or a saved data set" if kinds == PAIRS else ""
            wanted = f"name JSON lines{more}, or a folder of such files"
            raise InputError(f"{path} holds nothing to train with", wanted)
        found.extend(inside)
    return found


def rows(path: Path, bad: list[InputError]) -> Iterator[Line]:
    """Rows of a file of JSON lines, CSV or Parquet, or of a folder that ``save_to_disk`` wrote.

    ``bad`` gets an error for each line that is not a JSON object, or has not the columns of the
    first line.
    """
    if path.suffix not in _DIVIDED:
        yield from lines(path, bad)
        return
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.reader(file, delimiter=_DIVIDED[path.suffix], strict=True)
            names = next(table, [])
            for cells in table:
                fields = {name: cell for name, cell in zip(names, cells, strict=False) if cell}
                line = Line(path, table.line_num, fields)
                if len(cells) == len(names):
                    yield line
                elif cells:
                    problem = (
                        f"{counted(len(cells), 'column')}, but the first line names {len(names)}"
                    )
                    bad.append(line.wrong(problem, "put text with commas or tabs in quotes"))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableFile(
            f"{path} cannot be read: {first_line(error)}",
            "UTF-8, a first line with the names of the columns, quotes doubled within quotes",
        ) from error


def pair_of(line: Line) -> tuple[str, str]:
    """The question of a pair and its passage, also as sentence-transformers names the columns."""
    query = question_text(line, "query", "question", "anchor")
    return query, line.text("passage", "positive", "answer")


def negatives_of(fields: Mapping[str, Any]) -> object:
    """What does not answer: ``negatives``, else ``negative``, ``negative_1`` and so on."""
    if "negatives" in fields:
        return fields["negatives"]
    numbered = sorted(
        (int(found[1] or 0), name) for name in fields if (found := _NEGATIVE.fullmatch(name))
    )
    return [fields[name] for _, name in numbered]


Sentence = tuple[int, int]
"""A sentence of the material: number of its text, and of the sentence in it."""


@dataclass(slots=True)
class Report:
    """What was read of each file, what was left out of it, and which lines cannot be used."""

    counts: dict[Path, Counter[str]] = field(default_factory=dict)
    wrong: defaultdict[Path, list[InputError]] = field(default_factory=lambda: defaultdict(list))

    @property
    def bad(self) -> list[InputError]:
        """The errors of all files."""
        return [error for errors in self.wrong.values() for error in errors]

    def of(self, path: Path, *first: str) -> Counter[str]:
        """The counts of one file; ``first`` are the names that begin its line."""
        return self.counts.setdefault(path, Counter(dict.fromkeys(first, 0)))

    def lines(self) -> Iterator[str]:
        """One line a file: ``FILE: 120 questions, 10 documents, 2 bad lines``."""
        for path, counts in self.counts.items():
            each = ((*what.partition(" "), number) for what, number in counts.items() if number)
            said = [counted(n, noun.removesuffix("s")) + gap + of for noun, gap, of, n in each]
            said += [counted(bad, "bad line")] if (bad := len(self.wrong[path])) else []
            yield f"{path}: {', '.join(said) or 'nothing'}"


class Texts:
    """Documents as they are read, each once though several files hold it.

    Were a text there twice, a question's evidence would be its own negative.
    """

    def __init__(self, tokenizer: Tokenizer, longest: int = 128, query_prefix: str = "") -> None:
        self.tokenizer, self.longest, self.query_prefix = tokenizer, longest, query_prefix
        self.all: list[Text] = []
        self._places: dict[bytes, int] = {}

    def add(self, source: Source, task: str) -> int:
        """The number of a document's text."""
        words = source.document.text
        key = hashlib.sha256(words.encode("utf-8", "surrogatepass")).digest()
        number = self._places.setdefault(key, len(self.all))
        if number == len(self.all):
            text = tokenize(self.tokenizer, source.document.name, task, words, self.longest)
            self.all.append(text)
        if source.ignore:
            text = self.all[number]
            aside = {*text.aside, *touched(text.spans, source.ignore)}
            self.all[number] = replace(text, aside=tuple(sorted(aside)))
        return number

    def query(self, words: str, counts: Counter[str]) -> NDArray[np.int32]:
        """Token ids of a question with its prefix, cut after ``QUESTION_TOKENS``."""
        ids = self.tokenizer.encode([prefixed(words, self.query_prefix)])[0].ids
        if len(ids) > QUESTION_TOKENS:
            counts[f"questions cut after {QUESTION_TOKENS} tokens"] += 1
        return np.array(ids[:QUESTION_TOKENS], np.int32)


def task_files(path: Path) -> tuple[Path, Path]:
    """Where a task's documents and its questions are: in two files of a folder, or in one file."""
    if not path.is_dir() or is_table(path):
        return path, path
    return part_of(path, "documents"), part_of(path, "questions")


def load_task(
    path: Path,
    texts: Texts,
    report: Report,
    *,
    split: Split = "train",
    allow_nc: bool = False,
    hold_out: float = 0.0,
) -> list[Question]:
    """Questions of one split of a task; the documents they ask of go into ``texts``.

    ``path`` is a folder with ``documents.jsonl.gz`` and ``questions.jsonl.gz``, or one file of JSON
    lines that holds both, whose questions are of ``dev`` if they name no split; tables
    (``is_table``) in the place of either. ``allow_nc`` and ``hold_out`` are those of
    ``docs/training.md``.

    Raises:
        UnreadableFile: a file is missing or damaged.
    """
    task = task_name(path)
    counts, bad = report.of(path, "questions", "documents asked of"), report.wrong[path]
    found: list[Question] = []
    options: Any = {"split": split, "allow_nc": allow_nc, "hold_out": hold_out}
    for source, about in asked_documents(*task_files(path), counts, bad, **options):
        if not about:
            continue
        number = texts.add(source, task)
        for name, line in about:
            with collected(bad):
                text = texts.all[number]
                spans = evidence_of(line, source.document)
                evidence = touched(text.spans, spans)
                if not evidence or not any(text.words[a:b].strip() for a, b in spans):
                    raise line.wrong("'spans' hold no words", "mark the words that answer")
                words = line.text("question")
                beside = touched(text.spans, source.beside.get(name, ()))
                kept = tuple(n for n in beside if n not in evidence)
                ids = texts.query(words, counts)
                found.append(Question(name, task, ids, number, evidence, words, kept))
    counts["questions"] += len(found)
    counts["documents asked of"] += len({question.text for question in found})
    return found


def load_pairs(
    path: Path, texts: Texts, report: Report, *, most_tokens: int = 160, allow_nc: bool = False
) -> list[Pair]:
    """Pairs of one file; passages are cut after ``most_tokens``, at a sentence's end.

    ``docs/training-data.md`` says what a line holds.
    """
    counts, bad = report.of(path, "pairs"), report.wrong[path]
    task = path.name.split(".")[0]
    found: list[Pair] = []

    def short(line: Line, words: str) -> Text:
        text = tokenize(texts.tokenizer, "", task, words, texts.longest)
        if not text.spans:
            raise line.wrong("a passage has no words", "leave the line out or give it some")
        return text.part(0, max(1, int(np.searchsorted(text.starts, most_tokens, "right")) - 1))

    for line in rows(path, bad):
        if not allow_nc and (kind := barred(line.fields.get("licence"))):
            counts[f"pairs with {kind} licence"] += 1
            continue
        with collected(bad):
            query, passage = pair_of(line)
            text = short(line, passage)
            others = negatives_of(line.fields)
            if not isinstance(others, list) or not all(isinstance(each, str) for each in others):
                raise line.wrong("'negatives' is not a list of strings", 'write ["a passage", …]')
            negatives = tuple(short(line, each) for each in others)
            found.append(Pair(texts.query(query, counts), text, query, negatives))
    counts["pairs"] += len(found)
    return found


def load_judged(
    path: Path, texts: Texts, report: Report, *, allow_nc: bool = False
) -> list[Judged]:
    """Judged rows of the split "train" of one file.

    A line is ``{"text": "…", "sentences": ["…"], "label": "…"}`` with a label of
    ``JUDGEMENTS``, and may have ``source``, ``split`` and ``licence``.
    """
    counts, bad = report.of(path, "rows judged"), report.wrong[path]
    found: list[Judged] = []
    for line in rows(path, bad):
        fields = line.fields
        if fields.get("split", "train") != "train":
            counts["rows of another split"] += 1
            continue
        if not allow_nc and (kind := barred(fields.get("licence"))):
            counts[f"rows with {kind} licence"] += 1
            continue
        with collected(bad):
            label, sentences = fields.get("label"), fields.get("sentences")
            if label not in JUDGEMENTS:
                raise line.wrong(f"unknown label {label!r}", f"one of {', '.join(JUDGEMENTS)}")
            if not isinstance(sentences, list) or not all(isinstance(s, str) for s in sentences):
                raise line.wrong("'sentences' is not a list of strings", 'write ["a sentence"]')
            text = line.text("text")
            encoded = [each.ids[: texts.longest] for each in texts.tokenizer.encode(sentences)]
            kept = tuple(np.array(ids, np.int32) for ids in encoded if ids)
            if kept:
                source = str(fields.get("source", task_name(path)))
                found.append(Judged(texts.query(text, counts), kept, label, source))
    counts["rows judged"] += len(found)
    return found


def load_negatives(
    path: Path,
    texts: Sequence[Text],
    report: Report,
    asked: Collection[tuple[str, str]],
    queries: Collection[str],
) -> Iterator[tuple[tuple[str, str], list[Sentence]]]:
    """Negatives as ``milepost mine`` writes them, by the question's name and words."""
    places = {text.name: number for number, text in enumerate(texts)}
    counts, bad = report.of(path, "negatives"), report.wrong[path]
    for line in lines(path, bad):
        with collected(bad):
            key = line.name("id"), line.text("question")
            found = list(dict.fromkeys(_sentences(line, places, texts, counts)))
            if key in asked or key[1] in queries:
                counts["negatives"] += len(found)
                yield key, found
            else:
                counts["negatives of questions that are not read"] += len(found)


def _sentences(
    line: Line, places: Mapping[str, int], texts: Sequence[Text], counts: Counter[str]
) -> Iterator[Sentence]:
    rows = line.fields.get("negatives")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise line.wrong("'negatives' is not a list of objects", "write it by milepost mine")
    for row in rows:
        number = places.get(str(row.get("document")))
        span = row.get("span")
        if not isinstance(span, list) or [type(edge) for edge in span] != [int, int]:
            raise line.wrong("a negative has no span [start, end]", "write it by milepost mine")
        if number is None:
            counts["negatives in documents that are not read"] += 1
            continue
        held = touched(texts[number].spans, [span])
        if not held:
            raise line.wrong(
                f"span {span} is outside document {row['document']!r}", "mine these documents again"
            )
        yield number, held[0]
