"""Write the shipped model folder from a checkpoint.

    python tools/export_shipped.py CHECKPOINT --out src/milepost/models/landmark-minilm

Calibration: windows of ``../shared/data/corpus`` train split, texts without ``nc`` licences (the
corpus has none). ``--f32`` also writes the float32 graph (90 MB, never shipped).
"""

import argparse
import json
from pathlib import Path
from random import Random

import numpy as np

from milepost.documents import split
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.windows import WindowSize, plan
from milepost_eval.tasks.reading import objects
from milepost_train.batches import assemble
from milepost_train.model import export, load_checkpoint


def calibration(shared: Path, tokenizer: Tokenizer, batches: int = 60) -> list[dict]:
    """Batches of four windows from random places of random training documents."""
    random = Random(3)
    texts = []
    for path in sorted((shared / "corpus").glob("*.jsonl.gz")):
        rows = [row for row in objects(path) if row["split"] == "train"]
        texts += [row["text"] for row in random.sample(rows, 12)]
    feeds = []
    for _ in range(batches):
        rows = []
        for _ in range(4):
            text = random.choice(texts)
            start = random.randrange(max(1, len(text) - 4000))
            part = text[start : start + 3000]
            tokens = [t.ids[:128] for t in tokenizer.encode([part[a:b] for a, b in split(part)])]
            tokens = [ids for ids in tokens if ids]
            window = next(plan([len(ids) + 1 for ids in tokens], WindowSize()))
            rows.append(tokens[window.first : window.last])
        batch = assemble(rows, [], tokenizer.bos_id, tokenizer.landmark)
        inputs = {"ids": batch.ids, "sentences": batch.sentences, "marks": batch.marks}
        feeds.append({name: each.numpy().astype(np.int32) for name, each in inputs.items()})
    return feeds


def main() -> None:
    """Read the arguments and export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", default="landmark-minilm")
    parser.add_argument("--f32", action="store_true")
    parser.add_argument("--dimensions", type=int, help="numbers kept of a vector; default: all")
    parser.add_argument("--settings", type=json.loads, default={}, help="JSON fields of Manifest")
    options = parser.parse_args()
    model = load_checkpoint(options.checkpoint)
    if options.dimensions is not None:
        model = model.shortened(options.dimensions)
    path = options.checkpoint / "tokenizer.json"
    feeds = calibration(options.shared, Tokenizer(path, "[CLS]", "[SEP]"))
    more = {"f32": options.f32, "settings": options.settings}
    print(export(model, path, options.out, name=options.name, calibration=feeds, **more))


if __name__ == "__main__":
    main()
