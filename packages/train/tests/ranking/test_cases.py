"""In which settings the questions of a fit are asked."""

import milepost
from milepost.search.ranking import Ranking
from milepost_eval.tasks import load
from milepost_train.ranking.cases import OF_EACH, asks, case, signals
from milepost_train.ranking.questions import Minimum, Sizes, roles, sample
from support.ranking_cases import add_absent, book_task


def test_collections_of_one_task_and_of_all(tmp_path):
    """A collection holds the document asked of; what answers elsewhere never does."""
    samples = []
    for number, name in enumerate(("first", "second")):
        path = tmp_path / f"{name}.jsonl"
        book_task(path, 20 * number, OF_EACH + 1, 4, size=800)
        samples.append(sample(load(str(path), "dev"), Sizes(None, None)))
    encoder = milepost.load("landmark-light")
    tasks = {document.name: each.task for each in samples for document in each.documents}
    kinds = set()
    for ask in asks(samples, encoder, None, lambda *step: None):
        with ask.store.snapshot() as state:
            names = {info.name for info in state.documents()}
        assert (ask.document in names) == (ask.setting != "elsewhere")
        if ask.setting != "collection":
            kinds.add((ask.setting, len(names) > 1))
            continue
        found = {tasks[name] for name in names}
        kinds.add((ask.setting, len(found) > 1))
        assert len(names) > 1 or len(found) == 1
    assert kinds == {
        ("document", False),
        ("collection", False),
        ("collection", True),
        ("elsewhere", False),
        ("elsewhere", True),
    }


def test_absent_questions_are_asked_of_their_document(tmp_path):
    """Of it alone; no sentence of it is evidence, and nothing is divided by none."""
    path = tmp_path / "book.jsonl"
    book_task(path, 0, 2, 2, size=800)
    add_absent(path, 0, 2, 3, size=800)
    given = roles([str(path)], None, {}, sizes=Sizes(None, None), enough=Minimum(1, 1))
    encoder = milepost.load("landmark-light")
    ranking = Ranking.read(encoder.manifest.fusion, encoder.folder)
    asked = list(asks(given.absent, encoder, 1, lambda *step: None, absent=True))
    assert [ask.document for ask in asked] == ["piece 0"] * 3 + ["piece 1"] * 3
    assert [ask.reranked for ask in asked] == [True, False, False] * 2
    for ask in asked:
        assert ask.setting == "absent"
        with ask.store.snapshot() as state:
            assert [info.name for info in state.documents()] == [ask.document]
        each = case(ask, ranking.fusion)
        assert len(each.gains) > 0
        assert not each.gains.any()
        assert not signals(ask).gains.any()
