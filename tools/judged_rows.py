"""Rows that a judge learns from: texts put to sentences, with what these say of them.

    python tools/judged_rows.py --out scratch/judged [--data ../shared/data] [--extra FOLDER]

Writes ``claims.jsonl.gz`` (supported, contradicted, unknown) and ``answers.jsonl.gz`` (answered,
unanswered), each row with a ``split``. Whole sources of claims (``LEFT_OUT``) are "dev": what a
judge says of them shows what carries over. Of the others one row in ten is "dev", together with
all rows of the same evidence.

``data/claims`` and ``data/reworded`` have claims and questions of this project, most of them about
texts of ``shared/data``.

Unanswered are the near misses of SQuAD 2.0, beside their paragraph and beside another one of the
article that has their words, and questions in which a rule replaced a name or number
of the paragraph by another of the same document.

``--extra`` is a folder with rows of other public sets, all for training: ``claims*.jsonl.gz`` as in
``shared/data/claims``, ``answers*.jsonl.gz`` with ``question``, ``paragraph``, ``answerable`` and
``source``. The shipped reranker had those that its card names.

``near-misses/`` is a task for ``milepost fit`` and ``milepost eval``: the near misses as questions
that their document does not answer.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, product
from pathlib import Path
from random import Random

from milepost.documents.sentences import split
from milepost.language.terms import question_terms, terms
from milepost_eval.tasks.reading import objects
from question_task import Row, corpus, put

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = ("conjnli", "fm2", "misquotes", "scifact", "summedits")
MEASURED = (*LEFT_OUT, "vitaminc")
LEARNED = (
    *("checkcovid", "contractnli", "factcheckgpt", "fever", "feversymmetric"),
    *("infotabs", "snli", "tabfact"),
)
CLAIMS = {label: label for label in ("supported", "contradicted", "unknown")}
QUESTIONS = {"answerable": "answered", "near": "unanswered"}
DEV_SHARE = 0.1
AROUND = 700
"""Characters on each side of evidence in texts without paragraphs."""
SHORT = 700
"""Characters of a short text of twins."""

_NAME = re.compile(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)*\b|\b\d[\d,.]*\b")


def in_dev(key: str) -> bool:
    """Whether rows with this key are for measuring."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") / 2**32 < DEV_SHARE


def claims(data: Path) -> Iterator[Row]:
    """Claims beside their evidence."""
    for source in (*LEARNED, *MEASURED):
        folder = ROOT / "data" if source == "misquotes" else data
        path = folder / "claims" / f"{source}.jsonl.gz"
        for row in with_evidence(path) if path.exists() else ():
            dev = source in MEASURED or in_dev(row["evidence"][0])
            yield _judged(row, source, "dev" if dev else "train")


def with_evidence(path: Path) -> Iterator[Row]:
    """The claims of a file that have evidence."""
    for row in objects(path):
        if sentences := [each for each in row["evidence"] if each.strip()]:
            yield {**row, "evidence": sentences}


def answers(data: Path, questions: Path) -> Iterator[Row]:
    """Questions beside a paragraph that answers, or nearly answers, them."""
    random = Random(1)
    squad = data / "tasks" / "squad_articles"
    texts = {row["id"]: row["text"] for row in objects(squad / "documents.jsonl.gz")}
    for row in objects(data / "refusal" / "squad2.jsonl.gz"):
        # Through the same door as the answered ones: spans of the source end before the last sign,
        # and a network would tell the two apart by that.
        start, end = row["near"]
        at = random.randrange(start, end)
        paragraph = around(texts[row["document"]], [[at, at + 1]])
        assert paragraph is not None
        yield _row(row["question"], paragraph, "unanswered", "squad", row["split"])
        other = elsewhere(row["question"], texts[row["document"]], paragraph)
        yield _row(row["question"], other, "unanswered", "squad-elsewhere", row["split"])
    for folder, source in ((squad, "squad"), (questions, "questions")):
        texts = {row["id"]: row["text"] for row in objects(folder / "documents.jsonl.gz")}
        for row in objects(folder / "questions.jsonl.gz"):
            if not row["spans"] or row["document"] not in texts:
                continue
            text = texts[row["document"]]
            paragraph = around(text, row["spans"])
            if paragraph is None:
                continue
            yield _row(row["question"], paragraph, "answered", source, row["split"])
            other = swapped(row["question"], paragraph, text, random)
            if other is not None:
                yield _row(other, paragraph, "unanswered", f"{source}-swapped", row["split"])


def written(data: Path, source: str) -> tuple[list[Row], list[Row]]:
    """Claims of this project, and its questions, beside paragraphs of documents."""
    texts = _texts(data)
    both: tuple[list[Row], list[Row]] = [], []
    for row in objects(ROOT / "data" / "claims" / f"{source}.jsonl.gz"):
        if row["document"] not in texts:
            continue
        start, end = row["span"]
        paragraph = " ".join(texts[row["document"]][start:end].split())
        part = "dev" if in_dev(row["document"]) else "train"
        for into, labels in zip(both, (CLAIMS, QUESTIONS), strict=True):
            into += [
                _row(text, paragraph, label, f"{source}-claims", part)
                for name, label in labels.items()
                for text in row[name]
            ]
    return both


def reworded(data: Path) -> Iterator[Row]:
    """Questions in other words, and near misses of them, beside their paragraph."""
    random = Random(1)
    texts = _texts(data)
    for row in objects(ROOT / "data" / "reworded" / "questions.jsonl.gz"):
        if row["document"] not in texts:
            continue
        at = random.randrange(*row.get("near", (0, 1)))
        paragraph = around(texts[row["document"]], row["spans"] or [[at, at + 1]])
        if paragraph is not None:
            label = "answered" if row["spans"] else "unanswered"
            yield _row(row["question"], paragraph, label, "reworded", row["split"])


