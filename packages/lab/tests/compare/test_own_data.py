"""Data of others as tasks: pairs in files, folders in the layout of BEIR, and what comes along."""

import csv
from itertools import chain

import numpy as np
import pytest

from support.small_comparison import own_rows, write_beir, write_lines, write_pairs
from support.small_models import write_tokenizer

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError, UnreadableFile  # noqa: E402
from milepost_eval.metrics import of_documents  # noqa: E402
from milepost_eval.tasks.reading import objects  # noqa: E402
from milepost_lab.compare import sources as places  # noqa: E402
from milepost_lab.compare.judged import judged_task  # noqa: E402
from milepost_lab.compare.material import TASKS, Sizes  # noqa: E402
from milepost_lab.compare.pairs import pairs_task  # noqa: E402
from milepost_lab.compare.scores import figures  # noqa: E402
from milepost_lab.compare.sources import PACKAGED_FILE, read_tasks, sources, task_names  # noqa: E402
from milepost_lab.data.long_documents import Words, stable  # noqa: E402


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    return Words(write_tokenizer(tmp_path_factory.mktemp("words") / "tokenizer.json"))


def number_of(passage):
    """The hash that says which part a passage is in."""
    return stable(" ".join(passage.split()).casefold())


def test_pairs_are_split_by_the_hash_of_the_passage(tmp_path, words):
    """Eight in ten train, one is asked, one is neither; passages are cut; bad rows are named."""
    rows = own_rows(200)
    bad = [{"anchor": "bird", "negative": "x"}, {"anchor": "?!", "positive": "x"}]
    path = write_lines(tmp_path / "mine.jsonl", [*rows, *bad, rows[0]])
    said = []
    task = pairs_task(path, "mine", words, Sizes(tokens=9), said.append)
    numbers = [number_of(row["positive"]) for row in rows]
    parts = [int(number, 16) % 10 for number in numbers]
    assert len(task.pairs) == sum(part < 8 for part in parts)
    assert sorted(task.names) == sorted(
        number[:16] for number, part in zip(numbers, parts, strict=True) if part == 8
    )
    assert all(sum(map(len, text)) == 9 for text in [*task.texts, *(t for _, t in task.pairs)])
    assert said == [f"2 rows of {path} are left out: {path}, line 201: no 'passage' or "
                    "'positive' or 'answer'"]  # fmt: skip
    few = pairs_task(path, "mine", words, Sizes(pairs=20, asked=5, tokens=9))
    assert (few.pairs, few.names) == (task.pairs[:20], task.names[:5])


def test_a_query_of_several_passages_is_asked_once(tmp_path, words):
    """With both its passages among the texts, one right answer would count as wrong."""
    rows = [{"query": f"bird {n % 30}", "passage": f"The cat {n} sat."} for n in range(300)]
    task = pairs_task(write_lines(tmp_path / "p.jsonl", rows), "p", words, Sizes())
    queries = [repr(query) for query in chain(task.queries, (query for query, _ in task.pairs))]
    assert len(queries) == len(set(queries)) == 30


def test_what_the_model_reads_alike_is_one_passage_and_one_query(tmp_path, words):
    """White space, case and what is behind the cut do not count; what is left out is told once."""
    rows = own_rows(200)
    alike = (str.upper, lambda text: text + " ", lambda text: text.replace(". ", ".\n"))
    again = [
        {"anchor": f"dog {n} sat", "positive": change(row["positive"])}
        for n, row in enumerate(rows[:60])
        for change in (alike[n % 3], lambda text: text + " And more.")
    ]
    asked = [
        {"anchor": row["anchor"].upper(), "positive": f"The river {n}. {row['positive']}"}
        for n, row in enumerate(rows[:60])
    ]
    path, said = write_lines(tmp_path / "mine.jsonl", [*rows, *again, *asked]), []
    task = pairs_task(path, "mine", words, Sizes(tokens=20), said.append)
    texts = [tuple(chain(*text)) for text in (*task.texts, *(text for _, text in task.pairs))]
    queries = [repr(query) for query in (*task.queries, *(query for query, _ in task.pairs))]
    assert len(set(texts)) == len(texts)
    assert len(set(queries)) == len(queries)
    given = {row["positive"] for row in (*rows, *again, *asked)}
    left = sum(int(number_of(passage), 16) % 10 < 9 for passage in given) - len(texts)
    assert left >= 60
    assert said == [
        f"{left} pairs of {path} are left out: the model reads the same passage or the same query "
        "in another pair"
    ]


def test_half_a_surrogate_pair_is_read_as_a_replacement_character(tmp_path, words):
    """The tokenizer refuses it, and it takes one place, so sentences stay where they are."""
    assert words.ids(["the \ud83d cat"]) == words.ids(["the \ufffd cat"])
    rows = own_rows(120)
    for row in rows:
        row.update(anchor=row["anchor"] + " \udc00", positive="The \ud83d. " + row["positive"])
    task = pairs_task(write_lines(tmp_path / "p.jsonl", rows), "p", words, Sizes())
    assert task.pairs


