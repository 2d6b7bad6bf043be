"""A Milepost model in mteb, through sentence-transformers: scored as Milepost scores."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from milepost.encoder import Encoder, load
from milepost_eval.metrics import of_documents

mteb = pytest.importorskip("mteb", reason="needs the mteb extra")
from sentence_transformers import MultiVectorEncoder, SentenceTransformer  # noqa: E402

from milepost.integrations.sentence_transformers import MilepostModule  # noqa: E402

CORPUS = {
    "whales": ("", "Whales are mammals. They breathe air and dive for an hour at most."),
    "ferry": ("The ferry", "It was low at first. In 1998 the fare was raised to five crowns."),
    "bread": ("", "Knead the dough for ten minutes. Let it rise over night in a cold place."),
    "bridge": ("The bridge", "Since the bridge was opened, few people take the boat."),
    "empty": ("", ""),
    "dots": ("", "..."),
}
QUERIES = {
    "price": "How much did a trip on the ferry cost?",
    "lungs": "Which sea animals have lungs?",
    "yeast": "How long should yeast dough rest?",
    "hard": "Why did the boatman stop baking?",
    "mark": "?",
}
JUDGED = {
    "price": {"ferry": 2, "bridge": 1},
    "lungs": {"whales": 1},
    "yeast": {"bread": 1},
    "hard": {"bridge": 1, "bread": 2, "dots": 1},
    "mark": {"empty": 1},
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
            description="Six documents.",
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


def evaluated(model: Any, task: Any, place: Path) -> tuple[dict[str, Any], Any]:
    """What mteb makes of a model: its figures, and of each query the scores of documents."""
    run = mteb.evaluate(
        model,
        task,
        cache=mteb.ResultCache(place / "cache"),
        co2_tracker=False,
        prediction_folder=place / "predictions",
        show_progress_bar=False,
    )
    (result,) = run.task_results
    (scores,) = result.scores["test"]
    saved = json.loads(next((place / "predictions").rglob("*.json")).read_text("utf-8"))
    return scores, saved["default"]["test"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # within mteb
def test_mteb_takes_the_best_sentence(encoder: Encoder, task: Any, tmp_path: Path) -> None:
    """As a multi-vector model: a document scores as its most similar landmark."""
    model = MultiVectorEncoder(modules=[MilepostModule(encoder, per_sentence=True)])
    _, theirs = evaluated(model, task, tmp_path)
    for query in ("price", "lungs", "yeast", "hard"):
        asked = encoder.encode_query(QUERIES[query])
        for name in ("whales", "ferry", "bread", "bridge"):
            best = float((encoder.encode(read_as_mteb(name)).vectors @ asked).max())
            assert theirs[query][name] == pytest.approx(best, abs=0.02)  # int8, in other batches


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # within mteb
def test_mteb_scores_as_milepost_does(encoder: Encoder, task: Any, tmp_path: Path) -> None:
    """Through ``mteb.evaluate``, documents come in our order and nDCG@10 is our own."""
    model = SentenceTransformer(modules=[MilepostModule(encoder)])
    scores, theirs = evaluated(model, task, tmp_path)
    texts = [read_as_mteb(name) for name in CORPUS]
    vectors = np.array(model.encode_document(texts))
    # Not nearer: the int8 graph rounds by what else is in the batch.
    alone = np.array([encoder.encode(text).document for text in texts])
    assert (vectors * alone).sum(1)[:4] == pytest.approx(np.ones(4), abs=1e-3)
    figures = []
    for query, text in QUERIES.items():
        asked = encoder.encode("?").document if query == "mark" else encoder.encode_query(text)
        ours = dict(zip(CORPUS, (vectors @ asked).tolist(), strict=True))
        order = sorted(ours, key=lambda name: -ours[name])
        assert sorted(theirs[query], key=lambda name: -theirs[query][name]) == order
        assert theirs[query] == pytest.approx(ours, abs=1e-5)
        figures.append(of_documents(order, JUDGED[query])["ndcg@10"])
        if query in ("price", "lungs", "yeast"):
            assert order[0] == max(JUDGED[query], key=lambda name: JUDGED[query][name])
    mean = math.fsum(figures) / len(figures)
    assert mean < 1.0  # else the comparison would not see how the rest is ordered
    assert scores["ndcg_at_10"] == scores["main_score"] == pytest.approx(mean, abs=1e-5)