def hurried() -> Iterator[Row]:
    """Claims of a hurried reader beside their whole text."""
    for row in objects(ROOT / "data" / "claims" / "hurried.jsonl.gz"):
        for each in row["claims"]:
            yield _row(each["claim"], row["text"], each["label"], "hurried", row["split"])


def twins() -> tuple[list[Row], list[Row]]:
    """Claims and questions beside two versions of one text, which differ in what they say."""
    both: tuple[list[Row], list[Row]] = [], []
    for row in objects(ROOT / "data" / "claims" / "twins.jsonl.gz"):
        own, part = {"a": row["a"], "b": row["b"]}, row["split"]
        source = "twin" if len(row["a"]) > SHORT else "short-twin"
        for claim, (version, other) in product(row["claims"], (("a", "b"), ("b", "a"))):
            labels = {version: "supported", other: claim[f"{version}_in_{other}"]}
            both[0].extend(
                _row(claim[version], own[each], label, f"{source}-claims", part)
                for each, label in labels.items()
            )
        for question, version in product(row["questions"], own):
            label = "answered" if version == question["answered_by"] else "unanswered"
            both[1].append(
                _row(question["question"], own[version], label, f"{source}-questions", part)
            )
    return both


@cache
def _texts(data: Path) -> dict[str, str]:
    squad = objects(data / "tasks" / "squad_articles" / "documents.jsonl.gz")
    return {row["id"]: row["text"] for row in chain(corpus(data), squad)}


def extra_claims(folder: Path) -> Iterator[Row]:
    """Claims of other sets, for training."""
    for path in sorted(folder.glob("claims*.jsonl.gz")):
        for row in with_evidence(path):
            yield _judged(row, row["source"], "dev" if row["source"] in LEFT_OUT else "train")


def extra_answers(folder: Path) -> Iterator[Row]:
    """Questions of other sets beside a paragraph, for training."""
    for path in sorted(folder.glob("answers*.jsonl.gz")):
        for row in objects(path):
            label = "answered" if row["answerable"] else "unanswered"
            yield _row(row["question"], row["paragraph"], label, row["source"], "train")


def near_misses(data: Path, out: Path) -> None:
    """Write the near misses as a task."""
    keys = ("id", "document", "question", "spans", "split")
    rows = objects(data / "refusal" / "squad2.jsonl.gz")
    put(out / "questions.jsonl.gz", ({key: row[key] for key in keys} for row in rows))
    documents = data / "tasks" / "squad_articles" / "documents.jsonl.gz"
    shutil.copyfile(documents, out / "documents.jsonl.gz")


def _row(text: str, paragraph: str, label: str, source: str, part: str) -> Row:
    sentences = [paragraph[start:end].strip() for start, end in split(paragraph)]
    evidence = [each for each in sentences if each]
    return _judged({"claim": text, "evidence": evidence, "label": label}, source, part)


def _judged(row: Row, source: str, part: str) -> Row:
    said = {"text": row["claim"], "sentences": row["evidence"], "label": row["label"]}
    return {**said, "source": source, "split": part}


@cache
def sentences(text: str) -> list[tuple[int, int]]:
    """The sentences of a document."""
    return split(text)


def around(text: str, spans: Sequence[Sequence[int]]) -> str | None:
    """The paragraph of all spans; None where they are in several, or it is very long."""
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    if last - first > AROUND:
        return None
    start, end = text.rfind("\n", 0, first) + 1, text.find("\n", last)
    end = len(text) if end < 0 else end
    if end - start > 2 * AROUND:
        near = [p for p in sentences(text) if p[1] > first - AROUND and p[0] < last + AROUND]
        start, end = near[0][0], near[-1][1]
    return text[start:end]


def elsewhere(question: str, text: str, paragraph: str) -> str:
    """The paragraph of a text that has most words of a question, another one than its own."""
    words = set(question_terms(question))
    others = [each for each in text.split("\n\n") if each.strip() and paragraph[:80] not in each]
    return max(others, key=lambda each: len(words & set(terms(each))))


def swapped(question: str, paragraph: str, text: str, random: Random) -> str | None:
    """The question about another name or number of the document, which the paragraph lacks."""
    own = [m for m in _NAME.finditer(question) if m.start() > 0 and m[0] in paragraph]
    if not own:
        return None
    chosen = random.choice(own)
    is_number = chosen[0][0].isdigit()
    found = [each for each in _NAME.findall(text) if each[0].isdigit() == is_number]
    if is_number:
        found = [each for each in found if len(each) == len(chosen[0])]
    others = sorted({each for each in found if each not in paragraph and each not in question})
    if not others:
        return None
    return question[: chosen.start()] + random.choice(others) + question[chosen.end() :]


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write rows, and print how many there are of each kind."""
    made = list(rows)
    put(path, made)
    counts = Counter((row["split"], row["source"], row["label"]) for row in made)
    for key, number in sorted(counts.items()):
        print(path.name, *key, number)


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--questions", type=Path, default=ROOT / "scratch" / "questions")
    parser.add_argument("--extra", type=Path, default=Path("none"))
    args = parser.parse_args()
    ours = [*(written(args.data, source) for source in ("written", "pairs")), twins()]
    known = claims(args.data), hurried(), *(own for own, _ in ours)
    found = *known, extra_claims(args.extra)
    write(args.out / "claims.jsonl.gz", chain(*found))
    asked = answers(args.data, args.questions), reworded(args.data), *(own for _, own in ours)
    write(args.out / "answers.jsonl.gz", chain(*asked, extra_answers(args.extra)))
    near_misses(args.data, args.out / "near-misses")


if __name__ == "__main__":
    main()
