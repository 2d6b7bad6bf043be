"""In which settings the questions of a fit are asked."""

from __future__ import annotations

import milepost
from milepost.evaluate.tasks import load
from milepost.train.ranking.cases import OF_EACH, asks
from milepost.train.ranking.questions import Sizes, sample
from support.ranking_cases import book_task


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
