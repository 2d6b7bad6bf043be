"""A Milepost model in mteb, through sentence-transformers: a vector for each sentence."""

import json
from pathlib import Path
from typing import Any

import pytest

from milepost.encoder import Encoder, load

mteb = pytest.importorskip("mteb", reason="needs the mteb extra")
from sentence_transformers import MultiVectorEncoder  # noqa: E402

from milepost.integrations.sentence_transformers import MilepostModule  # noqa: E402

CORPUS = {
    "whales": ("", "Whales are mammals. They breathe air and dive for an hour at most."),
    "ferry": ("The ferry", "It was low at first. In 1998 the fare was raised to five crowns."),
    "bridge": ("The bridge", "Since the bridge was opened, few people take the boat."),
}
QUERIES = {
    "price": "How much did a trip on the ferry cost?",
    "lungs": "Which sea animals have lungs?",
}
JUDGED = {
    "price": {"ferry": 2, "bridge": 1},
    "lungs": {"whales": 1},
}


def read_as_mteb(name: str) -> str:
    title, text = CORPUS[name]
    return f"{title} {text}".strip()


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return load()


@pytest.fixture(scope="module")
def task() -> Any:
    from datasets import Dataset
    from mteb.abstasks.retrieval import AbsTaskRetrieval
    from mteb.abstasks.task_metadata import TaskMetadata

    class Tiny(AbsTaskRetrieval):
        metadata = TaskMetadata(
            name="MilepostTiny",
            description="Three documents.",
            type="Retrieval",
            main_score="ndcg_at_10",
            dataset={"path": "in/memory", "revision": "1"},
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
        )

        def load_data(self, num_proc: int | None = None, **kwargs: Any) -> None:
            corpus = [{"id": key, "title": a, "text": b} for key, (a, b) in CORPUS.items()]
            queries = [{"id": key, "text": text} for key, text in QUERIES.items()]
            self.dataset = {
                "default": {
                    "test": {
                        "corpus": Dataset.from_list(corpus),
                        "queries": Dataset.from_list(queries),
                        "relevant_docs": {key: dict(marks) for key, marks in JUDGED.items()},
                        "top_ranked": None,
                    }
                }
            }
            self.data_loaded = True

    return Tiny()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # within mteb
def test_mteb_takes_the_best_sentence(encoder: Encoder, task: Any, tmp_path: Path) -> None:
    """As a multi-vector model: a document scores as its most similar landmark."""
    model = MultiVectorEncoder(modules=[MilepostModule(encoder, per_sentence=True)])
    mteb.evaluate(
        model,
        task,
        cache=mteb.ResultCache(tmp_path / "cache"),
        co2_tracker=False,
        prediction_folder=tmp_path / "predictions",
        show_progress_bar=False,
    )
    saved = json.loads(next((tmp_path / "predictions").rglob("*.json")).read_text("utf-8"))
    theirs = saved["default"]["test"]
    for query in QUERIES:
        asked = encoder.encode_query(QUERIES[query])
        for name in CORPUS:
            best = float((encoder.encode(read_as_mteb(name)).vectors @ asked).max())
            assert theirs[query][name] == pytest.approx(best, abs=0.02)  # int8, in other batches
