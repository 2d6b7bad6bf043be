"""The page and the pictures of a finished study."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")
pytest.importorskip("matplotlib", reason="needs milepost-eval: pip install ./packages/eval")
SCRIPT = Path(__file__).resolve().parents[4] / "tools" / "make_lmk_study.py"
if not SCRIPT.is_file():
    pytest.skip("needs the checkout", allow_module_level=True)


def run(monkeypatch: pytest.MonkeyPatch, study: Path, docs: Path) -> None:
    given = [str(SCRIPT), str(study), "--docs", str(docs), "--draws", "40"]
    monkeypatch.setattr(sys, "argv", given)
    runpy.run_path(str(SCRIPT), run_name="__main__")


def test_the_page_of_a_study_has_its_tables_and_pictures(
    commanded: tuple[Path, list[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the folder and from the file alike; every picture is on the page and names its rows."""
    folder = commanded[0]
    run(monkeypatch, folder / "runs" / "quick", tmp_path)
    page = (tmp_path / "results-lmk.md").read_text(encoding="utf-8")
    assert "2 layers of 16 channels, pre-trained here by 2 steps" in page
    assert "2 steps of 4;\nseeds 0." in page
    card = page.partition("## The claim, tested")[2].partition("\n## ")[0]
    assert re.search(r"LMK − mean at 64: [+-]\d", card) or "less the same at" in card
    assert ", one seed." in card
    assert re.search(r"`(supported|contradicted|not decided)`: H1: level on short texts \(", card)
    for part in ("**What to choose.** ", "## Natural documents", "## What moves the vector"):
        assert part in page
    assert page.count("| BM25, words alone |") == 5
    shown = re.findall(r"!\[[^]]+\]\((results/lmk-\w+\.svg)\)", page)
    assert [Path(name).stem for name in shown] == ["lmk-length", "lmk-depth", "lmk-attribution"]
    for name in shown:
        picture = (tmp_path / name).read_text(encoding="utf-8")
        assert all(f">{pooling}<" in picture for pooling in ("LMK", "mean", "CLS"))
        assert ("BM25, words alone" in picture) == ("attribution" not in name)
    run(monkeypatch, folder / "result.json.xz", tmp_path / "again")
    assert (tmp_path / "again" / "results-lmk.md").read_text(encoding="utf-8") == page


def test_an_unfinished_study_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(monkeypatch, tmp_path, tmp_path)
    said = capsys.readouterr().err
    assert f"{tmp_path / 'result.json.xz'} does not exist; finish the study" in said
