"""What is done is not done again, whatever stopped the rest."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.small_comparison import made_run, small_task
from support.small_models import write_checkpoint

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab.compare import session as sessions  # noqa: E402
from milepost_lab.compare.cache import ACCURACY, Asked, ResultCache  # noqa: E402
from milepost_lab.compare.found import ALL, Found  # noqa: E402
from milepost_lab.compare.images import Measure  # noqa: E402
from milepost_lab.compare.reading import TokenReader  # noqa: E402
from milepost_lab.compare.recipe import CompareRecipe  # noqa: E402
from milepost_lab.compare.rows import read_row, rows_of  # noqa: E402
from milepost_lab.compare.scores import scores  # noqa: E402
from milepost_lab.compare.session import Session  # noqa: E402

RESULTS = Path(__file__).resolve().parents[4] / "bench" / "results"
RECIPE = CompareRecipe(steps=6, batch=12, rate=3e-3, width=16)
ROWS = rows_of("mean,attention", controls=False)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    return TokenReader.open(str(write_checkpoint(tmp_path_factory.mktemp("model"), "bert")))


def session(reader, cache, tasks=None, **changes):
    given = {"measures": (), "recipe": RECIPE, **changes}
    return Session(reader, tasks or [small_task()], cache=cache, **given)


def test_a_comparison_that_was_stopped_goes_on(reader, tmp_path):
    """The file holds each run as it was made; the second time only what is missing is made."""
    path = tmp_path / "runs.jsonl"
    stopped = []

    def stop(doing, task, done, of):
        stopped.append((doing, task))
        if doing == "attention" and task == "training 1":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session(reader, ResultCache(path), progress=stop).run(ROWS, [0, 1])
    kept = ResultCache(path).runs
    assert [(run.row, run.seed) for run in kept] == [("mean", 0), ("attention", 0), ("mean", 1)]
    assert not list(tmp_path.glob(".*.part"))
    doing = []
    cache = ResultCache(path)
    session(reader, cache, progress=lambda *told: doing.append(told[0])).run(ROWS, [0, 1])
    assert set(doing) == {"reading", "attention"}
    assert cache.runs[:3] == kept
    assert [(run.row, run.seed) for run in cache.runs[3:]] == [("attention", 1)]
    whole = ResultCache()
    session(reader, whole).run(ROWS, [0, 1])
    for one, other in zip(cache.runs, whole.runs, strict=True):
        np.testing.assert_allclose(one.figures["ndcg@10"], other.figures["ndcg@10"], atol=1e-6)


def test_another_recipe_or_material_makes_runs_again(reader):
    cache = ResultCache()
    session(reader, cache).run(ROWS, [0])
    first = [run.key for run in cache.runs]
    session(reader, cache).run(ROWS, [0])
    assert [run.key for run in cache.runs] == first
    session(reader, cache, recipe=replace(RECIPE, rate=1e-3)).run(ROWS, [0])
    assert len(cache.runs) == 2
    assert not {run.key for run in cache.runs} & set(first)
    session(reader, cache).run(ROWS[:1], [0, 1])
    session(reader, cache, recipe=replace(RECIPE, steps=7)).run(ROWS[:1], [1])
    assert [(run.row, run.seed) for run in cache.runs] == [("attention", 0), ("mean", 1)]
    session(reader, cache, [small_task(count=19)]).run(ROWS[:1], [0])
    assert [(run.row, len(run.figures["first"])) for run in cache.runs] == [("mean", 19)]


def test_an_operator_that_changed_is_made_again_and_no_other(reader, monkeypatch):
    """Its runs by the older code leave the cache whatever their seed: no mean mixes the two."""
    cache = ResultCache()
    session(reader, cache).run(ROWS, [0, 1])
    before = {(run.row, run.seed): run.key for run in cache.runs}
    monkeypatch.setitem(sessions._REVISIONS, "mean", 1)
    session(reader, cache).run(ROWS, [1])
    after = {(run.row, run.seed): run.key for run in cache.runs}
    assert set(after) == {("attention", 0), ("attention", 1), ("mean", 1)}
    assert [place for place in after if after[place] != before[place]] == [("mean", 1)]


def test_the_published_comparison_is_of_the_code_at_hand(reader):
    """Whoever changes the recipe or an operator's revision makes bench/results again."""
    cache = ResultCache(RESULTS / "pooling.jsonl.xz")
    published = session(reader, cache, recipe=CompareRecipe())
    assert cache.runs
    for run in cache.runs:
        assert published._key(read_row(run.row), run.task, run.seed) == run.key


