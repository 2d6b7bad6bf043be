"""A Milepost model in mteb: found by it, run by it, and scored as Milepost scores."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from milepost import embedding
from milepost.encoder import Encoder, load
from milepost.errors import InputError, ModelError
from milepost.testing import fake_encoder
from milepost_eval.metrics import of_documents
from milepost_eval.mteb_adapter import MtebModel, mteb_model

mteb = pytest.importorskip("mteb", reason="needs the mteb extra")

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


def batches(texts: Sequence[str]) -> list[dict[str, list[str]]]:
    """What mteb's data loaders give: dictionaries with a list of texts."""
    return [{"text": list(texts[at : at + 2])} for at in range(0, len(texts), 2)]


def encode(model: MtebModel, texts: Sequence[str], **more: Any) -> np.ndarray:
    """``MtebModel.encode`` with the arguments that it does not use."""
    return model.encode(
        batches(texts), task_metadata=None, hf_split="test", hf_subset="default", **more
    )


def read_as_mteb(name: str) -> str:
    """A document's text with its title, as mteb joins them."""
    title, text = CORPUS[name]
    return f"{title} {text}".strip()


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    """The shipped model."""
    return load()


@pytest.fixture(scope="module")
def fake() -> MtebModel:
    """A model made in memory, for what does not depend on meaning."""
    return MtebModel(fake_encoder())


@pytest.fixture(scope="module")
def task() -> Any:
    """A retrieval task of six documents, in memory."""
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


def test_mteb_scores_as_milepost_does(encoder: Encoder, task: Any, tmp_path: Path) -> None:
    """Through ``mteb.evaluate``, documents come in our order and nDCG@10 is our own."""
    model = MtebModel(encoder)
    run = mteb.evaluate(
        model,
        task,
        cache=mteb.ResultCache(tmp_path / "cache"),
        co2_tracker=False,
        prediction_folder=tmp_path / "predictions",
        show_progress_bar=False,
    )
    (result,) = run.task_results
    (scores,) = result.scores["test"]
    saved = json.loads(next((tmp_path / "predictions").rglob("*.json")).read_text("utf-8"))
    theirs = saved["default"]["test"]
    texts = [read_as_mteb(name) for name in CORPUS]
    vectors = encode(model, texts)
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
    # mteb's own folder: what it wrote, it finds again
    again = mteb.ResultCache(tmp_path / "cache").load_results(include_remote=False)
    assert again.model_names == ["milepost/landmark-minilm"]
    assert again[0].model_revision == encoder.fingerprint


def test_mteb_takes_it_for_an_encoder_and_nothing_else(encoder: Encoder) -> None:
    """It has what mteb's protocol asks for, and a record with all that is known."""
    from mteb.models import CrossEncoderProtocol, EncoderProtocol, SearchProtocol

    model = MtebModel(encoder)
    assert isinstance(model, EncoderProtocol)
    assert not isinstance(model, SearchProtocol | CrossEncoderProtocol)
    meta = model.mteb_model_meta
    assert (meta.name, meta.revision) == ("milepost/landmark-minilm", encoder.fingerprint)
    assert (meta.embed_dim, meta.max_tokens) == (384, math.inf)
    assert (meta.license, meta.open_weights) == ("apache-2.0", True)
    assert meta.similarity_fn_name.value == "cosine"


def test_a_model_of_ones_own_claims_no_licence(fake: MtebModel) -> None:
    """What is not known is None, and a slash in a name does not become a folder."""
    assert fake.mteb_model_meta.license is None
    assert fake.mteb_model_meta.open_weights is None
    assert fake.mteb_model_meta.name.count("/") == 1


def test_queries_and_texts_are_read_in_their_own_ways(fake: MtebModel) -> None:
    """Queries as one sentence, everything else whole as a document, in the given order."""
    texts = ["Is it low? Say so.", "One. Two. Three.", "Last of an odd number."]
    plain = fake_encoder()
    queries = encode(fake, texts, prompt_type="query")
    assert np.array_equal(queries, np.array([plain.encode_query(text) for text in texts]))
    wanted = np.array([plain.encode(text).document for text in texts])
    for prompt_type in ("document", None):
        found = encode(fake, texts, prompt_type=prompt_type)
        assert found.dtype == np.float32
        assert found == pytest.approx(wanted, abs=1e-5)
    assert not np.allclose(queries[0], wanted[0])


def test_many_texts_keep_their_order(fake: MtebModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are read in blocks of like length, and each row is its own text's."""
    monkeypatch.setattr(embedding, "_BLOCK_TEXTS", 3)
    monkeypatch.setattr(embedding, "_BLOCK_CHARACTERS", 60)
    texts = ["Whales dive deep. " * (7 * number % 8) + f"No {number}." for number in range(17)]
    plain = fake_encoder()
    wanted = np.array([plain.encode(text).document for text in texts])
    assert encode(fake, texts) == pytest.approx(wanted, abs=1e-5)


def test_the_end_of_a_long_text_counts(fake: MtebModel) -> None:
    """Nothing is truncated: two texts that differ in their last sentence differ."""
    long = "The whale dives for an hour at most. " * 400
    first, second = encode(fake, [long + "It rains.", long + "Bread rises."])
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("prompt_type", ["query", "document", None])
def test_texts_without_words_do_not_stop_a_run(fake: MtebModel, prompt_type: str | None) -> None:
    """Empty texts are zeros and alike to nothing; marks alone are read as a text."""
    vectors = encode(fake, ["", " \n", "?", "A word."], prompt_type=prompt_type)
    assert not vectors[:2].any()
    assert np.linalg.norm(vectors[2:], axis=1) == pytest.approx(np.ones(2), abs=1e-5)
    alike = np.asarray(fake.similarity(vectors, vectors))
    assert not alike[:2].any()
    assert alike[3, 3] == pytest.approx(1, abs=1e-5)


def test_no_text_gives_no_rows(fake: MtebModel) -> None:
    """An empty loader gives an empty array of the right width."""
    assert encode(fake, []).shape == (0, fake.mteb_model_meta.embed_dim)


def test_similarity_is_the_cosine(fake: MtebModel) -> None:
    """Of all pairs, and of rows at the same place, whatever the vectors' lengths."""
    one = np.array([[3, 4], [0, 2]], np.float32)
    other = np.array([[4, 3], [0, -5]], np.float32)
    pairs = np.asarray(fake.similarity(one, other))
    assert pairs == pytest.approx(np.array([[0.96, -0.8], [0.6, -1.0]]))
    assert np.asarray(fake.similarity_pairwise(one, other)) == pytest.approx(np.diag(pairs))


def test_another_precision_is_refused(fake: MtebModel) -> None:
    """Else mteb would file the scores as int8, which they would not be."""
    with pytest.raises(InputError, match="not int8"):
        encode(fake, ["A word."], precision="int8")
    assert len(encode(fake, ["A word."], precision="float32")) == 1


def test_models_are_found_as_everywhere() -> None:
    """By name; a wrong name is Milepost's own error."""
    assert mteb_model("landmark-minilm").mteb_model_meta.name == "milepost/landmark-minilm"
    with pytest.raises(ModelError, match="no model named 'nonsense'"):
        mteb_model("nonsense")


def test_importing_the_adapter_imports_no_mteb() -> None:
    """The import of mteb and torch waits until a model is made."""
    code = (
        "import sys; import milepost_eval.mteb_adapter; "
        "print({'mteb', 'torch', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == "set()"