def test_pairs_in_parquet_are_the_same(tmp_path, words):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the train extra")
    table = pytest.importorskip("pyarrow").Table.from_pylist(own_rows(120))
    (tmp_path / "data").mkdir()
    parquet.write_table(table, tmp_path / "data" / "train-0.parquet")
    lines = write_lines(tmp_path / "mine.jsonl", own_rows(120))
    one, other = (pairs_task(p, "x", words, Sizes()) for p in (tmp_path / "data", lines))
    assert repr(one) == repr(other)


@pytest.mark.parametrize(("kind", "divider"), [("csv", ","), ("tsv", "\t")])
def test_pairs_in_tables_are_the_same(tmp_path, words, kind, divider):
    """As a spreadsheet writes: commas, quotes and line ends inside a cell; a bad row is named."""
    rows = own_rows(120)
    rows[5]["positive"] = 'The cat, it said "mat",\nsat.'
    path, said = tmp_path / f"mine.{kind}", []
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter=divider)
        table.writerow(["anchor", "note", "positive"])
        table.writerows([row["anchor"], "", row["positive"]] for row in rows)
        table.writerow(["one cell"])
    made = pairs_task(path, "x", words, Sizes(), said.append)
    lines = pairs_task(write_lines(tmp_path / "mine.jsonl", rows), "x", words, Sizes())
    assert repr(made) == repr(lines)
    assert said == [
        f"1 rows of {path} are left out: {path}, line 123: 1 columns, but the first line names 3"
    ]
    assert sources([str(path)])[0].tasks == ("mine",)
    path.write_bytes(b'query,passage\n"a"b,c\n')
    with pytest.raises(UnreadableFile, match=f"mine.{kind} cannot be read.*quotes doubled"):
        pairs_task(path, "x", words, Sizes())


def test_pairs_that_cannot_be_used_say_what_to_give(tmp_path, words):
    few = write_lines(tmp_path / "few.jsonl", own_rows(5))
    with pytest.raises(InputError, match="one in ten is asked for"):
        pairs_task(few, "few", words, Sizes())
    none = write_lines(tmp_path / "none.jsonl", [{"text": "x"}])
    with pytest.raises(InputError, match=r"holds no pairs: .*line 1: no 'query'"):
        pairs_task(none, "none", words, Sizes())


def test_a_judged_folder_trains_on_train_and_asks_dev(tmp_path, words):
    folder = write_beir(tmp_path / "mine", ("train", "dev", "test"))
    said = []
    task = judged_task(folder, "mine", words, Sizes(), said.append)
    assert (task.split, len(task.queries), len(task.texts), len(task.pairs)) == ("dev", 12, 40, 40)
    assert not said
    for name, right, grades in zip(task.names, task.right, task.grades, strict=True):
        number = int(name.removeprefix("dev"))
        texts = [words.ids([f"The bird {n} sat on the mat."])[0] for n in (number, number + 1)]
        assert task.texts[right][1] == texts[0]
        assert {repr(task.texts[n][1]): grade for n, grade in grades.items()} == {
            repr(texts[0]): 2,
            repr(texts[1]): 1,
        }