def test_tasks_that_train_alike_are_trained_once(reader):
    told = []
    tasks = [small_task("documents-512"), small_task("documents-2k", count=7)]
    cache = ResultCache()
    session(reader, cache, tasks, progress=lambda *each: told.append(each[:2])).run(ROWS[:1], [0])
    assert told.count(("mean", "training 0")) == RECIPE.steps
    assert [run.task for run in cache.runs] == ["documents-512", "documents-2k"]
    assert cache.runs[0].seconds[0] == cache.runs[1].seconds[0]


def test_without_training_a_row_without_weights_is_made_once_for_all_seeds(reader):
    """It is stored for each seed, so a difference is that of the means."""
    cache, told = ResultCache(), []
    rows = rows_of("mean,attention,pma", controls=False)
    untrained = session(reader, cache, trained=False, progress=lambda *each: told.append(each[:2]))
    untrained.run(rows, [0, 1])
    assert [(run.row, run.seed) for run in cache.runs] == [
        (row.name, seed) for seed in (0, 1) for row in rows
    ]
    assert all(not run.trained and not run.losses for run in cache.runs)
    # Attention begins as the mean.
    assert cache.runs[1].figures == cache.runs[0].figures
    assert cache.runs[1].parameters == 32
    assert told.count(("pma", "sentences")) == 2 * told.count(("mean", "sentences"))
    found = Found(cache, trained=False)
    lead = found.apart([("pma", ALL)])["pma", ALL].difference
    assert lead.mean == pytest.approx(found.score("pma") - found.score("mean"))
    assert len(set(found.seeds("pma", "sentences"))) == 2
    before = list(cache.runs)
    cache.keep(lambda run: (run.row, run.seed) != ("mean", 1))  # a file of an older version
    session(reader, cache, trained=False).run(rows, [0, 1])
    assert sorted(cache.runs, key=before.index) == before


def test_a_task_that_cannot_be_trained_on_is_left_out_once_and_the_others_are_made(reader):
    said, cache = [], ResultCache()
    tasks = [small_task(pairs=5), small_task("documents-512", training="more pairs")]
    made = session(reader, cache, tasks, note=said.append)
    made.run(ROWS, [0, 1])
    assert made.left_out == ["sentences"]
    assert said == [
        "sentences is left out: sentences has 5 pairs to train on, fewer than a batch of 12; "
        "try: --data PATH with more pairs, or --no-train"
    ]
    assert {run.task for run in cache.runs} == set(cache.asked) == {"documents-512"}
    assert [(run.row, run.seed) for run in cache.runs] == [
        (row.name, seed) for seed in (0, 1) for row in ROWS
    ]
    with pytest.raises(InputError, match="5 pairs to train on"):
        session(reader, ResultCache(), tasks[:1]).run(ROWS, [0])


def test_a_row_that_fails_on_a_task_is_left_out_of_it_once(reader, monkeypatch):
    """Of a task that trains alike and of images too; what the others found stays."""

    def some(pooled, queries, texts, say):
        found = scores(pooled, queries, texts, say)
        return found * np.nan if len(texts) == 7 else found

    def measured(row, seed):
        raise InputError("no digits")

    monkeypatch.setattr(sessions, "scores", some)
    tasks = [small_task("documents-512", count=7), small_task("documents-2k")]
    tasks.append(small_task("other", training="more pairs"))
    asked = Asked("images", "key", "digits", ("a",), ("a",), 1, 16, ACCURACY)
    said, cache = [], ResultCache()
    made = session(reader, cache, tasks, note=said.append)
    made.measures = [Measure(asked, measured, lambda row: True)]
    made.run(ROWS[:1], [0, 1])
    assert said == [
        "mean on documents-512 is left out: mean gives NaN or infinite scores on documents-512; "
        "try: --pool without it",
        "mean on images is left out: no digits",
    ]
    assert made.left_out == ["mean on documents-512", "mean on images"]
    assert [(run.task, run.seed) for run in cache.runs] == [
        (task, seed) for seed in (0, 1) for task in ("documents-2k", "other")
    ]


