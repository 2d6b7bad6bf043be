"""From a teacher and the shared data to the light model's checkpoint and folder."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from milepost.encoder import load
from milepost.encoder.engine.folder import ModelFolder
from milepost.encoder.engine.manifest import Manifest
from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.exports.writing import write_text
from milepost_train.light.material import LightMaterial, Reader, gather, sources
from milepost_train.light.training import (
    LightRecipe,
    LightTrainer,
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
