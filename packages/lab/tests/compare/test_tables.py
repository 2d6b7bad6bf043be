"""Tables and plots say what the figures say, of rows that lose as well."""

import re

import pytest

from support.small_comparison import made_cache, made_run

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab.compare.cache import ACCURACY, Asked, ResultCache  # noqa: E402
from milepost_lab.compare.found import ALL, Found  # noqa: E402
from milepost_lab.compare.tables import tables  # noqa: E402
from milepost_lab.landmark import as_markdown  # noqa: E402


@pytest.fixture(scope="module")
def found():
    return Found(made_cache())


@pytest.fixture(scope="module")
def told(found):
    return {outcome.name: as_markdown(outcome) for outcome in tables(found)}


def cells(text, row):
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    line = next(line for line in lines if f"| {row} |" in line[: len(row) + 12])
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_mean_counts_documents_once(found):
    """Sentences at 80, documents at 70, 69 and 68: 74.5 + what single queries differ by, 0.4."""
    assert found.score("lmk") == pytest.approx((0.80 + 0.69) / 2 + 0.004)
    assert found.rows == ["max", "lmk", "mean"]
    assert found.mean("lmk", "documents-2k").mean == pytest.approx(0.694)


def test_a_difference_that_seeds_disagree_about_is_not_sure(found):
    """Max leads by 1.5 points on every query, but loses with the first seed."""
    apart = found.apart([("max", ALL), ("mean", ALL)])
    lead = apart["max", ALL]
    assert lead.difference.mean == pytest.approx(0.015)
    assert lead.difference.verdict == "better"
    assert not lead.agreed
    assert not lead.sure
    assert apart["mean", ALL].difference.mean == pytest.approx((-0.10 + 0.01) / 2)
    assert apart["mean", ALL].sure


def test_the_ranking(told):
    assert cells(told["Ranking"], "lmk")[0] == "2"
    assert "**-4.5" in cells(told["Ranking"], "mean")[-1]
    assert "**" not in cells(told["Ranking"], "max")[-1]
    assert "Surely ahead of lmk: none" in told["Ranking"]


@pytest.mark.parametrize(
    ("rows", "asked", "other"),
    [
        ("cls,mean,lmk", None, "lmk"),
        ("cls,mean", None, "mean"),
        ("cls,max", None, "cls"),
        ("cls,mean,lmk", "cls", "cls"),
        ("cls,mean,lmk", "max", "lmk"),  # asked for and left out, as it failed
    ],
)
def test_rows_are_compared_with_one_of_them(rows, asked, other):
    cache = ResultCache()
    names = tuple(f"q{n}" for n in range(30))
    cache.ask(Asked("mine", "mine", "pairs", names, names, 30, 50))
    for row in rows.split(","):
        level = 0.1 if row == other else 0.4
        cache.add(made_run(row, "mine", 0, [level + 0.002 * (n % 5) for n in range(30)]))
    found = Found(cache, against=asked)
    made = {outcome.name: as_markdown(outcome) for outcome in tables(found, "my-encoder")}
    others = [row for row in found.rows if row != other]
    assert f"| mean | less {other} |" in made["Ranking"]
    assert "**+30.0 (+30.0 to +30.0)**" in cells(made["Ranking"], others[0])
    assert f"Surely ahead of {other}: {', '.join(others)}." in made["Ranking"]
    assert made["Ranking"].rstrip().endswith("Model: my-encoder.")
    assert f"Surely better than {other}" in made[f"Against {other}"]


def test_a_single_row_is_compared_with_nothing():
    cache = made_cache()
    cache.keep(lambda run: run.row == "lmk")
    made = {outcome.name: as_markdown(outcome) for outcome in tables(Found(cache))}
    assert "| documents-8k | mean |\n" in made["Ranking"]
    assert "less" not in made["Ranking"]
    assert "ahead" not in made["Ranking"]
    assert not [name for name in made if name.startswith("Against")]


def test_questions_of_one_name_are_of_one_task_where_they_train_alike():
    """Two collections whose questions are q0, q1 and so on are two tasks."""
    cache = ResultCache()
    names = ("q0", "q1")
    for task, training, figures in (
        ("a-512", "passages", [0.0, 0.0]),
        ("a-2k", "passages", [0.2, 0.2]),
        ("b", "questions of b", [0.5, 0.5]),
    ):
        cache.ask(Asked(task, task, training, names, names, 2, 50))
        cache.add(made_run("mean", task, 0, figures))
    assert Found(cache).score("mean") == pytest.approx((0.1 + 0.5) / 2)


def test_what_lmk_loses_and_wins_is_printed(told):
    text = told["Against lmk"]
    better, worse = text.split("Surely worse than lmk:")
    assert "- mean, documents-512: +10.0" in better
    assert "- mean, documents-8k: -8.0" in worse
    assert "- mean, sentences: -10.0" in worse
    assert "- max" not in text


