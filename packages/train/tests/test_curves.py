"""The pictures of a run: what its log says is in them, whatever the log lacks."""

from __future__ import annotations

import json
import re
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from milepost.errors import InputError, MissingExtra
from milepost_train.curves import draw

pytest.importorskip("matplotlib", reason="needs the train extra")


def lines(count: int) -> list[dict[str, Any]]:
    """A log of two stages, with checks at every tenth line."""
    made = []
    for number in range(1, count + 1):
        second = number > count // 2
        line: dict[str, Any] = {
            "step": 50 * number,
            "stage": 1 + second,
            "seconds": 60 * number,
            "rate": 1e-4 / number,
            "loss": 3.0 / number,
            "floor": 5.0,
            "spread": 0.4,
            "gradient": 1.5,
            "effective": 400.0,
        }
        line |= {"contrast": 2.0 / number} if second else {"sentence": 1.0 / number}
        if number % 10 == 0:
            line["check"] = {"written": number / count, "trials": 0.5}
        made.append(line)
    return made


def drawn(folder: Path, log: list[dict[str, Any]], end: str = "\n") -> tuple[str, bytes]:
    """Both pictures of a log."""
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, log)) + end)
    paths = draw(folder)
    assert [path.name for path in paths] == ["curves.svg", "curves.png"]
    return paths[0].read_text("utf-8"), paths[1].read_bytes()


def words(svg: str) -> str:
    return " ".join(re.findall(r">([^<>]+)</(?:text|tspan)>", svg))


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """Those of a healthy run."""
    return drawn(tmp_path_factory.mktemp("run"), lines(40))


def test_everything_in_the_log_is_in_the_picture(pictures: tuple[str, bytes]) -> None:
    """Stages, parts, tasks with their mean, rate, spread, and where the run stands."""
    svg, png = pictures
    shown = words(svg)
    for name in ("stage 1", "stage 2", "floor", "sentence", "contrast", "written", "trials"):
        assert name in shown
    for name in ("mean", "Learning rate", "Mean cosine", "alarm was silent"):
        assert name in shown
    assert "step 2,000, 40 minutes, loss 0.075" in shown
    assert "75.0 % at the last check, 75.0 % at the best, at step 2,000" in shown.replace("  ", " ")
    assert "no check yet" not in shown
    assert "effective" not in shown  # a number of negatives would flatten the parts
    assert "documents" not in shown
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    assert width > 1000 < height


def test_the_same_log_gives_the_same_svg(pictures: tuple[str, bytes], tmp_path: Path) -> None:
    """Nothing of the time or the machine is in it."""
    assert drawn(tmp_path, lines(40))[0] == pictures[0]


def test_documents_by_title_stand_beside_the_evidence(tmp_path: Path) -> None:
    """Both figures have a curve of their own, and the mean of the tasks does not count them."""
    log = lines(40)
    for line in log:
        if "check" in line:
            line["documents"] = {"ndcg@10": line["step"] / 2500, "success@1": 0.1}
    shown = words(drawn(tmp_path, log)[0])
    for name in ("documents, ndcg@10", "documents, success@1", "thin: documents by title"):
        assert name in shown
    assert "documents found by title, nDCG@10: 80.0 % at the last check" in shown
    assert "75.0 % at the last check, 75.0 % at the best, at step 2,000" in shown.replace("  ", " ")


def test_the_alarm_is_in_words(tmp_path: Path) -> None:
    """Its first two lines with their steps, and how many more there are."""
    log = lines(20)
    log[9]["alarm"] = "collapse: lower the rate"
    for line in log[10:18]:
        line["alarm"] = "again"
    shown = words(drawn(tmp_path, log)[0])
    assert "step 500: collapse: lower the rate" in shown
    assert "step 550: again" in shown
    assert "step 600: again" not in shown
    assert "7 more of the alarm" in shown


@pytest.mark.parametrize("count", [1, 1000])
def test_logs_of_any_length(count: int, tmp_path: Path) -> None:
    """One line, and more than are drawn singly."""
    shown = words(drawn(tmp_path, lines(count))[0])
    assert f"step {50 * count:,}" in shown
    assert ("no check yet" in shown) == (count == 1)


def test_what_is_no_number_has_no_point(tmp_path: Path) -> None:
    """A loss that ran away is in the words, and the rest is drawn; half a last line is not."""
    log = lines(12)
    for line in log[8:]:
        line |= {"loss": float("nan"), "spread": float("inf")}
    shown = words(drawn(tmp_path, log, '\n{"step": 650, "sta')[0])
    assert "step 600" in shown
    assert "loss nan" in shown


def test_a_line_in_the_middle_that_is_no_json(tmp_path: Path) -> None:
    """It is named; only the last one may be cut off by a kill."""
    (tmp_path / "log.jsonl").write_text('{"step": 1,\n{"step": 2}\n')
    with pytest.raises(InputError, match=r"log\.jsonl, line 1 is not JSON"):
        draw(tmp_path)


def test_no_log(tmp_path: Path) -> None:
    """A folder without one, or with an empty one, is named."""
    with pytest.raises(InputError, match=r"log\.jsonl cannot be read"):
        draw(tmp_path)
    (tmp_path / "log.jsonl").touch()
    with pytest.raises(InputError, match="has no lines yet"):
        draw(tmp_path)


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra that trains is named."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"\./packages/train"):
        draw(tmp_path)