def test_parquet_of_the_hub_is_the_same(tmp_path, words):
    """As MTEB uploads a collection: a folder a part, judgements in qrels or in data."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the train extra")
    table = pytest.importorskip("pyarrow").Table
    lines, hub = write_beir(tmp_path / "x"), tmp_path / "hub" / "x"
    for part in ("corpus", "queries"):
        rows = [{**row, "id": row["_id"]} for row in map(dict, objects(lines / f"{part}.jsonl"))]
        for row in rows:
            del row["_id"]
        (hub / part).mkdir(parents=True)
        parquet.write_table(table.from_pylist(rows), hub / part / "dev-00000-of-00001.parquet")
    (hub / "data").mkdir()
    for split in ("train", "dev"):
        _, *judged = (lines / "qrels" / f"{split}.tsv").read_text().splitlines()
        names = ("query-id", "corpus-id", "score")
        rows = [dict(zip(names, line.split("\t"), strict=True)) for line in judged]
        parquet.write_table(table.from_pylist(rows), hub / "data" / f"{split}-00000-of-1.parquet")
    assert sources([str(hub)])[0].kind == "judged"
    one, other = (judged_task(folder, "x", words, Sizes()) for folder in (lines, hub))
    assert repr(one) == repr(other)
    assert one.grades == other.grades


def test_a_folder_of_another_layout_says_what_is_missing(tmp_path):
    folder = write_beir(tmp_path / "mine", ("dev",))
    for file in (folder / "qrels").iterdir():
        file.rename(folder / "qrels.tsv")
    (source,) = sources([str(folder)])
    with pytest.raises(InputError, match=r"mine/qrels has neither.*dev.tsv or test.tsv in it"):
        read_tasks([source], None, ["mine"], Sizes())
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("The cat sat.")
    (source,) = sources([str(tmp_path / "texts")])
    with pytest.raises(InputError, match=r"texts holds no .*JSON lines, CSV, Parquet or a saved"):
        read_tasks([source], None, ["texts"], Sizes())


def test_a_cut_collection_keeps_what_is_relevant_and_says_so(tmp_path, words):
    said = []
    sizes = Sizes(pairs=10, asked=4, texts=15)
    task = judged_task(write_beir(tmp_path / "mine"), "mine", words, sizes, said.append)
    assert (len(task.queries), len(task.texts), len(task.pairs)) == (4, 15, 10)
    assert all(len(grades) == 2 for grades in task.grades)
    assert said == [
        f"15 of the 40 documents of {tmp_path / 'mine'} are ranked: figures are higher than those "
        "for all of them"
    ]


def test_without_dev_judgements_test_is_asked_and_named(tmp_path, words):
    said = []
    task = judged_task(write_beir(tmp_path / "m", ("test",)), "m", words, Sizes(), said.append)
    assert (task.split, len(task.pairs)) == ("test", 0)
    assert said == [f"{tmp_path / 'm'} has no dev judgements: its test questions are asked"]
    with pytest.raises(InputError, match="neither dev nor test judgements"):
        judged_task(write_beir(tmp_path / "n", ("train",)), "n", words, Sizes())


def test_nobody_trains_on_a_question_that_is_asked(tmp_path, words):
    folder = write_beir(tmp_path / "mine")
    queries = folder / "queries.jsonl"
    queries.write_text(queries.read_text().replace("bird 3 train", "bird 3 dev"))
    task = judged_task(folder, "mine", words, Sizes())
    assert len(task.pairs) == 39
    asked = {repr(query) for query in task.queries}
    assert not asked & {repr(query) for query, _ in task.pairs}


def test_figures_of_graded_judgements():
    """As ``trec_eval`` counts; what is equal comes after what is not relevant."""
    found = np.array([[3, 2, 1, 0], [1, 1, 1, 1]], np.float32)
    told = figures(found, [0, 0], [{1: 2, 3: 1}, {0: 1}])
    wanted = of_documents(["0", "1", "2", "3"], {"1": 2, "3": 1})["ndcg@10"]
    last = of_documents(["1", "2", "3", "0"], {"0": 1})["ndcg@10"]
    np.testing.assert_allclose(told["ndcg@10"], [wanted, last])
    assert told["first"] == (0.0, 0.0)
    single = figures(found, [1, 0])
    assert single == figures(found, [1, 0], [{1: 1}, {0: 1}])


def test_each_path_is_a_task_of_its_name(tmp_path, words, monkeypatch):
    write_pairs(tmp_path / "shared" / "pairs")
    mine = write_lines(tmp_path / "mine.jsonl", own_rows(200))
    judged = write_beir(tmp_path / "judged")
    found = sources([str(tmp_path / "shared"), str(mine), str(judged)])
    assert [source.kind for source in found] == ["shared", "pairs", "judged"]
    texts = [name for name in TASKS if name != "images"]
    assert task_names(None, found) == [*texts, "mine", "judged"]
    assert task_names("judged, sentences", found) == ["sentences", "judged"]
    with pytest.raises(InputError, match="try: 'mine'"):
        task_names("mina", found)
    made = read_tasks(found, words, ["sentences", "judged"], Sizes(pairs=40, asked=5))
    assert [task.name for task in made] == ["sentences", "judged"]


def test_what_is_read_where_nothing_is_named(tmp_path, monkeypatch):
    """The shared data where they are, with images; else the pairs that come along."""
    monkeypatch.chdir(tmp_path)
    (packaged,) = sources([])
    assert (packaged.path, packaged.tasks) == (PACKAGED_FILE, ("open-questions",))
    assert task_names(None, [packaged]) == ["open-questions"]
    monkeypatch.setattr(places, "SHARED", tmp_path / "shared")
    write_pairs(tmp_path / "shared" / "pairs", 10)
    (shared,) = sources([])
    assert task_names(None, [shared]) == list(TASKS)
    assert sources(["packaged"]) == [packaged]


def test_names_that_are_taken_and_paths_that_are_not_there(tmp_path):
    one = write_lines(tmp_path / "a" / "mine.jsonl", own_rows(2))
    two = write_lines(tmp_path / "b" / "mine.jsonl", own_rows(2))
    with pytest.raises(InputError, match="the name of two data sets"):
        sources([str(one), str(two)])
    taken = write_lines(tmp_path / "sentences.jsonl", own_rows(2))
    with pytest.raises(InputError, match="sentences, the name of a task of Milepost"):
        sources([str(taken)])
    with pytest.raises(InputError, match="does not exist; try: --data PATH"):
        sources([str(tmp_path / "nothing")])
