"""What the light model learns from: texts with the landmarks of the model it is distilled from.

Documents of the tasks (training split) come with their questions and evidence, documents of the
corpus (training split) with neither. None has a licence with ``nc`` in it, and none is held out for
the fusion weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.encoder import Encoder
from milepost.encoder.engine.manifest import prefixed
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.windows.document_vector import document_vector
from milepost.types import Span
from milepost_eval.tasks.reading import objects
from milepost_train.data import held_out, touched
from milepost_train.licences import barred

HOLD_OUT = 0.12
TASKS = {"written": 400, "squad_articles": 60, "covid_papers": 90, "trials": 120, "meetings": 80}
"""Tasks and at most how many of their training documents are read."""

_LETTERS_TASK, _LETTERS_CORPUS = 24_000, 6_000  # of a document, at most
_QUERIES = 15_000
_KINDS = ("questions", "documents")  # files of a task


@dataclass(frozen=True, slots=True)
class Taught:
    """A text as the teacher read it.

    Attributes:
        ids: ``(tokens,)`` int32 of all sentences, no special tokens.
        starts: ``(n + 1,)`` int64: sentence ``i`` has ``ids[starts[i]:starts[i + 1]]``.
        targets: ``(n, d)`` float16, the teacher's landmarks.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    targets: NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: the text it is asked of and its evidence, -1 and () for none."""

    task: str
    text: int
    evidence: tuple[int, ...]


@dataclass(slots=True)
class LightMaterial:
    """All that a distillation draws from; ``questions[i]`` has the words of ``asked[i]``.

    The question is a ``Taught`` of one sentence or several, whose target is their mean.
    """

    texts: list[Taught] = field(default_factory=list)
    questions: list[Taught] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)


class Reader:
    """Reads by the teacher."""

    def __init__(self, teacher: Encoder, tokenizer: Tokenizer) -> None:
        self._teacher, self._tokenizer = teacher, tokenizer

    def read(self, text: str) -> tuple[Taught, list[Span]]:
        """A text and its sentences' places."""
        return next(self._taught([text]))

    def questions(self, texts: Sequence[str]) -> list[Taught]:
        """Questions, with the teacher's ``query_prefix`` in front, for the student as well."""
        prefix = self._teacher.manifest.query_prefix
        return self.means([prefixed(text, prefix) for text in texts])

    def means(self, texts: Sequence[str]) -> list[Taught]:
        """Short texts, many at a time; of several sentences the mean is the target."""
        found: list[Taught] = []
        for at in range(0, len(texts), 512):
            for taught, _ in self._taught(texts[at : at + 512]):
                mean = document_vector(taught.targets.astype(np.float32))[None]
                ends = np.array([0, len(taught.ids)], np.int64)
                found.append(Taught(taught.ids, ends, mean.astype(np.float16)))
        return found

    def _taught(self, texts: Sequence[str]) -> Iterator[tuple[Taught, list[Span]]]:
        for text, landmarks in zip(texts, self._teacher.encode_texts(texts), strict=True):
            spans = [(int(a), int(b)) for a, b in landmarks.spans]
            sentences = [ids for ids, _, _ in self._tokenizer.count([text[a:b] for a, b in spans])]
            starts = np.cumsum([0, *map(len, sentences)])
            ids = np.fromiter(chain.from_iterable(sentences), np.int32, starts[-1])
            yield Taught(ids, starts.astype(np.int64), landmarks.vectors.astype(np.float16)), spans


def sources(shared: Path) -> list[Path]:
    """Files that ``gather`` reads, for the record of a run."""
    folders = [shared / "tasks" / task for task in TASKS]
    of_tasks = [folder / f"{kind}.jsonl.gz" for folder in folders for kind in _KINDS]
    return [*of_tasks, *_corpus(shared), *_pairs(shared)]


def gather(shared: Path, reader: Reader, say: Callable[[str], None]) -> LightMaterial:
    """Texts and questions of the shared data."""
    material, random = LightMaterial(), Random(1)
    for task, most in TASKS.items():
        _add_task(material, shared / "tasks" / task, reader, most)
        say(f"{task}: {len(material.texts)} texts, {len(material.asked)} questions so far")
    for path in _corpus(shared):
        for row in objects(path):
            if row["split"] == "train" and _allowed(row["id"], row["licence"]):
                text = row["text"]
                at = random.randrange(max(1, len(text) - _LETTERS_CORPUS))
                begin = 0 if random.random() < 0.3 else text.rfind("\n", 0, at) + 1
                material.texts.append(reader.read(text[begin : begin + _LETTERS_CORPUS])[0])
        say(f"{path.stem}: {len(material.texts)} texts so far")
    queries = sorted({row["query"] for path in _pairs(shared) for row in objects(path)})
    for taught in reader.questions(random.sample(queries, min(len(queries), _QUERIES))):
        material.questions.append(taught)
        material.asked.append(Asked("pairs", -1, ()))
    return material


def _corpus(shared: Path) -> list[Path]:
    return sorted((shared / "corpus").glob("*.jsonl.gz"))


def _pairs(shared: Path) -> list[Path]:
    """Files of pairs whose queries are something that people ask."""
    paths = sorted((shared / "pairs").glob("*.jsonl.gz"))
    return [path for path in paths if not path.name.startswith("sentence-cloze")]


def _allowed(document: str, licence: object) -> bool:
    return not barred(licence) and not held_out(document, HOLD_OUT)


def _add_task(material: LightMaterial, folder: Path, reader: Reader, most: int) -> None:
    wanted: dict[str, list[Mapping[str, Any]]] = {}
    for row in objects(folder / "questions.jsonl.gz"):
        if row["split"] == "train":
            wanted.setdefault(row["document"], []).append(row)
    words: list[str] = []
    read = 0
    for row in objects(folder / "documents.jsonl.gz"):
        if read == most or row["id"] not in wanted:
            continue
        if not _allowed(row["id"], row.get("meta", {}).get("licence", "")):
            continue
        read += 1
        taught, spans = reader.read(row["text"][:_LETTERS_TASK])
        for question in wanted[row["id"]]:
            evidence = touched(spans, question["spans"])
            if evidence:
                words.append(question["question"])
                material.asked.append(Asked(folder.name, len(material.texts), evidence))
        material.texts.append(taught)
    material.questions += reader.questions(words)
