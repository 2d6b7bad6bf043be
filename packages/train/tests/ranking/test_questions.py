"""Which questions learn, which choose, and in which settings they are asked; what is refused."""

import json

import pytest

import milepost
from milepost.errors import InputError
from milepost.search.ranking import Ranking
from milepost_eval.tasks import load
from milepost_train.data import held_out
from milepost_train.ranking.cases import OF_EACH, asks, case, signals
from milepost_train.ranking.questions import Minimum, Sizes, count, roles, sample
from support.files import write_lines
from support.ranking_cases import add_absent, book_task

FEW = Minimum(2, 1)
ALL = Sizes(None, None)


def task(path, splits, licence="CC0", names=None):
    """Documents, each with two questions of its split."""
    lines = []
    for n, split in enumerate(splits):
        name = names[n] if names else f"doc{n}"
        lines.append({"id": name, "text": f"The bees of {name} left.", "licence": licence})
        for q in range(2):
            asked = {"document": name, "question": f"Who left {q}?", "spans": [[0, 8]]}
            lines.append({**asked, "split": split})
    return str(write_lines(path, lines))


def documents(samples):
    return [document.name for sample in samples for document in sample.documents]


def test_train_learns_and_dev_chooses(tmp_path):
    name = task(tmp_path / "t.jsonl", ["train", "dev", "train", "test"])
    found = roles([name], None, {}, sizes=ALL, enough=FEW)
    assert documents(found.learn) == ["doc0", "doc2"]
    assert documents(found.choose) == ["doc1"]
    assert not found.shared
    assert count(found.learn) == (4, 2)


@pytest.mark.parametrize(
    ("splits", "split", "wanted"),
    [(["dev", "dev"], "both", ["doc0", "doc1"]), (["train", "dev"], "dev", ["doc1"])],
)
def test_one_split_does_both(tmp_path, splits, split, wanted):
    """Where there is no other, or where it is asked for."""
    name = task(tmp_path / "t.jsonl", splits)
    found = roles([name], None, {}, split=split, sizes=ALL, enough=FEW)
    assert found.shared
    assert documents(found.learn) == wanted


def test_a_task_may_give_one_split_only(tmp_path):
    """NAME:dev never learns."""
    names = [task(tmp_path / f"{each}.jsonl", ["train", "dev"]) for each in "ab"]
    found = roles([names[0], f"{names[1]}:dev"], None, {}, sizes=ALL, enough=FEW)
    assert [sample.task for sample in found.learn] == ["a"]
    assert [sample.task for sample in found.choose] == ["a", "b"]


def test_a_document_asked_in_both_splits_only_chooses(tmp_path):
    """Else the figures would be of a document that was learned from."""
    name = task(tmp_path / "t.jsonl", ["train", "train", "dev"], names=["x", "y", "y2"])
    path = tmp_path / "t.jsonl"
    asked = {"document": "x", "question": "Who?", "spans": [[0, 8]], "split": "dev"}
    path.write_text(path.read_text() + json.dumps(asked) + "\n")
    found = roles([name], None, {}, sizes=ALL, enough=Minimum(1, 1))
    assert (documents(found.learn), found.chosen) == (["y"], 2)
    with pytest.raises(InputError, match=r"2 train questions .* 2 more are about documents of w"):
        roles([name], None, {}, sizes=ALL, enough=Minimum(3, 1))
    assert sorted(documents(found.choose)) == ["x", "y2"]


def test_documents_of_the_models_training_do_not_teach(tmp_path):
    """Of a task that the manifest names only those that its hold_out kept, of others all."""
    names = [task(tmp_path / f"{each}.jsonl", ["train"] * 40 + ["dev"]) for each in "ab"]
    trained = {"data": "a (no nc), c", "hold_out": 0.3}
    found = roles(names, None, trained, sizes=ALL, enough=FEW)
    kept = [f"doc{n}" for n in range(40) if held_out(f"doc{n}", 0.3)]
    assert 0 < len(kept) < 40
    assert documents(found.learn[:1]) == kept
    assert found.learn[0].seen == 40 - len(kept)
    assert len(documents(found.learn[1:])) == 40
    assert documents(found.choose) == ["doc40", "doc40"]
    given = roles(names, None, {"data": "a"}, hold_out=0.3, sizes=ALL, enough=FEW)
    assert documents(given.learn) == documents(found.learn)


def test_a_model_that_has_seen_all_is_refused(tmp_path):
    name = task(tmp_path / "a b.jsonl", ["train", "dev"])
    with pytest.raises(InputError, match=r"trained on the train questions of a b"):
        roles([name], None, {"data": "c, a b"}, sizes=ALL, enough=FEW)
    assert roles([name], None, {"data": "a b"}, split="dev", sizes=ALL, enough=FEW).shared


