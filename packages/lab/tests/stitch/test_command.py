"""``milepost lab stitch`` from the command line."""

from __future__ import annotations

import json
from functools import partial
from random import Random

import pytest
from click.testing import CliRunner

from support.small_models import write_checkpoint

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("small_controls")]
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost.console.options import Settings  # noqa: E402
from milepost.errors import ModelError  # noqa: E402
from milepost_lab.stitch import material, study  # noqa: E402
from milepost_lab.stitch.command import command as stitch  # noqa: E402
from milepost_lab.stitch.material import Plan  # noqa: E402


def run(*args):
    return CliRunner().invoke(
        stitch, [str(arg) for arg in args], obj=Settings(), standalone_mode=False
    )


def test_known_maps_need_no_files():
    """Exact and measured errors of each start."""
    result = run("--maps")
    assert result.exception is None
    assert "least_squares of 64" in result.output
    assert len(result.output.splitlines()) == 8


def test_everything_in_tables(tmp_path, monkeypatch):
    """Descendants, starts, the matrix, costs and updates; a picture and the pool beside them."""
    tiny = Plan(narrow=16, wide=16, distilling=1, stitching=1, windows=12)
    monkeypatch.setattr(material, "TINY", tiny)
    monkeypatch.setattr(study, "_milliseconds", partial(study._milliseconds, times=1))
    random = Random(1)
    words = (f"Word{random.randrange(100)} word{random.randrange(100)}." for _ in range(90))
    (tmp_path / "text.txt").write_text(" ".join(words))
    folder = write_checkpoint(tmp_path / "ancestor", "bert")
    given_ = ("--tiny", "--ancestor", folder, "--text", tmp_path / "text.txt")
    result = run(*given_, "--report", tmp_path / "a.png", "--out", tmp_path / "pool")
    assert result.exception is None
    for words_ in ("early exit", "transpose", "documents by the row", "GFLOP", "stitch 1"):
        assert words_ in result.output
    controls = [line.split() for line in result.output.splitlines() if line.startswith("control")]
    assert [row[1].partition("@")[2] for row in controls] == [
        "random", "random", "random", "nonsense", "hierarchical",
    ]  # fmt: skip
    assert [row[5] == "–" for row in controls] == [False] * 3 + [True] * 2
    assert (tmp_path / "a.png").stat().st_size > 1000
    names = {file.name for file in (tmp_path / "pool").iterdir()}
    assert {"pool.json", "pool.safetensors", "tokenizer.json", "landmark.json"} == names
    told = json.loads((tmp_path / "pool" / "pool.json").read_text())
    assert set(told["sizes"]) == {"S", "M", "L"}


def test_no_checkpoint_is_one_line(tmp_path):
    """Said before anything is trained."""
    result = run("--tiny", "--ancestor", tmp_path)
    assert isinstance(result.exception, ModelError)