def test_places_at_each_length(told):
    text = told["By length"]
    assert cells(text, "lmk")[1:] == ["3: 70.4", "3: 69.4", "2: 68.4", "-2.0"]
    assert cells(text, "mean")[1:] == ["1: 80.4", "2: 70.4", "3: 60.4", "-20.0"]
    assert "lmk's place: documents-512: 3 of 3; documents-2k: 3 of 3; documents-8k: 2 of 3" in text


def test_seeds_and_cost(told):
    assert cells(told["Each seed alone"], "max")[1] == "78.4 / 85.4"
    assert cells(told["Cost"], "mean")[1:4] == ["0", "384", "1.0"]


def test_a_run_that_was_stored_for_several_seeds_took_its_time_once():
    cache = ResultCache()
    cache.ask(Asked("mine", "mine", "pairs", ("a",), ("a",), 1, 50))
    for seed in (0, 1):
        cache.add(made_run("mean", "mine", seed, [0.5], trained=False, seconds=(0.0, 120.0)))
    cost = tables(Found(cache, trained=False))[-1]
    assert "All runs together: 2 minutes." in cost.note
    assert cost.rows[0][-1] == "120.0"


def test_rows_that_lack_a_task_are_last_and_say_so():
    cache = made_cache()
    cache.add(made_run("cls", "sentences", 0, [0.99] * 30))
    found = Found(cache)
    assert found.rows[-1] == "cls"
    text = as_markdown(tables(found)[0])
    assert cells(text, "cls")[4:] == ["–"] * 5


def test_images_stand_beside_and_not_in_the_mean():
    cache = made_cache()
    names = tuple(f"digit {n}" for n in range(30))
    cache.ask(Asked("images", "i", "digits", names, names, 30, 16, ACCURACY))
    cache.add(made_run("mean", "images", 0, [1.0] * 30, metric=ACCURACY, reads=""))
    found = Found(cache)
    assert found.score("mean") == pytest.approx(Found(made_cache()).score("mean"))
    assert found.any("mean").reads == "tokens"
    text = as_markdown(tables(found)[0])
    assert cells(text, "mean")[7].startswith("100.0")
    assert cells(text, "lmk")[7] == "–"


def test_runs_without_training_are_told_apart():
    cache = made_cache()
    with pytest.raises(InputError, match="no untrained run"):
        Found(cache, trained=False)
    cache.add(made_run("mean", "sentences", 0, [0.1] * 30, trained=False))
    assert Found(cache, trained=False).score("mean") == pytest.approx(0.1)
    with pytest.raises(InputError, match="no trained run"):
        Found(ResultCache())


def test_plots(tmp_path, found):
    pytest.importorskip("matplotlib", reason="needs the eval extra")
    from milepost_lab.compare.pictures import write

    paths = write(found, tmp_path / "plots")
    assert [path.name for path in paths] == ["lengths.svg", "differences.svg"]
    drawn = [path.read_text(encoding="utf-8") for path in paths]
    assert all(re.search(r"<svg ", text) for text in drawn)
    assert ">lmk<" in drawn[0]
    assert ">8,192<" in drawn[0]
    assert ">mean<" in drawn[1]
    other = write(Found(made_cache(), against="max"), tmp_path / "other")
    assert ">max<" not in other[1].read_text(encoding="utf-8")
    assert "less that of max" in other[1].read_text(encoding="utf-8")
    again = [path.read_text(encoding="utf-8") for path in write(found, tmp_path / "again")]
    assert again == drawn
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write(found, tmp_path / "file")


def test_learning_curves_are_means_of_trainings_with_their_rate(tmp_path):
    """Two tasks of one training count once; what was not validated is not in the table."""
    cache = ResultCache()
    for task in ("documents-512", "documents-2k"):
        cache.ask(Asked(task, task, "pairs", ("a", "b"), ("a", "b"), 2, 50))
        for seed, curve in ((0, ((5, 0.2), (10, 0.4))), (1, ((5, 0.4), (10, 0.5)))):
            cache.add(made_run("gem", task, seed, [0.5, 1.0], curve=curve, rate=1e-3))
        cache.add(made_run("mean", task, 0, [0.5, 1.0]))
    found = Found(cache)
    made = {outcome.name: as_markdown(outcome) for outcome in tables(found)}
    assert cells(made["Learning curves"], "gem") == ["gem", "30.0", "45.0", "0.001"]
    assert "| mean |" not in made["Learning curves"]
    assert "The first seed tried all rates" in made["Cost"]
    assert "these at all lengths together" in made["Ranking"]
    pytest.importorskip("matplotlib", reason="needs the eval extra")
    from milepost_lab.compare.pictures import write

    assert "curves.svg" in [path.name for path in write(found, tmp_path)]
