"""The picture of a run: it is drawn whatever the log lacks."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from milepost.errors import InputError, MissingExtra
from milepost_train.curves import draw


def lines(count: int) -> list[dict[str, Any]]:
    made = []
    for number in range(1, count + 1):
        line: dict[str, Any] = {"step": 50 * number, "stage": 1, "rate": 1e-4 / number}
        line |= {"loss": 3.0 / number, "floor": 5.0, "spread": 0.4}
        line |= {"check": {"written": number / count, "trials": 0.5}} if number % 3 == 0 else {}
        made.append(line)
    return made


@pytest.mark.parametrize("count", [0, 1, 9])
def test_logs_of_any_length(count: int, tmp_path: Path) -> None:
    """An alarm, a loss that ran away and half a last line stop nothing; the same log, the same."""
    log = lines(count)
    for line in log[5:]:
        line |= {"loss": float("nan"), "spread": float("inf"), "alarm": "collapse"}
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, log)) + '\n{"step": 650, "sta')
    first = draw(tmp_path).read_bytes()
    assert first.startswith(b"\x89PNG")
    assert draw(tmp_path).read_bytes() == first


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="cannot be drawn: No such file"):
        draw(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match="packages/train"):
        draw(tmp_path)
