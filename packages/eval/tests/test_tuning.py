"""Choosing each rival's settings, and the protocol that keeps test questions out of it."""

import json

import pytest

from milepost.errors import InputError, UnreadableFile
from milepost.types import Document
from milepost_eval import standard, tuning
from milepost_eval.names import Workshop
from milepost_eval.tuned import SCHEMA, SHIPPED, Tuned, read_tuned, write_tuned
from milepost_eval.types import Question, Task
from milepost_eval.vectors import Vectors

# The word stands in two sentences; only beside "gold" is it evidence, so words must be seen
# with their neighbours: chunks of 60 find it, single sentences cannot tell.
TEXT = "Gold was found. It lies in the river. " + "Nothing was found. It lies. " * 30


def _task(split):
    document = Document("d", TEXT)
    start = TEXT.index("It lies in the river.")
    question = Question("q", "Where is gold?", "d", ((start, start + 21),), {"d": 1})
    return Task("gold", split, (document,), (question,))


@pytest.fixture
def few(monkeypatch):
    """Two families of two candidates, so that the procedure itself is what is tested."""
    found = {
        "bm25:tuned": ["bm25:sentence", "bm25:60"],
        "chunk:tuned@landmark": ["chunk:sentence@landmark", "chunk:60@landmark"],
    }
    monkeypatch.setattr(tuning, "families", lambda: found)
    monkeypatch.setattr(tuning, "BUDGETS", (40,))
    return found


def test_the_best_candidate_is_chosen_and_all_are_kept(few):
    """Each family's choice has its highest figure, and words are tried with other k1 and b."""
    heard = []
    tuned = tuning.tune(
        [_task("dev")], Workshop(Vectors(None)), progress=lambda name, value: heard.append(name)
    )
    assert set(tuned.choices) == set(few)
    for family, grid in tuned.grids.items():
        assert set(few[family]) <= set(grid)
        assert grid[tuned.choices[family]] == max(grid.values())
    assert tuned.tasks == {"gold": (1, 1)}
    assert any(name.startswith("bm25-k") for name in tuned.grids["bm25:tuned"])
    assert heard == [name for grid in tuned.grids.values() for name in grid]


def test_the_rivals_of_some_models_can_be_tuned_alone(few):
    """What was known of the others is kept; a name that nothing has is refused."""
    shop = Workshop(Vectors(None))
    first = tuning.tune([_task("dev")], shop, only=["bm25"])
    assert set(first.choices) == {"bm25:tuned"}
    both = tuning.tune([_task("dev")], shop, only=["landmark"], known=first)
    assert set(both.choices) == set(few)
    assert both.grids["bm25:tuned"] == first.grids["bm25:tuned"]
    with pytest.raises(InputError, match="nothing of 'landmrk' is tuned") as raised:
        tuning.tune([_task("dev")], shop, only=["landmrk"])
    assert "landmark" in str(raised.value.hint)


def test_what_was_tuned_on_the_same_questions_is_kept(few, tmp_path):
    """After a kill the same call goes on with the next family; other questions begin anew."""
    shop = Workshop(Vectors(None))
    heard, saved = [], []

    class Killed(Exception):
        pass

    def stop(tuned):
        saved.append(tuned)
        raise Killed

    with pytest.raises(Killed):
        tuning.tune([_task("dev")], shop, save=stop)
    write_tuned(tmp_path / "tuned.json", saved[0])
    known = read_tuned(tmp_path / "tuned.json")
    assert set(known.choices) == {"bm25:tuned"}
    again = tuning.tune(
        [_task("dev")], shop, known=known, progress=lambda name, value: heard.append(name)
    )
    assert heard == few["chunk:tuned@landmark"]
    assert again.grids["bm25:tuned"] == known.grids["bm25:tuned"]
    other = Task("iron", "dev", _task("dev").documents, _task("dev").questions)
    fresh = tuning.tune([other], shop, known=known, progress=lambda name, value: heard.append(name))
    assert "bm25:60" in heard
    assert fresh.questions != known.questions


def test_the_second_round_of_late_chunking_tries_windows():
    """Rivals' models in other windows, alone and joined with words; our own as it is."""
    joined = list(tuning.second_round("late-chunk:400@minilm+bm25/2"))
    assert joined == [f"late-chunk-w{n}:400@minilm+bm25/2" for n in tuning.WINDOWS]
    assert list(tuning.second_round("late-chunk:400@landmark")) == []
    assert list(tuning.second_round("bm25s:400")) == []


def test_test_questions_cannot_be_tuned_on(few):
    """A task of the test split stops the tuner before any system is asked."""
    heard = []
    with pytest.raises(InputError, match="test"):
        tuning.tune(
            [_task("dev"), _task("test")],
            Workshop(Vectors(None)),
            progress=lambda name, value: heard.append(name),
        )
    assert heard == []


def test_the_shipped_choices_were_made_on_development_questions(shared_data):
    """Their hash is that of the development questions of the shared data, taken the same way."""
    from milepost_eval.session import Session

    tuned = read_tuned(SHIPPED)
    documents = max(count for _, count in tuned.tasks.values())
    questions = max(count for count, _ in tuned.tasks.values())
    session = Session(data=shared_data, split="dev", questions=questions, documents=documents)
    tasks = [task for task, _ in session.loaded()]
    assert tuned.tasks == {task.name: (len(task.questions), len(task.documents)) for task in tasks}
    assert tuned.questions == tuning.hashed(tasks)


def test_every_tuned_system_of_the_tables_has_a_family():
    """A name with ``tuned`` that no family chooses for could not be asked."""
    named = {name for name in (*standard.ALL, *standard.WHOLE) if ":tuned" in name}
    assert named
    assert named <= tuning.families().keys()


def test_choices_are_written_and_read_again(tmp_path):
    """What is written is what is read."""
    tuned = Tuned({"a:tuned": "a:1"}, {"a:tuned": {"a:1": 0.5}}, {"t": (3, 1)}, "ab", "now", "c")
    path = tmp_path / "tuned.json"
    write_tuned(path, tuned)
    assert read_tuned(path) == tuned
    assert tuned.name("a:tuned") == "a:1"
    with pytest.raises(InputError, match=r"b:tuned was not tuned.*a:tuned"):
        tuned.name("b:tuned")


def test_other_files_are_told_apart(tmp_path):
    """A missing file, one that is no JSON, and one of another version."""
    path = tmp_path / "tuned.json"
    with pytest.raises(UnreadableFile, match=r"tuned\.json cannot be read.*milepost eval tune"):
        read_tuned(path)
    path.write_text("{")
    with pytest.raises(UnreadableFile, match="cannot be read"):
        read_tuned(path)
    path.write_text(json.dumps({"schema": "milepost-tuned/0"}))
    with pytest.raises(InputError, match="of this version"):
        read_tuned(path)
    for damaged in ({}, {"tasks": {"t": 3}}, {"tasks": {}, "choices": {}}, {"tasks": []}):
        path.write_text(json.dumps({"schema": SCHEMA, **damaged}))
        with pytest.raises(InputError, match=r"tuned\.json is damaged.*milepost eval tune"):
            read_tuned(path)


def test_choices_that_cannot_be_written_are_told(tmp_path):
    """Folders are made; a file in the place of one is named."""
    tuned = Tuned({}, {}, {}, "", "", "")
    write_tuned(tmp_path / "new" / "tuned.json", tuned)
    with pytest.raises(InputError, match=r"tuned\.json.more cannot be written"):
        write_tuned(tmp_path / "new" / "tuned.json" / "more", tuned)
