"""Tasks hold what they say: short passages told apart by hash, documents in nested cuts."""

from itertools import chain

import pytest

from support.long_corpus import write_corpus
from support.small_comparison import write_pairs
from support.small_models import write_tokenizer

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab.compare import material  # noqa: E402
from milepost_lab.compare.material import SHORT, Sizes, checked_tasks, materials  # noqa: E402
from milepost_lab.data.long_documents import Words  # noqa: E402


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    return Words(write_tokenizer(tmp_path_factory.mktemp("words") / "tokenizer.json"))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_pairs(folder / "pairs")
    return write_corpus(folder)


def test_sentences_are_short_and_nobody_trains_on_what_is_asked(data, words):
    (task,) = materials(data, words, ["sentences"], Sizes(pairs=60, asked=10))
    assert len(task.pairs) == 60
    assert len(task.texts) == len(task.queries) == len(set(task.names)) == 10
    for text in [*task.texts, *(text for _, text in task.pairs)]:
        assert 4 <= sum(map(len, text)) <= SHORT
    asked = {repr(text) for text in task.texts}
    assert not asked & {repr(text) for _, text in task.pairs}
    assert list(task.right) == list(range(10))


def test_fewer_pairs_are_the_first_of_more(data, words):
    """What is held out hangs on the passage alone, not on how much is asked for."""
    (few,) = materials(data, words, ["sentences"], Sizes(pairs=20, asked=5))
    (more,) = materials(data, words, ["sentences"], Sizes(pairs=60, asked=10))
    assert few.pairs == more.pairs[:20]
    assert few.names == more.names[:5]


def test_documents_share_questions_and_training_and_hold_one_another(data, words, monkeypatch):
    lengths = {"documents-512": 512, "documents-2k": 1024, "documents-8k": 2048}
    monkeypatch.setattr(material, "LENGTHS", lengths)
    found = materials(data, words, list(lengths), Sizes(pairs=12, documents=2))
    assert [task.name for task in found] == list(lengths)
    assert {task.training for task in found} == {"passages of 256 tokens"}
    assert len({tuple(task.names) for task in found}) == 1
    for task, length in zip(found, lengths.values(), strict=True):
        assert [sum(map(len, text)) for text in task.texts] == [length, length]
        for number, cluster in zip(task.right, task.clusters, strict=True):
            assert {0: "a", 1: "long"}[number] == cluster
        assert all(sum(map(len, text)) == 256 for _, text in task.pairs)
    short, longer = (
        [" ".join(map(str, chain.from_iterable(text))) for text in task.texts]
        for task in found[::2]
    )
    assert all(one in other for one, other in zip(short, longer, strict=True))


def test_tasks_by_name():
    assert checked_tasks("documents-2k, sentences") == ["sentences", "documents-2k"]
    assert checked_tasks(None)[:4] == [
        "sentences",
        "documents-512",
        "documents-2k",
        "documents-8k",
    ]
    with pytest.raises(InputError, match="try: 'sentences'"):
        checked_tasks("sentence")
    with pytest.raises(InputError, match="no task is named"):
        checked_tasks(" ,")


def test_a_folder_without_data_says_what_to_give(tmp_path, words):
    with pytest.raises(InputError, match="--data FOLDER"):
        materials(tmp_path, words, ["sentences"], Sizes())
    assert materials(tmp_path, words, ["images"], Sizes()) == []
