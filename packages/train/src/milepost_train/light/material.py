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
from milepost_eval.tasks.reading import objects
from milepost_train.data import Question, Text, held_out, touched
from milepost_train.licences import barred

HOLD_OUT = 0.12
TASKS = {"written": 400, "squad_articles": 60, "covid_papers": 90, "trials": 120, "meetings": 80}
"""Tasks and at most how many of their training documents are read."""

_LETTERS_TASK, _LETTERS_CORPUS = 24_000, 6_000  # of a document, at most
_QUERIES = 15_000
_KINDS = ("questions", "documents")  # files of a task


@dataclass(frozen=True, slots=True)
class Taught(Text):
    """A text as the teacher read it.

    Attributes:
        targets: ``(n, d)`` float16, the teacher's landmarks.
    """

    targets: NDArray[np.float16] = field(default_factory=lambda: np.zeros((0, 0), np.float16))


@dataclass(slots=True)
class LightMaterial:
    """All that a distillation draws from.

    Attributes:
        questions: those of the text -1 are asked of none, and have no evidence.
        targets: of each question the teacher's vector, ``(d,)`` float16.
    """

    texts: list[Taught] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    targets: list[NDArray[np.float16]] = field(default_factory=list)


class Reader:
    """Reads by the teacher."""

    def __init__(self, teacher: Encoder, tokenizer: Tokenizer) -> None:
        self._teacher, self._tokenizer = teacher, tokenizer

    def read(self, texts: Sequence[str]) -> Iterator[Taught]:
        """Texts in the teacher's sentences."""
        for text, landmarks in zip(texts, self._teacher.encode_texts(texts), strict=True):
            spans = [(int(a), int(b)) for a, b in landmarks.spans]
            sentences = [ids for ids, _, _ in self._tokenizer.count([text[a:b] for a, b in spans])]
            starts = np.cumsum([0, *map(len, sentences)]).astype(np.int64)
            ids = np.fromiter(chain.from_iterable(sentences), np.int32, starts[-1])
            targets = landmarks.vectors.astype(np.float16)
            yield Taught("", "", ids, starts, spans, targets=targets)

    def questions(
        self, texts: Sequence[str]
    ) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float16]]]:
        """Token ids and targets of questions, many at a time, with the teacher's prefix in front.

        The target of several sentences is their mean.
        """
        prefix = self._teacher.manifest.query_prefix
        for at in range(0, len(texts), 512):
            for taught in self.read([prefixed(text, prefix) for text in texts[at : at + 512]]):
                mean = document_vector(taught.targets.astype(np.float32))
                yield taught.ids, mean.astype(np.float16)


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
        say(f"{task}: {len(material.texts)} texts, {len(material.questions)} questions so far")
    for path in _corpus(shared):
        for row in objects(path):
            if row["split"] == "train" and _allowed(row["id"], row["licence"]):
                text = row["text"]
                at = random.randrange(max(1, len(text) - _LETTERS_CORPUS))
                begin = 0 if random.random() < 0.3 else text.rfind("\n", 0, at) + 1
                material.texts += reader.read([text[begin : begin + _LETTERS_CORPUS]])
        say(f"{path.stem}: {len(material.texts)} texts so far")
    queries = sorted({row["query"] for path in _pairs(shared) for row in objects(path)})
    for ids, target in reader.questions(random.sample(queries, min(len(queries), _QUERIES))):
        material.questions.append(Question("", "pairs", ids, -1, ()))
        material.targets.append(target)
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
    places: list[tuple[int, tuple[int, ...]]] = []
    read = 0
    for row in objects(folder / "documents.jsonl.gz"):
        if read == most or row["id"] not in wanted:
            continue
        if not _allowed(row["id"], row.get("meta", {}).get("licence", "")):
            continue
        read += 1
        (taught,) = reader.read([row["text"][:_LETTERS_TASK]])
        for question in wanted[row["id"]]:
            evidence = touched(taught.spans, question["spans"])
            if evidence:
                words.append(question["question"])
                places.append((len(material.texts), evidence))
        material.texts.append(taught)
    for (ids, target), place in zip(reader.questions(words), places, strict=True):
        material.questions.append(Question("", folder.name, ids, *place))
        material.targets.append(target)
