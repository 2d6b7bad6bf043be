"""A small task as files, and collections of made-up landmarks."""

import numpy as np

from milepost_lab.data.landmarked import Landmarked
from support.files import write_lines

TEXTS = {
    "bees": "Bees build cells of wax. The queen lays the eggs of the hive. Drones leave early.",
    "ships": "Tugs pull large ships. Canvas sails were woven from hemp. A quay needs deep water.",
    "gold": "Gold melts in a furnace. It never rusts. Miners washed gold from rivers.",
    "snow": "Snow falls on mountains. Avalanches start above the trees. Skiers avoid slopes.",
}
ASKED = {
    "bees": ("Who lays the eggs of the hive?", "The queen lays the eggs of the hive."),
    "ships": ("What were canvas sails woven from?", "Canvas sails were woven from hemp."),
    "gold": ("Where did miners wash gold?", "Miners washed gold from rivers."),
    "snow": ("Where do avalanches start?", "Avalanches start above the trees."),
}


def write_task(folder, *, splits=("train", "dev"), licences=()):
    """A task whose documents are asked of in each split; names carry the split."""
    documents, questions = [], []
    for split in splits:
        for number, (name, text) in enumerate(TEXTS.items()):
            meta = {"licence": licences[number]} if licences else {}
            documents.append({"id": f"{split}-{name}", "title": name, "text": text, "meta": meta})
            words, evidence = ASKED[name]
            start = text.index(evidence)
            questions.append(
                {"id": f"{split}-{number}", "document": f"{split}-{name}", "question": words,
                 "spans": [[start, start + len(evidence)]], "split": split}
            )  # fmt: skip
    write_lines(folder / "documents.jsonl", documents)
    return write_lines(folder / "questions.jsonl", questions).parent


def turned(documents, *, seed, width=8, each=5):
    """Documents of random landmarks; a question is a landmark in a space that is turned."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(np.random.default_rng(7).standard_normal((width, width)))[0]
    states = rng.standard_normal((documents * each, width)).astype(np.float32)
    places = rng.integers(each, size=documents)
    rows = np.arange(documents) * each + places
    return Landmarked(
        tuple(f"made/{n}" for n in range(documents)),
        states,
        np.full(documents, each),
        (states[rows] @ turn).astype(np.float32),
        np.arange(documents),
        tuple((int(place),) for place in places),
        ("made",) * documents,
    )