def test_what_needs_training_is_said_once(reader):
    said, row = [], rows_of("mcb", controls=False)
    session(reader, ResultCache(), trained=False, note=said.append).run(row, [0, 1])
    assert said == ["mcb gives vectors that can be compared with a query only after training"]


def test_runs_without_training_do_not_make_each_seed_choose_a_rate(reader):
    cache, told = ResultCache(), []
    recipe = replace(RECIPE, rates=(1e-3, 1e-2))
    session(reader, cache, recipe=recipe, trained=False).run(ROWS[1:], [0])
    session(reader, cache, recipe=recipe, progress=lambda *each: told.append(each[1])).run(
        ROWS[1:], [0, 1]
    )
    assert told.count("training 0") == 2 * RECIPE.steps
    assert told.count("training 1") == RECIPE.steps


def test_a_small_rate_is_kept_as_it_is(tmp_path):
    path = tmp_path / "runs.jsonl"
    cache = ResultCache(path)
    cache.ask(Asked("sentences", "k", "pairs", ("a",), ("d",), 3, 50))
    run = made_run("gem", "sentences", 0, [0.5], rate=2.5e-7, tried={"2.5e-07": 0.123456789})
    cache.add(run)
    assert ResultCache(path).runs == [run]


def test_a_control_reads_by_a_network_that_knows_nothing(reader):
    cache = ResultCache()
    session(reader, cache).run(rows_of("mean,mean@random", controls=False), [0])
    runs = {run.row: run for run in cache.runs}
    assert runs["mean@random"].figures != runs["mean"].figures


def test_a_task_that_is_no_text_joins(reader):
    names = ("a", "b")
    asked = Asked("images", "key", "digits", names, names, 2, 16, ACCURACY)
    task = Measure(asked, lambda row, seed: (1.0, float(seed)), lambda row: row.operator == "mean")
    cache = ResultCache()
    session(reader, cache, measures=[task]).run(ROWS, [0, 1])
    found = [run for run in cache.runs if run.task == "images"]
    assert [(run.row, run.figures) for run in found] == [
        ("mean", {ACCURACY: (1.0, 0.0)}),
        ("mean", {ACCURACY: (1.0, 1.0)}),
    ]
    count = len(cache.runs)
    session(reader, cache, measures=[task]).run(ROWS, [0, 1])
    assert len(cache.runs) == count
    untrained = ResultCache()
    session(reader, untrained, measures=[task], trained=False).run(ROWS, [0])
    assert all(run.task != "images" for run in untrained.runs)


@pytest.mark.parametrize("name", ["runs.jsonl", "runs.jsonl.xz"])
def test_a_book_is_read_as_it_was_written(tmp_path, name):
    cache = ResultCache(tmp_path / name)
    cache.ask(Asked("sentences", "k", "pairs", ("a",), ("d",), 3, 50))
    cache.add(made_run("mean", "sentences", 0, [0.5]))
    again = ResultCache(tmp_path / name)
    assert again.asked == cache.asked
    assert again.runs == cache.runs
    again.add(made_run("mean", "sentences", 0, [0.75]))
    assert [run.figures["first"] for run in ResultCache(tmp_path / name).runs] == [(0.75,)]


@pytest.mark.parametrize(
    "line", ["no json", "[1]", '{"schema": "other"}', '{"schema": "milepost-pooling/1"}']
)
def test_a_file_of_something_else_is_no_book(tmp_path, line):
    path = tmp_path / "runs.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(InputError, match="another file, or remove this one"):
        ResultCache(path)
    assert path.read_text() == line + "\n"
