"""Training pairs in files of Hugging Face datasets, written by that library itself."""

from pathlib import Path
from typing import Any

import datasets
import pytest

from milepost.errors import InputError
from milepost_train.config import DataSettings
from milepost_train.material import load_material
from milepost_train.model import open_checkpoint
from milepost_train.rows import PAIRS, existing, negatives_of
from support.tiny_runs import write_lines, write_run

TRIPLETS: dict[str, list[Any]] = {
    "anchor": ["who sat on the mat?", "who ran?"],
    "positive": ["The cat sat on the mat.", "The dog ran away."],
    "negative": ["The bird flew.", None],
}


@pytest.fixture
def reading(tmp_path: Path) -> Any:
    write_run(tmp_path / "made")
    return open_checkpoint(tmp_path / "made" / "init")


def pairs_of(path: Path, made: Any) -> Any:
    data = DataSettings(pairs=(path,))
    return load_material(data, made.tokenizer, made.reading)


@pytest.mark.parametrize("kind", ["parquet", "folder", "saved", "lines"])
def test_triplets(tmp_path: Path, reading: Any, kind: str) -> None:
    """Columns as sentence-transformers names them; a missing negative is none."""
    table = datasets.Dataset.from_dict(TRIPLETS)
    path = tmp_path / {"parquet": "a.parquet", "lines": "a.jsonl"}.get(kind, "a")
    if kind == "saved":
        table.save_to_disk(str(path))
    elif kind == "lines":
        rows = [
            dict(zip(TRIPLETS, row, strict=True)) for row in zip(*TRIPLETS.values(), strict=True)
        ]
        write_lines(path, [{k: v for k, v in row.items() if v} for row in rows])
    else:
        table.to_parquet(str(path / "data" / "train-0.parquet") if kind == "folder" else str(path))
    material = pairs_of(path, reading)
    assert [pair.words for pair in material.pairs] == TRIPLETS["anchor"]
    assert [len(pair.negatives) for pair in material.pairs] == [1, 0]
    assert material.report.bad == []


def test_rows_for_the_test_are_left_out(tmp_path: Path, reading: Any) -> None:
    for name in ("train-0", "validation-0", "test-0", "test"):
        path = tmp_path / "set" / "data" / f"{name}.parquet"
        datasets.Dataset.from_dict({"query": [name], "passage": ["A cat."]}).to_parquet(str(path))
    material = pairs_of(tmp_path / "set", reading)
    assert [pair.words for pair in material.pairs] == ["train-0"]


def test_columns_that_only_begin_like_negatives() -> None:
    fields = {"negative_10": "c", "negative_2": "b", "negative": "a", "negative_score": 0.2}
    assert negatives_of(fields) == ["a", "b", "c"]
    assert negatives_of({"negatives": ["x"], "negative": "a"}) == ["x"]


def test_a_data_set_of_several_splits(tmp_path: Path) -> None:
    table = datasets.Dataset.from_dict(TRIPLETS)
    datasets.DatasetDict({"train": table, "test": table}).save_to_disk(str(tmp_path / "set"))
    with pytest.raises(InputError, match=r"has several splits.*set/train"):
        existing([tmp_path / "set"], PAIRS)
    assert existing([tmp_path / "set" / "train"], PAIRS) == [tmp_path / "set" / "train"]


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no"):
        existing([tmp_path], PAIRS)
