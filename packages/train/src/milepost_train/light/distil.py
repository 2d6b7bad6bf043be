"""From a teacher and the shared data to the light model's checkpoint and folder.

Learned from are texts with the landmarks of the model that is distilled. Documents of the tasks
(training split) come with their questions and evidence, documents of the corpus (training split)
with neither. None has a licence with ``nc`` in it, and none is held out for the fusion weights.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from milepost.encoder import Encoder, load
from milepost.encoder.engine.folder import ModelFolder
from milepost.encoder.engine.manifest import Manifest, prefixed
from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.windows.document_vector import document_vector
from milepost.exports.writing import write_text
from milepost_eval.tasks.reading import objects
from milepost_train.data import Question, held_out, touched
from milepost_train.licences import barred
from milepost_train.light.training import (
    LightMaterial,
    LightRecipe,
    LightTrainer,
    Taught,
    begin,
    principal_axes,
    token_vectors,
)
from milepost_train.model import Checkpoint, LandmarkEncoder, export
from milepost_train.model.light import MODEL_TYPE, Light
from milepost_train.model.packed import with_rounded_table
from milepost_train.model.reading import Reading
from milepost_train.model.special import load_tokenizer, special_tokens
from milepost_train.record import describe

HOLD_OUT = 0.12
TASKS = {"written": 400, "squad_articles": 60, "covid_papers": 90, "trials": 120, "meetings": 80}
"""Tasks and at most how many of their training documents are read."""

_LETTERS_TASK, _LETTERS_CORPUS = 24_000, 6_000  # of a document, at most
_QUERIES = 15_000
_KINDS = ("questions", "documents")  # files of a task


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


Say = Callable[[str], None]

CONFIG: dict[str, Any] = {
    "model_type": MODEL_TYPE,
    "table_width": 192,
    "hidden_size": 256,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "reach": 3,
    "max_position_embeddings": 8192,
}
SIZES: dict[str, Any] = {"window": 1024, "left": 64, "right": 64, "longest": 128}
LEFT_OUT = 15
"""Every so many-th document is asked about on the way and not learned from."""
SEED = 1
"""Of the weights that begin at random; what is drawn has the recipe's."""
DATA = (
    "corpus (train), written, squad_articles, covid_papers, trials, meetings, all without nc; pairs"
)
CHECKED = 400
"""Steps between two checks."""


def distil(
    teacher: ModelFolder,
    shared: Path,
    out: Path,
    recipe: LightRecipe,
    *,
    name: str = "landmark-light",
    threads: int = 2,
    config: Mapping[str, Any] = CONFIG,
    say: Say = lambda line: None,
) -> Manifest:
    """Distil the light model from a landmark model, and write its checkpoint and folder.

    ``run.json`` in ``out`` says what the run was made from.
    """
    torch.set_num_threads(threads)
    torch.manual_seed(SEED)
    record = _record(teacher, shared, recipe, threads, config)
    _write(out, record)
    started = time.monotonic()
    said = teacher.manifest
    tokenizer = Tokenizer(teacher.tokenizer, said.bos_token, said.landmark)
    material = gather(shared, Reader(load(teacher.path), tokenizer), say)
    backend = load_tokenizer(teacher.path)
    vocabulary = backend.get_vocab_size()
    engine = OpenVinoEngine(teacher.graph(), cache=None, threads=threads)
    vectors = token_vectors(engine, vocabulary, tokenizer.bos_id, tokenizer.landmark)
    sample = np.concatenate([text.targets for text in material.texts[::7]]).astype(np.float32)
    axes = principal_axes(sample, config["hidden_size"])
    model = LandmarkEncoder({**config, "vocab_size": vocabulary}, own_sentence=False)
    assert isinstance(model.backbone, Light)
    begin(model.backbone, vectors, material.texts)
    learned, asked = left_out(material)
    taught = LightMaterial(
        material.texts,
        [material.questions[n] for n in learned],
        [material.targets[n] for n in learned],
    )
    trainer = LightTrainer(model, taught, tokenizer.landmark, axes, recipe)
    trainer.align()
    say(f"before {check(trainer, material, asked)}")

    def step(number: int, parts: dict[str, float]) -> None:
        losses = ", ".join(f"{part} {value:.4f}" for part, value in parts.items())
        say(f"step {number}: {losses}")
        if number % CHECKED == 0:
            say(str(check(trainer, material, asked)))

    trainer.run(step)
    say(f"after {check(trainer, material, asked)}")
    reading = Reading("", said.landmark, query_prefix=said.query_prefix, **SIZES)
    special = special_tokens(teacher.path, backend)
    Checkpoint(trainer.averaged, backend, reading, special).save(out / "checkpoint")
    _write(out, {**record, "hours": round((time.monotonic() - started) / 3600, 3)})
    made_from = f"{said.name} {said.fingerprint}, distilled"
    settings = {
        "bos_token": "",
        "landmark": said.landmark,
        "query_prefix": said.query_prefix,
        **SIZES,
        "trained": {"from": made_from, "steps": recipe.steps, "data": DATA},
    }
    return export(
        with_rounded_table(trainer.averaged),
        teacher.tokenizer,
        out / name,
        name=name,
        f32=False,
        bf16=True,
        settings=settings,
    )


def left_out(material: LightMaterial) -> tuple[list[int], list[int]]:
    """Numbers of the questions to train on and of those to ask."""
    parts: tuple[list[int], list[int]] = [], []
    for number, question in enumerate(material.questions):
        parts[question.text >= 0 and question.text % LEFT_OUT == 0].append(number)
    return parts


def check(
    trainer: LightTrainer, material: LightMaterial, numbers: list[int], most: int = 40
) -> dict[str, float]:
    """Mean cosine with the teacher, and of each task how often the three best hold evidence."""
    found: dict[str, list[float]] = {}
    for text in sorted({material.questions[n].text for n in numbers})[:most]:
        own = [material.questions[n] for n in numbers if material.questions[n].text == text]
        landmarks, targets = trainer.read(text)
        found.setdefault("cosine", []).append((landmarks * targets).sum(-1).mean().item())
        for question, scores in zip(own, trainer.ask(own) @ landmarks.T, strict=True):
            best = set(scores.topk(min(3, len(scores))).indices.tolist())
            found.setdefault(question.task, []).append(float(bool(best & set(question.evidence))))
    return {name: round(float(np.mean(values)), 3) for name, values in sorted(found.items())}


def _record(
    teacher: ModelFolder, shared: Path, recipe: LightRecipe, threads: int, config: Mapping[str, Any]
) -> dict[str, Any]:
    """What the run is made from, data and teacher by their hashes."""
    settings = {
        "recipe": asdict(recipe),
        "network": dict(config),
        "sizes": SIZES,
        "left_out": LEFT_OUT,
        "teacher": f"{teacher.manifest.name} {teacher.manifest.fingerprint}",
        "threads": threads,
    }
    return describe(
        config="",
        settings=settings,
        seeds={"the weights": SEED, "the run": recipe.seed},
        data=sources(shared),
        init=teacher.path,
        device="cpu",
    )


def _write(folder: Path, record: Mapping[str, Any]) -> None:
    write_text(folder / "run.json", json.dumps(record, indent=1) + "\n")