def test_non_commercial_documents_do_not_teach_but_choose(tmp_path):
    free = task(tmp_path / "free.jsonl", ["train", "dev"])
    closed = task(tmp_path / "closed.jsonl", ["train", "dev"], licence="CC BY-NC 4.0")
    found = roles([free, closed], None, {}, sizes=ALL, enough=FEW)
    assert [len(sample.documents) for sample in found.learn] == [1, 0]
    assert found.learn[1].licences == 1
    assert [len(sample.documents) for sample in found.choose] == [1, 1]
    every = roles([free, closed], None, {}, sizes=ALL, allow_nc=True, enough=FEW)
    assert [len(sample.documents) for sample in every.learn] == [1, 1]


def absent(path, *asked):
    """Add questions that their document does not answer: (document, split)."""
    with path.open("a", encoding="utf-8") as file:
        for number, (name, split) in enumerate(asked):
            line = {"document": name, "question": f"Who came {number}?", "spans": []}
            file.write(json.dumps({**line, "split": split}) + "\n")


def test_absent_questions_calibrate_and_teach_nothing(tmp_path):
    """Those of dev where train teaches; the others are asked as without them."""
    path = tmp_path / "t.jsonl"
    name = task(path, ["train", "train", "dev", "dev"])
    before = roles([name], None, {}, sizes=ALL, enough=FEW)
    absent(path, ("doc0", "train"), ("doc2", "dev"), ("doc2", "dev"))
    found = roles([name], None, {}, sizes=ALL, enough=FEW)
    assert (found.learn, found.choose) == (before.learn, before.choose)
    assert documents(found.absent) == ["doc2"]
    assert count(found.absent) == (2, 1)
    assert (before.absent, before.unused, found.unused) == ((), 0, 1)
    assert all(question.absent for (asked,) in [found.absent[0].questions] for question in asked)
    shared = roles([name], None, {}, split="train", sizes=ALL, enough=FEW)
    assert documents(shared.absent) == ["doc0"]
    assert (shared.shared, shared.unused) == (True, 0)


def test_a_document_of_absent_questions_is_not_learned_from(tmp_path):
    """Also where another split asks what it answers; a task may have no other questions."""
    learned = task(tmp_path / "t.jsonl", ["train", "train", "dev"])
    absent(tmp_path / "t.jsonl", ("doc1", "dev"))
    alone = tmp_path / "alone.jsonl"
    alone.write_text(json.dumps({"id": "x", "text": "The bees of x left."}) + "\n")
    absent(alone, ("x", "dev"))
    found = roles([learned, str(alone)], None, {}, sizes=ALL, enough=FEW)
    assert documents(found.learn) == ["doc0"]
    assert [sample.task for sample in found.choose] == ["t"]
    assert [(each.task, documents([each])) for each in found.absent] == [
        ("t", ["doc1"]),
        ("alone", ["x"]),
    ]


def test_absent_questions_count_for_no_minimum(tmp_path):
    path = tmp_path / "t.jsonl"
    name = task(path, ["dev"])
    absent(path, *[("doc0", "dev")] * 9)
    with pytest.raises(InputError, match="2 dev questions about 1 document"):
        roles([name], None, {}, sizes=ALL, enough=Minimum(3, 1))


def test_a_task_that_judges_documents_is_refused(tmp_path):
    """It has no spans, and its documents are the answers."""
    folder = tmp_path / "judged"
    (folder / "qrels").mkdir(parents=True)
    write_lines(folder / "corpus.jsonl", [{"_id": "d", "title": "", "text": "The bees left."}])
    write_lines(folder / "queries.jsonl", [{"_id": "q", "text": "Who left?"}])
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    with pytest.raises(InputError, match="marks no evidence in its documents"):
        roles([f"beir:{folder}"], None, {}, split="dev", sizes=ALL, enough=FEW)


def test_too_few_questions_of_one_split_are_refused(tmp_path):
    name = task(tmp_path / "t.jsonl", ["train"] * 120 + ["dev"] * 3)
    words = "6 dev questions about 3 doc.*of train and of dev each.*--split train"
    with pytest.raises(InputError, match=words):
        roles([name], None, {}, sizes=ALL)


def test_no_question_at_all(tmp_path):
    name = task(tmp_path / "t.jsonl", ["test", "test"])
    with pytest.raises(InputError, match=r"no (train|dev) question"):
        roles([name], None, {}, sizes=ALL, enough=FEW)


def test_sizes_spread_over_documents_and_questions(tmp_path):
    """Every third document, every second question."""
    name = task(tmp_path / "t.jsonl", ["dev"] * 9)
    found = roles([name], None, {}, sizes=Sizes(3, 1), enough=FEW)
    assert documents(found.learn) == ["doc0", "doc3", "doc6"]
    assert count(found.learn) == (3, 3)


def test_collections_of_one_task_and_of_all(tmp_path):
    """A collection holds the document asked of; what answers elsewhere never does."""
    samples = []
    for number, name in enumerate(("first", "second")):
        path = book_task(tmp_path / f"{name}.jsonl", 20 * number, OF_EACH + 1, 4, size=800)
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
    path = book_task(tmp_path / "book.jsonl", 0, 2, 2, size=800)
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
