"""Distil the light model that ships from the default one, and write its folder.

    python bench/train_light.py --shared ../shared/data --out scratch/light

Texts and the teacher's landmarks are gathered once (five minutes of CPU) and kept beside the
output, until the data or the teacher changes. Every fifteenth document's questions are left out and
asked on the way. ``run.json`` in ``--out`` says what the run was made from.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

import milepost
from milepost.engine.folder import ModelFolder, find_model
from milepost.engine.openvino import OpenVinoEngine
from milepost.engine.tokenizer import Tokenizer
from milepost.model import Checkpoint, LandmarkEncoder
from milepost.model.light import MODEL_TYPE
from milepost.model.light_export import export_light
from milepost.model.reading import Reading
from milepost.model.special import load_tokenizer, special_tokens
from milepost.train.light import LightRecipe, LightTrainer, begin, principal_axes, token_vectors
from milepost.train.light_material import LightMaterial, gather, sources
from milepost.train.light_material import Reader as TextReader
from milepost.train.record import describe

CONFIG = {
    "model_type": MODEL_TYPE,
    "table_width": 192,
    "hidden_size": 256,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "scale_shift": 3,
    "max_position_embeddings": 8192,
}
SIZES = {"window": 1024, "left": 64, "right": 64, "longest": 128}
LEFT_OUT = 15
SEED = 1
"""Of the weights that begin at random; what is drawn has the recipe's."""
DATA = "corpus (train), written, squad_articles, covid_papers, trials (no nc), meetings; pairs"


def record_of(
    options: argparse.Namespace, recipe: LightRecipe, teacher: ModelFolder
) -> dict[str, Any]:
    """What the run is made from, data and teacher by their hashes."""
    settings = {
        "recipe": asdict(recipe),
        "network": CONFIG,
        "sizes": SIZES,
        "left_out": LEFT_OUT,
        "teacher": f"{teacher.manifest.name} {teacher.manifest.fingerprint}",
        "threads": options.threads,
    }
    return describe(
        config=json.dumps(options.recipe),
        settings=settings,
        seeds={"the weights": SEED, "the run": recipe.seed},
        data=sources(options.shared),
        init=teacher.path,
        device="cpu",
    )


def material_of(
    options: argparse.Namespace, tokenizer: Tokenizer, record: dict[str, Any]
) -> LightMaterial:
    """What the teacher read, from the last run's file where that was made from the same."""
    kept = options.out.parent / "light_material.pickle"
    made_from = {part: record[part] for part in ("data", "init")}
    if kept.exists():
        with kept.open("rb") as file:
            before = pickle.load(file)
        if isinstance(before, dict) and before["made_from"] == made_from:
            return before["material"]
    reader = TextReader(milepost.load(options.teacher), tokenizer)
    found = gather(options.shared, reader, lambda line: print(line, flush=True))
    with kept.open("wb") as file:
        pickle.dump({"made_from": made_from, "material": found}, file)
    return found


def write(folder: Path, record: dict[str, Any]) -> None:
    (folder / "run.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def left_out(material: LightMaterial) -> tuple[list[int], list[int]]:
    """Numbers of the questions to train on and of those to ask."""
    texts = {one.text for one in material.asked if one.text >= 0 and one.text % LEFT_OUT == 0}
    numbers = range(len(material.asked))
    return (
        [n for n in numbers if material.asked[n].text not in texts],
        [n for n in numbers if material.asked[n].text in texts],
    )


def check(
    trainer: LightTrainer, material: LightMaterial, numbers: list[int], most: int = 40
) -> dict[str, float]:
    """Mean cosine with the teacher, and of each task how often the three best hold evidence."""
    found: dict[str, list[float]] = {}
    for text in sorted({material.asked[n].text for n in numbers})[:most]:
        own = [n for n in numbers if material.asked[n].text == text]
        landmarks, targets = trainer.read(material.texts[text])
        found.setdefault("cosine", []).append((landmarks * targets).sum(-1).mean().item())
        queries = trainer.ask([material.questions[n] for n in own])
        for number, scores in zip(own, queries @ landmarks.T, strict=True):
            best = set(scores.topk(min(3, len(scores))).indices.tolist())
            asked = material.asked[number]
            found.setdefault(asked.task, []).append(float(bool(best & set(asked.evidence))))
    return {name: round(float(np.mean(values)), 3) for name, values in sorted(found.items())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--teacher", help="a shipped model or a folder; the default model")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", default="landmark-light")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--recipe", type=json.loads, default={}, help="JSON fields of LightRecipe")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(SEED)
    teacher = find_model(options.teacher)
    recipe = LightRecipe(**options.recipe)
    record = record_of(options, recipe, teacher)
    options.out.mkdir(parents=True, exist_ok=True)
    write(options.out, record)
    started = time.monotonic()
    tokenizer = Tokenizer(teacher.tokenizer, teacher.manifest.bos_token, teacher.manifest.landmark)
    material = material_of(options, tokenizer, record)
    backend = load_tokenizer(teacher.path)
    config = {**CONFIG, "vocab_size": backend.get_vocab_size()}
    engine = OpenVinoEngine(teacher.graph(), cache=None, threads=options.threads)
    vectors = token_vectors(engine, config["vocab_size"], tokenizer.bos_id, tokenizer.landmark)
    sample = np.concatenate([text.targets for text in material.texts[::7]]).astype(np.float32)
    axes = principal_axes(sample, config["hidden_size"])
    model = LandmarkEncoder(config, own_sentence=False)
    begin(model.backbone, vectors, material.texts)
    learned, asked = left_out(material)
    taught = LightMaterial(
        material.texts,
        [material.questions[n] for n in learned],
        [material.asked[n] for n in learned],
    )
    trainer = LightTrainer(model, taught, tokenizer.landmark, axes, recipe)
    trainer.align()
    print("before", check(trainer, material, asked), flush=True)
    begun = time.monotonic()

    def say(step: int, parts: dict[str, float]) -> None:
        said = {name: round(value, 4) for name, value in parts.items()}
        print(step, said, round(time.monotonic() - begun), flush=True)
        if step % (4 * 100) == 0:
            print(check(trainer, material, asked), flush=True)

    trainer.run(say)
    print("after", check(trainer, material, asked), flush=True)
    said = teacher.manifest
    reading = Reading("", said.landmark, query_prefix=said.query_prefix, **SIZES)
    special = special_tokens(teacher.path, backend)
    checkpoint = Checkpoint(trainer.averaged, backend, reading, special)
    checkpoint.save(options.out / "checkpoint")
    write(options.out, {**record, "hours": round((time.monotonic() - started) / 3600, 3)})
    manifest = export_light(
        trainer.averaged,
        teacher.tokenizer,
        options.out / options.name,
        name=options.name,
        settings={
            "opening": "",
            "landmark": said.landmark,
            "query_prefix": said.query_prefix,
            **SIZES,
            "trained": {
                "from": f"{teacher.manifest.name} {teacher.manifest.fingerprint}, distilled",
                "steps": recipe.steps,
                "data": DATA,
            },
        },
    )
    print(manifest)


if __name__ == "__main__":
    main()
