"""A whole fit on pieces of the example book, with the shipped light model."""

import json
from dataclasses import replace

import numpy as np
import pytest

import milepost
from milepost.encoder.engine.folder import find_model
from milepost.search.fusion import Fusion
from milepost.search.ranking import Ranking
from milepost_eval.tasks import load
from milepost_train.ranking.cases import asks, base_scores, case, reread
from milepost_train.ranking.choosing import Bench
from milepost_train.ranking.fit import fit
from milepost_train.ranking.folder import write_folder
from milepost_train.ranking.learning import probabilities
from milepost_train.ranking.questions import Minimum, Sizes, roles, sample, words_of
from support.ranking_cases import add_absent, book_task


@pytest.fixture(scope="module")
def encoder():
    return milepost.load("landmark-light")


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """Fewer than are needed, for what a test repeats."""
    path = book_task(tmp_path_factory.mktemp("few") / "book.jsonl", 80, 6, 6)
    return roles([str(path)], None, {}, enough=Minimum(1, 1))


def test_what_will_not_be_learned_is_said_before_the_work(encoder, few):
    """Learning takes an hour; too few questions for trees are known at once."""

    class Began(Exception):
        pass

    def began(*_):
        raise Began

    said = []
    with pytest.raises(Began):
        fit(encoder, few, progress=began, note=said.append)
    (note,) = said
    assert note.startswith("no trees, fusion and calibration only")
    again = tuple(replace(sample) for sample in few.learn)
    with pytest.raises(Began):
        fit(encoder, replace(few, choose=again, chosen=7), progress=began, note=said.append)
    _, _, dropped, same = said
    assert dropped.startswith("not learned from: 7 train questions about documents")
    assert same.startswith(f"in train and dev: {len(words_of(few.learn))} questions")


WITH_TREES = {"enough_for_trees": Minimum(1, 1), "rounds": 10}


@pytest.fixture(scope="module")
def made(encoder, few):
    """With trees, of the few."""
    pytest.importorskip("lightgbm", reason="needs the fit extra")
    return fit(encoder, few, **WITH_TREES)


def test_again_gives_the_same_to_the_last_digit(encoder, few, made):
    """Of the same model, questions and seed, on the same machine; the trees, too."""
    again = fit(encoder, few, **WITH_TREES)
    assert json.dumps(made.report) == json.dumps(again.report)
    for name in ("feature", "threshold", "value"):
        assert np.array_equal(getattr(made.trees, name), getattr(again.trees, name))


def test_trees_are_cross_fitted_and_load(made, tmp_path):
    """Figures come of trees that have not seen the document; the folder has those of all."""
    assert made.report["cross-fitted trees"]
    assert made.report["trees"] == len(made.trees.roots) == 10
    model = find_model("landmark-light").path
    write_folder(model, tmp_path / "fitted", made.fusion, made.trees, made.report)
    fitted = milepost.load(tmp_path / "fitted")
    assert Ranking.read(fitted.manifest.fusion, fitted.folder).trees is not None
    index = milepost.open(model=fitted)
    index.add(milepost.Document("bees", "Bees build cells of wax. The queen lays the eggs."))
    (best, *_) = index.search("Who lays the eggs?", k=1)
    assert "queen" in best.text
    assert 0 <= best.score <= 1


@pytest.fixture(scope="module")
def with_absent(few, tmp_path_factory):
    """The few, and 20 questions that their documents do not answer."""
    path = book_task(tmp_path_factory.mktemp("absent") / "book.jsonl", 80, 6, 6)
    add_absent(path, 80, 5, 4)
    return roles([str(path)], None, {}, enough=Minimum(1, 1))


@pytest.fixture(scope="module")
def calibrated(encoder, with_absent):
    pytest.importorskip("lightgbm", reason="needs the fit extra")
    return fit(encoder, with_absent, **WITH_TREES)


def test_absent_questions_teach_neither_weights_nor_trees(calibrated, made, few, with_absent):
    """What is chosen for the order of sentences is the same, too; the calibration is not."""
    assert replace(with_absent, absent=()) == few
    assert "absent" not in json.dumps(made.report)
    for name in ("feature", "threshold", "value"):
        assert np.array_equal(getattr(made.trees, name), getattr(calibrated.trees, name))
    probable = ("calibration", "answerable")
    same = {name: value for name, value in calibrated.fusion.items() if name not in probable}
    assert made.fusion.items() >= same.items()
    assert made.fusion["calibration"] != calibrated.fusion["calibration"]
    assert made.report["evidence"] == calibrated.report["evidence"]
    assert made.report["questions"] == calibrated.report["questions"]


def test_the_report_tells_how_far_absent_questions_are_told_apart(calibrated):
    absent = calibrated.report["absent"]
    assert absent["questions"] == {"book": {"questions": 20, "documents": 5}}
    shares = absent["learned ranking"]
    assert set(shares) == {"document", "elsewhere", "absent"}
    for of_tasks in shares.values():
        assert set(of_tasks) == {"book"}
        assert len(of_tasks["book"]) == len(absent["min scores"])
        assert sorted(of_tasks["book"], reverse=True) == of_tasks["book"]
        assert all(0 <= share <= 100 for share in of_tasks["book"])
    assert shares["document"]["book"] > shares["absent"]["book"]


@pytest.mark.parametrize("name", ["landmark-light", "landmark-minilm"])
def test_probabilities_are_those_of_the_search(name, tmp_path):
    """Cases, scores, passages and calibration here are those of ``index.search``."""
    path = book_task(tmp_path / "book.jsonl", 190, 2, 2, size=900)
    encoder = milepost.load(name)
    ranking = Ranking.read(encoder.manifest.fusion, encoder.folder)
    reranker = milepost.encoder.reranker.LandmarkReranker.of(encoder)
    task = load(str(path), "dev")
    asked = list(asks([sample(task, Sizes(None, None))], encoder, None, lambda *step: None))
    assert {ask.setting for ask in asked} == {"document", "collection", "elsewhere"}
    indexes = {}
    for ask in asked:
        wanted = task.documents
        if ask.setting != "collection":
            here = ask.setting == "document"
            wanted = [d for d in task.documents if (d.name == ask.document) == here]
        names = tuple(document.name for document in wanted)
        if names not in indexes:
            indexes[names] = milepost.open(model=encoder)
            indexes[names].add(wanted)
        index = indexes[names]
        each = case(ask, ranking.fusion)
        before = base_scores(each, ranking.fusion, ranking.trees)
        rerank, numbers, found_by = None, ranking.fusion, None
        if reranker is not None:
            rerank = numbers = ranking.fusion.rerank
            found_by = [reread(ask, before, reranker)]
        passages = Bench([each], [before], found_by).shown(rerank, numbers.growth_threshold)
        said = sorted(probabilities(passages, numbers.calibration), reverse=True)
        found = [passage.score for passage in index.search(ask.question.text, k=5)]
        assert found == pytest.approx(said, abs=2e-5)


def test_kept_weights_and_trees_stay(encoder, few, made):
    """Only the rest is chosen anew, as it was where nothing differs."""
    kept = Ranking(Fusion.from_fields(made.fusion), made.trees)
    again = fit(encoder, few, keep=kept, enough_for_trees=Minimum(10**6, 10**6))
    assert again.trees is made.trees
    assert again.report["cases"]["learned from"] == 0
    for name in ("gate", "scale_shift", "landmark_weight", "mark"):
        assert again.fusion[name] == made.fusion[name]
    assert len(again.fusion["answerable"]) == 2
