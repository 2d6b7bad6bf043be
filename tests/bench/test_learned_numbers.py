"""What a bench learns is put beside what others have learned."""

from __future__ import annotations

import json

BEFORE = {
    "schema": 1,
    "name": "größer",
    "fusion": {
        "base_score_weight": [0.6, 0.24],
        "calibration": [-2.6, 0.4, 0.4],
        "length_penalty": 0.3,
        "growth_threshold": 3.0,
    },
}


def written(folder, manifest):
    (folder / "milepost.json").write_text(json.dumps(manifest), encoding="utf-8")


def read(folder):
    return json.loads((folder / "milepost.json").read_text(encoding="utf-8"))


def test_a_new_gate_leaves_the_chances_as_they_are(script, tmp_path):
    """Numbers that are not named keep their values, those that are take the new ones."""
    written(tmp_path, BEFORE)
    gate = {"gate": {"always": 0.8}, "scale_shift": {}, "growth_threshold": 1.0}
    script("learned").keep(tmp_path, gate)
    assert read(tmp_path) == {**BEFORE, "fusion": {**BEFORE["fusion"], **gate}}
    assert list(read(tmp_path)) == list(BEFORE)
    assert "größer" in (tmp_path / "milepost.json").read_text(encoding="utf-8")


def test_the_first_numbers_of_a_folder(script, tmp_path):
    """A manifest without a ``fusion`` gets one."""
    written(tmp_path, {"schema": 1})
    script("learned").keep(tmp_path, {"growth_threshold": 2.0})
    assert read(tmp_path) == {"schema": 1, "fusion": {"growth_threshold": 2.0}}
