"""Cases of the ranking, made without a search; and a task made from the example book."""

import json
import re

import numpy as np

from milepost.search.features import FEATURES
from support.files import write_lines
from support.shipped_book import BOOK


def ranking_case(
    sentences=8,
    evidence=0,
    task="task",
    document="d",
    setting="document",
    fused=None,
    vocab_coverage=1.0,
    length=100,
):
    """A case of one document; sentence ``evidence`` holds all evidence, None for none."""
    from milepost_train.ranking.cases import Case  # only tests of milepost-train make cases

    gains = np.zeros(sentences, np.float32)
    if evidence is not None:
        gains[evidence] = 1.0
    score = np.arange(sentences, 0, -1) if fused is None else fused
    score = np.array(score, np.float32)
    columns = np.zeros((sentences, len(FEATURES)), np.float32)
    columns[:, list(FEATURES).index("fused")] = score
    return Case(
        task,
        document,
        setting,
        np.arange(sentences),
        columns,
        score,
        np.zeros(sentences, np.float32),
        gains,
        np.full(sentences, length, np.int64),
        np.array([0, sentences]),
        vocab_coverage,
    )


def book_task(path, first, documents, questions=10, split="dev", size=2600):
    """Write a task: pieces of the book, of ``size`` characters each, from the ``first`` on.

    Questions about each are of the rarer words of its sentences. The path comes back.
    """
    lines = []
    for number in range(first, first + documents):
        part = _piece(number, size)
        name = f"piece {number}"
        lines.append({"id": name, "text": part})
        for question, span in _asked(part, questions):
            asked = {"document": name, "question": question, "spans": [span], "split": split}
            lines.append(asked)
    return write_lines(path, lines)


def add_absent(path, first, documents, questions, size=2600):
    """Add questions to such a task that its pieces do not answer: what other pieces say."""
    with path.open("a", encoding="utf-8") as file:
        for number in range(first, first + documents):
            for question, _ in _asked(_piece(number + 40, size), questions):
                asked = {"document": f"piece {number}", "question": question, "spans": []}
                file.write(json.dumps({**asked, "split": "dev"}) + "\n")


def _piece(number, size):
    """A piece of the book."""
    start = 20_000 + number * size
    return BOOK.read_text(encoding="utf-8")[start : start + size]


def _asked(part, questions):
    """Questions of the rarer words of a piece's sentences, with the sentence's span."""
    sentences = list(re.finditer(r"[A-Z][^.;:?!]{50,}[.;:?!]", part))
    for place in range(questions):
        found = sentences[place % len(sentences)]
        words = [word for word in re.findall(r"[a-z]+", found[0]) if len(word) > 4]
        # Every second word, another half where sentences are few: no question twice.
        asked = words[place // len(sentences) :: 2][:6] or words[:6]
        yield f"What is said of {' '.join(asked)}?", [found.start(), found.end()]
